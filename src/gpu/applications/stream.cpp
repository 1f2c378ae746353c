// Sampling applications whose graph streams through the GPU (NextDoor: Jangda, Polisetty, Guha, Serafini, EuroSys'21,
// section 8.4): at each step the pairs of samples and transits are sorted by transit, so that those of each sub-graph stand
// together, and sub-graphs that have any go through two buffers while calls are made for the one before. The calls:
// engine/applications/listed.cuh, engine/applications/team.cuh. CPU twin: src/cpu/applications/application.cpp.
//
// Every other time sub-graphs go from the last to the first: what the buffers still hold needn't be copied again.

#include "gpu/applications/stream.hpp"

#include <algorithm>

#include <cuda_runtime_api.h>

#include <tendril/checked.hpp>
#include <tendril/engine/applications/kernels.hpp>
#include <tendril/engine/applications/transit_map.hpp>
#include <tendril/gpu.hpp>

#include "gpu/applications/application.hpp"
#include "gpu/applications/transit.hpp"
#include "gpu/device/check.hpp"

namespace tendril::gpu {
namespace {

using engine::application_job;
using engine::application_kernels;
using engine::application_run;
using engine::step_shape;

constexpr std::int64_t pair_bytes = 32;  // transits, what the sort reads, writes and keeps aside, and some room
constexpr std::int64_t least_pairs = std::int64_t{1} << 20U;
constexpr std::int64_t most_pairs = (std::int64_t{1} << 31U) - 1;
constexpr std::int64_t most_collective = std::int64_t{1} << 20U;  // samples a turn, whose sizes the host reads
constexpr std::uint32_t copied_unit = 8192;                       // neighbours that a block copies at a time
constexpr std::int64_t most_calls = 0x7fffff00;                   // threads of a launch

/// Pairs of the step that has most.
std::int64_t pairs_of(application_job const& job)
{
  std::int64_t most = 0;
  for (step_shape const& shape : job.shapes) { most = std::max(most, shape.num_transits); }
  return most * job.num_samples;
}

/// All steps of one run.
class streamed_run {
 public:
  streamed_run(application_kernels const& kernels, void const* app, application_run& run, edge_stream& edges,
               stream_tuning const& tuning)
      : kernels_(kernels), app_(app), run_(run), edges_(edges), tuning_(tuning)
  {
    auto const& cuts = edges.layout().first_vertex;
    first_vertex_ = buffer<std::int64_t>(static_cast<std::int64_t>(cuts.size()), memory_of(run.exec));
    TENDRIL_CUDA_TRY(cudaMemcpyAsync(first_vertex_.data(), cuts.data(), cuts.size() * sizeof cuts[0],
                                     cudaMemcpyHostToDevice, run.exec.stream));
    most_pairs_ = tuning.most_pairs;
    if (most_pairs_ == 0) {
      most_pairs_ = std::clamp(free_gpu_bytes(run.exec.device) / 2 / pair_bytes, least_pairs, most_pairs);
    }
  }

  void enqueue()
  {
    bool const collective = run_.job.traits.collective;
    for (std::int32_t step = 0; step < run_.setup.num_steps; ++step) {
      run_.setup.graph = edges_.resident();
      std::int64_t const num_calls = collective ? collective_step(step) : individual_step(step);
      if (!collective && run_.job.traits.until_done && num_calls == 0) {
        leave_empty(step + 1);  // no sample grew
        break;
      }
    }
  }

 private:
  [[nodiscard]] step_shape const& shape(std::int32_t step) const
  {
    return run_.job.shapes[static_cast<std::size_t>(step)];
  }
  /// By few samples at a time, if need be one, whose pairs are less than 2^31 (make_job).
  [[nodiscard]] std::int64_t samples_a_turn(std::int32_t step) const
  {
    return std::clamp<std::int64_t>(most_pairs_ / shape(step).num_transits, 1, run_.job.num_samples);
  }

  /// Looks up the transits of `size` samples from `first` on.
  void find_transits(std::int32_t step, std::int64_t first, std::int64_t size, vertex_id* transits)
  {
    engine::transit_task task;
    task.step = step;
    task.first_index = first;
    task.num_pairs = static_cast<std::uint32_t>(size * shape(step).num_transits);
    task.transits = transits;
    task.problem = run_.problem;
    launch_over(kernels_.transits, task.num_pairs, 0, app_, run_, &task);
  }

