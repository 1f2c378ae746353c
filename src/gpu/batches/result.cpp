// What a group of mini-batches has become: counts from the report, arrays as parts of the group's memory.

#include <numeric>

#include <cuda_runtime_api.h>

#include "gpu/batches/run.hpp"
#include "gpu/device/check.hpp"
#include "gpu/device/copy_value.hpp"

namespace tendril::gpu {
namespace {

std::size_t index_of(std::int32_t type) { return static_cast<std::size_t>(type); }

}  // namespace

std::int64_t batch_run::reported(std::int64_t column_offset, std::int64_t batch) const
{
  return static_cast<std::int64_t>(space_.host_blocks[slot_][call_words_ + 2 * status_words + column_offset + batch]);
}

/// Vertices of a type at the begin of a hop; the last hop has one behind it.
std::int64_t batch_run::known_at(std::size_t hop, std::size_t type, std::int64_t batch) const
{
  return reported(hop_begin_[hop][type], batch);
}

void batch_run::refuse_bad_seed(hetero_graph const& graph, std::int64_t first_seed) const
{
  unsigned long long const bad = space_.host_blocks[slot_][call_words_ + status_words];
  if (bad == ~0ULL) { return; }
  auto place = static_cast<std::int64_t>(bad);
  for (std::size_t type = 0; type < input_.seeds.size(); ++type) {
    std::int64_t const size = std::ssize(input_.seeds[type]);
    if (place < size) {
      samplers::refuse_seed(graph, static_cast<std::int32_t>(type), first_seed + place,
                            value_at(input_.seeds[type].data() + place, exec_));
    }
    place -= size;
  }
}

minibatch_vertices batch_run::vertices_of(std::size_t type, std::int64_t batch) const
{
  minibatch_vertices out;
  out.num_sampled.push_back(known_at(0, type, batch));
  for (std::size_t hop = 0; hop < plan_.num_hops; ++hop) {
    out.num_sampled.push_back(known_at(hop + 1, type, batch) - known_at(hop, type, batch));
  }
  std::int64_t const size = known_at(plan_.num_hops, type, batch);
  out.node = slab_.node(type, batch, size);
  if (plan_.disjoint) { out.batch = slab_.batch(type, batch, size); }
  return out;
}

/// Only what is counted of each hop.
minibatch_edges batch_run::counts_of(std::size_t t, std::int64_t batch) const
{
  minibatch_edges out;
  std::size_t const from = index_of(plan_.edges[t].from);
  std::int64_t edges = 0;
  for (std::size_t hop = 0; hop < plan_.num_hops; ++hop) {
    std::int64_t const after = reported(columns_.edges_after(launch_of(hop, t)), batch);
    out.num_sampled.push_back(after - edges);
    edges = after;
    if (plan_.subgraph != subgraph_type::directional) { continue; }
    std::int64_t const first = plan_.all || hop == 0 ? 0 : known_at(hop - 1, from, batch);
    std::int64_t const count = known_at(hop, from, batch) - first;
    out.first_expanded.push_back(first);
    out.num_expanded.push_back(count);
  }
  return out;
}

minibatch_edges batch_run::edges_of(std::size_t t, std::int64_t batch) const
{
  minibatch_edges out = counts_of(t, batch);
  if (plan_.subgraph == subgraph_type::induced) {
    minibatch_edges induced = induced_[static_cast<std::size_t>(batch) * plan_.edges.size() + t];
    induced.num_sampled = std::move(out.num_sampled);
    return induced;
  }
  std::int64_t edges = std::accumulate(out.num_sampled.begin(), out.num_sampled.end(), std::int64_t{0});
  if (plan_.subgraph == subgraph_type::bidirectional) {
    edges *= 2;
  } else {
    std::int64_t const expanded = std::accumulate(out.num_expanded.begin(), out.num_expanded.end(), std::int64_t{0});
    out.indptr = slab_.of_edges(t, 3, batch, expanded + 1);
  }
  out.row = slab_.of_edges(t, 0, batch, edges);
  out.col = slab_.of_edges(t, 1, batch, edges);
  out.edge = slab_.of_edges(t, 2, batch, edges);
  return out;
}

/// What is expected of the next group. @throws more_than_expected if too little was of this one.
void batch_run::learn_sizes()
{
  bool const too_little = space_.host_blocks[slot_][call_words_ + status_words + 1] != 0;
  space_.expected.end_group(too_little);
  if (too_little) { throw more_than_expected{}; }
  if (!plan_.is_made_as_expected()) { return; }
  std::int64_t vertices = 0;
  for (std::int64_t b = 0; b < input_.num_batches; ++b) {
    for (std::size_t type = 0; type < plan_.num_types(); ++type) {
      std::int64_t const size = known_at(plan_.num_hops, type, b);
      space_.expected.learn(size_index::nodes(type), size, exact_.nodes(type).each);
      vertices += size;
    }
    for (std::size_t t = 0; t < plan_.edges.size(); ++t) {
      minibatch_edges const counts = counts_of(t, b);
      auto const sum = [](std::vector<std::int64_t> const& of) {
        return std::accumulate(of.begin(), of.end(), std::int64_t{0});
      };
      std::size_t const of_edges = size_index::edges(plan_, t);
      space_.expected.learn(of_edges, sum(counts.num_sampled), exact_.edges(t).each);
      space_.expected.learn(of_edges + 1, sum(counts.num_expanded), exact_.expanded(t).each);
    }
  }
  space_.expected.learn(size_index::table, vertices, ahead_.bounds.all_nodes());
}

void batch_run::finish(hetero_graph const& graph, std::int64_t first_seed, std::vector<minibatch>& out)
{
  refuse_bad_seed(graph, first_seed);
  learn_sizes();
  std::vector<minibatch> made(static_cast<std::size_t>(input_.num_batches));
  std::int64_t bytes = slab_.num_bytes();
  for (std::int64_t b = 0; b < input_.num_batches; ++b) {
    auto& batch = made[static_cast<std::size_t>(b)];
    for (std::size_t type = 0; type < plan_.num_types(); ++type) { batch.vertices.push_back(vertices_of(type, b)); }
    for (std::size_t t = 0; t < plan_.edges.size(); ++t) { batch.edges.push_back(edges_of(t, b)); }
  }
  // Induced edges have memory of their own size, which doesn't count as idle.
  for (auto const& edges : induced_) { bytes += 8 * (3 * edges.row.size() + edges.indptr.size()); }
  fit_memory(made, bytes, exec_);
  std::move(made.begin(), made.end(), std::back_inserter(out));
}

}  // namespace tendril::gpu
