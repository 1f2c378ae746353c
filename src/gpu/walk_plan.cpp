#include "gpu/walk_plan.hpp"

#include <algorithm>

#include <fmt/format.h>

#include <tendril/gpu.hpp>

#include "store/derived_cache.hpp"

namespace tendril::gpu {
namespace {

// Costs in nanoseconds of the whole GPU (bench/results, walks on cuda); only their ratios matter.
constexpr double alias_build_ns = 0.1;    // an alias bucket
constexpr double prefix_build_ns = 0.03;  // a prefix sum
constexpr double record_build_ns = 0.01;  // copying an edge into another record
constexpr double hop_build_ns = 0.03;     // a record with the neighbour's place: one gather
constexpr double set_build_ns = 0.05;     // an atomic insertion
constexpr double group_build_ns = 0.1;    // placing an edge in its label's group
constexpr double online_edge_ns = 0.008;  // reading a candidate at the step, four passes
constexpr double missed_row_ns = 0.012;   // a step whose row is not in the second-level cache
constexpr double search_ns = 0.06;        // a binary search instead of a hash set

/// Adds up the tables of a plan.
class table_bill {
 public:
  table_bill(graph const& graph, sampling_plan& plan) : graph_(graph), plan_(plan) {}

  [[nodiscard]] bool has(std::string const& key) const { return graph_.derived().find<void>(key) != nullptr; }

  void add(std::string const& key, std::int64_t bytes)
  {
    plan_.table_bytes += bytes;
    if (has(key)) { plan_.table_bytes_built += bytes; }
  }

 private:
  graph const& graph_;
  sampling_plan& plan_;
};

/// What the decisions about tables share.
struct planning {
  graph const& input;
  walk_params const& params;
  gpu_exec const& exec;
  double steps;
  std::int64_t free_bytes;
  std::int64_t l2_bytes;
  walk_plan& plan;
  table_bill bill;

  [[nodiscard]] double edges() const { return static_cast<double>(input.num_edges()); }
  [[nodiscard]] std::string key(char const* table) const
  {
    if (!plan.shared.grouped_by_label) { return table; }
    return fmt::format("{}:{}", table,
                       plan::metapath_grouping(params) == plan::grouping::by_edge_label ? "edge-label" : "target-type");
  }

