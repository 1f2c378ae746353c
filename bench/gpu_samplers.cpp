#include "bench/gpu_samplers.hpp"

#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include <tendril/gpu.hpp>
#include <tendril/gpu_array.hpp>
#include <tendril/starts.hpp>

#include "base/parallel.hpp"  // parallel_ranges
#include "bench/gpu_ceilings.hpp"
#include "bench/measure.hpp"
#include "core/random.hpp"
#include "gpu/device/workspace.hpp"
#include "gpu/walks/scan_walk.hpp"

namespace tendril::bench {
namespace {

constexpr std::int64_t num_edges = std::int64_t{1} << 27U;  // 512 MB of weights: ten times the second-level cache
constexpr std::int64_t weights_a_run = std::int64_t{1} << 34U;
constexpr char reading[] = "weights, read once";

/// Every vertex has `degree` neighbours, spread evenly over all vertices, with weights U[1, 5).
graph make_lists(std::int64_t degree, options const& o)
{
  std::int64_t const num_vertices = num_edges / degree;
  buffer<edge_id> indptr(num_vertices + 1);
  buffer<vertex_id> indices(num_edges);
  buffer<float> weights(num_edges);
  for (std::int64_t v = 0; v <= num_vertices; ++v) { indptr[v] = v * degree; }
  rng_key const key = core::make_key(1, core::domain::generator_weights);
  base::parallel_ranges(o.exec, num_vertices, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t v = begin; v < end; ++v) {
      for (std::int64_t i = 0; i < degree; ++i) {
        std::int64_t const e = v * degree + i;
        indices[e] = static_cast<vertex_id>(i * num_vertices / degree);
        auto const bits = core::draw_block(key, static_cast<std::uint64_t>(e), 0, 0).low();
        weights[e] = static_cast<float>(1 + 4 * core::unit_interval(bits));
      }
    }
  });
  graph_arrays arrays;
  arrays.indptr = std::move(indptr);
  arrays.indices = std::move(indices);
  arrays.weights = std::move(weights);
  return to_gpu(graph(std::move(arrays)), gpu_exec(*o.gpu));
}

/// What the jobs of one list length share.
struct bed {
  gpu_exec gpu;
  std::int64_t degree, length, num_walks;
  graph g;
  buffer<vertex_id> starts, rows;
  gpu::workspace space;

  bed(options const& o, std::int64_t list_degree)
      : gpu(*o.gpu),
        degree(list_degree),
        length(degree > 10'000 ? 8 : 40),
        num_walks(std::clamp<std::int64_t>(weights_a_run / degree / length, 1'000, 1'000'000)),
        g(make_lists(degree, o)),
        starts(copy_to_gpu(random_vertices(g.num_vertices(), num_walks, 1).span(), gpu)),
        rows(num_walks * (length + 1), memory_of(gpu))
  {
  }

  /// Seconds of all walks by `enqueue(job, batch, shape)`.
  template <class Enqueue>
  double seconds(Enqueue enqueue)
  {
    gpu::walk_job job;
    job.graph = g.view();
    job.rule = sampling_rule::scan;
    job.weighted = true;
    job.step_key = core::make_key(0, core::domain::first_order_walk);
    space.reset(gpu.stream);
    gpu::walk_batch const batch{.starts = starts.data(),
                                .size = num_walks,
                                .first_walk = 0,
                                .num_vertices = g.num_vertices(),
                                .length = static_cast<std::int32_t>(length),
                                .repeat_dead_ends = false,
                                .prefilled = false,
                                .vertices = rows.data(),
                                .lengths = nullptr,
                                .next_walk = space.next_walk(),
                                .status = space.status()};
    gpu::walk_shape shape{};
    shape.device = gpu.device;
    shape.stream = gpu.stream;
    synchronize(gpu);
    return seconds_of([&] {
      enqueue(job, batch, shape);
      synchronize(gpu);
    });
  }
};

}  // namespace

std::vector<row> run_samplers(options const& o)
{
  std::vector<row> rows;
  for (std::int64_t const degree : {64, 256, 1024, 4096, 16384, 262144}) {
    auto const b = std::make_shared<bed>(o, degree);
    session s(fmt::format("lists of {}", degree), o.repeats);
    s.add(reading, "4 bytes each", "weights/s", "",
          [b] { return gpu_sequential_read(std::int64_t{4} << 30, b->gpu) / 4; });
    auto const add = [&](char const* name, auto enqueue) {
      s.add(name, fmt::format("{} walks of {} steps", b->num_walks, b->length), "weights/s", reading,
            [b, enqueue] { return static_cast<double>(b->num_walks * b->length * b->degree) / b->seconds(enqueue); });
    };
    add("race", [](auto const& job, auto const& batch, auto const& shape) { gpu::scan_walk(job, batch, shape); });
    for (auto const& [name, sampler] : {std::pair{"direct reservoir (DPRS)", gpu::comparison::direct_reservoir},
                                        std::pair{"zig-zag reservoir (ZPRS)", gpu::comparison::zigzag_reservoir},
                                        std::pair{"exponential jumps (A-ExpJ)", gpu::comparison::exponential_jumps}}) {
      add(name, [which = sampler](auto const& job, auto const& batch, auto const& shape) {
        gpu::comparison_walk(which, job, batch, shape);
      });
    }
    auto part = s.run();
    rows.insert(rows.end(), part.begin(), part.end());
  }
  return rows;
}

}  // namespace tendril::bench
