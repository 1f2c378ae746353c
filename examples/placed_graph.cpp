// A graph that lies partly on a GPU, partly in host memory: reads the graph that the first argument names, or generates
// one, walks on it with as little GPU memory as it can have and with some more, and compares the walks with the CPU's.
// Exits with 77 where there is no GPU.

#include <algorithm>
#include <cstdint>
#include <exception>
#include <iostream>
#include <vector>

#include <tendril/generate.hpp>
#include <tendril/gpu.hpp>
#include <tendril/gpu_array.hpp>
#include <tendril/io.hpp>
#include <tendril/place.hpp>
#include <tendril/starts.hpp>
#include <tendril/walk.hpp>

namespace {

using namespace tendril;  // NOLINT(google-build-using-namespace): a short program

/// @return whether the walks on the placed graph are those of the CPU.
bool walk_on_both(graph const& original, std::int64_t gpu_bytes, gpu_exec const& exec)
{
  place_params params;
  params.gpu_bytes = gpu_bytes;
  params.job = walk_params{.length = 80};
  graph const there = place_graph(original, params, exec);

  placed_lists const& placed = *there.placed();
  std::cout << placed.gpu_bytes << " bytes of lists on the GPU, " << placed.host_bytes << " in host memory, "
            << 100 * placed.visits_on_gpu << " % of reads on the GPU: ";

  auto const starts = random_vertices(original.num_vertices(), 1000, 7);
  auto const starts_there = copy_to_gpu(starts.span(), exec);
  walks const here = random_walk(original, starts.span(), {.length = 80});
  walks const made = random_walk(there, starts_there.span(), {.length = 80}, exec);
  std::vector<vertex_id> rows(static_cast<std::size_t>(made.vertices.size()));
  copy_to_host(made.vertices.data(), rows.data(), rows.size() * sizeof(vertex_id), exec);
  bool const same = std::equal(rows.begin(), rows.end(), here.vertices.begin(), here.vertices.end());
  std::cout << (same ? "the CPU's walks\n" : "OTHER WALKS\n");
  return same;
}

}  // namespace

int main(int argc, char** argv)
{
  try {
    build_options build;
    build.symmetrize = true;
    graph const original = argc > 1 ? read_graph(argv[1]) : generate_rmat({.scale = 14, .edge_factor = 8}, build);
    if (num_gpus() == 0) {
      std::cerr << "no GPU\n";
      return 77;
    }
    std::int64_t const least = 8 * original.num_vertices() + 10'000;
    bool const nothing = walk_on_both(original, least, gpu_exec(0));
    bool const half = walk_on_both(original, least + original.num_edges(), gpu_exec(0));
    return nothing && half ? 0 : 1;
  } catch (std::exception const& problem) {
    std::cerr << problem.what() << '\n';
    return 1;
  }
}
