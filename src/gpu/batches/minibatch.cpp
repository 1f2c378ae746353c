// The front of the GPU's mini-batches: checks arguments, chooses an executor, cuts many batches into groups that are made
// together. What a group does: src/gpu/batches/run.hpp. CPU twin: src/cpu/batches/minibatch.cpp.

#include <algorithm>
#include <iterator>
#include <memory>
#include <string>
#include <utility>

#include <cuda_runtime_api.h>

#include <tendril/gpu.hpp>
#include <tendril/minibatch.hpp>

#include "base/expects.hpp"  // TENDRIL_EXPECTS
#include "gpu/batches/captured.hpp"
#include "gpu/batches/run.hpp"
#include "gpu/batches/shared_batches.hpp"
#include "gpu/device/check.hpp"
#include "graph/places.hpp"
#include "samplers/batches/checks.hpp"
#include "samplers/batches/labor_sample.hpp"
#include "samplers/batches/state.hpp"

namespace tendril {
namespace {

constexpr std::size_t most_groups = 64;  // under way before the host looks at one

/// Waits when a call ends by an exception: the next one writes what copies under way may still read.
class waiting_on_error {
 public:
  explicit waiting_on_error(cuda_stream stream) : stream_(stream) {}
  ~waiting_on_error()
  {
    if (active_) { (void)cudaStreamSynchronize(stream_); }
  }
  waiting_on_error(waiting_on_error const&) = delete;
  waiting_on_error& operator=(waiting_on_error const&) = delete;
  void all_is_well() { active_ = false; }

 private:
  cuda_stream stream_;
  bool active_ = true;
};

class gpu_sampler final : public minibatch_sampler::state {
 public:
  /// @param counts_picks  Batches by LABOR count their picks, unless that would save little memory: no others follow.
  gpu_sampler(hetero_graph graph, minibatch_params the_params, gpu_exec const& exec, minibatch_executor executor,
              bool counts_picks)
      : state(std::move(graph), std::move(the_params)),
        exec_(exec),
        executor_(executor),
        counts_picks_(counts_picks && params.choice == neighbor_choice::labor),
        plan_(gpu::batch_plan::of(input, params, exec)),
        space_(exec),
        host_(gpu::host_batches::of(input, params))
  {
    if (executor == minibatch_executor::persistent) { space_.queue.emplace(plan_, exec); }
    std::string const not_fused = gpu::why_not_fused(plan_);
    can_fuse_ = not_fused.empty();
    TENDRIL_EXPECTS(executor != minibatch_executor::fused || can_fuse_, "executor: fused, but {}", not_fused);
    TENDRIL_EXPECTS(executor != minibatch_executor::graph || plan_.is_captured(),
                    "executor: graph, but a fan-out is {}; expected fan-outs of at most 4096, or another executor",
                    plan_.takes_all() ? "-1" : "larger than 4096");
    TENDRIL_CUDA_TRY(cudaStreamSynchronize(exec.stream));
  }

  ~gpu_sampler() override
  {
    gpu::device_guard const guard(exec_.device);
    (void)cudaStreamSynchronize(exec_.stream);  // captured launches use memory of this
  }

  [[nodiscard]] minibatch sample(batch_seeds const& seeds, std::uint64_t batch) override
  {
    gpu::device_guard const guard(exec_.device);
    std::vector<minibatch> out;
    gpu::batch_input const group{seeds.vertices, seeds.times, 1, 1, {.first = batch}};
    plan_.counts_picks = counts_picks_ && likely_bytes(group) > plan_.limits.likely_bytes;
    try {
      while (out.empty()) {
        attempt([&] { make_one(group, 0, out); });
      }
    } catch (gpu::too_many_picks const& what) {
      gpu::refuse(what, plan_);
    }
    return std::move(out.front());
  }

  [[nodiscard]] std::vector<minibatch> sample_batches(std::int32_t vertex_type, std::span<vertex_id const> seeds,
                                                      std::int64_t batch_size, batch_numbers numbers,
                                                      std::span<std::int64_t const> times) override
  {
    gpu::device_guard const guard(exec_.device);
    gpu::many_seeds const all{vertex_type, seeds, times, batch_size, numbers};
    if (!host_ || all.num_batches() < 2) { return sample_alone(all); }
    return host_->share(
        all, [this](gpu::many_seeds const& some) { return sample_alone(some); }, exec_);
  }

 private:
  /// All batches, on the GPU.
  [[nodiscard]] std::vector<minibatch> sample_alone(gpu::many_seeds const& all)
  {
    std::int64_t const num_batches = all.num_batches();
    std::int64_t most_together = num_batches;
    std::vector<minibatch> out;
    out.reserve(static_cast<std::size_t>(num_batches));
    while (std::ssize(out) < num_batches) {
      std::int64_t const together = std::min(batches_together(all, num_batches), most_together);
      try {
        attempt([&] { make_some(all, num_batches, together, out); });
      } catch (gpu::too_many_picks const& what) {
        if (together == 1) { gpu::refuse(what, plan_); }
        most_together = together / 2;
      }
    }
    return out;
  }

