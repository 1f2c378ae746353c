// A walk that comes as text: reads the struct in the file that the first argument names, or takes the one below,
// compiles it, and prints walks on an R-MAT graph; on the first GPU too, where there is one.

#include <algorithm>
#include <cstdint>
#include <exception>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include <tendril/custom_walk.hpp>
#include <tendril/error.hpp>
#include <tendril/generate.hpp>
#include <tendril/gpu.hpp>
#include <tendril/gpu_array.hpp>

namespace {

std::string read_text(std::string const& path)
{
  std::ifstream const file(path);
  if (!file) { throw tendril::io_error(path + ": cannot be read"); }
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

void print(tendril::walks const& walks)
{
  for (std::int64_t i = 0; i < walks.num_walks; ++i) {
    for (std::int32_t t = 0; t <= walks.lengths[i]; ++t) {
      std::cout << (t > 0 ? " -> " : "") << walks.vertices[i * (walks.length + 1) + t];
    }
    std::cout << '\n';
  }
}

/// Prefers vertices whose id is near: the weight is 1 at a distance of 0, and half that at a distance of `scale`.
constexpr char const* near_walk = R"(
struct near_walk {
  float scale = 100;
  float weight(walk_state const& s, walk_edge const& e) const
  {
    vertex_id const to = e.target();
    vertex_id const distance = to > s.vertex ? to - s.vertex : s.vertex - to;
    return e.weight() / (1 + float(distance) / scale);
  }
};
)";

void walk_as_told(int argc, char** argv)
{
  std::string const source = argc > 1 ? read_text(argv[1]) : near_walk;
  tendril::edge_attributes weights;
  weights.has_weights = true;
  tendril::build_options build;
  build.symmetrize = true;
  tendril::graph const graph = tendril::generate_rmat({.scale = 12}, build, weights);
  std::vector<tendril::vertex_id> const starts = {0, 1, 2, 3};

  tendril::custom_walk const walk(source);
  tendril::dynamic_walk_params params;
  params.length = 10;
  tendril::walks const here = walk.run(graph, starts, params);
  print(here);
  if (tendril::num_gpus() == 0) { return; }

  tendril::gpu_exec const gpu{0};
  auto const starts_there = tendril::copy_to_gpu(starts, gpu);
  tendril::walks const there = walk.run(tendril::to_gpu(graph, gpu), starts_there.span(), params, gpu);
  std::vector<tendril::vertex_id> rows(static_cast<std::size_t>(there.vertices.size()));
  tendril::copy_to_host(there.vertices.data(), rows.data(), rows.size() * sizeof rows[0], gpu);
  bool const same = std::equal(rows.begin(), rows.end(), here.vertices.begin(), here.vertices.end());
  std::cout << "on the GPU: " << (same ? "the same" : "DIFFERENT") << '\n';
}

}  // namespace

int main(int argc, char** argv)
{
  try {
    walk_as_told(argc, argv);
    return 0;
  } catch (std::exception const& problem) {
    std::cerr << problem.what() << '\n';
    return 1;
  }
}
