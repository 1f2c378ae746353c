#include "bench/gpu_stream.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include <fmt/format.h>

#include <tendril/error.hpp>
#include <tendril/gpu.hpp>
#include <tendril/gpu_array.hpp>
#include <tendril/walk_stream.hpp>
#include <tendril/write_walks.hpp>

#include "bench/gpu_graphs.hpp"
#include "bench/measure.hpp"
#include "bench/report.hpp"
#include "bench/scratch_folder.hpp"

namespace tendril::bench {
namespace {

constexpr std::int64_t job_bytes = std::int64_t{4} << 30;
constexpr std::int64_t length = 80;
constexpr std::int64_t row_size = length + 1;

constexpr char walking[] = "walking";
constexpr char copying[] = "copying to the host";
constexpr char writing[] = "writing .npy";
constexpr char writing_wide[] = "writing .npy, int64";
constexpr char at_once[] = "walking, copying and writing at once";

/// A job, cut as stream_walks cuts it, and memory for one batch.
struct bed {
  gpu_exec gpu;
  cpu_exec cpu;
  graph g;
  walker walks;
  std::int64_t num_walks, walks_each, batch = 0;
  buffer<vertex_id> starts, rows, host_rows;
  buffer<std::int32_t> lengths, host_lengths;
  scratch_folder folder;

  bed(options const& o, graph on_gpu)
      : gpu(*o.gpu),
        cpu(o.exec),
        g(std::move(on_gpu)),
        walks(g, {.length = length}, job_bytes, gpu),
        num_walks(job_bytes / (4 * row_size)),
        walks_each((num_walks + g.num_vertices() - 1) / g.num_vertices())
  {
    batch = stream_walks(walks, job([](walk_rows const&) {}), gpu).batch_walks;
    starts = every_vertex(g.num_vertices(), walks_each, gpu);
    rows = buffer<vertex_id>(batch * row_size, memory_of(gpu));
    lengths = buffer<std::int32_t>(batch, memory_of(gpu));
    host_rows = buffer<vertex_id>(batch * row_size, pinned_memory());
    host_lengths = buffer<std::int32_t>(batch, pinned_memory());
    // What is copied and written alone are walks, too.
    walk_batch(0, batch);
    copy_batch(batch);
  }

  [[nodiscard]] walk_stream_job job(std::function<void(walk_rows const&)> sink) const
  {
    return {.num_walks = num_walks, .starts = every_vertex(walks_each), .sink = std::move(sink)};
  }

  void walk_batch(std::int64_t first, std::int64_t size)
  {
    auto const from = starts.span().subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(size));
    walks.run_into(from, first, rows.data(), lengths.data(), gpu);
  }

  void copy_batch(std::int64_t size)
  {
    copy_to_host(rows.data(), host_rows.data(), static_cast<std::size_t>(4 * row_size * size), gpu);
    copy_to_host(lengths.data(), host_lengths.data(), static_cast<std::size_t>(4 * size), gpu);
  }

  /// Walks a second of a call for each batch.
  double each_batch(std::function<void(std::int64_t first, std::int64_t size)> const& call) const
  {
    return static_cast<double>(num_walks) / seconds_of([&] {
             for (std::int64_t first = 0; first < num_walks; first += batch) {
               call(first, std::min(batch, num_walks - first));
             }
           });
  }

  /// Walks a second of `fill`, which appends all walks to a file.
  double to_file(element_type type, std::function<void(walk_writer&)> const& fill) const
  {
    std::string const path = folder.path / "walks.npy";
    double const seconds = seconds_of([&] {
      walk_writer writer(path, {num_walks, length, g.num_vertices(), type, false, {}});
      fill(writer);
      writer.commit();
    });
    std::filesystem::remove(path);
    return static_cast<double>(num_walks) / seconds;
  }

  double write_alone(element_type type) const
  {
    return to_file(type, [&](walk_writer& writer) {
      (void)each_batch([&](std::int64_t, std::int64_t size) {
        auto const n = static_cast<std::size_t>(size);
        writer.append(host_rows.span().first(n * row_size), host_lengths.span().first(n), cpu);
      });
    });
  }

  double everything() const
  {
    return to_file(element_type::int32, [&](walk_writer& writer) {
      (void)stream_walks(walks, job([&](walk_rows const& r) { writer.append(r.vertices, r.lengths, cpu); }), gpu);
    });
  }
};

}  // namespace

std::vector<row> run_stream(options const& o)
{
  if (!o.gpu) { throw argument_error("bench stream: runs on a GPU, expected --device cuda"); }
  gpu_exec const exec(*o.gpu);
  auto const b = std::make_shared<bed>(o, make_bench_graph(o.graph, exec));
  session s(o.graph, o.repeats);
  std::string const cut =
      fmt::format("{:.1f} M walks of {} steps, {} a batch", static_cast<double>(b->num_walks) / 1e6, length, b->batch);
  s.add(walking, cut, "walks/s", "",
        [b] { return b->each_batch([&](std::int64_t first, std::int64_t size) { b->walk_batch(first, size); }); });
  s.add(copying, fmt::format("{} bytes a walk", 4 * (row_size + 1)), "walks/s", "",
        [b] { return b->each_batch([&](std::int64_t, std::int64_t size) { b->copy_batch(size); }); });
  s.add(writing, fmt::format("{} bytes a walk", 4 * row_size), "walks/s", "",
        [b] { return b->write_alone(element_type::int32); });
  s.add(writing_wide, fmt::format("{} bytes a walk", 8 * row_size), "walks/s", writing,
        [b] { return b->write_alone(element_type::int64); });
  s.add("walking and copying at once", cut, "walks/s", copying, [b] {
    return static_cast<double>(b->num_walks) /
           seconds_of([&] { (void)stream_walks(b->walks, b->job([](walk_rows const&) {}), b->gpu); });
  });
  s.add(at_once, cut, "walks/s", writing, [b] { return b->everything(); });
  auto rows = s.run();
  std::array<char const*, 3> const parts{walking, copying, writing};
  auto const rate = [&](char const* job) {
    return std::find_if(rows.begin(), rows.end(), [&](row const& r) { return r.job == job; })->value;
  };
  char const* const slowest =
      *std::min_element(parts.begin(), parts.end(), [&](auto a, auto c) { return rate(a) < rate(c); });
  append_ratio(rows, at_once, slowest, 0.8);
  return rows;
}

}  // namespace tendril::bench