  /// Whether a table of `bytes` is to be had: it is there, or it pays (`gain_ns` against `build_ns`) and fits.
  bool take(char const* table, char const* name, char const* without, std::int64_t bytes, double build_ns,
            double gain_ns)
  {
    std::string const k = key(table);
    bool const built = bill.has(k);
    if (!built && gain_ns < build_ns) {
      plan.shared.reasons.push_back(fmt::format("{}: this job is too small to pay for {}", without, name));
      return false;
    }
    if (!built && bytes > free_bytes / 2) {
      plan.shared.reasons.push_back(fmt::format("{}: {} of {} MB would take over half of the GPU's free memory",
                                                without, name, bytes / 1'000'000));
      return false;
    }
    plan.shared.reasons.push_back(built ? fmt::format("{}: built by an earlier call", name)
                                        : fmt::format("{}: {} MB, pays for this job", name, bytes / 1'000'000));
    bill.add(k, bytes);
    return true;
  }
};

std::shared_ptr<plan::weight_statistics const> statistics_of(graph const& graph, gpu_exec const& exec)
{
  return graph.derived().get<plan::weight_statistics>("statistics",
                                                      [&] { return make_weight_statistics(graph.view(), exec); });
}

std::int64_t num_rows(planning const& p, std::int64_t num_labels)
{
  return p.input.num_vertices() * (p.plan.shared.grouped_by_label ? num_labels : 1);
}

/// Records that carry places pay where rows don't stay in the cache; metapaths have more than one place a vertex.
bool take_hops(planning& p, char const* table, char const* name, std::int64_t bytes_an_edge, double build_ns)
{
  std::int64_t const row_bytes = 8 * p.input.num_vertices();
  if (!p.params.metapath.empty() || row_bytes < p.l2_bytes / 2) { return false; }
  return p.take(table, name, "rows read apart", bytes_an_edge * p.input.num_edges(), p.edges() * build_ns,
                p.steps * missed_row_ns);
}

/// Whether places of this graph fit into 8 bytes, which the alias table with places needs.
bool fits_packed_places(planning const& p)
{
  if (p.input.num_edges() >= std::int64_t{1} << 40U) { return false; }
  auto const most =
      p.input.derived().get<std::int64_t>("largest-degree", [&] { return largest_degree(p.input.view(), p.exec); });
  return *most < std::int64_t{1} << 24U;
}

void plan_layout(planning& p, double mean_degree, std::int64_t num_labels)
{
  auto& shared = p.plan.shared;
  double const online_ns = p.steps * mean_degree * online_edge_ns;
  std::int64_t const num_edges = p.input.num_edges();
  switch (shared.rule) {
    case sampling_rule::scan:
    case sampling_rule::automatic: shared.layout = table_layout::online; return;
    case sampling_rule::uniform:
      p.plan.hops = take_hops(p, "hop-records", "records with the neighbour's place", 16, hop_build_ns);
      break;
    case sampling_rule::alias:
      p.plan.hops = fits_packed_places(p) &&
                    take_hops(p, "alias-hop-records", "alias table with places", 32, alias_build_ns + hop_build_ns);
      if (p.plan.hops) {
        shared.layout = table_layout::table;
        break;
      }
      shared.layout = p.take("alias-records", "alias table", "computed at each step", 16 * num_edges,
                             p.edges() * alias_build_ns, online_ns)
                          ? table_layout::table
                          : table_layout::online;
      break;
    case sampling_rule::its:
      shared.layout = p.take("prefix-sums", "prefix sums", "computed at each step", 8 * num_edges,
                             p.edges() * prefix_build_ns, online_ns)
                          ? table_layout::table
                          : table_layout::online;
      break;
    case sampling_rule::reject:
      if (p.params.weighted) {
        p.plan.edge_records = p.take("edge-records", "edge records", "graph arrays", 8 * num_edges,
                                     p.edges() * record_build_ns, p.steps * missed_row_ns);
        p.bill.add(p.key("vertex-records"), 16 * num_rows(p, num_labels));
        shared.layout = p.plan.edge_records ? table_layout::table : table_layout::none;
      } else {
        p.plan.hops = take_hops(p, "hop-records", "records with the neighbour's place", 16, hop_build_ns);
      }
      break;
  }
  bool const by_compact_rows = !p.plan.hops && !(shared.rule == sampling_rule::reject && p.params.weighted);
  if (by_compact_rows && shared.layout != table_layout::online && num_edges < (std::int64_t{1} << 32U)) {
    p.plan.compact_rows = true;
    p.bill.add(p.key("rows"), 8 * num_rows(p, num_labels));
  }
  if (plan::is_second_order(p.params) && shared.layout != table_layout::online) {
    p.plan.adjacency_sets =
        p.take("adjacency-sets", "hash sets of neighbours", "binary searches",
               6 * num_edges + 32 * p.input.num_vertices(), p.edges() * set_build_ns, p.steps * search_ns);
  }
}

}  // namespace

std::shared_ptr<std::vector<char> const> labels_of(graph const& graph, plan::grouping by, gpu_exec const& exec)
{
  char const* const key = by == plan::grouping::by_edge_label ? "edge-labels-in-use" : "node-types-in-use";
  return graph.derived().get<std::vector<char>>(key, [&] { return labels_in_use(graph.view(), by, exec); });
}

walk_plan make_walk_plan(graph const& graph, walk_params const& params, std::int64_t expected_walks,
                         gpu_exec const& exec)
{
  walk_plan plan;
  gpu_info const gpu = describe_gpu(exec.device);
  planning p{graph,
             params,
             exec,
             plan::expected_steps(params, expected_walks),
             free_gpu_bytes(exec.device),
             gpu.l2_bytes,
             plan,
             table_bill(graph, plan.shared)};
  plan.shared.rule = plan::choose_walk_rule(
      plan.shared, params, [&]() -> plan::weight_statistics const& { return *statistics_of(graph, exec); });

  std::int64_t num_labels = 1;
  if (!params.metapath.empty() && plan.shared.rule != sampling_rule::scan) {
    num_labels = static_cast<std::int64_t>(labels_of(graph, plan::metapath_grouping(params), exec)->size());
    plan.shared.grouped_by_label = true;  // for the key
    std::int64_t const bytes =
        8 * (graph.num_vertices() * num_labels + 1) + (params.weighted ? 8 : 4) * graph.num_edges();
    double const mean_degree = p.edges() / static_cast<double>(std::max<std::int64_t>(1, graph.num_vertices()));
    plan.shared.grouped_by_label = p.take("label-groups", "neighbours grouped by label", "labels read at each step",
                                          bytes, p.edges() * group_build_ns, p.steps * mean_degree * online_edge_ns);
    if (!plan.shared.grouped_by_label) {
      plan.shared.layout = table_layout::online;
      return plan;
    }
    plan.shared.layout = table_layout::table;
  }
  double mean_degree = 0;
  if (params.weighted && plan.shared.rule != sampling_rule::scan) {
    auto const statistics = statistics_of(graph, exec);
    mean_degree = statistics->mean_degree;
    p.bill.add("statistics", statistics->num_bytes);
  }
  plan_layout(p, mean_degree, num_labels);
  return plan;
}

walk_tables make_walk_tables(graph const& graph, walk_params const& params, walk_plan const& plan, gpu_exec const& exec)
{
  walk_tables out;
  if (plan.shared.layout == table_layout::online) { return out; }
  auto& cache = graph.derived();
  graph_view view = graph.view();
  auto const by = plan::metapath_grouping(params);
  char const* const suffix = !plan.shared.grouped_by_label         ? ""
                             : by == plan::grouping::by_edge_label ? ":edge-label"
                                                                   : ":target-type";
  auto const table = [&]<class T>(std::shared_ptr<T const>& to, char const* key, auto build) {
    to = cache.get<T>(std::string(key) + suffix, build);
  };
  if (plan.shared.grouped_by_label) {
    table(out.groups, "label-groups", [&] {
      return make_label_groups(view, by, static_cast<std::int64_t>(labels_of(graph, by, exec)->size()), exec);
    });
    view = out.groups->rows;
  }
  bool const rejects = plan.shared.rule == sampling_rule::reject && params.weighted;
  if (rejects) {
    table(out.statistics, "statistics", [&] { return make_weight_statistics(view, exec); });
    table(out.weighted_rows, "vertex-records",
          [&] { return make_vertex_records(view, out.statistics->largest.data(), exec); });
    if (plan.edge_records) {
      table(out.edges, "edge-records", [&] { return make_edge_records(view, exec); });
    }
  }
  if (plan.compact_rows) {
    table(out.rows, "rows", [&] { return make_row_records(view, exec); });
  }
  bool const by_alias = plan.shared.rule == sampling_rule::alias;
  if (by_alias && plan.hops) {
    table(out.alias_hops, "alias-hop-records", [&] { return make_alias_hop_records(view, exec); });
  } else if (by_alias) {
    table(out.alias, "alias-records", [&] { return make_alias_records(view, exec); });
  } else if (plan.hops) {
    table(out.hops, "hop-records", [&] { return make_hop_records(view, exec); });
  }
  if (plan.shared.rule == sampling_rule::its) {
    table(out.prefix_sums, "prefix-sums", [&] { return make_prefix_sums(view, exec); });
  }
  if (plan.adjacency_sets) {
    table(out.adjacency_sets, "adjacency-sets", [&] { return make_adjacency_sets(view, exec); });
  }
  return out;
}

}  // namespace tendril::gpu
