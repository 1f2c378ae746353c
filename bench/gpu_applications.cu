#include "bench/gpu_applications.hpp"

#include <algorithm>
#include <memory>
#include <sstream>
#include <type_traits>

#include <tendril/compress.hpp>
#include <tendril/engine/applications/apps.hpp>
#include <tendril/engine/applications/gpu.cuh>
#include <tendril/gpu_array.hpp>
#include <tendril/place.hpp>
#include <tendril/starts.hpp>

#include "bench/gpu_ceilings.hpp"
#include "bench/gpu_graphs.hpp"
#include "bench/measure.hpp"
#include "gpu/applications/stream.hpp"

namespace tendril::bench {
namespace {

constexpr char gathers[] = "gathers of 4 bytes";
constexpr char copies[] = "copies from page-locked memory";

/// A graph on the GPU, and roots: vertex 0, 1, … and again.
struct bed {
  gpu_exec gpu;
  graph g;
  buffer<vertex_id> roots;

  bed(std::string const& name, gpu_exec const& exec)
      : gpu(exec), g(make_bench_graph(name, exec)), roots(every_vertex(g.num_vertices(), 1, exec))
  {
    constexpr std::int64_t most_roots = std::int64_t{1} << 23U;
    buffer<vertex_id> more(std::max(roots.size(), most_roots), memory_of(gpu));
    for (std::int64_t at = 0; at < more.size(); at += roots.size()) {
      copy_roots(more.data() + at, std::min(roots.size(), more.size() - at));
    }
    roots = std::move(more);
    synchronize(gpu);
  }

