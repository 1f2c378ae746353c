// Layer-wise applications of tendril sample: fastgcn, ladies, mvs, labor.

#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include <tendril/error.hpp>
#include <tendril/labor.hpp>
#include <tendril/layers.hpp>
#include <tendril/mvs.hpp>
#include <tendril/vertex_values.hpp>

#include "catalogue.hpp"
#include "sample_job.hpp"
#include "text.hpp"

namespace tendril::cli {
namespace {

constexpr std::int64_t default_layer_batch = 512;  // of the LADIES paper

std::span<vertex_id const> part_of(buffer<vertex_id> const& vertices, std::int64_t first, std::int64_t count)
{
  return vertices.span().subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count));
}

char const* how(bool replace) { return replace ? "with replacement" : "without replacement"; }

void take(layer_samples&& made, sample_place const& place, bool with_edges, result_file& file, sample_counts& counts)
{
  std::vector<std::int64_t> const row{made.num_layers, made.layer_size};
  auto vertices = place.bring(std::move(made.vertices));
  counts.vertices += count_vertices(vertices);
  counts.edges += made.row.size();
  file.add("vertices", row, std::move(vertices));
  file.add("probabilities", row, place.bring(std::move(made.probabilities)));
  file.add_offsets("edge_offsets", place.bring(std::move(made.edge_offsets)));
  file.add_ragged("row", place.bring(std::move(made.row)));
  file.add_ragged("col", place.bring(std::move(made.col)));
  file.add_ragged("coefficients", place.bring(std::move(made.coefficients)));
  if (with_edges) { file.add_ragged("edges", place.bring(std::move(made.edges))); }
}

std::int64_t layer_batch(sample_job const& job) { return job.batch_size.value_or(default_layer_batch); }

template <class Params>
Params layer_params_of(sample_job const& job)
{
  Params params;
  auto const& more = job.more;
  params.num_layers = more.layers.value_or(params.num_layers);
  params.layer_size = more.layer_size.value_or(params.layer_size);
  params.matrix = more.matrix();
  params.replace = !more.no_replace;
  params.normalize_rows = more.normalize_rows.value_or(params.normalize_rows);
  params.with_edges = job.edges;
  params.seed = job.seed;
  return params;
}

catalogue_plan plan_of(fastgcn_params const& params, graph const& g)
{
  catalogue_plan plan;
  plan.tables = "alias table and probabilities of all vertices";
  plan.table_bytes = g.num_vertices() * 20;
  plan.reasons = {fmt::format(
      "each layer is drawn from one distribution over all vertices, in proportion to the squared norms of the "
      "columns of matrix {}: O(1) per draw",
      to_string(params.matrix))};
  return plan;
}

catalogue_plan plan_of(ladies_params const& params, graph const& g)
{
  catalogue_plan plan;
  if (params.matrix == propagation::row) {
    plan.reasons = {
        "a draw chooses a vertex of the previous layer by the squared norm of its row, 1 / degree, then one of its "
        "edges "
        "uniformly: O(1), without a table"};
  } else {
    plan.tables = "prefix sums of squared entries, norms of rows";
    plan.table_bytes = g.num_edges() * 8 + g.num_vertices() * 4;
    plan.reasons = {
        "a draw chooses a vertex of the previous layer by the squared norm of its row, then one of its edges by its "
        "squared entry: O(log degree), from prefix sums"};
  }
  return plan;
}

