#include "walk_batches.hpp"

#include <algorithm>
#include <limits>
#include <memory>

#include <fmt/format.h>

#include <tendril/error.hpp>
#include <tendril/multidim.hpp>
#include <tendril/walk.hpp>

namespace tendril::cli {
namespace {

constexpr std::int64_t batch_bytes = std::int64_t{64} << 20;  // of vertices: large against any per-batch cost

std::int64_t batch_capacity(std::int64_t row, std::int64_t num_walks)
{
  return std::clamp<std::int64_t>(batch_bytes / 4 / row, 1, std::max<std::int64_t>(num_walks, 1));
}

/// @throws argument_error if the walks can't be counted.
std::int64_t count_walks(std::int64_t num_starts, std::int64_t walks_each)
{
  if (num_starts > 0 && walks_each > std::numeric_limits<std::int64_t>::max() / num_starts) {
    throw argument_error(
        fmt::format("--walks: {} from each of {} starts, expected less than 2^63 walks", walks_each, num_starts));
  }
  return num_starts * walks_each;
}

/// Which walk starts where: walk i from start i / walks_each.
struct start_list {
  std::optional<buffer<vertex_id>> vertices;  // nothing: every vertex of the graph
  std::int64_t walks_each = 1;

  void fill(std::int64_t first, std::span<vertex_id> starts) const
  {
    for (std::size_t i = 0; i < starts.size(); ++i) {
      std::int64_t const start = (first + static_cast<std::int64_t>(i)) / walks_each;
      starts[i] = vertices ? (*vertices)[start] : static_cast<vertex_id>(start);
    }
  }
};

}  // namespace

walk_batches plain_walks(walk_job const& job, graph const& g, cpu_exec const& exec)
{
  walk_params const params = job.params(g);
  struct state {
    start_list starts;
    walker walks;
    buffer<vertex_id> from;
  };
  start_list starts{job.starts(g, exec), job.walks_each()};
  walk_batches out;
  out.num_walks = count_walks(starts.vertices ? starts.vertices->size() : g.num_vertices(), starts.walks_each);
  out.length = params.length;
  walker walks(g, params, out.num_walks, exec);  // checks the length too
  out.row = params.length + 1;
  out.capacity = batch_capacity(out.row, out.num_walks);
  out.plan = walks.plan();
  out.description = fmt::format("{} ({})", describe(job.app, params), to_string(out.plan->rule));
  out.params = params_json(params);
  out.metadata = {{"rule", std::string(to_string(out.plan->rule))}};
  auto const s = std::make_shared<state>(std::move(starts), std::move(walks), buffer<vertex_id>(out.capacity));
  out.make = [s, row = out.row, capacity = out.capacity, first_walk = job.first_walk](
                 std::int64_t first, std::int64_t size, walk_batch& batch, cpu_exec const& walking) {
    if (batch.vertices.empty()) {
      batch.vertices = buffer<vertex_id>(capacity * row);
      batch.lengths = buffer<std::int32_t>(capacity);
    }
    auto const from = s->from.span().first(static_cast<std::size_t>(size));
    s->starts.fill(first, from);
    s->walks.run_into(from, first_walk + first, batch.vertices.data(), batch.lengths.data(), walking);
  };
  return out;
}

walk_batches multidim_walks_of(walk_job const& job, graph const& g, cpu_exec const& exec)
{
  multidim_params const params = job.multidim();
  std::int64_t const m = job.num_roots();
  std::int64_t const walks_each = job.walks_each();
  (void)multidim_walk(g, {}, m, params, exec);  // checks the parameters before roots are read
  struct state {
    buffer<vertex_id> sets, from;
  };
  auto const s = std::make_shared<state>();
  s->sets = job.root_sets(g, exec);
  walk_batches out;
  out.num_walks = count_walks(s->sets.size() / m, walks_each);
  out.length = params.length;
  out.row = m + params.length;
  out.capacity = batch_capacity(out.row, out.num_walks);
  s->from = buffer<vertex_id>(out.capacity * m);
  out.description = describe(params, m);
  out.params = params_json(params, m);
  out.metadata = {{"num_roots", std::to_string(m)}};
  out.make = [s, g, m, walks_each, params, first_walk = job.first_walk](std::int64_t first, std::int64_t size,
                                                                        walk_batch& batch, cpu_exec const& walking) {
    for (std::int64_t i = 0; i < size; ++i) {
      std::copy_n(s->sets.data() + (first + i) / walks_each * m, m, s->from.data() + i * m);
    }
    auto const from = s->from.span().first(static_cast<std::size_t>(size * m));
    auto made = multidim_walk(g, from, m, params, walking, first_walk + first);
    batch = {std::move(made.vertices), std::move(made.lengths)};
  };
  return out;
}

}  // namespace tendril::cli