 private:
  void copy_roots(vertex_id* to, std::int64_t count)
  {
    cudaMemcpyAsync(to, roots.data(), static_cast<std::size_t>(count) * sizeof(vertex_id), cudaMemcpyDeviceToDevice,
                    gpu.stream);
  }
};

/// How much of an application is run.
struct extent {
  std::int64_t num_samples = 0;
  std::int64_t num_roots = 1;
  int max_steps = 0;
};

template <class A>
double milliseconds(bed const& b, A const& app, extent const& e, sampling_executor executor)
{
  application_params params;
  params.max_steps = e.max_steps;
  params.executor = executor;
  synchronize(b.gpu);
  return 1e3 * seconds_of([&] {
           (void)run_application(b.g, app,
                                 b.roots.span().subspan(0, static_cast<std::size_t>(e.num_samples * e.num_roots)),
                                 e.num_roots, params, b.gpu);
         });
}

/// One application by every executor.
template <class A>
void add(session& s, std::shared_ptr<bed> const& b, std::string const& name, std::string const& params, A const& app,
         extent const& e)
{
  auto const one = [&](char const* how, sampling_executor executor) {
    s.add(name + ", " + how, params, "ms", "", [=] { return milliseconds(*b, app, e, executor); });
  };
  one("sample-parallel", sampling_executor::sample_parallel);
  one("transit-parallel", sampling_executor::transit_parallel);
  one("as planned", sampling_executor::automatic);
}

/// The same graph in host memory, in the form that streams, without weights and labels, which no application here reads
/// there.
graph in_host_memory(graph const& there, bool page_locked, gpu_exec const& exec)
{
  graph_arrays arrays = there.arrays();
  arrays.narrow = {};
  arrays.weights = {};
  arrays.edge_labels = {};
  arrays.node_types = {};
  arrays.edge_ids = {};
  arrays.edge_label_names.clear();
  arrays.node_type_names.clear();
  graph host = to_csr(to_host(graph(std::move(arrays)), exec));
  if (!page_locked) { return host; }
  auto const locked = [](auto const& from) {
    buffer<std::remove_cvref_t<decltype(from[0])>> out(from.size(), pinned_memory());
    std::copy(from.begin(), from.end(), out.begin());
    return shared_array(std::move(out));
  };
  graph_arrays copies;
  copies.indptr = locked(host.arrays().indptr);
  copies.indices = locked(host.arrays().indices);
  return graph(std::move(copies));
}

/// Bytes a second of one copy of all edges from page-locked memory.
double copy_rate(graph const& host, gpu_exec const& exec)
{
  auto const size = static_cast<std::size_t>(host.num_edges()) * sizeof(vertex_id);
  buffer<vertex_id> to(host.num_edges(), memory_of(exec));
  synchronize(exec);
  return static_cast<double>(size) / seconds_of([&] {
           cudaMemcpyAsync(to.data(), host.csr().indices, size, cudaMemcpyHostToDevice, exec.stream);
           synchronize(exec);
         });
}

/// Bytes that a call copies whose graph streams.
template <class A>
std::int64_t streamed_bytes(graph const& host, A const& app, std::span<vertex_id const> roots,
                            application_params const& params, gpu_exec const& exec)
{
  auto const job = engine::job_of(app, static_cast<std::int64_t>(roots.size()), 1, params);
  engine::application_run run(host.csr(), job, roots, params, 0, core::domain::application, exec);
  gpu::edge_stream edges(host.csr(), gpu::find_stream_layout(host.csr(), params.gpu_memory).value(), exec);
  gpu::grow_streamed(engine::kernels_of<A, csr_view>(), &app, run, edges, {});
  run.finish();
  return edges.copied_bytes();
}

/// An application on a graph in host memory that may take a quarter of its bytes on the GPU, one root a vertex: bytes copied
/// a second, a share of the bus, and samples of the same runs.
template <class A>
void add_streamed(session& s, std::shared_ptr<bed> const& b, graph const& host, std::string const& name,
                  std::string const& params_text, A const& app)
{
  auto const roots = b->roots.span().first(static_cast<std::size_t>(host.num_vertices()));
  application_params params;
  params.gpu_memory = gpu::graph_bytes::of(host.csr()).all / 4;
  auto const bytes = static_cast<double>(streamed_bytes(host, app, roots, params, b->gpu));
  auto const seconds = std::make_shared<double>(0);
  s.add(name + ", bytes copied", params_text, "bytes/s", copies, [=] {
    synchronize(b->gpu);
    *seconds = seconds_of([&] { (void)run_application(host, app, roots, 1, params, b->gpu); });
    return bytes / *seconds;
  });
  s.add(name, params_text, "samples/s", "", [=] { return static_cast<double>(roots.size()) / *seconds; });
}

/// The same application without its promise to read no list but its transits': it can't stream.
template <class A>
struct reads_any_list : A {
  static constexpr bool reads_transit_only = false;
};

/// An application on a graph that may take a quarter of its bytes on the GPU: streamed, placed for the call, and placed
/// before it.
template <class A>
void add_beyond(session& s, std::shared_ptr<bed> const& b, graph const& host, graph const& placed,
                std::string const& name, std::string const& params_text, A const& app, extent const& e)
{
  auto const roots = b->roots.span().first(static_cast<std::size_t>(e.num_samples * e.num_roots));
  application_params params;
  params.max_steps = e.max_steps;
  params.gpu_memory = gpu::graph_bytes::of(host.csr()).all / 4;
  auto const add = [&](char const* how, graph const& g, auto const& any) {
    s.add(name + ", " + how, params_text, "samples/s", "", [=] {
      synchronize(b->gpu);
      return static_cast<double>(e.num_samples) /
             seconds_of([&] { (void)run_application(g, any, roots, e.num_roots, params, b->gpu); });
    });
  };
  add("streamed", host, app);
  add("placed for the call", host, reads_any_list<A>{app});
  add("placed before", placed, app);
}

std::vector<row> run_on(std::string const& name, options const& o)
{
  auto const b = std::make_shared<bed>(name, gpu_exec(*o.gpu));
  std::int64_t const all = b->g.num_vertices();
  std::int64_t const many = std::int64_t{1} << 17U;
  session s(name, o.repeats);
  s.add(gathers, "from a table of an element an edge", "gathers/s", "",
        [b] { return gpu_gathers(b->g.num_edges(), 4, b->gpu); });
  apps::khop const khop{2, {25, 10}};
  s.add("k-hop, as planned", "(25, 10), one root a vertex; a whole call", "vertices/s", gathers, [=] {
    return static_cast<double>(all * 275) / milliseconds(*b, khop, {all}, sampling_executor::automatic) * 1e3;
  });
  add(s, b, "k-hop", "(25, 10), one root a vertex", khop, {all});
  add(s, b, "k-hop of few", "(25, 10), 1,024 roots", khop, {1024});
  add(s, b, "DeepWalk", "100 steps, one root a vertex", apps::deepwalk::of(100, 0), {all});
  add(s, b, "PPR", "ends with probability 1 / 100, at most 1,000 steps, one root a vertex", apps::ppr{0.01},
      {all, 1, 1000});
  add(s, b, "node2vec", "p 2, q .5, 100 steps, one root a vertex", apps::node2vec{100, 0.5, 2}, {all});
  add(s, b, "multi-dimensional walk", "100 roots, 100 steps, 20,000 samples", apps::multidim{100}, {20'000, 100});
  add(s, b, "layer", "1,000 a step up to 2,000, one root, 2^17 samples", apps::layer{1000, 2000}, {many, 1, 3});
  add(s, b, "weighted k-hop by scan", "(5, 5), 2^17 roots", apps::weighted_khop_scan{2, {5, 5}}, {many});
  add(s, b, "importance, uniform", "5 layers of 64, 64 roots, 10,000 samples", apps::importance{5, 64, false},
      {10'000, 64});
  std::string const of_a_quarter = ", one root a vertex, a quarter of the graph's bytes on the GPU";
  graph const host = in_host_memory(b->g, false, b->gpu);
  graph const locked = in_host_memory(b->g, true, b->gpu);
  s.add(copies, "all edges", "bytes/s", "", [=] { return copy_rate(locked, b->gpu); });
  add_streamed(s, b, locked, "k-hop, streamed", "(25, 10)" + of_a_quarter + ", page-locked", khop);
  add_streamed(s, b, host, "k-hop, streamed", "(25, 10)" + of_a_quarter, khop);
  add_streamed(s, b, locked, "DeepWalk, streamed", "100 steps" + of_a_quarter + ", page-locked",
               apps::deepwalk::of(100, 0));
  add_streamed(s, b, host, "DeepWalk, streamed", "100 steps" + of_a_quarter, apps::deepwalk::of(100, 0));
  graph const placed = place_graph(
      host, {.gpu_bytes = gpu::graph_bytes::of(host.csr()).all / 4, .job = khop_params{.fanouts = {25, 10}}}, b->gpu);
  std::string const quarter = ", a quarter of the graph's bytes on the GPU";
  add_beyond(s, b, host, placed, "k-hop beyond", "(25, 10), one root a vertex" + quarter, khop, {all});
  add_beyond(s, b, host, placed, "k-hop of few beyond", "(25, 10), 40,000 roots" + quarter, khop, {40'000});
  add_beyond(s, b, host, placed, "layer beyond", "1,000 a step up to 2,000, one root, 2^17 samples" + quarter,
             apps::layer{1000, 2000}, {many, 1, 3});
  add_beyond(s, b, host, placed, "multi-dimensional walk beyond", "100 roots, 100 steps, 20,000 samples" + quarter,
             apps::multidim{100}, {20'000, 100});
  return s.run();
}

}  // namespace

std::vector<row> run_gpu_applications(options const& o)
{
  std::vector<row> rows;
  std::istringstream names(o.graph);
  for (std::string name; std::getline(names, name, ',');) {
    auto part = run_on(name, o);
    rows.insert(rows.end(), part.begin(), part.end());
  }
  return rows;
}

}  // namespace tendril::bench