  /// Makes batches, or those that there was memory for: then what is missing is made with more. What was expected has been
  /// corrected by then. If memory was made for bounds, picks by LABOR have exceeded them, and are counted.
  template <class Make>
  void attempt(Make make)
  {
    bool const was_expected = space_.expected.is_sure();
    try {
      make();
      plan_.counts_picks = false;
    } catch (gpu::more_than_expected const&) {
      plan_.counts_picks = plan_.labor && !was_expected;
    }
  }

  /// A group of the batches [first, first + count).
  [[nodiscard]] gpu::batch_input group_of(gpu::many_seeds const& all, std::int64_t first, std::int64_t count) const
  {
    auto const begin = static_cast<std::size_t>(first * all.batch_size);
    auto const size = std::min(static_cast<std::size_t>(count * all.batch_size), all.seeds.size() - begin);
    auto const type = static_cast<std::size_t>(all.vertex_type);
    gpu::batch_input out;
    out.seeds.resize(plan_.num_types());
    out.seeds[type] = all.seeds.subspan(begin, size);
    if (!all.times.empty()) {
      out.times.resize(plan_.num_types());
      out.times[type] = all.times.subspan(begin, size);
    }
    out.num_batches = count;
    out.batch_size = all.batch_size;
    out.numbers = all.numbers.from(first);
    return out;
  }

  /// Bytes of a batch whose launches may make as much as `ahead` says.
  [[nodiscard]] std::int64_t bytes_of(gpu::batch_forecast const& ahead) const
  {
    std::int64_t const room = gpu::batch_output::bytes_a_batch(gpu::room_of(plan_, ahead.bounds, space_.expected));
    return room + 16 * ahead.picks + 4 * ahead.staged + 64 * ahead.bounds.all_nodes();
  }

  /// Those of a batch whose picks are not counted.
  [[nodiscard]] std::int64_t likely_bytes(gpu::batch_input const& one)
  {
    plan_.counts_picks = false;
    try {
      gpu::batch_bounds const start(plan_.sizes, 1, gpu::seed_bounds(one, false));
      return bytes_of(gpu::batch_forecast::of(plan_, start, 0, 0));
    } catch (gpu::too_many_picks const&) {
      return gpu::unbounded;
    }
  }

  /// How many batches a group has at most, by memory and by what the launches can count.
  [[nodiscard]] std::int64_t batches_together(gpu::many_seeds const& all, std::int64_t num_batches) const
  {
    if (num_batches == 1) { return 1; }
    gpu::batch_input const one = group_of(all, 0, 1);
    gpu::batch_bounds const start(plan_.sizes, 1, gpu::seed_bounds(one, false));
    gpu::batch_forecast ahead;
    try {
      ahead = gpu::batch_forecast::of(plan_, start, 0, 0);
    } catch (gpu::too_many_picks const&) {
      return 1;
    }
    std::int64_t const most_vertices = ahead.bounds.all_nodes();
    std::int64_t const vertices = std::max<std::int64_t>(
        plan_.is_made_as_expected() ? space_.expected.of(gpu::size_index::table, most_vertices) : most_vertices, 1);
    std::int64_t const budget = free_gpu_bytes(exec_.device) / 4;
    std::int64_t const most =
        std::min({plan_.limits.vertices / vertices, budget / bytes_of(ahead),
                  (plan_.limits.picks - 1) / std::max(ahead.picks, one.num_seeds()), num_batches});
    return std::max<std::int64_t>(most, 1);
  }

  /// Picks of the hop and edge type that may have most of them. @param rounded  For numbers of seeds rounded up.
  [[nodiscard]] std::int64_t most_picks_of(gpu::batch_input const& group, bool rounded) const
  {
    gpu::batch_bounds const start(plan_.sizes, 1, gpu::seed_bounds(group, rounded));
    return gpu::batch_forecast::of(plan_, start, 0, 0).picks;
  }

  /// What makes a batch: graph, fused or, for all others, hops.
  [[nodiscard]] minibatch_executor executor_of(gpu::batch_input const& group) const
  {
    using enum minibatch_executor;
    if (plan_.counts_picks) { return hops; }
    if (executor_ != automatic && executor_ != graph) { return executor_ == fused ? fused : hops; }
    try {
      if (executor_ == automatic && can_fuse_ && most_picks_of(group, false) <= plan_.limits.fused_picks) {
        return fused;
      }
      if (executor_ == automatic && !plan_.is_captured()) { return hops; }
      // Numbers of seeds rounded up may be what makes a batch too large.
      std::int64_t const picks = most_picks_of(group, true);
      return executor_ == graph || picks <= plan_.limits.graph_picks ? graph : hops;
    } catch (gpu::too_many_picks const&) {
      return hops;
    }
  }

