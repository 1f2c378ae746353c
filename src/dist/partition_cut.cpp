#include "dist/partition_cut.hpp"

#include <algorithm>
#include <bit>
#include <mutex>
#include <vector>

#include <tendril/cluster.hpp>
#include <tendril/compress.hpp>  // names of forms
#include <tendril/renumber.hpp>

#include "base/expects.hpp"      // TENDRIL_EXPECTS
#include "base/vertex_work.hpp"  // vertex_work
#include "dist/partition_bounds.hpp"
#include "dist/partition_digest.hpp"
#include "graph/check.hpp"   // edge_ids_of
#include "graph/places.hpp"  // expect_in_host_memory
#include "plan/tables.hpp"   // make_weight_statistics, labels_in_use

namespace tendril {
namespace dist {
namespace {

std::size_t index_of(std::int64_t p) { return static_cast<std::size_t>(p); }

cut_graph cut_by_metis(graph const& input, std::int64_t num_parts, cpu_exec const& exec)
{
  std::int64_t const num_clusters = std::min(num_parts, input.num_vertices());
  if (num_clusters == 0) { return cut_by_clusters(input, {}, num_parts, exec); }
  clustering_params const params{.num_clusters = num_clusters, .method = cluster_method::metis};
  return cut_by_clusters(input, cluster_vertices(input, params, exec).span(), num_parts, exec);
}

std::vector<std::int64_t> bounds_of(graph const& whole, partition_params const& params)
{
  std::int64_t const num_vertices = whole.num_vertices();
  if (params.method == partition_method::degree && num_vertices > 0) {
    return whole.view().visit([&](auto const& g) {
      return even_work_bounds(num_vertices, params.num_parts, [&](std::int64_t v) { return v + g.first_edge(v); });
    });
  }
  std::vector<std::int64_t> bounds;
  for (std::int64_t p = 0; p <= params.num_parts; ++p) {
    bounds.push_back(even_bound(num_vertices, params.num_parts, p));
  }
  return bounds;
}

std::vector<label_id> list_labels(std::vector<char> const& used)
{
  std::vector<label_id> out;
  for (std::size_t l = 0; l < used.size(); ++l) {
    if (used[l] != 0) { out.push_back(static_cast<label_id>(l)); }
  }
  return out;
}

/// What one pass over all edges tells.
class edge_pass {
 public:
  edge_pass(graph const& whole, partition_info const& info)
      : arrays_(whole.arrays()),
        info_(info),
        ids_(validation::edge_ids_of(arrays_)),
        crossing_(info.crossing_edges.size())
  {
  }

  template <class View>
  void read(View const& g, cpu_exec const& exec)
  {
    base::vertex_work const work(g.num_vertices, [&](std::int64_t v) { return g.first_edge(v); });
    work.for_each_range("cutting", exec, [&](std::int64_t begin, std::int64_t end) {
      digest rows;
      std::vector<edge_id> crossing(crossing_.size());
      std::int64_t part = info_.part_of(begin);
      for (std::int64_t v = begin; v < end; ++v) {
        while (v >= info_.bounds[index_of(part) + 1]) { ++part; }
        read_row(g, v, part, rows, crossing[index_of(part)]);
      }
      std::lock_guard const lock(mutex_);
      rows_.add_sum(rows);
      for (std::size_t p = 0; p < crossing.size(); ++p) { crossing_[p] += crossing[p]; }
    });
  }

  [[nodiscard]] std::vector<edge_id> const& crossing() const { return crossing_; }
  [[nodiscard]] digest const& rows() const { return rows_; }

 private:
  template <class View>
  void read_row(View const& g, std::int64_t v, std::int64_t part, digest& rows, edge_id& crossing) const
  {
    auto const row = g.row(v);
    auto const first = static_cast<vertex_id>(info_.bounds[index_of(part)]);
    auto const size = static_cast<vertex_id>(info_.bounds[index_of(part) + 1] - first);
    digest hash;
    hash.mix(static_cast<std::uint64_t>(v));
    hash.mix(row.degree());
    if (info_.bytes_per_node_type > 0) { hash.mix(g.node_types[v]); }
    if (info_.has_original_ids) { hash.mix(arrays_.original_ids[v]); }
    std::uint32_t i = 0;
    for (vertex_id const x : row) {
      crossing += x - first >= size ? 1 : 0;
      std::uint64_t const weight = info_.has_weights ? std::bit_cast<std::uint32_t>(float{row.weight(i)}) : 0U;
      hash.mix(weight << 32U | x);
      if (info_.bytes_per_edge_label > 0) { hash.mix(row.label(i)); }
      if (info_.has_edge_ids) { hash.mix(static_cast<std::uint64_t>(ids_[row.edge(i)])); }
      ++i;
    }
    rows.add(hash);
  }

