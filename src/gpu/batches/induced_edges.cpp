#include "gpu/batches/induced_edges.hpp"

#include <algorithm>

#include <cuda_runtime_api.h>

#include <tendril/checked.hpp>

#include "gpu/device/check.hpp"

namespace tendril::gpu {
namespace {

std::size_t index_of(std::int32_t type) { return static_cast<std::size_t>(type); }

}  // namespace

std::vector<minibatch_edges> induced_edges::enqueue()
{
  std::int64_t const num_batches = input_.num_batches;
  for (std::size_t type = 0; type < plan_.num_types(); ++type) {
    list_job job;
    job.view = block_.view();
    job.type = static_cast<std::int32_t>(type);
    job.num_batches = num_batches;
    job.to = block_.column(block_.hop_begin(plan_.num_hops, type));
    job.begin = block_.column(columns_.list_begin(type));
    job.vertices = memory_.list_of(type, 0).vertices.data();
    job.group_of = memory_.list_of(type, 0).groups.data();
    job.most = memory_.sizes.ahead.bounds.nodes(type).total;
    list_vertices(job, memory_.exec);
  }
  std::vector<one_type> all(plan_.edges.size());
  for (std::size_t t = 0; t < all.size(); ++t) { count_rows(t, all[t]); }
  std::vector<std::int64_t> sizes(all.size());
  auto const fetch = [&](std::int64_t const* from, std::int64_t* to, std::int64_t size) {
    TENDRIL_CUDA_TRY(cudaMemcpyAsync(to, from, static_cast<std::size_t>(size) * sizeof *to, cudaMemcpyDeviceToHost,
                                     memory_.exec.stream));
  };
  for (std::size_t t = 0; t < all.size(); ++t) {
    fetch(all[t].segments.data() + all[t].job.most_vertices, &sizes[t], 1);
  }
  TENDRIL_CUDA_TRY(cudaStreamSynchronize(memory_.exec.stream));
  auto const num_totals = static_cast<std::size_t>(checked_product("edges of batches", all.size(), num_batches));
  std::vector<std::int64_t> totals(num_totals);
  for (std::size_t t = 0; t < all.size(); ++t) {
    count_edges(sizes[t], all[t]);
    fetch(all[t].totals.data(), totals.data() + t * static_cast<std::size_t>(num_batches), num_batches);
  }
  TENDRIL_CUDA_TRY(cudaStreamSynchronize(memory_.exec.stream));
  made_.assign(num_totals, {});
  for (std::size_t t = 0; t < all.size(); ++t) {
    write_edges(t, all[t], totals.data() + t * static_cast<std::size_t>(num_batches));
  }
  return std::move(made_);
}

/// Where each vertex's row is cut.
void induced_edges::count_rows(std::size_t t, one_type& type) const
{
  edge_plan const& edges = plan_.edges[t];
  std::size_t const from = index_of(edges.from);
  auto& list = memory_.list_of(from, 0);
  std::int64_t const* const begin = block_.column(columns_.list_begin(from));
  type.job.view = block_.view();
  type.job.table = memory_.table();
  type.job.graph = edges.graph;
  type.job.groups = space_.groups.data();
  type.job.to = edges.to;
  type.job.list = {list.vertices.data(), list.groups.data(), begin + input_.num_batches, begin};
  type.job.num_batches = input_.num_batches;
  type.job.most_vertices = memory_.sizes.ahead.bounds.nodes(from).total;
  type.job.time_of = edges.time_of.data();
  buffer<std::int64_t> counts(type.job.most_vertices, memory_of(memory_.exec));
  type.segments = buffer<std::int64_t>(type.job.most_vertices + 1, memory_of(memory_.exec));
  type.job.segments = type.segments.data();
  count_segments(type.job, counts.data(), memory_.exec);
  make_offsets(counts.data(), type.job.most_vertices, type.segments.data(), memory_.exec);
}

void induced_edges::count_edges(std::int64_t segments, one_type& type) const
{
  buffer<std::int64_t> counts(segments, memory_of(memory_.exec));
  type.hits = buffer<std::int64_t>(segments + 1, memory_of(memory_.exec));
  type.totals = buffer<std::int64_t>(input_.num_batches, memory_of(memory_.exec));
  type.job.num_segments = segments;
  type.job.hits = type.hits.data();
  count_inner(type.job, counts.data(), memory_.exec);
  make_offsets(counts.data(), segments, type.hits.data(), memory_.exec);
  sum_inner(type.job, type.totals.data(), memory_.exec);
}

/// @param totals  Edges of each batch.
void induced_edges::write_edges(std::size_t t, one_type const& type, std::int64_t const* totals)
{
  std::size_t const from = index_of(plan_.edges[t].from);
  std::int64_t edges = 0;
  std::int64_t vertices = 0;
  for (std::int64_t b = 0; b < input_.num_batches; ++b) {
    edges += totals[b];
    vertices += block_.reported_known(plan_.num_hops, from, b);
  }
  // Bad seeds leave a report that is refused later, and counts that are right.
  std::int64_t const indptr = vertices + input_.num_batches;
  auto const memory = std::make_shared<buffer<std::int64_t>>(3 * edges + indptr, memory_of(memory_.exec));
  edge_call out;
  out.indptr = memory->data();
  out.row = out.indptr + indptr;
  out.col = out.row + edges;
  out.edge = out.col + edges;
  write_inner(type.job, out, memory_.exec);
  std::int64_t before = 0;
  std::int64_t before_indptr = 0;
  for (std::int64_t b = 0; b < input_.num_batches; ++b) {
    auto& batch = made_[static_cast<std::size_t>(b) * plan_.edges.size() + t];
    auto const size = static_cast<std::size_t>(totals[b]);
    std::int64_t const num_vertices = block_.reported_known(plan_.num_hops, from, b);
    batch.row = shared_array<std::int64_t>({out.row + before, size}, memory);
    batch.col = shared_array<std::int64_t>({out.col + before, size}, memory);
    batch.edge = shared_array<edge_id>({out.edge + before, size}, memory);
    batch.indptr =
        shared_array<std::int64_t>({out.indptr + before_indptr, static_cast<std::size_t>(num_vertices) + 1}, memory);
    batch.first_expanded = {0};
    batch.num_expanded = {num_vertices};
    before += totals[b];
    before_indptr += num_vertices + 1;
  }
}

}  // namespace tendril::gpu
