// Which tables walks on a GPU read. What all executors decide alike: src/plan/planner.cpp.

#include "gpu/walks/plan.hpp"

#include <tendril/gpu.hpp>

#include "gpu/tables/derived_table.hpp"
#include "gpu/tables/plan_context.hpp"

namespace tendril::gpu {
namespace {

struct dead_end_table : single_table<bool> {};
struct weighted_dead_end_table : single_table<bool> {};

/// A walk's plan, and what decides about the tables that only the GPU has.
struct planning {
  plan::walk_planning& walk;
  walk_plan& plan;
  gpu_exec const& exec;
  graph_scope scope;

  [[nodiscard]] graph const& input() const { return walk.input(); }
  [[nodiscard]] plan::table_costs const& costs() const { return walk.costs(); }
  [[nodiscard]] bool weighted_rejection() const
  {
    return plan.shared.rule == sampling_rule::reject && walk.params().weighted;
  }
  /// Records with places of CSR: second-order walks keep places of the graph's own form.
  [[nodiscard]] bool offers_places() const
  {
    return scope == graph_scope::whole && (input().form() == graph_form::csr || !plan::is_second_order(walk.params()));
  }
};

/// Records that carry places; metapaths have more than one place a vertex. They spare the gather of a row, which costs
/// more where rows don't stay in the second-level cache.
template <class Table>
bool take_hops(planning& p, Table const& table, double build_ns_an_edge)
{
  if (!p.walk.params().metapath.empty() || !p.offers_places()) { return false; }
  bool const rows_are_cached =
      row_records_table::bytes(p.input().num_vertices()) < describe_gpu(p.exec.device).l2_bytes / 2;
  return p.walk.bill().take(
      table, {.bytes = Table::bytes(p.input().num_edges()),
              .build_ns = p.walk.num_edges() * build_ns_an_edge,
              .gain_ns = p.walk.steps() * (rows_are_cached ? p.costs().cached_row : p.costs().missed_row),
              .without = "rows read apart"});
}

/// Narrower neighbours, where the second-level cache holds a part of them, but not all: a step gathers from a table of two
/// thirds of the size.
void take_triples(planning& p)
{
  graph const& input = p.input();
  if (p.scope == graph_scope::part) { return; }
  bool const fit = input.form() == graph_form::csr && input.num_vertices() <= std::int64_t{1} << target_triples::bits &&
                   input.num_edges() < std::int64_t{1} << 32U;
  bool const first_order = p.walk.params().metapath.empty() && !plan::is_second_order(p.walk.params());
  if (!fit || !first_order || 4 * input.num_edges() < describe_gpu(p.exec.device).l2_bytes / 2) { return; }
  p.plan.triples = p.walk.bill().take(target_triples_table(), {.bytes = target_triples_table::bytes(input.num_edges()),
                                                               .build_ns = p.walk.num_edges() * p.costs().edge_record,
                                                               .gain_ns = p.walk.steps() * p.costs().narrow_target,
                                                               .without = "neighbours of 4 bytes"});
}

/// The edges of each label, so that the scan of a weighted metapath reads those alone. What a walk meets is at least the
/// mean degree.
void take_label_lists(planning& p)
{
  graph const& input = p.input();
  walk_params const& params = p.walk.params();
  if (p.scope == graph_scope::part) { return; }  // there all scans read the rows (parts/scan_on_part.hpp)
  if (params.metapath.empty() || !params.weighted || input.num_vertices() == 0) { return; }
  plan::grouping const by = plan::metapath_grouping(params);
  auto const num_labels = static_cast<std::int64_t>(labels_of(input, by, p.exec)->size());
  if (num_labels < 2) { return; }
  double const degree = p.walk.num_edges() / static_cast<double>(input.num_vertices());
  p.plan.label_lists = p.walk.bill().take(
      label_lists_table(by), {.bytes = label_lists_table::bytes(input.num_vertices() * num_labels, input.num_edges()),
                              .build_ns = p.walk.num_edges() * p.costs().listed_edge,
                              .gain_ns = p.walk.steps() * degree * p.costs().scanned_edge,
                              .without = "labels read at each step"});
  if (p.plan.label_lists) { p.plan.shared.layout = table_layout::table; }
}

/// Records of unweighted choices: packed ones spare the gather of a row wherever they fit; a degree of few bits would
/// send most steps to the rows after all.
void take_uniform_hops(planning& p)
{
  constexpr int least_degree_bits = 9;
  graph const& input = p.input();
  auto const packing = hop_packing::of(input.num_vertices(), input.num_edges());
  bool const fits = packing.degree_bits() >= least_degree_bits && packing.first_bits <= 32;
  // Neighbours that the second-level cache holds a good part of lose more by being twice as long than rows cost.
  if (neighbors_are_cached(input, p.exec)) {
    take_triples(p);
    return;
  }
  if (!p.offers_places()) { return; }
  if (fits && p.walk.params().metapath.empty()) {
    p.plan.packed_hops = p.walk.bill().take(packed_hops_table(), {.bytes = packed_hops_table::bytes(input.num_edges()),
                                                                  .build_ns = p.walk.num_edges() * p.costs().hop_record,
                                                                  .gain_ns = p.walk.steps() * p.costs().cached_row,
                                                                  .without = "rows read apart"});
  }
  if (p.plan.packed_hops) { return; }
  p.plan.hops = take_hops(p, hop_records_table(), p.costs().hop_record);
}

/// Whether places of this graph fit into 8 bytes, which the alias table with places needs.
bool fits_packed_places(planning const& p)
{
  if (p.input().num_edges() >= std::int64_t{1} << 40U) { return false; }
  return known_largest_degree(p.input(), p.exec) < std::int64_t{1} << 24U;
}

/// The table that the rule chooses by.
void choose_rule_table(planning& p)
{
  auto& shared = p.plan.shared;
  bool const unweighted_proposals =
      shared.rule == sampling_rule::uniform || (shared.rule == sampling_rule::reject && !p.walk.params().weighted);
  if (unweighted_proposals) { take_uniform_hops(p); }
  if (shared.rule == sampling_rule::alias && fits_packed_places(p)) {
    p.plan.hops = take_hops(p, alias_hop_records_table(), p.costs().alias_bucket + p.costs().hop_record);
    if (p.plan.hops) {
      shared.layout = table_layout::table;
      return;
    }
  }
  p.walk.choose_weight_table();
  p.plan.edge_records = p.weighted_rejection() && shared.layout == table_layout::table;
}

/// The tables that walks read besides: where rows are, and whether two vertices are adjacent.
void choose_other_tables(planning& p)
{
  auto& shared = p.plan.shared;
  graph const& input = p.input();
  bool const by_tables =
      shared.grouped_by_label || p.plan.packed_hops || (shared.rule == sampling_rule::alias && p.offers_places());
  bool const by_compact_rows =
      !p.plan.hops && !p.weighted_rejection() && !shared.weight_sums && (input.form() == graph_form::csr || by_tables);
  if (by_compact_rows && input.num_edges() < (std::int64_t{1} << 32U)) {
    p.plan.compact_rows = true;
    p.walk.bill().add(row_records_table(p.walk.cut()), row_records_table::bytes(p.walk.num_rows()));
  }
  if (plan::is_second_order(p.walk.params())) {
    p.plan.adjacency_sets = p.walk.bill().take(
        adjacency_sets_table(), {.bytes = adjacency_sets_table::bytes(input.num_vertices(), input.num_edges()),
                                 .build_ns = p.walk.num_edges() * p.costs().adjacency_set_edge,
                                 .gain_ns = p.walk.steps() * p.costs().adjacency_search,
                                 .without = "binary searches"});
  }
}

}  // namespace

bool neighbors_are_cached(graph const& graph, gpu_exec const& exec)
{
  return 4 * graph.num_edges() < 4 * describe_gpu(exec.device).l2_bytes;
}

bool may_die(graph const& graph, walk_params const& params, gpu_exec const& exec)
{
  if (!params.metapath.empty()) { return true; }
  if (!params.weighted) {
    return *graph.derived().get(dead_end_table(), [&] { return has_dead_end(graph.view(), nullptr, exec); });
  }
  return *graph.derived().get(weighted_dead_end_table(), [&] {
    return has_dead_end(graph.view(), known_statistics(graph, exec)->largest.data(), exec);
  });
}

walk_plan make_walk_plan(graph const& graph, walk_params const& params, std::int64_t expected_walks,
                         gpu_exec const& exec, graph_scope scope)
{
  walk_plan plan;
  plan::plan_context const where = context_of(graph, params.table_bytes, exec);
  plan::walk_planning walk(where, params, expected_walks, plan.shared);
  bool const reads_tables = walk.choose_rule();
  planning p{walk, plan, exec, scope};
  if (!reads_tables) {
    if (plan.shared.rule == sampling_rule::scan) { take_label_lists(p); }
    return plan;
  }
  choose_rule_table(p);
  choose_other_tables(p);
  walk.choose_sums_of_trials();
  return plan;
}

walk_tables make_walk_tables(graph const& graph, walk_params const& params, walk_plan const& plan, gpu_exec const& exec)
{
  walk_tables out;
  if (plan.shared.layout == table_layout::online && !plan.shared.weight_sums) { return out; }
  graph_view view = graph.view();
  plan::row_cut const cut = plan::walk_planning::cut_of(plan.shared, params);
  auto const table = [&](auto const& which, auto const& build) { return derived_table(graph, which, exec, build); };
  if (cut) {
    out.groups = table(plan::label_groups_table(*cut),
                       [&] { return make_label_groups(view, *cut, std::ssize(*labels_of(graph, *cut, exec)), exec); });
    view = out.groups->rows;
  }
  if (plan.label_lists) {
    plan::grouping const by = plan::metapath_grouping(params);
    out.lists = table(label_lists_table(by),
                      [&] { return make_label_lists(view, by, std::ssize(*labels_of(graph, by, exec)), exec); });
    return out;
  }
  if (plan.triples) {
    out.triples = table(target_triples_table(), [&] { return make_target_triples(view.as<csr_view>(), exec); });
  }
  if (plan.shared.rule == sampling_rule::reject && params.weighted) {
    out.statistics = table(plan::statistics_table(cut), [&] { return make_weight_statistics(view, exec); });
    out.weighted_rows = table(plan::vertex_records_table(cut),
                              [&] { return make_vertex_records(view, out.statistics->largest.data(), exec); });
    if (plan.edge_records) {
      out.edges = table(plan::edge_records_table(cut), [&] { return make_edge_records(view, exec); });
    }
  }
  if (plan.compact_rows) {
    out.rows = table(row_records_table(cut), [&] { return make_row_records(view, exec); });
  }
  if (plan.shared.weight_sums) {
    out.sums = table(plan::weight_sums_table(cut), [&] { return make_weight_sums(view, exec); });
  }
  bool const by_alias = plan.shared.rule == sampling_rule::alias && plan.shared.layout == table_layout::table;
  if (by_alias && plan.hops) {
    out.alias_hops = table(alias_hop_records_table(), [&] { return make_alias_hop_records(view, exec); });
  } else if (by_alias) {
    out.alias = table(plan::alias_records_table(cut), [&] { return make_alias_records(view, exec); });
  } else if (plan.packed_hops) {
    out.packing = hop_packing::of(view.num_vertices, view.num_edges);
    out.packed_hops = table(packed_hops_table(), [&] { return make_packed_hops(view, out.packing, exec); });
  } else if (plan.hops) {
    out.hops = table(hop_records_table(), [&] { return make_hop_records(view, exec); });
  }
  if (plan.shared.rule == sampling_rule::its && !plan.shared.weight_sums) {
    out.prefix_sums = table(plan::prefix_sums_table(cut), [&] { return make_prefix_sums(view, exec); });
  }
  if (plan.adjacency_sets) {
    out.adjacency_sets = table(adjacency_sets_table(), [&] { return make_adjacency_sets(view, exec); });
  }
  return out;
}

walk_tables with_own_rows(walk_tables const& shared, graph const& own, sampling_plan const& plan,
                          walk_params const& params, gpu_exec const& exec)
{
  plan::row_cut const cut = plan::walk_planning::cut_of(plan, params);
  walk_tables out = shared;
  graph_view const view = shared.groups ? graph_view(shared.groups->rows) : own.view();
  if (shared.rows) {
    out.rows = derived_table(own, row_records_table(cut), exec, [&] { return make_row_records(view, exec); });
  }
  if (shared.weighted_rows) {
    out.weighted_rows = derived_table(own, plan::vertex_records_table(cut), exec, [&] {
      return make_vertex_records(view, shared.statistics->largest.data(), exec);
    });
  }
  return out;
}

}  // namespace tendril::gpu
