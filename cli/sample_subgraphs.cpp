// Applications of tendril sample whose samples are subgraphs: cluster, shadow, saint-node, saint-edge, saint-walk.

#include <algorithm>
#include <map>
#include <memory>

#include <fmt/format.h>

#include <tendril/cluster.hpp>
#include <tendril/error.hpp>
#include <tendril/saint.hpp>
#include <tendril/shadow.hpp>
#include <tendril/starts.hpp>

#include "catalogue.hpp"
#include "sample_job.hpp"
#include "text.hpp"

namespace tendril::cli {
namespace {

constexpr std::int64_t vertices_a_cluster = 100;

double mean_degree(graph const& g)
{
  return g.num_vertices() == 0 ? 0 : static_cast<double>(g.num_edges()) / static_cast<double>(g.num_vertices());
}

void take(subgraphs&& made, sample_place const& place, sample_part& part)
{
  part.vertices += made.nodes.size();
  part.edges += made.row.size();
  part.add_ragged("nodes", place.bring(std::move(made.nodes)));
  part.add_offsets("node_offsets", place.bring(std::move(made.node_offsets)));
  part.add_ragged("row", place.bring(std::move(made.row)));
  part.add_ragged("col", place.bring(std::move(made.col)));
  part.add_ragged("edges", place.bring(std::move(made.edges)));
  part.add_offsets("edge_offsets", place.bring(std::move(made.edge_offsets)));
}

cluster_method partition_of(sample_job const& job)
{
  return parse_name<cluster_method>("--partition", job.more.partition.value_or("contiguous"));
}

/// Clusters, made when they are needed: METIS takes its time.
struct clusters_source {
  clustering_params params;
  std::optional<buffer<vertex_id>> given;  ///< [V] by --clusters-from.
  buffer<vertex_id> cluster_of;            ///< [V] in host memory.
  std::map<int, vertex_clusters> grouped;  ///< At each place.

  void make(sample_place const& place)
  {
    cluster_of = given ? std::move(*given) : cluster_vertices(place.host_graph(), params, place.host_exec());
  }