  /// @param first_seed  Place of the first seed in the caller's.
  void make_one(gpu::batch_input const& group, std::int64_t first_seed, std::vector<minibatch>& out)
  {
    waiting_on_error guard(exec_.stream);
    minibatch_executor const executor = executor_of(group);
    gpu::batch_run run(plan_, space_, exec_, group, 0);
    run.prepare(executor == minibatch_executor::graph);
    switch (executor) {
      case minibatch_executor::graph: captured_.launch(run, group, space_.generation, exec_); break;
      case minibatch_executor::fused: run.enqueue_fused(exec_); break;
      default: run.enqueue(exec_); break;
    }
    end(run, first_seed, out);
    guard.all_is_well();
  }

  void end(gpu::batch_run& run, std::int64_t first_seed, std::vector<minibatch>& out)
  {
    if (plan_.subgraph == subgraph_type::induced) { run.enqueue_induced(); }
    TENDRIL_CUDA_TRY(cudaStreamSynchronize(exec_.stream));
    run.finish(input, first_seed, out);
  }

  /// Adds the next batches to `out`: groups of `together`, as many as memory for their outputs allows, and then one look at
  /// all of them. Where a group has to be waited for anyway, that one alone.
  void make_some(gpu::many_seeds const& all, std::int64_t num_batches, std::int64_t together,
                 std::vector<minibatch>& out)
  {
    waiting_on_error guard(exec_.stream);
    bool const waits = plan_.waits() || plan_.subgraph == subgraph_type::induced;
    std::int64_t const budget = waits ? 0 : free_gpu_bytes(exec_.device) / 4;
    std::vector<gpu::batch_run> runs;
    std::vector<std::int64_t> first_seeds;
    std::int64_t bytes = 0;
    std::int64_t next = std::ssize(out);
    runs.reserve(most_groups);
    // Of the first group nothing is known that would tell how many batches go together.
    std::size_t const groups_now = space_.expected.is_sure() ? most_groups : 1;
    while (next < num_batches && runs.size() < groups_now) {
      // Groups of about one size.
      std::int64_t const left = num_batches - next;
      std::int64_t const groups = (left + together - 1) / together;
      std::int64_t const count = (left + groups - 1) / groups;
      first_seeds.push_back(next * all.batch_size);
      runs.emplace_back(plan_, space_, exec_, group_of(all, next, count), runs.size());
      next += count;
      runs.back().prepare(false);
      runs.back().enqueue(exec_);
      bytes += runs.back().slab_bytes();
      if (waits || bytes + runs.back().slab_bytes() > budget) { break; }
    }
    for (std::size_t i = 0; i < runs.size(); ++i) { end(runs[i], first_seeds[i], out); }
    guard.all_is_well();
  }

  gpu_exec exec_;
  minibatch_executor executor_;
  bool counts_picks_;
  gpu::batch_plan plan_;
  gpu::batch_space space_;
  gpu::captured_batches captured_;
  std::unique_ptr<gpu::host_batches> host_;  // of placed graphs
  bool can_fuse_ = false;
};

void check(hetero_graph const& graph, minibatch_params const& params, gpu_exec const& exec)
{
  if (!graph.edge_types().empty()) { validation::expect_on_gpu(graph, exec); }
  samplers::check_minibatch(graph, params);
}

std::unique_ptr<gpu_sampler> make_sampler(hetero_graph graph, minibatch_params params, gpu_exec const& exec,
                                          minibatch_executor executor, bool counts_picks)
{
  gpu::device_guard const guard(exec.device);
  check(graph, params, exec);
  return std::make_unique<gpu_sampler>(std::move(graph), std::move(params), exec, executor, counts_picks);
}

}  // namespace

minibatch_sampler::minibatch_sampler(hetero_graph graph, minibatch_params params, gpu_exec const& exec,
                                     minibatch_executor executor)
    : state_(make_sampler(std::move(graph), std::move(params), exec, executor, false))
{
}

sampling_plan plan_minibatch(hetero_graph const& graph, minibatch_params const& params, gpu_exec const& exec)
{
  gpu::device_guard const guard(exec.device);
  check(graph, params, exec);
  return gpu::plan_batches(graph, params, exec).whole;
}

minibatch neighbor_sample(graph const& graph, std::span<vertex_id const> seeds, minibatch_params const& params,
                          gpu_exec const& exec, std::uint64_t batch)
{
  // Nothing is captured or learned for one call.
  auto const sampler = make_sampler(hetero_graph(graph), params, exec, minibatch_executor::hops, true);
  batch_seeds const own{{seeds}};
  samplers::check_batch_seeds(sampler->input, own);
  return sampler->sample(own, batch);
}

labor_batch labor_sample(graph const& graph, std::span<vertex_id const> seeds, labor_params const& params,
                         gpu_exec const& exec)
{
  minibatch const made = neighbor_sample(graph, seeds, samplers::minibatch_of(params), exec, params.batch);
  gpu::device_guard const guard(exec.device);
  return samplers::labor_batch_of(made, memory_of(exec), [&](auto const* from, auto* to, std::int64_t size) {
    TENDRIL_CUDA_TRY(cudaMemcpyAsync(to, from, static_cast<std::size_t>(size) * sizeof *from, cudaMemcpyDeviceToDevice,
                                     exec.stream));
  });
}

}  // namespace tendril
