#include "gpu/walks/moving/moving_walk.hpp"

#include <algorithm>
#include <limits>
#include <mutex>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <tendril/gpu.hpp>
#include <tendril/gpu_array.hpp>  // gpu_event

#include "base/expects.hpp"  // TENDRIL_EXPECTS
#include "gpu/device/check.hpp"
#include "gpu/walks/moving/lane.hpp"
#include "gpu/walks/plan.hpp"  // with_own_rows
#include "plan/planner.hpp"    // is_second_order

namespace tendril::gpu {
namespace {

constexpr std::int64_t most_walks_each = std::int64_t{1} << 21U;  // two columns of each lane fit into the cache
constexpr std::int32_t steps_between_looks = 32;                  // for the end of walks that stop by chance

}  // namespace

struct moving_walk::parts {
  std::shared_ptr<spread_graph const> whole;
  std::vector<walk_tables> tables;  ///< Of each GPU.
  walk_job job;                     ///< But for graph and tables.
  moving_plan plan;
  std::mutex running;
  int ranks_a_gpu = 0;
  std::int64_t walks_each = 0;
  std::vector<std::unique_ptr<moving_lane>> lanes;  ///< Kept from call to call, each for so many walks a rank.

  /// Cuts the work for ranks.
  void lay_out(moving_tuning const& tuning)
  {
    TENDRIL_EXPECTS(tuning.ranks_a_gpu * plan.devices.size() <= most_ranks,
                    "ranks_a_gpu: {} on each of {} GPUs, expected up to {} ranks", tuning.ranks_a_gpu,
                    plan.devices.size(), most_ranks);
    ranks_a_gpu = tuning.ranks_a_gpu;
    plan.ranks.clear();
    plan.jobs.clear();
    for (int i = 0; i < plan.devices.size(); ++i) {
      auto const at = static_cast<std::size_t>(i);
      for (int k = 0; k < ranks_a_gpu; ++k) {
        plan.ranks.push_back(plan.devices[i]);
        plan.jobs.push_back(job);
        plan.jobs.back().graph = whole->each[at].view();
        plan.jobs.back().tables = &tables[at];
      }
    }
  }

  /// The most walks of a rank in a batch that memory should be kept for.
  [[nodiscard]] std::int64_t room_for_walks(moving_tuning const& tuning) const
  {
    if (tuning.walks_each > 0) { return tuning.walks_each; }
    std::int64_t free = std::numeric_limits<std::int64_t>::max();
    for (int const gpu : plan.devices) { free = std::min(free, free_gpu_bytes(gpu)); }
    std::int64_t const each = tuning.lanes * ranks_a_gpu * moving_lane::bytes_each(plan.length, std::ssize(plan.ranks));
    return std::clamp<std::int64_t>(free / 8 / each, 1, most_walks_each);
  }

  /// Lanes for a call. @return the most walks of a rank in a batch.
  std::int64_t prepare(std::int64_t num_walks, moving_tuning const& tuning)
  {
    if (tuning.ranks_a_gpu != ranks_a_gpu || tuning.lanes != std::ssize(lanes)) {
      lanes.clear();
      walks_each = 0;
      lay_out(tuning);
    }
    std::int64_t const in_turn = tuning.lanes * std::ssize(plan.ranks);
    std::int64_t needed = num_walks / in_turn + (num_walks % in_turn > 0 ? 1 : 0);
    // Rows of one batch leave while the next one walks.
    if (tuning.walks_each == 0 && needed >= most_walks_each) { needed = (needed + 1) / 2; }
    std::int64_t const wanted = std::min(needed, room_for_walks(tuning));
    if (walks_each < wanted) {
      lanes.clear();
      walks_each = 0;
      for (int i = 0; i < tuning.lanes; ++i) { lanes.push_back(std::make_unique<moving_lane>(plan, wanted)); }
      walks_each = wanted;
    }
    return tuning.walks_each > 0 ? wanted : std::min(needed, walks_each);
  }

