#include "gpu/batches/fused_launch.hpp"

#include <algorithm>

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include "gpu/batches/fused.hpp"
#include "gpu/batches/jobs.hpp"
#include "gpu/device/check.hpp"

namespace tendril::gpu {
namespace {

/// The state that a sampler's launches share; made at the first.
fused_state* state_of(batch_space& space, gpu_exec const& on)
{
  if (space.fused.empty()) {
    space.fused = buffer<fused_state>(1, memory_of(on));
    fused_state const first;
    // Of pageable memory CUDA has a copy of its own when this returns.
    TENDRIL_CUDA_TRY(cudaMemcpyAsync(space.fused.data(), &first, sizeof first, cudaMemcpyHostToDevice, on.stream));
  }
  return space.fused.data();
}

}  // namespace

std::string why_not_fused(batch_plan const& plan)
{
  if (plan.edges.empty()) { return "the graph has no edge type; expected one or more"; }
  if (plan.num_types() > most_fused_types || plan.num_launches() > most_fused_launches) {
    return fmt::format(
        "there are {} vertex types, and {} hops through {} edge types; expected at most {} vertex types, and hops "
        "times "
        "edge types at most {}",
        plan.num_types(), plan.num_hops, plan.edges.size(), most_fused_types, most_fused_launches);
  }
  if (plan.labor) { return "the choice is labor; expected independent"; }
  if (plan.subgraph != subgraph_type::directional) { return "the subgraph isn't directional; expected directional"; }
  if (!plan.has_one_form()) { return "the graphs of edge types have different forms; expected one form"; }
  for (edge_plan const& type : plan.edges) {
    if (type.choice == samplers::edge_choice::race) {
      return "weighted picks are without replacement; expected them with replacement, or picks without weights";
    }
    for (std::int64_t const k : type.fanouts) {
      if (k < 0) { return "a fan-out is -1; expected fan-outs of 0 or more"; }
      if (k > most_fused_fanout) { return fmt::format("a fan-out is {}; expected at most {}", k, most_fused_fanout); }
    }
  }
  return {};
}

void enqueue_fused(run_memory& memory, gpu_exec const& on)
{
  batch_plan const& plan = memory.plan;
  call_block const& block = memory.block;
  batch_bounds& bounds = memory.sizes.bounds;
  fused_batch batch;
  batch.replace = plan.replace;
  batch.state = state_of(memory.space, on);
  batch.report = block.clear_report();
  batch.reported = reinterpret_cast<unsigned long long const*>(block.column(0));
  batch.report_words = block.columns().report_words();
  auto const words = block.call_words();
  std::copy(words.begin(), words.end(), batch.call.begin());
  batch.num_words = words.size();
  batch.call_there = memory.space.block.data();

  run_jobs jobs(memory, batch.report + 1);
  batch.begin = jobs.begin();
  batch.begin.bad_seed = &batch.state->bad_seed;
  for (std::size_t type = 0; type < plan.num_types(); ++type) {
    if (!memory.input.seeds[type].empty()) { batch.seeds[batch.num_seeds++] = jobs.seeds(type); }
  }
  for (std::size_t h = 0; h < plan.num_hops; ++h) {
    for (std::size_t t = 0; t < plan.edges.size(); ++t) {
      edge_plan const& type = plan.edges[t];
      fused_hop& hop = batch.hops[batch.num_hops++];
      hop.choice = type.choice;
      hop.buckets = type.buckets ? type.buckets->data() : nullptr;
      hop.sums = summed_tables::of(type.sums.get());
      hop.number = jobs.numbers(h, t);
      hop.picks = jobs.picks(h, t, hop.number);
      hop.number.most_slots = bounds.take(t, type.fanouts[h]).total;
      if (hop.number.most_slots == 0) { continue; }
      run_jobs::set_fanout(hop.number, hop.picks, type.fanouts[h]);
      hop.number.at = memory.space.at.data();
      hop.number.picked = memory.space.picked.data();
      jobs.give_tiles(hop.number);
    }
    bounds.end_hop();
  }
  run_fused(batch, plan.form(), on);
}

}  // namespace tendril::gpu
