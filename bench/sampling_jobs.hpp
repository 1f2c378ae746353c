// The jobs that suites measure on graphs of any form, on CPUs and GPUs, and what they need on either side.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <tendril/compress.hpp>
#include <tendril/gpu.hpp>
#include <tendril/gpu_array.hpp>
#include <tendril/io.hpp>
#include <tendril/minibatch.hpp>
#include <tendril/sample.hpp>
#include <tendril/walk.hpp>

#include "bench/gpu_graphs.hpp"
#include "bench/measure.hpp"
#include "bench/rmat_spec.hpp"
#include "bench/web_spec.hpp"

namespace tendril::bench {

inline constexpr std::int64_t job_walk_length = 80;
inline constexpr std::int64_t job_roots = 40'000;
inline constexpr std::int64_t job_batch_size = 1024;
inline constexpr std::int64_t job_batches = 32;

/// A graph by the name that `tendril bench` knows it by, made or read where `exec` works.
inline graph make_graph(std::string const& name, gpu_exec const& exec) { return make_bench_graph(name, exec); }
inline graph make_graph(std::string const& name, cpu_exec const& exec)
{
  if (is_web_spec(name)) { return make_web(name, exec); }
  graph g = is_rmat_spec(name) ? make_rmat(name, exec) : read_graph(name, {}, exec);
  g.check(exec);
  return g;
}

/// Waits for what `exec` has been given.
inline void wait_for(gpu_exec const& exec) { synchronize(exec); }
inline void wait_for(cpu_exec const&) {}

/// Room where `exec` works.
template <class T>
buffer<T> room(std::int64_t size, gpu_exec const& exec)
{
  return buffer<T>(size, memory_of(exec));
}
template <class T>
buffer<T> room(std::int64_t size, cpu_exec const&)
{
  return buffer<T>(size);
}

/// A graph or vertices, from host memory to where `exec` works.
inline graph there(graph const& g, gpu_exec const& exec) { return to_gpu(g, exec); }
inline graph there(graph const& g, cpu_exec const&) { return g; }
inline buffer<vertex_id> there(buffer<vertex_id> ids, gpu_exec const& exec) { return copy_to_gpu(ids.span(), exec); }
inline buffer<vertex_id> there(buffer<vertex_id> ids, cpu_exec const&) { return ids; }

/// The elements in host memory.
template <class T>
std::vector<T> on_host(buffer<T> const& from, gpu_exec const& exec)
{
  std::vector<T> out(static_cast<std::size_t>(from.size()));
  copy_to_host(from.data(), out.data(), out.size() * sizeof(T), exec);
  return out;
}
template <class T>
std::vector<T> on_host(buffer<T> const& from, cpu_exec const&)
{
  return {from.begin(), from.end()};
}

/// What a run of a job took, and what it made: steps, vertices, edges.
struct made_in {
  double seconds = 0;
  double amount = 0;

  [[nodiscard]] double rate() const { return amount / seconds; }
};

/// Runs f, and waits for its end.
template <class Exec, class F>
double seconds_with(Exec const& exec, F&& f)
{
  wait_for(exec);
  return seconds_of([&] {
    f();
    wait_for(exec);
  });
}

/// What the jobs of one graph share. Starts are also roots and seeds.
template <class Exec>
struct job_bed {
  Exec exec;
  buffer<vertex_id> starts, rows;
  buffer<std::int32_t> lengths;

  job_bed(buffer<vertex_id> from, Exec const& where)
      : exec(where),
        starts(there(std::move(from), where)),
        rows(room<vertex_id>(starts.size() * (job_walk_length + 1), where)),
        lengths(room<std::int32_t>(starts.size(), where))
  {
  }
  [[nodiscard]] std::span<vertex_id const> first(std::int64_t count) const
  {
    return starts.span().first(static_cast<std::size_t>(count));
  }
};

/// Steps of walks of 80 from the first starts. Tables are built before the clock starts.
template <class Exec>
std::function<made_in()> walk_job(std::shared_ptr<job_bed<Exec>> const& b, std::shared_ptr<walker> const& w,
                                  std::int64_t walkers)
{
  return [b, w, walkers] {
    made_in out;
    out.seconds =
        seconds_with(b->exec, [&] { w->run_into(b->first(walkers), 0, b->rows.data(), b->lengths.data(), b->exec); });
    auto const lengths = on_host(b->lengths, b->exec);
    for (std::int64_t i = 0; i < walkers; ++i) { out.amount += lengths[static_cast<std::size_t>(i)]; }
    return out;
  };
}

/// Vertices of trees (25, 10) of 40,000 roots.
template <class Exec>
std::function<made_in()> khop_job(std::shared_ptr<job_bed<Exec>> const& b, graph const& g, bool replace)
{
  return [b, g, params = khop_params{.fanouts = {25, 10}, .replace = replace}] {
    made_in out;
    out.seconds = seconds_with(b->exec, [&] {
      auto const trees = khop_sample(g, b->first(job_roots), params, b->exec);
      for (auto const& hop : trees.hops) { out.amount += static_cast<double>(hop.vertices.size()); }
    });
    return out;
  };
}

/// Edges of 32 mini-batches (15, 10, 5) of 1,024 seeds, one after the other.
template <class Exec>
std::function<made_in()> batches_job(std::shared_ptr<job_bed<Exec>> const& b, graph const& g)
{
  auto const sampler =
      std::make_shared<minibatch_sampler>(hetero_graph(g), minibatch_params{.num_neighbors = {15, 10, 5}}, b->exec);
  return [b, sampler] {
    made_in out;
    out.seconds = seconds_with(b->exec, [&] {
      for (std::int64_t i = 0; i < job_batches; ++i) {
        batch_seeds seeds;
        seeds.vertices = {b->starts.span().subspan(static_cast<std::size_t>(i * job_batch_size),
                                                   static_cast<std::size_t>(job_batch_size))};
        auto const made = sampler->sample(seeds, static_cast<std::uint64_t>(i));
        for (auto const& type : made.edges) { out.amount += static_cast<double>(type.row.size()); }
      }
    });
    return out;
  };
}

}  // namespace tendril::bench
