// A sampling application that comes as text: reads the struct in the file that the first argument names, or takes the
// one below, compiles it, and prints samples of an R-MAT graph; runs it on the first GPU too, where there is one.

#include <cstdint>
#include <exception>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include <tendril/custom_application.hpp>
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

/// Grows a neighbourhood by four vertices a step, out of all neighbours of the last four, without a repeat in a step.
constexpr char const* frontier = R"(
struct frontier {
  static constexpr sampling sampling_type() { return sampling::collective; }
  int steps() const { return 3; }
  std::int64_t sample_size(int) const { return 4; }
  bool unique(int) const { return true; }
  vertex_id next(sample_view&, transit_list const&, combined_edges const& edges, int, random_stream& rng) const
  {
    return edges.empty() ? no_vertex : edges[rng.bounded(edges.size())];
  }
};
)";

std::string to_text(tendril::samples const& samples, std::vector<std::vector<tendril::vertex_id>> const& steps)
{
  std::ostringstream text;
  for (std::int64_t i = 0; i < samples.num_samples; ++i) {
    for (std::size_t t = 0; t < steps.size(); ++t) {
      std::int64_t const slots = samples.steps[t].num_slots;
      for (std::int64_t k = i * slots; k < (i + 1) * slots; ++k) {
        tendril::vertex_id const v = steps[t][static_cast<std::size_t>(k)];
        if (v != tendril::no_vertex) { text << v << ' '; }
      }
      text << (t + 1 < steps.size() ? "| " : "\n");
    }
  }
  return text.str();
}

void sample_as_told(int argc, char** argv)
{
  std::string const source = argc > 1 ? read_text(argv[1]) : frontier;
  tendril::build_options build;
  build.symmetrize = true;
  build.drop_duplicates = true;
  tendril::graph const graph = tendril::generate_rmat({.scale = 12}, build);
  std::vector<tendril::vertex_id> const roots = {0, 1, 2, 3};

  tendril::custom_application const app(source);
  tendril::application_params params;
  params.seed = 42;
  tendril::samples const here = app.run(graph, roots, 1, params);
  std::vector<std::vector<tendril::vertex_id>> rows;
  for (auto const& step : here.steps) { rows.emplace_back(step.vertices.begin(), step.vertices.end()); }
  std::cout << to_text(here, rows);
  if (tendril::num_gpus() == 0) { return; }

  tendril::gpu_exec const gpu{0};
  auto const roots_there = tendril::copy_to_gpu(roots, gpu);
  tendril::samples const there = app.run(tendril::to_gpu(graph, gpu), roots_there.span(), 1, params, gpu);
  bool same = true;
  for (std::size_t t = 0; t < rows.size(); ++t) {
    std::vector<tendril::vertex_id> copy(rows[t].size());
    tendril::copy_to_host(there.steps[t].vertices.data(), copy.data(), copy.size() * sizeof copy[0], gpu);
    same = same && copy == rows[t];
  }
  std::cout << "on the GPU: " << (same ? "the same" : "DIFFERENT") << '\n';
}

}  // namespace

int main(int argc, char** argv)
{
  try {
    sample_as_told(argc, argv);
    return 0;
  } catch (std::exception const& problem) {
    std::cerr << problem.what() << '\n';
    return 1;
  }
}
