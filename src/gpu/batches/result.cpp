#include "gpu/batches/result.hpp"

#include <iterator>
#include <numeric>
#include <utility>

#include <cuda_runtime_api.h>

#include "gpu/device/check.hpp"
#include "gpu/device/copy_value.hpp"

namespace tendril::gpu {
namespace {

std::size_t index_of(std::int32_t type) { return static_cast<std::size_t>(type); }

}  // namespace

void run_result::refuse_bad_seed(hetero_graph const& graph, std::int64_t first_seed) const
{
  unsigned long long const bad = block_.reported_bad_seed();
  if (bad == ~0ULL) { return; }
  auto place = static_cast<std::int64_t>(bad);
  for (std::size_t type = 0; type < input_.seeds.size(); ++type) {
    std::int64_t const size = std::ssize(input_.seeds[type]);
    if (place < size) {
      samplers::refuse_seed(graph, static_cast<std::int32_t>(type), first_seed + place,
                            value_at(input_.seeds[type].data() + place, memory_.exec));
    }
    place -= size;
  }
}

minibatch_vertices run_result::vertices_of(std::size_t type, std::int64_t batch) const
{
  minibatch_vertices out;
  out.num_sampled.push_back(block_.reported_known(0, type, batch));
  for (std::size_t hop = 0; hop < plan_.num_hops; ++hop) {
    out.num_sampled.push_back(block_.reported_known(hop + 1, type, batch) - block_.reported_known(hop, type, batch));
  }
  std::int64_t const size = block_.reported_known(plan_.num_hops, type, batch);
  out.node = memory_.output.node(type, batch, size);
  if (plan_.disjoint) { out.batch = memory_.output.batch(type, batch, size); }
  return out;
}

/// Only what is counted of each hop.
minibatch_edges run_result::counts_of(std::size_t t, std::int64_t batch) const
{
  minibatch_edges out;
  std::size_t const from = index_of(plan_.edges[t].from);
  std::int64_t edges = 0;
  for (std::size_t hop = 0; hop < plan_.num_hops; ++hop) {
    std::int64_t const after = block_.reported(columns_.edges_after(plan_.launch_of(hop, t)), batch);
    out.num_sampled.push_back(after - edges);
    edges = after;
    if (plan_.subgraph != subgraph_type::directional) { continue; }
    std::int64_t const first = plan_.all || hop == 0 ? 0 : block_.reported_known(hop - 1, from, batch);
    std::int64_t const count = block_.reported_known(hop, from, batch) - first;
    out.first_expanded.push_back(first);
    out.num_expanded.push_back(count);
  }
  return out;
}

minibatch_edges run_result::edges_of(std::size_t t, std::int64_t batch) const
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
    out.indptr = memory_.output.of_edges(t, 3, batch, expanded + 1);
    out.weights = memory_.output.weights(t, batch, edges);  // empty but of LABOR
  }
  out.row = memory_.output.of_edges(t, 0, batch, edges);
  out.col = memory_.output.of_edges(t, 1, batch, edges);
  out.edge = memory_.output.of_edges(t, 2, batch, edges);
  return out;
}

/// What is expected of the next group. @throws more_than_expected if too little was of this one.
void run_result::learn_sizes() const
{
  bool const too_little = block_.reported_table_is_full();
  space_.expected.end_group(too_little);
  if (too_little) { throw more_than_expected{}; }
  if (!plan_.is_made_as_expected()) { return; }
  std::int64_t vertices = 0;
  for (std::int64_t b = 0; b < input_.num_batches; ++b) {
    for (std::size_t type = 0; type < plan_.num_types(); ++type) {
      std::int64_t const size = block_.reported_known(plan_.num_hops, type, b);
      space_.expected.learn(size_index::nodes(type), size, memory_.sizes.exact.nodes(type).each);
      vertices += size;
    }
    for (std::size_t t = 0; t < plan_.edges.size(); ++t) {
      minibatch_edges const counts = counts_of(t, b);
      auto const sum = [](std::vector<std::int64_t> const& of) {
        return std::accumulate(of.begin(), of.end(), std::int64_t{0});
      };
      std::size_t const of_edges = size_index::edges(plan_, t);
      space_.expected.learn(of_edges, sum(counts.num_sampled), memory_.sizes.exact.edges(t).each);
      space_.expected.learn(of_edges + 1, sum(counts.num_expanded), memory_.sizes.exact.expanded(t).each);
    }
  }
  space_.expected.learn(size_index::table, vertices, memory_.sizes.ahead.bounds.all_nodes());
}

std::vector<minibatch> run_result::made() const
{
  learn_sizes();
  std::vector<minibatch> out(static_cast<std::size_t>(input_.num_batches));
  for (std::int64_t b = 0; b < input_.num_batches; ++b) {
    auto& batch = out[static_cast<std::size_t>(b)];
    for (std::size_t type = 0; type < plan_.num_types(); ++type) { batch.vertices.push_back(vertices_of(type, b)); }
    for (std::size_t t = 0; t < plan_.edges.size(); ++t) { batch.edges.push_back(edges_of(t, b)); }
  }
  return out;
}

void run_result::finish(hetero_graph const& graph, std::int64_t first_seed, std::vector<minibatch>& out) const
{
  refuse_bad_seed(graph, first_seed);
  std::vector<minibatch> made = this->made();
  std::int64_t bytes = memory_.output.num_bytes();
  // Induced edges have memory of their own size, which doesn't count as idle.
  for (auto const& edges : induced_) { bytes += 8 * (3 * edges.row.size() + edges.indptr.size()); }
  fit_memory(made, bytes, memory_.exec);
  std::move(made.begin(), made.end(), std::back_inserter(out));
}

}  // namespace tendril::gpu