  /// Calls work(part, view) for every sub-graph that pairs look at, `view` having their transits' edges. @return how many
  /// pairs have a transit.
  template <class Work>
  std::int64_t stream(sorted_pairs const& sorted, std::int64_t num_pairs, Work const& work)
  {
    auto parts = pairs_by_subgraph(sorted, num_pairs, first_vertex_.data(), edges_.layout().num_subgraphs(), run_.exec);
    if (backwards_) { std::reverse(parts.begin(), parts.end()); }
    backwards_ = !backwards_;
    std::int64_t num_found = 0;
    for (subgraph_pairs const& part : parts) {
      if (part.begin == part.end) { continue; }
      num_found += part.end - part.begin;
      work(part, edges_.load(part.first, part.last + std::int64_t{1}));
      edges_.done();
    }
    return num_found;
  }

  /// @return how many pairs of a sample and a transit there were.
  std::int64_t individual_step(std::int32_t step)
  {
    std::int64_t const a_turn = samples_a_turn(step);
    std::int64_t const most = checked_product("transits of a turn", a_turn, shape(step).num_transits);
    buffer<vertex_id> transits(most, memory_of(run_.exec));
    transit_mapper mapper({.graph = edges_.resident(),
                           .most_pairs = most,
                           .calls_a_pair = shape(step).sample_size,
                           .grouping = transit_grouping::sort,
                           .only_sorts = true},
                          run_.exec);
    std::int64_t num_found = 0;
    for (std::int64_t first = 0; first < run_.job.num_samples; first += a_turn) {
      std::int64_t const size = std::min(a_turn, run_.job.num_samples - first);
      find_transits(step, first, size, transits.data());
      std::int64_t const num_pairs = size * shape(step).num_transits;
      auto const sorted = mapper.sorted(transits.data(), num_pairs);
      num_found += stream(sorted, num_pairs, [&](subgraph_pairs const& part, csr_arrays const& view) {
        run_.setup.graph = view;
        call(step, first, sorted, part);
      });
      run_.setup.graph = edges_.resident();
    }
    enqueue_step_end(kernels_, app_, run_, step);
    return num_found;
  }

  /// Calls next() for the pairs of a part.
  void call(std::int32_t step, std::int64_t first_index, sorted_pairs const& sorted, subgraph_pairs const& part)
  {
    std::int64_t const a_pair = shape(step).by_pairs.divisor();
    std::int64_t const pairs_a_launch = std::max<std::int64_t>(most_calls / a_pair, 1);
    engine::listed_task task;
    task.step = step;
    task.first_index = first_index;
    task.problem = run_.problem;
    for (std::int64_t at = part.begin; at < part.end; at += pairs_a_launch) {
      task.transits = sorted.transits + at;
      task.pairs = sorted.pairs + at;
      task.num_calls = static_cast<std::uint32_t>(std::min(pairs_a_launch, part.end - at) * a_pair);
      unsigned const blocks = (task.num_calls + engine::call_threads - 1) / engine::call_threads;
      launch_kernel(kernels_.listed, blocks, engine::call_threads, 0, app_, run_, {&task});
    }
  }

  /// Chooses from copies of the combined neighbourhoods, as application_transit.cpp does, but always: lists that aren't
  /// copied can't be searched. @return how many samples there were.
  std::int64_t collective_step(std::int32_t step)
  {
    std::int64_t const num_transits = shape(step).num_transits;
    std::int64_t const a_turn = std::min(samples_a_turn(step), most_collective);
    std::int64_t const most = checked_product("transits of a turn", a_turn, num_transits);
    buffer<vertex_id> transits(most, memory_of(run_.exec));
    transit_mapper mapper({.graph = edges_.resident(),
                           .most_pairs = most,
                           .calls_a_pair = 0,
                           .unit = copied_unit,
                           .grouping = transit_grouping::sort},
                          run_.exec);
    for (std::int64_t first = 0; first < run_.job.num_samples; first += a_turn) {
      std::int64_t const size = std::min(a_turn, run_.job.num_samples - first);
      find_transits(step, first, size, transits.data());
      auto const offsets = combined_offsets(edges_.resident(), transits.data(), size, num_transits, run_.exec);
      auto const cuts = every_element(offsets.data(), offsets.size(), num_transits + 1, run_.exec);
      choose_in_turns(step, mapper, first, transits.data(), offsets.data(), cuts);
    }
    return run_.job.num_samples;
  }

