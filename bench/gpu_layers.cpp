#include "bench/gpu_layers.hpp"

#include <functional>
#include <memory>
#include <sstream>

#include <fmt/format.h>

#include <tendril/gpu.hpp>
#include <tendril/gpu_array.hpp>
#include <tendril/labor.hpp>
#include <tendril/layers.hpp>
#include <tendril/mvs.hpp>
#include <tendril/starts.hpp>

#include "bench/gpu_ceilings.hpp"
#include "bench/gpu_graphs.hpp"
#include "bench/measure.hpp"

namespace tendril::bench {
namespace {

constexpr std::int64_t num_samples = 10'000;
constexpr std::int64_t batch_size = 64;
constexpr std::int64_t num_layers = 5;
constexpr std::int64_t layer_size = 64;
constexpr char questions[] = "gathers of 32 bytes from hash sets of this size";

/// A graph on the GPU and batches of roots.
struct bed {
  gpu_exec gpu;
  graph g;
  buffer<vertex_id> roots;

  bed(std::string const& name, gpu_exec const& exec)
      : gpu(exec),
        g(make_bench_graph(name, exec)),
        roots(copy_to_gpu(random_vertices(g.num_vertices(), num_samples * batch_size, 1).span(), exec))
  {
  }

  /// Seconds of a call, to the end of its work.
  template <class F>
  double seconds(F call) const
  {
    synchronize(gpu);
    return seconds_of([&] {
      auto const out = call();
      synchronize(gpu);
    });
  }
};

/// Adds a job in milliseconds, and the same in questions a second.
void add_layers(session& s, std::shared_ptr<bed> const& b, std::string const& name, std::string const& how,
                std::function<layer_samples()> const& call)
{
  auto const out = call();  // tables
  std::string const params = fmt::format("10,000 samples, batch 64, 5 layers of 64, {}; {:.1f} M edges", how,
                                         static_cast<double>(out.row.size()) / 1e6);
  s.add(name, params, "ms", "", [b, call] { return 1e3 * b->seconds(call); });
  constexpr auto pairs = static_cast<double>(num_samples * (batch_size + (num_layers - 1) * layer_size) * layer_size);
  s.add(name + ", pairs", params, "pairs/s", questions, [b, call] { return pairs / b->seconds(call); });
}

/// MVS with and without importances; LABOR-0.
void add_others(session& s, std::shared_ptr<bed> const& b)
{
  mvs_params mvs;
  mvs.batch_size = batch_size;
  s.add("MVS, all vertices alike", "10,000 batches of 64, different vertices", "ms", "",
        [b, mvs] { return 1e3 * b->seconds([&] { return mvs_sample(b->g, {}, num_samples, mvs, b->gpu); }); });
  if (!b->g.arrays().weights.empty() && b->g.num_edges() >= b->g.num_vertices()) {
    std::span<float const> const importances(b->g.arrays().weights.data(),
                                             static_cast<std::size_t>(b->g.num_vertices()));
    s.add("MVS by importance", "the same, one in [1, 5) a vertex; with the table of them", "ms", "",
          [b, mvs, importances] {
            return 1e3 * b->seconds([&] { return mvs_sample(b->g, importances, num_samples, mvs, b->gpu); });
          });
  }
  labor_params labor;
  s.add("LABOR-0", "1,024 seeds, fan-outs 10, 10, 10", "ms", "", [b, labor] {
    return 1e3 * b->seconds([&] { return labor_sample(b->g, b->roots.span().first(1024), labor, b->gpu); });
  });
}

}  // namespace

std::vector<row> run_gpu_layers(options const& o)
{
  std::vector<row> rows;
  std::istringstream names(o.graph);
  for (std::string name; std::getline(names, name, ',');) {
    auto const b = std::make_shared<bed>(name, gpu_exec(*o.gpu));
    session s(name, o.repeats);
    std::int64_t const sectors = b->g.num_vertices() + b->g.num_edges() * 3 / 16;  // core/adjacency_set.hpp
    s.add(questions, fmt::format("{} MB", sectors * 32 / 1'000'000), "pairs/s", "",
          [b, sectors] { return gpu_gathers(sectors, 32, b->gpu); });
    for (bool const replace : {true, false}) {
      for (auto const matrix : {propagation::row, propagation::symmetric, propagation::weights}) {
        if (matrix != propagation::row && (!replace || (matrix == propagation::weights && !b->g.has_weights()))) {
          continue;
        }
        std::string const how = fmt::format("matrix {}, {}",
                                            matrix == propagation::row         ? "row"
                                            : matrix == propagation::symmetric ? "symmetric"
                                                                               : "weights",
                                            replace ? "with replacement" : "different vertices");
        std::string const suffix = fmt::format("{}{}",
                                               matrix == propagation::row         ? ""
                                               : matrix == propagation::symmetric ? ", symmetric"
                                                                                  : ", weights",
                                               replace ? "" : ", without replacement");
        fastgcn_params fastgcn;
        fastgcn.num_layers = num_layers;
        fastgcn.layer_size = layer_size;
        fastgcn.matrix = matrix;
        fastgcn.replace = replace;
        add_layers(s, b, "FastGCN" + suffix, how,
                   [b, fastgcn] { return fastgcn_sample(b->g, b->roots.span(), batch_size, fastgcn, b->gpu); });
        ladies_params ladies;
        ladies.num_layers = num_layers;
        ladies.layer_size = layer_size;
        ladies.matrix = matrix;
        ladies.replace = replace;
        add_layers(s, b, "LADIES" + suffix, how,
                   [b, ladies] { return ladies_sample(b->g, b->roots.span(), batch_size, ladies, b->gpu); });
      }
    }
    add_others(s, b);
    auto const part = s.run();
    rows.insert(rows.end(), part.begin(), part.end());
  }
  return rows;
}

}  // namespace tendril::bench
