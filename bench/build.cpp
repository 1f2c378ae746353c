// Building a CSR from the edges of an R-MAT graph: input edges a second for each set of options, on one core and on
// all. Axes: scale (first argument, default 20), options. The twin of tests/build/build_test.cpp.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <fmt/format.h>

#include <tendril/generate.hpp>

namespace {

using tendril::build_options;
using tendril::coo_view;
using tendril::cpu_exec;
using tendril::generate_rmat;
using tendril::rmat_params;
using tendril::vertex_id;

double seconds_of(auto&& f)
{
  auto const start = std::chrono::steady_clock::now();
  f();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

struct row {
  char const* name;
  build_options options;
  bool weights = false;
};

std::vector<row> rows()
{
  std::vector<row> out{{"plain", {}},
                       {"symmetrize", {}},
                       {"symmetrize, drop duplicates", {}},
                       {"symmetrize, compact", {}},
                       {"symmetrize, weights", {}, true},
                       {"symmetrize, edge ids", {}}};
  for (std::size_t i = 1; i < out.size(); ++i) { out[i].options.symmetrize = true; }
  out[2].options.drop_duplicates = true;
  out[3].options.compact = true;
  out[5].options.keep_edge_ids = true;
  return out;
}

/// The edges of an R-MAT graph in an order without locality.
struct shuffled_edges {
  std::vector<vertex_id> sources, targets;
  std::vector<float> weights;

  explicit shuffled_edges(int scale)
  {
    rmat_params params;
    params.scale = scale;
    auto const g = generate_rmat(params, {});
    auto const n = static_cast<std::uint64_t>(g.num_edges());
    sources.resize(n);
    targets.resize(n);
    weights.assign(n, 1.0F);
    std::uint64_t const stride = (n / 8 * 5) | 1U;  // odd, and n is a power of two: every place is taken once
    auto const& a = g.arrays();
    for (std::int64_t v = 0; v < g.num_vertices(); ++v) {
      for (auto e = a.indptr[v]; e < a.indptr[v + 1]; ++e) {
        auto const at = static_cast<std::uint64_t>(e) * stride % n;
        sources[at] = static_cast<vertex_id>(v);
        targets[at] = a.indices[e];
      }
    }
  }
};

}  // namespace

int main(int argc, char** argv)
{
  int const scale = argc > 1 ? std::atoi(argv[1]) : 20;
  constexpr int repeats = 3;
  shuffled_edges const edges(scale);
  auto const size = static_cast<double>(edges.sources.size());
  std::puts("options                        threads   M edges/s   (slowest)");
  for (auto const& r : rows()) {
    for (int const threads : {1, 0}) {
      cpu_exec exec;
      exec.num_threads = threads;
      coo_view view{edges.sources, edges.targets};
      if (r.weights) { view.weights = edges.weights; }
      std::vector<double> seconds;
      seconds.reserve(repeats);
      for (int i = 0; i < repeats; ++i) {
        seconds.push_back(seconds_of([&] { (void)build_graph(view, r.options, exec); }));
      }
      std::sort(seconds.begin(), seconds.end());
      std::puts(fmt::format("{:<30} {:>7} {:>11.1f} {:>11.1f}", r.name, threads == 0 ? "all" : "1",
                            size / seconds[repeats / 2] * 1e-6, size / seconds.back() * 1e-6)
                    .c_str());
    }
  }
  return 0;
}