  /// @param offsets  [samples, num_transits + 1], @param cuts  [samples + 1] where their neighbourhoods begin.
  void choose_in_turns(std::int32_t step, transit_mapper& mapper, std::int64_t first_sample, vertex_id const* transits,
                       std::uint64_t const* offsets, std::vector<std::uint64_t> const& cuts)
  {
    // Half of what the sub-graphs' buffers left.
    std::int64_t const room = free_gpu_bytes(run_.exec.device) / 2 / static_cast<std::int64_t>(sizeof(vertex_id));
    auto most = static_cast<std::uint64_t>(std::min(tuning_.most_copied, room));
    for (std::size_t s = 0; s + 1 < cuts.size(); ++s) { most = std::max(most, cuts[s + 1] - cuts[s]); }
    buffer<vertex_id> copies(static_cast<std::int64_t>(std::min(most, cuts.back())), memory_of(run_.exec));
    std::int64_t const num_transits = shape(step).num_transits;
    for (std::size_t begin = 0, end = 0; begin + 1 < cuts.size(); begin = end) {
      end = begin + 1;
      while (end + 1 < cuts.size() && cuts[end + 1] - cuts[begin] <= most) { ++end; }
      auto const first = static_cast<std::int64_t>(begin);
      engine::combined_copy found;
      found.transits = transits + first * num_transits;
      found.offsets = offsets + first * (num_transits + 1);
      found.first_sample = first_sample + first;
      found.num_samples = static_cast<std::int64_t>(end - begin);
      if (cuts[end] > cuts[begin]) {
        // Offsets count from the first sample of all, copies from the first of these.
        found.neighbors = copies.data();
        found.first_copied = cuts[begin];
        std::int64_t const num_pairs = found.num_samples * num_transits;
        auto const sorted = mapper.sorted(found.transits, num_pairs);
        (void)stream(sorted, num_pairs, [&](subgraph_pairs const& part, csr_arrays const& view) {
          copy_neighbors(
              combined_job<csr_view>{csr_view(view), mapper.map_of(part.begin, part.end), found.offsets, num_transits,
                                     copies.data(), found.first_copied, std::int64_t{part.end} - part.begin},
              run_.exec);
        });
      }
      engine::team_task task;
      task.first_step = step;
      task.last_step = step + 1;
      engine::enqueue_team(kernels_, app_, run_, task, found);
    }
  }

  /// The steps from `step` on add nothing.
  void leave_empty(std::int32_t step)
  {
    for (auto t = static_cast<std::size_t>(step); t < run_.out.steps.size(); ++t) {
      auto const num_samples = static_cast<std::size_t>(run_.job.num_samples);
      TENDRIL_CUDA_TRY(cudaMemset2DAsync(
          run_.out.first(t), static_cast<std::size_t>(run_.out.stride(t)) * sizeof(vertex_id), 0xff,
          static_cast<std::size_t>(run_.out.steps[t].num_slots) * sizeof(vertex_id), num_samples, run_.exec.stream));
      auto& sizes = run_.out.steps[t].sizes;
      TENDRIL_CUDA_TRY(cudaMemsetAsync(sizes.data(), 0, num_samples * sizeof(std::int32_t), run_.exec.stream));
    }
  }

  application_kernels const& kernels_;
  void const* app_;
  application_run& run_;
  edge_stream& edges_;
  stream_tuning const& tuning_;
  buffer<std::int64_t> first_vertex_;
  std::int64_t most_pairs_;
  bool backwards_ = false;
};

}  // namespace

std::int64_t work_bytes(application_job const& job)
{
  std::int64_t const copies = job.traits.collective ? stream_tuning{}.most_copied : 0;
  return pairs_of(job) * pair_bytes + copies * static_cast<std::int64_t>(sizeof(vertex_id));
}

void grow_streamed(application_kernels const& kernels, void const* app, application_run& run, edge_stream& edges,
                   stream_tuning const& tuning)
{
  device_guard const guard(run.exec.device);
  if (run.job.num_samples == 0) { return; }
  streamed_run(kernels, app, run, edges, tuning).enqueue();
}

}  // namespace tendril::gpu
