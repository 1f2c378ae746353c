// Layer-wise applications of tendril sample: fastgcn, ladies, mvs, labor.

#include <algorithm>
#include <map>
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

void take(layer_samples&& made, sample_place const& place, bool with_edges, sample_part& part)
{
  std::vector<std::int64_t> const row{made.num_layers, made.layer_size};
  auto vertices = place.bring(std::move(made.vertices));
  part.vertices += count_vertices(vertices);
  part.edges += made.row.size();
  part.add("vertices", row, std::move(vertices));
  part.add("probabilities", row, place.bring(std::move(made.probabilities)));
  part.add_offsets("edge_offsets", place.bring(std::move(made.edge_offsets)));
  part.add_ragged("row", place.bring(std::move(made.row)));
  part.add_ragged("col", place.bring(std::move(made.col)));
  part.add_ragged("coefficients", place.bring(std::move(made.coefficients)));
  if (with_edges) { part.add_ragged("edges", place.bring(std::move(made.edges))); }
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
  auto const roots =
      std::make_shared<buffer<vertex_id> const>(job.seeds(place.host_graph().num_vertices(), place.host_exec()));
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
  out.agreements = agreements_on_seeds(job, roots);
  out.begin = [roots, batch](result_file& file, walk_range samples) {
    auto const own = seeds_of(*roots, samples, batch);
    file.add_whole("seeds", {std::ssize(own)}, own);
  };
  out.run_size = samples_a_part(16.0 * static_cast<double>(params.num_layers) * static_cast<double>(params.layer_size));
  out.make = [=, first_sample = job.more.first_sample](sample_place const& at, std::int64_t first, std::int64_t count,
                                                       sample_part& part) {
    auto const make = [&](std::int64_t from, std::int64_t number, std::int64_t size) {
      auto const there = at.put(part_of(*roots, from * batch, number * size));
      take(at.run([&](graph const& g, auto const& exec) {
        return sample(g, there.span(), size, params, exec, first_sample + from);
      }),
           at, params.with_edges, part);
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
  if (!file_name.empty()) {
    out.agreements = [importances] { return std::vector{content_of("--importance", importances->span())}; };
  }
  auto const there = std::make_shared<std::map<int, sample_place::placed<float>>>();
  out.prepare = [importances, there](sample_place const& where) {
    (*there)[where.index()] = where.put<float>(importances->span());
  };
  out.make = [=, first_sample = job.more.first_sample](sample_place const& at, std::int64_t first, std::int64_t count,
                                                       sample_part& part) {
    auto made = at.run([&](graph const& where, auto const& exec) {
      return mvs_sample(where, there->at(at.index()).span(), count, params, exec, first_sample + first);
    });
    auto vertices = at.bring(std::move(made.vertices));
    part.vertices += count_vertices(vertices);
    part.edges += made.neighbors.size();
    part.add("vertices", {params.batch_size}, std::move(vertices));
    part.add("probabilities", {params.batch_size}, at.bring(std::move(made.probabilities)));
    part.add("weights", {params.batch_size}, at.bring(std::move(made.weights)));
    part.add_offsets("edge_offsets", at.bring(std::move(made.edge_offsets)));
    part.add_ragged("neighbors", at.bring(std::move(made.neighbors)));
    if (params.with_edges) { part.add_ragged("edges", at.bring(std::move(made.edges))); }
  };
  return out;
}

catalogue_job labor_job(sample_job const& job, sample_place const& place)
{
  labor_params const params = labor_params_of(job);
  std::int64_t const batch = job.seeds_each();
  auto const seeds =
      std::make_shared<buffer<vertex_id> const>(job.seeds(place.host_graph().num_vertices(), place.host_exec()));

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
  out.agreements = agreements_on_seeds(job, seeds);
  out.begin = [seeds, batch](result_file& file, walk_range samples) {
    auto const own = seeds_of(*seeds, samples, batch);
    file.add_whole("seeds", {std::ssize(own)}, own);
  };
  out.make = [=, first_sample = job.more.first_sample](sample_place const& at, std::int64_t first, std::int64_t count,
                                                       sample_part& part) {
    for (std::int64_t b = first; b < first + count; ++b) {
      auto own = params;
      own.batch = static_cast<std::uint64_t>(first_sample + b);
      auto const there = at.put(seeds_of(*seeds, {b, 1}, batch));
      auto made = at.run([&](graph const& g, auto const& exec) { return labor_sample(g, there.span(), own, exec); });
      auto const offsets = [](std::int64_t size) {
        buffer<std::int64_t> ends(2);
        ends[0] = 0;
        ends[1] = size;
        return ends;
      };
      for (std::size_t h = 0; h < made.hops.size(); ++h) {
        labor_hop& hop = made.hops[h];
        std::string const name = fmt::format("hop{}.", h);
        part.edges += hop.row.size();
        part.add_offsets(name + "edge_offsets", offsets(hop.row.size()));
        part.add_ragged(name + "row", at.bring(std::move(hop.row)));
        part.add_ragged(name + "col", at.bring(std::move(hop.col)));
        part.add_ragged(name + "edge", at.bring(std::move(hop.edge)));
        part.add_ragged(name + "weights", at.bring(std::move(hop.weights)));
      }
      part.vertices += made.node.size();
      part.add_offsets("node_offsets", offsets(made.node.size()));
      part.add_ragged("node", at.bring(std::move(made.node)));
      auto const num_sizes = static_cast<std::int64_t>(made.num_sampled_nodes.size());
      buffer<std::int64_t> sizes(num_sizes);
      std::copy(made.num_sampled_nodes.begin(), made.num_sampled_nodes.end(), sizes.begin());
      part.add("num_sampled_nodes", {num_sizes}, std::move(sizes));
    }
  };
  return out;
}

}  // namespace tendril::cli
