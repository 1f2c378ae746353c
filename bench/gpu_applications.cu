#include "bench/gpu_applications.hpp"

#include <algorithm>
#include <memory>
#include <sstream>

#include <tendril/engine/application_gpu.cuh>
#include <tendril/engine/apps.hpp>
#include <tendril/gpu_array.hpp>
#include <tendril/starts.hpp>

#include "bench/gpu_ceilings.hpp"
#include "bench/gpu_graphs.hpp"
#include "bench/measure.hpp"

namespace tendril::bench {
namespace {

constexpr char gathers[] = "gathers of 4 bytes";

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