template <class Params, class Sample>
catalogue_job layers_of(sample_job const& job, sample_place const& place, Sample sample)
{
  auto const params = layer_params_of<Params>(job);
  std::int64_t const batch = layer_batch(job);
  validate(params, place.host_graph(), batch);
  auto const roots = std::make_shared<buffer<vertex_id> const>(job.seeds(place.host_graph(), place.host_exec()));
  std::int64_t const full = roots->size() / batch;  // the last batch may be smaller

  catalogue_job out;
  out.num_samples = batches_of(roots->size(), batch);
  out.description =
      fmt::format("{}: {}, {} of {} vertices, {} a batch, matrix {}, {}{}", counted(roots->size(), "seed", "seeds"),
                  job.app, counted(params.num_layers, "layer", "layers"), params.layer_size, batch,
                  to_string(params.matrix), how(params.replace), params.normalize_rows ? ", normalised rows" : "");
  out.params = {{"num_layers", params.num_layers},
                {"layer_size", params.layer_size},
                {"batch_size", batch},
                {"normalization", to_string(params.matrix)},
                {"replace", params.replace},
                {"normalize_rows", params.normalize_rows},
                {"first_sample", job.more.first_sample}};
  out.plan = plan_of(params, place.host_graph());
  if (place.on_gpu()) {
    out.plan.reasons.emplace_back(
        "edges between layers are looked up in hash sets of the neighbourhoods (6 bytes per "
        "edge, 32 per vertex) where they pay and fit");
  }
  out.begin = [roots](result_file& file) { file.add_whole("seeds", {roots->size()}, roots->span()); };
  out.run_size = samples_a_part(16.0 * static_cast<double>(params.num_layers) * static_cast<double>(params.layer_size));
  out.make = [=, &place, first_sample = job.more.first_sample](std::int64_t first, std::int64_t count,
                                                               result_file& file, sample_counts& counts) {
    auto const make = [&](std::int64_t from, std::int64_t number, std::int64_t size) {
      auto const there = place.put(part_of(*roots, from * batch, number * size));
      take(place.run([&](graph const& g, auto const& exec) {
        return sample(g, there.span(), size, params, exec, first_sample + from);
      }),
           place, params.with_edges, file, counts);
    };
    std::int64_t const whole = std::min(count, full - first);
    if (whole > 0 || count == 0) { make(first, whole, batch); }
    if (first + count > full) { make(full, 1, roots->size() - full * batch); }
  };
  return out;
}

mvs_params mvs_params_of(sample_job const& job)
{
  mvs_params params;
  params.batch_size = job.batch_size.value_or(params.batch_size);
  params.replace = job.replace;
  params.with_edges = job.edges;
  params.seed = job.seed;
  return params;
}

labor_params labor_params_of(sample_job const& job)
{
  labor_params params;
  params.fanouts = job.fanout_list();
  params.normalize = job.more.normalize_rows.value_or(true);
  params.seed = job.seed;
  return params;
}

}  // namespace

void validate_fastgcn(sample_job const& job) { validate(layer_params_of<fastgcn_params>(job), layer_batch(job)); }

void validate_ladies(sample_job const& job) { validate(layer_params_of<ladies_params>(job), layer_batch(job)); }

void validate_mvs(sample_job const& job) { validate(mvs_params_of(job)); }

void validate_labor(sample_job const& job) { validate(labor_params_of(job)); }

catalogue_job fastgcn_job(sample_job const& job, sample_place const& place)
{
  return layers_of<fastgcn_params>(job, place, [](auto const&... arguments) { return fastgcn_sample(arguments...); });
}

catalogue_job ladies_job(sample_job const& job, sample_place const& place)
{
  return layers_of<ladies_params>(job, place, [](auto const&... arguments) { return ladies_sample(arguments...); });
}

catalogue_job mvs_job(sample_job const& job, sample_place const& place)
{
  graph const& g = place.host_graph();
  mvs_params const params = mvs_params_of(job);
  std::string const& file_name = job.more.importance_file;
  auto const importances = std::make_shared<buffer<float> const>(
      file_name.empty() ? buffer<float>() : read_vertex_values(file_name, g.num_vertices(), place.host_exec()));

  catalogue_job out;
  out.num_samples = job.more.num_samples.value_or(batches_of(g.num_vertices(), params.batch_size));
  out.description =
      fmt::format("{}: mvs, {} each, {}, {}", counted(out.num_samples, "batch", "batches"),
                  counted(params.batch_size, "vertex", "vertices"),
                  file_name.empty() ? std::string("all as important") : "by " + file_name, how(params.replace));
  out.params = {{"batch_size", params.batch_size},
                {"importance", file_name.empty() ? json() : json(file_name)},
                {"replace", params.replace},
                {"first_sample", job.more.first_sample}};
  if (!file_name.empty()) {
    out.plan.tables = "alias table and probabilities of all vertices, built by each call";
    out.plan.table_bytes = g.num_vertices() * 20;
  }
  out.plan.reasons = {file_name.empty() ? "all vertices are equally important: a draw is a bounded random integer"
                                        : "vertices are drawn by their importance from an alias table: O(1) per draw"};
  double const degree =
      g.num_vertices() == 0 ? 0 : static_cast<double>(g.num_edges()) / static_cast<double>(g.num_vertices());
  out.run_size = samples_a_part(static_cast<double>(params.batch_size) * (20 + 12 * degree));
  auto const there = std::make_shared<sample_place::placed<float> const>(place.put<float>(importances->span()));
  out.make = [=, &place, first_sample = job.more.first_sample](std::int64_t first, std::int64_t count,
                                                               result_file& file, sample_counts& counts) {
    auto made = place.run([&](graph const& where, auto const& exec) {
      return mvs_sample(where, there->span(), count, params, exec, first_sample + first);
    });
    (void)importances;  // kept: `there` may refer to it
    auto vertices = place.bring(std::move(made.vertices));
    counts.vertices += count_vertices(vertices);
    counts.edges += made.neighbors.size();
    file.add("vertices", {params.batch_size}, std::move(vertices));
    file.add("probabilities", {params.batch_size}, place.bring(std::move(made.probabilities)));
    file.add("weights", {params.batch_size}, place.bring(std::move(made.weights)));
    file.add_offsets("edge_offsets", place.bring(std::move(made.edge_offsets)));
    file.add_ragged("neighbors", place.bring(std::move(made.neighbors)));
    if (params.with_edges) { file.add_ragged("edges", place.bring(std::move(made.edges))); }
  };
  return out;
}

