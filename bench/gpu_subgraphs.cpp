#include "bench/gpu_subgraphs.hpp"

#include <algorithm>
#include <functional>
#include <memory>
#include <sstream>

#include <fmt/format.h>

#include <tendril/cluster.hpp>
#include <tendril/gpu.hpp>
#include <tendril/gpu_array.hpp>
#include <tendril/saint.hpp>
#include <tendril/shadow.hpp>
#include <tendril/starts.hpp>
#include <tendril/subgraph.hpp>

#include "bench/gpu_ceilings.hpp"
#include "bench/gpu_graphs.hpp"
#include "bench/measure.hpp"

namespace tendril::bench {
namespace {

constexpr std::int64_t num_samples = 161'575;
constexpr std::int64_t cluster_size = 16;
constexpr std::int64_t num_epoch_clusters = 1'500;
constexpr std::int64_t num_seeds = 40'000;
constexpr std::int64_t num_saint_samples = 50;
constexpr char entries[] = "list entries, read once";

/// A graph on the GPU, clusters of it and sets of vertices.
struct bed {
  gpu_exec gpu;
  graph g;
  vertex_clusters small, large;
  std::vector<vertex_id> lists;
  buffer<vertex_id> gpu_lists, seeds;
  buffer<std::int64_t> list_offsets;

  bed(std::string const& name, gpu_exec const& exec) : gpu(exec), g(make_bench_graph(name, exec))
  {
    std::int64_t const num_small = std::max<std::int64_t>(1, g.num_vertices() / cluster_size);
    small = clusters(num_small, cluster_method::contiguous);
    large = clusters(std::min(num_epoch_clusters, g.num_vertices()), cluster_method::random);
    std::vector<vertex_id> offsets = {0};
    for (std::int64_t i = 0; i < num_samples; ++i) {
      lists.push_back(static_cast<vertex_id>(2 * i % num_small));
      if (num_small > 1) { lists.push_back(static_cast<vertex_id>((2 * i + 1) % num_small)); }
      offsets.push_back(static_cast<vertex_id>(lists.size()));
    }
    gpu_lists = copy_to_gpu(lists, gpu);
    list_offsets = buffer<std::int64_t>(num_samples + 1, memory_of(gpu));
    widen_ids(copy_to_gpu(offsets, gpu).data(), num_samples + 1, 1, list_offsets.data(), 1, gpu);
    seeds = copy_to_gpu(random_vertices(g.num_vertices(), num_seeds, 1).span(), gpu);
  }

  /// Entries of all lists that the samples of two clusters read.
  [[nodiscard]] double num_entries() const
  {
    auto const first_edges = first_edges_of(g, gpu);
    std::vector<std::int64_t> offsets(static_cast<std::size_t>(small.num_clusters) + 1);
    std::vector<vertex_id> vertices(first_edges.size() - 1);
    copy_to_host(small.offsets.data(), offsets.data(), offsets.size() * sizeof(std::int64_t), gpu);
    copy_to_host(small.vertices.data(), vertices.data(), vertices.size() * sizeof(vertex_id), gpu);
    double sum = 0;
    for (auto const c : lists) {
      for (std::int64_t k = offsets[c]; k < offsets[c + std::size_t{1}]; ++k) {
        vertex_id const v = vertices[static_cast<std::size_t>(k)];
        sum += static_cast<double>(first_edges[v + std::size_t{1}] - first_edges[v]);
      }
    }
    return sum;
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

 private:
  [[nodiscard]] vertex_clusters clusters(std::int64_t num, cluster_method method) const
  {
    clustering_params params;
    params.num_clusters = num;
    params.method = method;
    return group_clusters(cluster_vertices(g, params, gpu).span(), num, gpu);
  }
};

/// Adds a job in milliseconds; says how large its result is.
void add_job(session& s, std::shared_ptr<bed> const& b, std::string const& name, std::string const& how,
             std::function<subgraphs()> const& call)
{
  auto const out = call();  // tables
  std::string const params =
      fmt::format("{}; {:.2f} M vertices, {:.2f} M edges", how, static_cast<double>(out.nodes.size()) / 1e6,
                  static_cast<double>(out.edges.size()) / 1e6);
  s.add(name, params, "ms", "", [b, call] { return 1e3 * b->seconds(call); });
}

void add_cluster_jobs(session& s, std::shared_ptr<bed> const& b)
{
  auto const pairs = [b] {
    return cluster_subgraphs(b->g, b->small, b->gpu_lists.span(), b->list_offsets.span(), b->gpu);
  };
  std::string const how = "161,575 samples of two clusters of 16";
  add_job(s, b, "ClusterGCN", how, pairs);
  double const size = b->num_entries();
  s.add("ClusterGCN, entries", how, "entries/s", entries, [b, pairs, size] { return size / b->seconds(pairs); });
  auto const sets = std::make_shared<subgraphs>(pairs());
  add_job(s, b, "induced subgraphs of the same vertices", "161,575 sets of 32",
          [b, sets] { return induced_subgraphs(b->g, sets->nodes.span(), sets->node_offsets.span(), b->gpu); });
  std::int64_t const epoch = samples_per_epoch(b->large.num_clusters, {});
  add_job(s, b, "ClusterGCN, an epoch", "20 of 1,500 random clusters a sample",
          [b, epoch] { return cluster_sample(b->g, b->large, {}, epoch, b->gpu); });
  add_job(s, b, "ClusterGCN, a batch", "20 of 1,500 random clusters",
          [b] { return cluster_sample(b->g, b->large, {}, 1, b->gpu); });
}

void add_other_jobs(session& s, std::shared_ptr<bed> const& b)
{
  for (std::int64_t const num : {std::int64_t{1'024}, num_seeds}) {
    add_job(s, b, fmt::format("ShaDow, {} seeds", num), "2 hops of 10",
            [b, num] { return shadow_sample(b->g, b->seeds.span().first(static_cast<std::size_t>(num)), {}, b->gpu); });
  }
  struct sampler {
    char const* name;
    char const* how;
    saint_params params;
  };
  for (sampler const& each :
       {sampler{"GraphSAINT, nodes", "50 samples of 6,000 draws", {saint_sampler::node, 6'000}},
        sampler{"GraphSAINT, edges", "50 samples of 4,000 edges", {saint_sampler::edge, 4'000}},
        sampler{"GraphSAINT, walks", "50 samples of 3,000 walks of 2 steps", {saint_sampler::walk, 3'000}}}) {
    add_job(s, b, each.name, each.how,
            [b, params = each.params] { return saint_sample(b->g, params, num_saint_samples, b->gpu); });
    s.add(std::string(each.name) + ", coefficients", each.how, "ms", "", [b, params = each.params] {
      return 1e3 * b->seconds([&] { return saint_normalization(b->g, params, num_saint_samples, b->gpu); });
    });
  }
}

}  // namespace

std::vector<row> run_gpu_subgraphs(options const& o)
{
  std::vector<row> rows;
  std::istringstream names(o.graph);
  for (std::string name; std::getline(names, name, ',');) {
    auto const b = std::make_shared<bed>(name, gpu_exec(*o.gpu));
    session s(name, o.repeats);
    s.add(entries, "4 bytes each, 4 GiB", "entries/s", "",
          [b] { return gpu_sequential_read(std::int64_t{4} << 30, b->gpu) / 4; });
    add_cluster_jobs(s, b);
    add_other_jobs(s, b);
    for (auto& r : s.run()) { rows.push_back(std::move(r)); }
    b->g.drop_derived();
  }
  return rows;
}

}  // namespace tendril::bench
