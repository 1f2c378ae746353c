#include "gpu/batches/induced_edges.hpp"

#include <algorithm>
#include <memory>
#include <numeric>
#include <utility>

#include <cuda_runtime_api.h>

#include <tendril/checked.hpp>

#include "gpu/device/check.hpp"

namespace tendril::gpu {
namespace {

std::size_t index_of(std::int32_t type) { return static_cast<std::size_t>(type); }

}  // namespace

list_job all_of(run_memory const& memory, std::size_t type)
{
  call_block const& block = memory.block;
  list_job job;
  job.view = block.view();
  job.type = static_cast<std::int32_t>(type);
  job.num_batches = memory.input.num_batches;
  job.to = block.column(block.hop_begin(memory.plan.num_hops, type));
  job.begin = block.column(block.columns().list_begin(type));
  job.vertices = memory.list_of(type, 0).vertices.data();
  job.group_of = memory.list_of(type, 0).groups.data();
  job.most = memory.sizes.ahead.bounds.nodes(type).total;
  return job;
}

std::vector<minibatch_edges> induced_edges::enqueue()
{
  std::int64_t const num_batches = input_.num_batches;
  for (std::size_t type = 0; type < plan_.num_types(); ++type) { list_vertices(all_of(memory_, type), memory_.exec); }
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
    auto const size = static_cast<std::size_t>(num_batches);
    write_edges(t, all[t], std::span(totals).subspan(t * size, size));
  }
  return std::move(made_);
}

/// Where each vertex's row is cut.
void induced_edges::count_rows(std::size_t t, one_type& type) const
{
  edge_plan const& edges = plan_.edges[t];
  std::size_t const from = index_of(edges.from);
  list_job const list = all_of(memory_, from);
  type.job.first_stamp = &block_.view().call->first_stamp;
  type.job.num_types = block_.view().num_types;
  type.job.table = memory_.table();
  type.job.graph = edges.graph;
  type.job.groups = space_.groups.data();
  type.job.to = edges.to;
  type.list = list.list();
  type.job.vertices = type.list.vertices;
  type.job.group_of = type.list.group_of;
  type.job.num = type.list.num;
  type.job.most_vertices = list.most;
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
  sum_inner(type.job.places(), type.list.begin, input_.num_batches, type.totals.data(), memory_.exec);
}

/// @param totals  Edges of each batch.
void induced_edges::write_edges(std::size_t t, one_type const& type, std::span<std::int64_t const> totals)
{
  std::size_t const from = index_of(plan_.edges[t].from);
  // Bad seeds leave a report that is refused later, and counts that are right.
  std::vector<std::int64_t> num_vertices;
  for (std::int64_t b = 0; b < input_.num_batches; ++b) {
    num_vertices.push_back(block_.reported_known(plan_.num_hops, from, b));
  }
  inner_room room = inner_room::of(totals, num_vertices, memory_.exec);
  write_inner_indptr(type.job.places(), type.list, input_.num_batches, type.job.most_vertices, room.out.indptr,
                     memory_.exec);
  write_inner(type.job, type.list.begin, input_.num_batches, room.out, memory_.exec);
  for (std::size_t b = 0; b < room.batches.size(); ++b) {
    made_[b * plan_.edges.size() + t] = std::move(room.batches[b]);
  }
}

inner_room inner_room::of(std::span<std::int64_t const> totals, std::span<std::int64_t const> num_vertices,
                          gpu_exec const& exec)
{
  std::int64_t const edges = std::accumulate(totals.begin(), totals.end(), std::int64_t{0});
  std::int64_t const vertices = std::accumulate(num_vertices.begin(), num_vertices.end(), std::int64_t{0});
  std::int64_t const indptr = vertices + std::ssize(totals);
  auto const memory = std::make_shared<buffer<std::int64_t>>(3 * edges + indptr, memory_of(exec));
  inner_room made;
  edge_call& out = made.out;
  out.indptr = memory->data();
  out.row = out.indptr + indptr;
  out.col = out.row + edges;
  out.edge = out.col + edges;
  std::int64_t before = 0;
  std::int64_t before_indptr = 0;
  for (std::size_t b = 0; b < totals.size(); ++b) {
    minibatch_edges& batch = made.batches.emplace_back();
    auto const size = static_cast<std::size_t>(totals[b]);
    batch.row = shared_array<std::int64_t>({out.row + before, size}, memory);
    batch.col = shared_array<std::int64_t>({out.col + before, size}, memory);
    batch.edge = shared_array<edge_id>({out.edge + before, size}, memory);
    batch.indptr =
        shared_array<std::int64_t>({out.indptr + before_indptr, static_cast<std::size_t>(num_vertices[b]) + 1}, memory);
    batch.first_expanded = {0};
    batch.num_expanded = {num_vertices[b]};
    before += totals[b];
    before_indptr += num_vertices[b] + 1;
  }
  return made;
}

}  // namespace tendril::gpu