catalogue_job labor_job(sample_job const& job, sample_place const& place)
{
  labor_params const params = labor_params_of(job);
  std::int64_t const batch = job.seeds_each();
  auto const seeds = std::make_shared<buffer<vertex_id> const>(job.seeds(place.host_graph(), place.host_exec()));

  catalogue_job out;
  out.num_samples = std::max<std::int64_t>(batches_of(seeds->size(), batch), 1);
  out.description = fmt::format("{}: labor {}, {} a batch{}", counted(seeds->size(), "seed", "seeds"), job.fanouts,
                                counted(batch, "seed", "seeds"), params.normalize ? ", normalised rows" : "");
  out.params = {{"fanouts", params.fanouts},
                {"batch_size", batch},
                {"normalize_rows", params.normalize},
                {"first_sample", job.more.first_sample}};
  out.plan.reasons = {
      "each hop reads every neighbour of every vertex reached once; the neighbour's random number decides whether "
      "its edge is taken"};
  out.begin = [seeds](result_file& file) { file.add_whole("seeds", {seeds->size()}, seeds->span()); };
  out.make = [=, &place, first_sample = job.more.first_sample](std::int64_t first, std::int64_t count,
                                                               result_file& file, sample_counts& counts) {
    for (std::int64_t b = first; b < first + count; ++b) {
      auto own = params;
      own.batch = static_cast<std::uint64_t>(first_sample + b);
      auto const there = place.put(part_of(*seeds, b * batch, std::min(batch, seeds->size() - b * batch)));
      auto made = place.run([&](graph const& g, auto const& exec) { return labor_sample(g, there.span(), own, exec); });
      auto const offsets = [](std::int64_t size) {
        buffer<std::int64_t> ends(2);
        ends[0] = 0;
        ends[1] = size;
        return ends;
      };
      for (std::size_t h = 0; h < made.hops.size(); ++h) {
        labor_hop& hop = made.hops[h];
        std::string const name = fmt::format("hop{}.", h);
        counts.edges += hop.row.size();
        file.add_offsets(name + "edge_offsets", offsets(hop.row.size()));
        file.add_ragged(name + "row", place.bring(std::move(hop.row)));
        file.add_ragged(name + "col", place.bring(std::move(hop.col)));
        file.add_ragged(name + "edge", place.bring(std::move(hop.edge)));
        file.add_ragged(name + "weights", place.bring(std::move(hop.weights)));
      }
      counts.vertices += made.node.size();
      file.add_offsets("node_offsets", offsets(made.node.size()));
      file.add_ragged("node", place.bring(std::move(made.node)));
      auto const num_sizes = static_cast<std::int64_t>(made.num_sampled_nodes.size());
      buffer<std::int64_t> sizes(num_sizes);
      std::copy(made.num_sampled_nodes.begin(), made.num_sampled_nodes.end(), sizes.begin());
      file.add("num_sampled_nodes", {num_sizes}, std::move(sizes));
    }
  };
  return out;
}

}  // namespace tendril::cli