  void bring_to(sample_place const& place)
  {
    auto const there = place.put<vertex_id>(cluster_of.span());
    grouped[place.index()] = place.run(
        [&](graph const&, auto const& exec) { return group_clusters(there.span(), params.num_clusters, exec); });
  }
};

std::shared_ptr<clusters_source> clusters_of(sample_job const& job, sample_place const& place)
{
  auto const& more = job.more;
  graph const& g = place.host_graph();
  auto out = std::make_shared<clusters_source>();
  out->params.method = partition_of(job);
  out->params.seed = job.seed;
  if (!more.clusters_file.empty()) {
    auto ids = read_clusters(more.clusters_file, g.num_vertices(), place.host_exec());
    if (ids.size() != g.num_vertices()) {
      throw argument_error(fmt::format("--clusters-from: {}: {} clusters, expected {}, one a vertex",
                                       more.clusters_file, ids.size(), g.num_vertices()));
    }
    out->params.num_clusters = std::int64_t{*std::max_element(ids.begin(), ids.end())} + 1;
    out->given = std::move(ids);
    return out;
  }
  out->params.num_clusters = more.clusters.value_or(
      std::max<std::int64_t>((g.num_vertices() + vertices_a_cluster - 1) / vertices_a_cluster, 1));
  if (out->params.num_clusters < 1 || out->params.num_clusters > std::max<std::int64_t>(g.num_vertices(), 1)) {
    throw argument_error(fmt::format("--clusters: {}, expected 1 to {}, the vertices of the graph",
                                     out->params.num_clusters, g.num_vertices()));
  }
  return out;
}

}  // namespace

void validate_cluster(sample_job const& job) { (void)partition_of(job); }

catalogue_job cluster_job(sample_job const& job, sample_place const& place)
{
  auto const& more = job.more;
  graph const& g = place.host_graph();
  auto const clusters = clusters_of(job, place);
  cluster_params params;
  params.clusters_per_sample = more.clusters_per_sample.value_or(params.clusters_per_sample);
  params.seed = job.seed;
  std::int64_t const num_clusters = clusters->params.num_clusters;
  std::string const partition = more.clusters_file.empty() ? more.partition.value_or("contiguous") : more.clusters_file;

  catalogue_job out;
  out.num_samples = more.num_samples.value_or(samples_per_epoch(num_clusters, params));
  out.description =
      fmt::format("{}: cluster, {} of {} clusters each ({})", counted(out.num_samples, "sample", "samples"),
                  std::min(params.clusters_per_sample, num_clusters), num_clusters, partition);
  out.params = {{"num_clusters", num_clusters},
                {"partition", partition},
                {"clusters_per_sample", params.clusters_per_sample},
                {"first_sample", more.first_sample}};
  out.plan.tables = "vertices, cluster by cluster";
  out.plan.table_bytes = g.num_vertices() * 4 + (num_clusters + 1) * 8;
  out.plan.reasons = {
      "an epoch is a random order of the clusters; a sample takes every edge of the graph whose two ends are among "
      "its vertices"};
  if (clusters->params.method == cluster_method::metis && !clusters->given) {
    out.plan.reasons.emplace_back("METIS partitions the graph first, on the CPU, with one thread");
  }
  out.ready = [clusters, &place] { clusters->make(place); };
  out.agreements = [clusters, from_file = !more.clusters_file.empty()] {
    return std::vector{content_of(from_file ? "--clusters-from" : "clusters", clusters->cluster_of.span())};
  };
  out.begin = [clusters](result_file& file, walk_range) {
    file.add_whole("cluster_of", {clusters->cluster_of.size()}, clusters->cluster_of.span());
  };
  out.prepare = [clusters](sample_place const& where) { clusters->bring_to(where); };
  double const nodes = static_cast<double>(g.num_vertices()) / static_cast<double>(num_clusters) *
                       static_cast<double>(params.clusters_per_sample);
  out.run_size = samples_a_part(nodes * (4 + 24 * mean_degree(g)));
  out.make = [=, first_sample = more.first_sample](sample_place const& at, std::int64_t first, std::int64_t count,
                                                   sample_part& part) {
    take(at.run([&](graph const& where, auto const& exec) {
      return cluster_sample(where, clusters->grouped.at(at.index()), params, count, exec, first_sample + first);
    }),
         at, part);
  };
  return out;
}

namespace {

shadow_params shadow_params_of(sample_job const& job)
{
  auto const& more = job.more;
  shadow_params params;
  params.depth = more.depth.value_or(params.depth);
  params.num_neighbors = more.num_neighbors.value_or(params.num_neighbors);
  params.replace = job.replace;
  params.seed = job.seed;
  return params;
}

}  // namespace

void validate_shadow(sample_job const& job) { validate(shadow_params_of(job)); }

catalogue_job shadow_job(sample_job const& job, sample_place const& place)
{
  auto const& more = job.more;
  graph const& g = place.host_graph();
  shadow_params const params = shadow_params_of(job);
  auto const seeds = std::make_shared<buffer<vertex_id> const>(job.seeds(g.num_vertices(), place.host_exec()));

  catalogue_job out;
  out.num_samples = seeds->size();
  out.description = fmt::format("{}: shadow, {} of {} neighbours, {}", counted(seeds->size(), "seed", "seeds"),
                                counted(params.depth, "hop", "hops"), params.num_neighbors,
                                params.replace ? "with replacement" : "without replacement");
  out.params = {{"depth", params.depth},
                {"num_neighbors", params.num_neighbors},
                {"replace", params.replace},
                {"first_sample", more.first_sample}};
  out.plan.reasons = {"draws are uniform; then every edge between the vertices reached is looked up"};
  out.agreements = agreements_on_seeds(job, seeds);
  out.begin = [seeds](result_file& file, walk_range samples) {
    file.add_whole("seeds", {samples.size}, seeds_of(*seeds, samples, 1));
  };
  double nodes = 1;
  double reached = 1;
  for (std::int64_t h = 0; h < params.depth && nodes < static_cast<double>(g.num_vertices()); ++h) {
    reached *= static_cast<double>(params.num_neighbors);
    nodes += reached;
  }
  nodes = std::min(nodes, static_cast<double>(g.num_vertices()));
  out.run_size = samples_a_part(nodes * (4 + 24 * mean_degree(g)));
  out.make = [=, first_sample = more.first_sample](sample_place const& at, std::int64_t first, std::int64_t count,
                                                   sample_part& part) {
    auto const there = at.put(seeds_of(*seeds, {first, count}, 1));
    take(at.run([&](graph const& where, auto const& exec) {
      return shadow_sample(where, there.span(), params, exec, first_sample + first);
    }),
         at, part);
  };
  return out;
}

namespace {

saint_params saint_params_of(sample_job const& job)
{
  auto const& more = job.more;
  saint_params params;
  params.sampler =
      parse_name<saint_sampler>("--app", std::string_view(job.app).substr(std::string_view("saint-").size()));
  params.budget = more.budget.value_or(params.budget);
  params.length = more.length.value_or(params.length);
  params.matrix = more.matrix();
  params.seed = job.seed;
  return params;
}

/// Vertices drawn for a sample.
double vertices_drawn(saint_params const& params)
{
  auto const budget = static_cast<double>(params.budget);
  switch (params.sampler) {
    case saint_sampler::node: return budget;
    case saint_sampler::edge: return 2 * budget;
    default: return budget * static_cast<double>(params.length + 1);
  }
}

catalogue_plan plan_of(saint_params const& params, graph const& g)
{
  catalogue_plan plan;
  if (params.sampler == saint_sampler::node) {
    plan.tables = "alias table and probabilities of all vertices";
    plan.table_bytes = g.num_vertices() * 20;
    plan.reasons = {"vertices are drawn by the squared norms of the columns of the matrix: O(1) per draw"};
  } else if (params.sampler == saint_sampler::edge) {
    bool isolated = false;
    graph_view const view = g.view();
    for (std::int64_t v = 0; v < view.num_vertices && !isolated; ++v) { isolated = view.degree(v) == 0; }
    if (isolated) {
      plan.tables = "the vertices that have an edge";
      plan.table_bytes = g.num_vertices() * 4;
    }
    plan.reasons = {
        "drawing an edge in proportion to 1 / degree of its source is drawing a uniform vertex that has edges, then "
        "one of its edges uniformly: O(1) per draw"};
  } else {
    plan.reasons = {"roots and steps are uniform: bounded random integers"};
  }
  return plan;
}

}  // namespace

void validate_saint(sample_job const& job) { validate(saint_params_of(job)); }

catalogue_job saint_job(sample_job const& job, sample_place const& place)
{
  auto const& more = job.more;
  graph const& g = place.host_graph();
  auto const params = saint_params_of(job);
  validate(params, g);
  double const drawn = vertices_drawn(params);

  catalogue_job out;
  out.num_samples = more.num_samples.value_or(
      std::max<std::int64_t>(static_cast<std::int64_t>(static_cast<double>(g.num_vertices()) / drawn + 0.999), 1));
  out.description = fmt::format(
      "{}: {}, {} each", counted(out.num_samples, "sample", "samples"), job.app,
      params.sampler == saint_sampler::walk
          ? fmt::format("{} from {}", counted(params.length, "step", "steps"), counted(params.budget, "root", "roots"))
          : fmt::format("{} drawn", params.sampler == saint_sampler::node ? counted(params.budget, "vertex", "vertices")
                                                                          : counted(params.budget, "edge", "edges")));
  out.params = {{params.sampler == saint_sampler::walk ? "roots" : "budget", params.budget},
                {"first_sample", more.first_sample}};
  if (params.sampler == saint_sampler::walk) { out.params["length"] = params.length; }
  if (params.sampler == saint_sampler::node) { out.params["normalization"] = more.normalization.value_or("row"); }
  if (more.coefficients) { out.params["coefficients"] = *more.coefficients; }
  out.plan = plan_of(params, g);
  if (more.coefficients) {
    out.begin = [=, &place, count = *more.coefficients](result_file& file, walk_range) {
      auto made = place.run(
          [&](graph const& where, auto const& exec) { return saint_normalization(where, params, count, exec); });
      file.add_whole("node_counts", place.bring(std::move(made.node_counts)));
      file.add_whole("edge_counts", place.bring(std::move(made.edge_counts)));
      file.add_whole("loss", place.bring(std::move(made.loss)));
      file.add_whole("aggregator", place.bring(std::move(made.aggregator)));
    };
  }
  out.run_size = samples_a_part(drawn * (4 + 24 * mean_degree(g)));
  out.make = [=, first_sample = more.first_sample](sample_place const& at, std::int64_t first, std::int64_t count,
                                                   sample_part& part) {
    take(at.run([&](graph const& where, auto const& exec) {
      return saint_sample(where, params, count, exec, first_sample + first);
    }),
         at, part);
  };
  return out;
}

}  // namespace tendril::cli
