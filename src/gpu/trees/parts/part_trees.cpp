// The front of k-hop trees of ranks that each have a part of a graph on a GPU. CPU twin: src/dist/trees/.

#include <algorithm>
#include <array>
#include <exception>
#include <functional>
#include <memory>
#include <utility>

#include <tendril/checked.hpp>
#include <tendril/gpu_array.hpp>  // gpu_event, expect_vertices

#include "base/expects.hpp"  // TENDRIL_EXPECTS
#include "gpu/device/check.hpp"
#include "gpu/ranks/lanes.hpp"
#include "gpu/ranks/messages.hpp"
#include "gpu/ranks/part_rows.hpp"
#include "gpu/trees/parts/lane.hpp"
#include "samplers/trees/gpu_ranks.hpp"
#include "samplers/two_batches.hpp"

namespace tendril::gpu {
namespace {

constexpr std::int64_t slots_a_batch = std::int64_t{1} << 25U;  // of the last hop
constexpr std::int64_t many_roots = std::int64_t{1} << 32U;     // what a sampler is for

class part_trees final : public samplers::trees_on_gpu_ranks {
 public:
  part_trees(graph_part const& part, graph const& rows, khop_params params, transport& ranks, gpu_exec const& exec)
      : ranks_(ranks),
        device_(exec.device),
        whole_(part.info),
        first_edge_(part.first_edge()),
        params_(std::move(params))
  {
    device_guard const guard(device_);
    TENDRIL_EXPECTS(ranks.size() <= most_ranks, "{} ranks with GPUs, expected up to {}", ranks.size(), most_ranks);
    rows_ = part_to_gpu(rows, whole_, exec);
    plan_ = make_khop_plan(rows_, params_, many_roots, false, exec);
    plan_with_edges_ = make_khop_plan(rows_, params_, many_roots, true, exec);
    messages_ = connect_gpus(ranks, device_);
  }

  [[nodiscard]] khop_trees sample(std::span<vertex_id const> seeds, std::int64_t first_root, bool with_edges,
                                  gpu_exec const& exec) override
  {
    device_guard const guard(device_);
    tree_output out = ranks_.or_refuse([&] {
      TENDRIL_EXPECTS(exec.device == device_, "sharded_khop_sampler: it was made for GPU {}, not for GPU {}", device_,
                      exec.device);
      expect_vertices(seeds, "seed", whole_.num_vertices, exec);
      return tree_output(params_, std::ssize(seeds), with_edges, exec);
    });
    expect_same(with_edges);
    sampling_plan const& plan = with_edges ? plan_with_edges_ : plan_;
    khop_tables const tables = make_khop_tables(rows_, plan, with_edges, exec);
    gpu_event const ready(exec);
    bool const at_once = takes_all(params_);
    samplers::rank_rounds const rounds =
        at_once ? samplers::one_round(ranks_, std::ssize(seeds), first_root)
                : samplers::agree_on_rounds(ranks_, std::ssize(seeds), first_root,
                                            std::max<std::int64_t>(slots_a_batch / slots_a_root(), 1));
    tree_setting const setting{ranks_,    *messages_, rows_,  first_edge_, whole_, params_,
                               plan.rule, tables,     rounds, out,         device_};
    at_once ? grow_at_once(setting, seeds, ready) : grow(setting, seeds, ready);
    return out.take();
  }

 private:
  /// Children that ranks don't expect would be taken for others.
  void expect_same(bool with_edges)
  {
    std::int64_t const some = ranks_.all_reduce("trees with edges", with_edges ? 1 : 0, reduction::max);
    std::int64_t const all = ranks_.all_reduce("trees with edges", with_edges ? 1 : 0, reduction::min);
    ranks_.or_refuse(
        [&] { TENDRIL_EXPECTS(some == all, "edges of trees: asked for on some ranks, expected on all or none"); });
  }

  /// In the last hop, of trees without a hop of all neighbours.
  [[nodiscard]] std::int64_t slots_a_root() const
  {
    std::int64_t out = 1;
    for (std::int64_t const fanout : params_.fanouts) { out = checked_product("slots of a tree", out, fanout); }
    return out;
  }

  /// Afterwards everything is done.
  void grow(tree_setting const& setting, std::span<vertex_id const> seeds, gpu_event const& ready)
  {
    samplers::rank_rounds const& rounds = setting.rounds;
    std::array<tree_lane, 2> two{tree_lane(setting), tree_lane(setting)};
    for (tree_lane const& lane : two) { ready.wait_on(lane.stream()); }
    (void)run_lanes(
        two, rounds.num_rounds, *messages_,
        [&](tree_lane& lane, std::int64_t round) {
          auto const size = static_cast<std::size_t>(rounds.size_of(round));
          auto const first = static_cast<std::size_t>(std::min(round * rounds.batch, rounds.num_items));
          lane.start(round, seeds.subspan(first, size));
        },
        [](tree_lane&) {}, [&](double) { ranks_.beat(); });
  }

  /// Trees that differ in size, all in one round: where a later round's children go would depend on those of earlier ones.
  void grow_at_once(tree_setting const& setting, std::span<vertex_id const> seeds, gpu_event const& ready)
  {
    tree_lane lane(setting);
    ready.wait_on(lane.stream());
    transport::call_number const first = ranks_.next_call();
    try {
      lane.start(0, seeds);
      while (lane.finish()) {
        lane.step();
        ranks_.beat();
      }
      lane.wait();
    } catch (...) {
      if (!ranks_.was_refused_since(first)) { messages_->abort(); }  // else no messages are under way
      throw;
    }
  }

  transport& ranks_;
  int device_;
  partition_info whole_;
  edge_id first_edge_;
  khop_params params_;
  graph rows_;
  sampling_plan plan_, plan_with_edges_;
  std::shared_ptr<gpu_messages> messages_;
};

}  // namespace
}  // namespace tendril::gpu

std::unique_ptr<tendril::samplers::trees_on_gpu_ranks> tendril::samplers::make_trees_on_gpu_ranks(
    graph_part const& part, graph const& rows, khop_params const& params, transport& ranks, gpu_exec const& exec)
{
  return std::make_unique<gpu::part_trees>(part, rows, params, ranks, exec);
}
