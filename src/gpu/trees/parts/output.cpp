#include "gpu/trees/parts/output.hpp"

#include <algorithm>

#include <tendril/checked.hpp>
#include <tendril/gpu.hpp>        // memory_of
#include <tendril/gpu_array.hpp>  // gpu_event

#include "base/expects.hpp"  // TENDRIL_EXPECTS

namespace tendril::gpu {
namespace {

/// Slots are numbered by 32 bits on their way, and all roots are in one round.
void expect_numbers(std::size_t hop, std::int64_t slots)
{
  TENDRIL_EXPECTS(slots < std::int64_t{1} << 31U,
                  "hop {}: {} slots in one call of a rank, expected fewer than 2^31, as of fewer seeds", hop, slots);
}

}  // namespace

bool takes_all(khop_params const& params) { return std::ranges::find(params.fanouts, -1) != params.fanouts.end(); }

tree_output::tree_output(khop_params const& params, std::int64_t num_roots, bool with_edges, gpu_exec const& exec)
    : params_(params), with_edges_(with_edges), exec_(exec)
{
  trees_.num_roots = num_roots;
  trees_.hops.reserve(params.fanouts.size());
  if (takes_all(params)) { expect_numbers(0, num_roots); }
  add_hops(num_roots);
}

void tree_output::set_size(std::int64_t slots)
{
  expect_numbers(trees_.hops.size(), slots);
  make_room(trees_.hops.back(), slots);
  add_hops(slots);
}

void tree_output::add_hops(std::int64_t slots)
{
  bool const is_numbered = takes_all(params_);
  while (trees_.hops.size() < params_.fanouts.size()) {
    std::int64_t const fanout = params_.fanouts[trees_.hops.size()];
    tree_hop& hop = trees_.hops.emplace_back();
    hop.fanout = fanout;
    if (fanout == -1) {
      hop.offsets = buffer<std::int64_t>(slots + 1, memory_of(exec_));
      return;
    }
    slots = checked_product("slots of a hop", slots, fanout);
    if (is_numbered) { expect_numbers(trees_.hops.size(), slots); }
    make_room(hop, slots);
  }
}

void tree_output::make_room(tree_hop& hop, std::int64_t slots) const
{
  hop.vertices = buffer<vertex_id>(slots, memory_of(exec_));
  if (with_edges_) { hop.edges = buffer<edge_id>(slots, memory_of(exec_)); }
}

void tree_output::wait_on(cuda_stream stream) const
{
  gpu_event const ready(exec_);
  ready.wait_on(stream);
}

}  // namespace tendril::gpu
