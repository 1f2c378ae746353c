#include "bench/gpu_graphs.hpp"

#include <array>
#include <cstdint>
#include <string_view>

#include <tendril/generate.hpp>
#include <tendril/gpu.hpp>
#include <tendril/gpu_array.hpp>
#include <tendril/io.hpp>

#include "bench/rmat_spec.hpp"
#include "bench/web_spec.hpp"

namespace tendril::bench {
namespace {

struct named_rmat {
  std::string_view name;
  int scale;
  double edge_factor;
  bool compact;
  double weight_sigma;
};

constexpr std::array rmats{
    named_rmat{"g1", 20, 16, true, 0},
    named_rmat{"g1l", 20, 16, true, 3},
    named_rmat{"g2", 22, 32, true, 0},
    named_rmat{"rmat24", 24, 16, false, 0},
};

/// Out-degrees before symmetrizing: each vertex gets about as many edges again as a target. Exponent and largest degree
/// solve two equations, for a smallest degree that was chosen so that the mean degree over edges is near what the
/// published running times of a sampler that reads every weight suggest: with n(d) vertices of out-degree d and m edges,
/// a vertex of out-degree x has sum over d of n(d) (1 - exp(-2 x d / m)) different neighbours in expectation; that of
/// max_degree is the largest degree, and the sum over all vertices the number of edges.
struct named_powerlaw {
  std::string_view name;
  std::int64_t num_vertices;
  double exponent;
  std::int64_t min_degree, max_degree;
};

constexpr std::array powerlaws{
    named_powerlaw{"youtube", 1'100'000, 2.2758, 1, 18'110},
    named_powerlaw{"patents", 3'800'000, 3.4564, 3, 396},
    named_powerlaw{"livejournal", 4'800'000, 2.6465, 4, 10'179},
    named_powerlaw{"orkut", 3'070'000, 2.8450, 18, 17'011},
    named_powerlaw{"twitter", 42'000'000, 2.1441, 5, 2'840'930},
    named_powerlaw{"friendster", 65'600'000, 2.4770, 10, 2'607},
    named_powerlaw{"products", 2'449'029, 2.5855, 10, 8'970},
    named_powerlaw{"reddit", 232'965, 2.6092, 100, 12'470},
    named_powerlaw{"papers100m", 111'059'956, 2.6077, 6, 127'858},
};

}  // namespace

graph make_bench_graph(std::string const& name, gpu_exec const& exec)
{
  build_options build;
  build.symmetrize = build.drop_self_loops = build.drop_duplicates = true;
  edge_attributes extra;
  extra.has_weights = true;
  extra.weight_min = 1;
  extra.weight_max = 5;
  extra.num_labels = 5;
  for (auto const& r : rmats) {
    if (name != r.name) { continue; }
    build.compact = r.compact;
    extra.weight_sigma = r.weight_sigma;
    rmat_params params;
    params.scale = r.scale;
    params.edge_factor = r.edge_factor;
    return generate_rmat(params, build, extra, exec);
  }
  for (auto const& p : powerlaws) {
    if (name != p.name) { continue; }
    powerlaw_params params;
    params.num_vertices = p.num_vertices;
    params.exponent = p.exponent;
    params.min_degree = p.min_degree;
    params.max_degree = p.max_degree;
    return generate_powerlaw(params, build, extra, exec);
  }
  if (is_rmat_spec(name)) { return make_rmat(name, exec); }
  if (is_web_spec(name)) { return make_web(name, exec); }
  return to_gpu(read_graph(name), exec);
}

std::vector<edge_id> first_edges_of(graph const& input, gpu_exec const& exec)
{
  std::vector<edge_id> out(static_cast<std::size_t>(input.num_vertices()) + 1);
  if (edge_id const* const array = input.view().edges().first_edges.array()) {
    copy_to_host(array, out.data(), out.size() * sizeof(edge_id), exec);
    return out;
  }
  graph const there = to_host(input, exec);
  edge_offsets const offsets = there.view().edges().first_edges;
  for (std::size_t v = 0; v < out.size(); ++v) { out[v] = offsets[static_cast<std::int64_t>(v)]; }
  return out;
}

}  // namespace tendril::bench
