#include "gpu/walks/shared_walk.hpp"

#include <algorithm>

#include "gpu/placed/shared_graph.hpp"
#include "plan/planner.hpp"  // is_second_order

namespace tendril::gpu {
namespace {

job_kind kind_of(walk_params const& params, std::int64_t length, walk_order order)
{
  job_kind kind{1,
                static_cast<std::uint64_t>(length),
                static_cast<std::uint64_t>(params.rule),
                params.weighted ? 1U : 0U,
                plan::is_second_order(params) ? 1U : 0U,
                params.metapath.size(),
                static_cast<std::uint64_t>(order)};
  for (double const number : {params.stop_prob, params.restart_prob, params.p, params.q}) { kind.add(number); }
  return kind;
}

/// Reads of neighbours of a walk, about.
double reads_of(walk_params const& params, std::int64_t length)
{
  auto const steps = static_cast<double>(length);
  return params.stop_prob > 0 ? std::min(steps, 1 / params.stop_prob) : steps;
}

/// [size, row] to [row, size].
void transpose(vertex_id const* from, std::int64_t size, std::int64_t row, vertex_id* to)
{
  constexpr std::int64_t tile = 16;
  for (std::int64_t first = 0; first < size; first += tile) {
    std::int64_t const last = std::min(first + tile, size);
    for (std::int64_t t = 0; t < row; ++t) {
      for (std::int64_t i = first; i < last; ++i) { to[t * size + i] = from[i * row + t]; }
    }
  }
}

}  // namespace

void share_walks(graph const& graph, walker const& on_host, std::span<vertex_id const> starts, std::int64_t first_walk,
                 walk_result const& out, walk_maker const& on_gpu, walk_regions const* regions, gpu_exec const& exec)
{
  std::int64_t const row = out.length + 1;
  bool const by_steps = out.order == walk_order::step_major;
  auto const part_of = [&](base::item_range turn) {
    return starts.subspan(static_cast<std::size_t>(turn.first), static_cast<std::size_t>(turn.size));
  };
  auto const lengths_of = [&](base::item_range turn) {
    return out.lengths == nullptr ? nullptr : out.lengths + turn.first;
  };
  shared_job job;
  job.num_items = out.num_walks;
  job.reads = reads_of(on_host.params(), out.length);
  job.item_bytes = row * static_cast<std::int64_t>(sizeof(vertex_id));
  job.kind = kind_of(on_host.params(), out.length, out.order);
  if (regions != nullptr) { job.bulk = {regions->passing_seconds(), regions->least_walks}; }
  job.on_gpu = [&](base::item_range turn) {
    on_gpu(part_of(turn), first_walk + turn.first,
           {out.vertices + turn.first * (by_steps ? 1 : row), lengths_of(turn), turn.size, out.length, out.order,
            out.stride});
  };
  job.on_cpu = [&](base::item_range turn, int, lane& mine) {
    auto const here = mine.fetch(part_of(turn));
    auto const vertices = mine.take<vertex_id>(turn.size * row);
    auto const lengths = mine.take<std::int32_t>(turn.size);
    on_host.run_into(here, first_walk + turn.first, vertices.data(), lengths.data(), cpu_exec{.num_threads = 1});
    if (by_steps) {
      auto const steps = mine.take<vertex_id>(turn.size * row);
      transpose(vertices.data(), turn.size, row, steps.data());
      mine.copy_rows(out.vertices + turn.first, out.stride, steps.data(), turn.size, row);
    } else {
      mine.copy(out.vertices + turn.first * row, vertices.data(), turn.size * row);
    }
    if (out.lengths != nullptr) { mine.copy(out.lengths + turn.first, lengths.data(), turn.size); }
  };
  work_together(graph, job, exec);
}

}  // namespace tendril::gpu