  /// Takes all steps of the batches that lanes have begun.
  void walk(std::size_t num_lanes)
  {
    std::vector<std::int32_t> steps(num_lanes, plan.length);  // that a lane's walkers take
    for (std::int32_t step = 0; step < plan.length; ++step) {
      bool const looks = plan.may_stop && step > 0 && step % steps_between_looks == 0;
      for (std::size_t i = 0; i < num_lanes; ++i) {
        if (step >= steps[i]) { continue; }
        if (looks && lanes[i]->is_over(step)) {
          steps[i] = step;
          continue;
        }
        lanes[i]->take_step(step);
      }
    }
    for (std::size_t i = 0; i < num_lanes; ++i) { lanes[i]->finish(steps[i]); }
  }
};

moving_walk::moving_walk(std::shared_ptr<spread_graph const> whole, walk_job const& job, walk_tables const& tables,
                         sampling_plan const& plan, walk_params const& params, bool may_die, superstep_launch launch)
    : parts_(std::make_unique<parts>())
{
  parts_->whole = std::move(whole);
  parts_->job = job;
  spread_graph const& on = *parts_->whole;
  for (int i = 0; i < on.devices.size(); ++i) {
    device_guard const guard(on.devices[i]);
    parts_->tables.push_back(
        with_own_rows(tables, on.each[static_cast<std::size_t>(i)], plan, params, gpu_exec(on.devices[i])));
  }
  moving_plan& shared = parts_->plan;
  shared.devices = on.devices;
  shared.length = static_cast<std::int32_t>(params.length);
  shared.may_stop = params.stop_prob > 0;
  shared.may_restart = params.restart_prob > 0;
  shared.may_die = may_die;
  shared.repeat_dead_ends = params.dead_ends == dead_end::repeat;
  shared.launch = launch;
}

moving_walk::~moving_walk() = default;

std::int64_t moving_walk::least_call() const { return moving_tuning{}.least_walks * parts_->plan.devices.size(); }

std::int64_t moving_walk::large_call() const
{
  return moving_tuning{}.lanes * parts_->plan.devices.size() * most_walks_each;
}

walk_tables const& moving_walk::tables_of(int device) const
{
  auto const found = std::find(parts_->plan.devices.begin(), parts_->plan.devices.end(), device);
  return parts_->tables[static_cast<std::size_t>(found - parts_->plan.devices.begin())];
}

void moving_walk::run(std::span<vertex_id const> starts, std::int64_t first_walk, vertex_id* vertices,
                      std::int32_t* lengths, gpu_exec const& exec, moving_tuning const& tuning) const
{
  parts& p = *parts_;
  std::lock_guard const lock(p.running);
  auto const n = std::ssize(starts);
  std::int64_t const batch = p.prepare(n, tuning) * std::ssize(p.plan.ranks);
  gpu_event const ready(exec);
  std::int64_t const row = p.plan.length + std::int64_t{1};
  for (std::int64_t first = 0; first < n;) {
    std::size_t begun = 0;
    for (; begun < p.lanes.size() && first < n; ++begun, first += batch) {
      auto const part =
          starts.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(std::min(batch, n - first)));
      p.lanes[begun]->begin({part, static_cast<std::uint64_t>(first_walk + first), vertices + first * row,
                             lengths == nullptr ? nullptr : lengths + first},
                            exec.device, ready);
    }
    p.walk(begun);
  }
  for (auto const& lane : p.lanes) { lane->synchronize(); }
}

std::string reason_for(moving_walk const* moving)
{
  if (moving == nullptr) { return "walkers stay on their GPU, and read over the link what lies on others"; }
  return fmt::format(
      "in calls of {} walks and more, walkers move to the GPU that has the edges of their vertex, {} bytes each",
      moving->least_call(), sizeof(moved_walker));
}

bool can_move(sampling_plan const& plan, walk_params const& params)
{
  bool const by_a_draw = !plan::is_second_order(params) && plan.rule != sampling_rule::scan &&
                         !(plan.rule == sampling_rule::reject && params.weighted);
  bool const reads_labels = !params.metapath.empty() && !plan.grouped_by_label;
  // What ended a walk is told by its last vertex and step, but not where a metapath refuses a start.
  bool const refuses_starts = !params.metapath.empty() && params.metapath_of == metapath_kind::vertex_types;
  bool const both_end = params.stop_prob > 0 && params.dead_ends == dead_end::repeat;
  return by_a_draw && !reads_labels && !(refuses_starts && both_end);
}

}  // namespace tendril::gpu