  graph_arrays const& arrays_;
  partition_info const& info_;
  edge_id_view ids_;
  std::mutex mutex_;
  digest rows_;
  std::vector<edge_id> crossing_;
};

std::string digest_of(digest const& rows, partition_info const& info)
{
  digest out;
  out.mix(rows);
  for (std::int64_t const number : {info.num_vertices, info.num_edges}) { out.mix(static_cast<std::uint64_t>(number)); }
  for (bool const has : {info.symmetric, info.has_weights, info.bytes_per_edge_label > 0, info.has_edge_ids,
                         info.bytes_per_node_type > 0, info.has_original_ids}) {
    out.mix(has ? 1U : 0U);
  }
  for (auto const* const names : {&info.edge_label_names, &info.node_type_names}) {
    out.mix(names->size());
    for (std::string const& name : *names) { out.mix(std::string_view(name)); }
  }
  return out.text();
}

/// All of `out.info` but its bounds, its method and its form.
void describe(cut_graph& out, cpu_exec const& exec)
{
  partition_info& info = out.info;
  graph_arrays const& arrays = out.whole.arrays();
  graph_view const view = out.whole.view();
  info.num_vertices = view.num_vertices;
  info.num_edges = view.num_edges;
  info.symmetric = arrays.symmetric;
  info.has_weights = out.whole.has_weights();
  info.bytes_per_edge_label = out.whole.bytes_per_edge_label();
  info.has_edge_ids = out.whole.has_edge_ids();
  info.bytes_per_node_type = arrays.node_types.bytes_per_label();
  info.has_original_ids = !arrays.original_ids.empty();
  info.edge_label_names = arrays.edge_label_names;
  info.node_type_names = arrays.node_type_names;
  info.metadata = arrays.metadata;
  std::int64_t const num_parts = info.num_parts();
  info.part_edges.assign(index_of(num_parts), 0);
  info.crossing_edges.assign(index_of(num_parts), 0);
  if (info.num_vertices > 0) {  // a graph without vertices may have no offsets
    for (std::int64_t p = 0; p < num_parts; ++p) {
      info.part_edges[index_of(p)] =
          view.first_edge(info.bounds[index_of(p) + 1]) - view.first_edge(info.bounds[index_of(p)]);
    }
  }
  edge_pass pass(out.whole, info);
  view.visit([&](auto const& g) { pass.read(g, exec); });
  info.crossing_edges = pass.crossing();
  info.digest = digest_of(pass.rows(), info);
  if (info.has_weights) {
    auto const statistics = plan::make_weight_statistics(view, exec);
    info.weights = {statistics.expected_trials, statistics.mean_degree, statistics.most_trials};
  }
  info.edge_labels_in_use = list_labels(plan::labels_in_use(view, plan::grouping::by_edge_label, exec));
  info.node_types_in_use = list_labels(plan::labels_in_use(view, plan::grouping::by_target_type, exec));
}

}  // namespace

cut_graph cut(graph const& input, partition_params const& params, cpu_exec const& exec)
{
  validation::expect_in_host_memory(input);
  TENDRIL_EXPECTS(params.num_parts >= 1 && params.num_parts <= max_num_parts,
                  "num_parts: {}, expected a number from 1 to {}", params.num_parts, max_num_parts);
  TENDRIL_EXPECTS(to_string(params.method) != "?", "method: {}, expected {}", static_cast<int>(params.method),
                  list_names<partition_method>());
  TENDRIL_EXPECTS(!params.form || to_string(*params.form) != "?", "form: {}, expected {}",
                  static_cast<int>(*params.form), list_names<graph_form>());
  input.check(exec);
  cut_graph out;
  if (params.method == partition_method::metis) {
    out = cut_by_metis(input, params.num_parts, exec);
  } else {
    out.whole = input;
    out.info.bounds = bounds_of(input, params);
  }
  out.info.method = params.method;
  out.info.form = params.form.value_or(input.form());
  describe(out, exec);
  return out;
}

cut_graph cut_by_clusters(graph const& input, std::span<vertex_id const> cluster_of, std::int64_t num_parts,
                          cpu_exec const& exec)
{
  vertex_clusters const clusters = group_clusters(cluster_of, num_parts, exec);
  cut_graph out{renumber(input, clusters.vertices.span(), exec), {}};
  out.info.bounds.assign(clusters.offsets.begin(), clusters.offsets.end());
  return out;
}

void expect_part(partition_info const& info, std::int64_t index)
{
  TENDRIL_EXPECTS(index >= 0 && index < info.num_parts(), "part {}: expected one from 0 to {}", index,
                  info.num_parts() - 1);
}

}  // namespace dist

std::int64_t partition_info::part_of(std::int64_t v) const noexcept
{
  return std::upper_bound(bounds.begin() + 1, bounds.end(), v) - (bounds.begin() + 1);
}

graph_part part_of(graph const& input, partition_params const& params, std::int64_t index, cpu_exec const& exec)
{
  TENDRIL_EXPECTS(index >= 0 && index < params.num_parts, "part {}: expected one from 0 to {}", index,
                  params.num_parts - 1);
  dist::cut_graph const whole = dist::cut(input, params, exec);
  graph_part out;
  out.info = whole.info;
  out.index = index;
  out.rows = dist::rows_of(whole, index, exec);
  out.node_types = whole.whole.arrays().node_types;
  out.original_ids = whole.whole.arrays().original_ids;
  return out;
}

}  // namespace tendril
