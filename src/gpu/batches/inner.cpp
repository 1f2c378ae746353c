// Induced subgraphs of a group of mini-batches, behind its launches: lists of all vertices, counts, a look at the sizes,
// and the edges into memory that fits them.

#include <algorithm>

#include <cuda_runtime_api.h>

#include <tendril/checked.hpp>

#include "gpu/batches/induce.hpp"
#include "gpu/batches/run.hpp"
#include "gpu/device/check.hpp"

namespace tendril::gpu {
namespace {

std::size_t index_of(std::int32_t type) { return static_cast<std::size_t>(type); }

}  // namespace

/// Everything about one edge type but what only the sizes tell.
struct batch_run::inner {
  inner_job job;
  buffer<std::int64_t> segments, hits, totals;
};

void batch_run::enqueue_induced()
{
  std::int64_t const num_batches = input_.num_batches;
  for (std::size_t type = 0; type < plan_.num_types(); ++type) {
    list_job job;
    job.view = view();
    job.type = static_cast<std::int32_t>(type);
    job.num_batches = num_batches;
    job.to = column(hop_begin_.back()[type]);
    job.begin = column(columns_.list_begin(type));
    job.vertices = list_of(type, 0).vertices.data();
    job.group_of = list_of(type, 0).groups.data();
    job.most = ahead_.bounds.nodes(type).total;
    list_vertices(job, exec_);
  }
  std::vector<inner> all(plan_.edges.size());
  for (std::size_t t = 0; t < all.size(); ++t) { count_rows(t, all[t]); }
  std::vector<std::int64_t> sizes(all.size());
  auto const fetch = [&](std::int64_t const* from, std::int64_t* to, std::int64_t size) {
    TENDRIL_CUDA_TRY(
        cudaMemcpyAsync(to, from, static_cast<std::size_t>(size) * sizeof *to, cudaMemcpyDeviceToHost, exec_.stream));
  };
  for (std::size_t t = 0; t < all.size(); ++t) {
    fetch(all[t].segments.data() + all[t].job.most_vertices, &sizes[t], 1);
  }
  TENDRIL_CUDA_TRY(cudaStreamSynchronize(exec_.stream));
  auto const num_totals = static_cast<std::size_t>(checked_product("edges of batches", all.size(), num_batches));
  std::vector<std::int64_t> totals(num_totals);
  for (std::size_t t = 0; t < all.size(); ++t) {
    count_edges(sizes[t], all[t]);
    fetch(all[t].totals.data(), totals.data() + t * static_cast<std::size_t>(num_batches), num_batches);
  }
  TENDRIL_CUDA_TRY(cudaStreamSynchronize(exec_.stream));
  induced_.assign(num_totals, {});
  for (std::size_t t = 0; t < all.size(); ++t) {
    write_edges(t, all[t], totals.data() + t * static_cast<std::size_t>(num_batches));
  }
}

/// Where each vertex's row is cut.
void batch_run::count_rows(std::size_t t, inner& of) const
{
  edge_plan const& type = plan_.edges[t];
  std::size_t const from = index_of(type.from);
  auto& list = list_of(from, 0);
  std::int64_t const* const begin = column(columns_.list_begin(from));
  of.job.view = view();
  of.job.table = table();
  of.job.graph = type.graph;
  of.job.groups = space_.groups.data();
  of.job.to = type.to;
  of.job.list = {list.vertices.data(), list.groups.data(), begin + input_.num_batches, begin};
  of.job.num_batches = input_.num_batches;
  of.job.most_vertices = ahead_.bounds.nodes(from).total;
  of.job.time_of = type.time_of.data();
  buffer<std::int64_t> counts(of.job.most_vertices, memory_of(exec_));
  of.segments = buffer<std::int64_t>(of.job.most_vertices + 1, memory_of(exec_));
  of.job.segments = of.segments.data();
  count_segments(of.job, counts.data(), exec_);
  make_offsets(counts.data(), of.job.most_vertices, of.segments.data(), exec_);
}

void batch_run::count_edges(std::int64_t segments, inner& of) const
{
  buffer<std::int64_t> counts(segments, memory_of(exec_));
  of.hits = buffer<std::int64_t>(segments + 1, memory_of(exec_));
  of.totals = buffer<std::int64_t>(input_.num_batches, memory_of(exec_));
  of.job.num_segments = segments;
  of.job.hits = of.hits.data();
  count_inner(of.job, counts.data(), exec_);
  make_offsets(counts.data(), segments, of.hits.data(), exec_);
  sum_inner(of.job, of.totals.data(), exec_);
}

/// @param totals  Edges of each batch.
void batch_run::write_edges(std::size_t t, inner const& of, std::int64_t const* totals)
{
  std::size_t const from = index_of(plan_.edges[t].from);
  std::int64_t edges = 0;
  std::int64_t vertices = 0;
  for (std::int64_t b = 0; b < input_.num_batches; ++b) {
    edges += totals[b];
    vertices += known_at(plan_.num_hops, from, b);
  }
  // Bad seeds leave a report that is refused later, and counts that are right.
  std::int64_t const indptr = vertices + input_.num_batches;
  auto const memory = std::make_shared<buffer<std::int64_t>>(3 * edges + indptr, memory_of(exec_));
  edge_call out;
  out.indptr = memory->data();
  out.row = out.indptr + indptr;
  out.col = out.row + edges;
  out.edge = out.col + edges;
  write_inner(of.job, out, exec_);
  std::int64_t before = 0;
  std::int64_t before_indptr = 0;
  for (std::int64_t b = 0; b < input_.num_batches; ++b) {
    auto& batch = induced_[static_cast<std::size_t>(b) * plan_.edges.size() + t];
    auto const size = static_cast<std::size_t>(totals[b]);
    std::int64_t const num_vertices = known_at(plan_.num_hops, from, b);
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
