#include "plan/planner.hpp"

#include <algorithm>
#include <iterator>  // ssize

#include <fmt/format.h>

#include "base/memory_room.hpp"
#include "core/node2vec.hpp"

namespace tendril {

namespace plan {
namespace {

// A trial of rejection costs as much as a whole step by alias table, which costs 16 bytes an edge and a build. With
// more trials than this a step, long walks are faster by table (bench/walks, axis rule).
constexpr double most_trials = 1.5;

std::int64_t free_memory_bytes() { return std::min(base::read_memory_room().free, base::address_space_left()); }

/// The rule for weighted choices, with the reason.
sampling_rule choose_weighted_rule(sampling_plan& plan, weight_statistics const& statistics)
{
  plan.expected_trials = statistics.expected_trials;
  bool const reject = statistics.expected_trials <= most_trials;
  plan.reasons.push_back(
      fmt::format("{}: rejection against a vertex's largest weight takes {:.3g} trials a step on "
                  "average, the limit is {}",
                  reject ? "reject" : "alias", statistics.expected_trials, most_trials));
  return reject ? sampling_rule::reject : sampling_rule::alias;
}

/// Takes a table that spares reading whole neighbourhoods, `times` of them, or the sums that stand in for it.
/// @param at  "step": what is decided each time, for messages.
template <class Table>
void choose_weights(sampling_plan& plan, table_bill& bill, Table const& table, std::int64_t num_rows,
                    plan_context const& where, double times, char const* at, char const* instead)
{
  edge_id const num_edges = where.input.num_edges();
  auto const edges = static_cast<double>(num_edges);
  // Gathering statistics takes a pass over the weights: only where the answer matters.
  double const read = where.needs_tables ? 0 : where.statistics()->mean_degree;
  double const gain_ns = times * read * where.costs.read_edge;
  std::string const without = where.needs_tables
                                  ? fmt::format("worked out at each {} from sums of {} weights", at, core::summed_edges)
                                  : fmt::format("computed at each {}, from {:.3g} edges on average", at, read);
  table_offer const whole{Table::bytes(num_edges), edges * where.costs.alias_bucket, gain_ns, without};
  table_offer const sums{weight_sums_table::bytes(num_rows, num_edges), edges * where.costs.read_edge, gain_ns,
                         without};
  table_choice const taken = bill.choose(table, whole, weight_sums_table(table.cut), sums, instead);
  plan.layout = taken == table_choice::whole ? table_layout::table : table_layout::online;
  plan.weight_sums = taken == table_choice::smaller;
}

constexpr char const* no_walk_table = "rule scan needs no table, and the CPU works out what it would hold as it goes";

/// Which rule takes less memory, of walks by a table that was refused: one that a caller may ask for, since its walks are
/// other ones of the same distribution.
std::string cheaper_rules(walk_params const& params, double expected_trials, double mean_degree)
{
  std::string const other = "other walks of the same distribution: ";
  std::string const scan = fmt::format("rule scan needs no table and reads {:.3g} edges a step", mean_degree);
  if (is_second_order(params)) { return other + scan; }
  return other +
         fmt::format(
             "rule reject needs 36 bytes a vertex and 3 bits an edge, and takes {:.3g} trials a "
             "step, ",
             expected_trials) +
         scan;
}

}  // namespace

core::domain domain_of(walk_params const& params)
{
  if (!params.metapath.empty()) { return core::domain::metapath_walk; }
  return is_second_order(params) ? core::domain::second_order_walk : core::domain::first_order_walk;
}

double expected_steps(walk_params const& params, std::int64_t walks)
{
  double const length = params.stop_prob > 0 ? std::min(static_cast<double>(params.length), 1.0 / params.stop_prob)
                                             : static_cast<double>(params.length);
  return length * static_cast<double>(walks);
}

bool is_second_order(walk_params const& params) { return params.second_order || params.p != 1 || params.q != 1; }

bool takes_trials(sampling_plan const& plan, walk_params const& params)
{
  return plan.rule == sampling_rule::reject || (plan.rule == sampling_rule::alias && is_second_order(params));
}

grouping metapath_grouping(walk_params const& params)
{
  return params.metapath_of == metapath_kind::edge_labels ? grouping::by_edge_label : grouping::by_target_type;
}

std::shared_ptr<weight_statistics const> statistics_of(graph const& graph, cpu_exec const& exec)
{
  return graph.derived().get(statistics_table(), [&] { return make_weight_statistics(graph.view(), exec); });
}

std::shared_ptr<std::vector<char> const> labels_of(graph const& graph, grouping by, cpu_exec const& exec)
{
  return graph.derived().get(labels_in_use_table(by), [&] { return labels_in_use(graph.view(), by, exec); });
}

plan_context context_of(graph const& graph, table_limit asked, cpu_exec const& exec)
{
  return {.input = graph,
          .costs = cpu_costs,
          .needs_tables = false,
          .limit = table_budget::of(graph, asked),
          .memory = "the free memory",
          .free_bytes = free_memory_bytes,
          .statistics = [&graph, &exec] { return statistics_of(graph, exec); },
          .num_labels = [&graph, &exec](grouping by) { return std::ssize(*labels_of(graph, by, exec)); }};
}

walk_planning::walk_planning(plan_context const& where, walk_params const& params, std::int64_t expected_walks,
                             sampling_plan& plan)
    : where_(where),
      params_(params),
      plan_(plan),
      bill_(where, plan),
      steps_(expected_steps(params, expected_walks)),
      num_rows_(where.input.num_vertices())
{
}

row_cut walk_planning::cut_of(sampling_plan const& plan, walk_params const& params)
{
  return plan.grouped_by_label ? row_cut(metapath_grouping(params)) : row_cut();
}

sampling_rule walk_planning::chosen_rule()
{
  bool const second_order = is_second_order(params_);
  if (params_.rule != sampling_rule::automatic) {
    plan_.reasons.push_back(fmt::format("{}: as asked for", to_string(params_.rule)));
    return params_.rule;
  }
  if (second_order) {
    auto const bias = core::node2vec_bias::of(params_.p, params_.q);
    double const typical = std::min(1.0F, bias.away);
    double const most = (bias.folds() ? bias.rest : bias.largest) / typical;
    if (most > 256) {
      plan_.reasons.push_back(fmt::format("scan: with p = {}, q = {} rejection could take {:.0f} trials a step",
                                          params_.p, params_.q, most));
      return sampling_rule::scan;
    }
    if (!params_.weighted) {
      plan_.reasons.emplace_back(
          bias.folds() ? "reject: uniform proposals against max(1, 1/q), and the edge back as an alternative of its own"
                       : "reject: uniform proposals against max(1/p, 1, 1/q), most judged without a search");
      return sampling_rule::reject;
    }
  }
  if (params_.weighted) { return choose_weighted_rule(plan_, *where_.statistics()); }
  plan_.reasons.emplace_back("uniform: every edge is as likely as the others");
  return sampling_rule::uniform;
}

bool walk_planning::choose_rule()
{
  plan_.rule = chosen_rule();
  plan_.layout = table_layout::online;
  if (plan_.rule == sampling_rule::scan) { return false; }
  if (!params_.metapath.empty()) {
    grouping const by = metapath_grouping(params_);
    std::int64_t const num_rows = input().num_vertices() * where_.num_labels(by);
    double const mean_degree = num_edges() / static_cast<double>(std::max<std::int64_t>(1, input().num_vertices()));
    std::int64_t const bytes = label_groups_table::bytes(num_rows, input().num_edges(), params_.weighted);
    if (!bill_.choose(label_groups_table(by), {.bytes = bytes,
                                               .build_ns = num_edges() * costs().label_group,
                                               .gain_ns = steps_ * mean_degree * costs().read_edge,
                                               .without = "labels read at each step",
                                               .spares_lists = true})) {
      if (params_.weighted && plan_.table_bytes_refused > 0) {
        plan_.reasons.emplace_back(
            "other walks of the same distribution: rule scan reads the edges of a step once, the others do several "
            "times");
      }
      return false;
    }
    plan_.grouped_by_label = true;
    num_rows_ = num_rows;
  }
  plan_.layout = plan_.grouped_by_label ? table_layout::table : table_layout::none;
  if (params_.weighted) { bill_.add(statistics_table(), where_.statistics()->num_bytes); }
  return true;
}

void walk_planning::choose_weight_table()
{
  if (!params_.weighted) { return; }
  auto const choose = [&]<class Table>(Table const& table) {
    choose_weights(plan_, bill_, table, num_rows_, where_, steps_, "step", no_walk_table);
    if (plan_.layout == table_layout::online && plan_.table_bytes_refused > 0) {
      auto const known = where_.statistics();
      plan_.reasons.push_back(cheaper_rules(params_, known->expected_trials, known->mean_degree));
    }
  };
  switch (plan_.rule) {
    case sampling_rule::reject: {
      std::int64_t const bytes_of_vertices = vertex_records_table::bytes(num_rows_);
      bool const taken = bill_.take(edge_records_table(cut()), {.bytes = edge_records_table::bytes(input().num_edges()),
                                                                .build_ns = num_edges() * costs().edge_record,
                                                                .gain_ns = steps_ * costs().edge_record_gain,
                                                                .without = "graph arrays"});
      if (taken || where_.needs_tables) { bill_.add(vertex_records_table(cut()), bytes_of_vertices); }
      plan_.layout = taken ? table_layout::table : table_layout::none;
      break;
    }
    case sampling_rule::alias: choose(alias_records_table(cut())); break;
    case sampling_rule::its: choose(prefix_sums_table(cut())); break;
    default: break;
  }
}

void walk_planning::choose_sums_of_trials()
{
  if (!params_.weighted || !takes_trials(plan_, params_) || plan_.weight_sums) { return; }
  weight_sums_table const sums(cut());
  std::int64_t const bytes = weight_sums_table::bytes(num_rows_, input().num_edges());
  if (where_.needs_tables) {
    bill_.need(sums, bytes, no_walk_table);
    plan_.weight_sums = true;
    return;
  }
  auto const known = where_.statistics();
  // Below this number of trials the limit is met by less than one step in ten million.
  constexpr double safe_trials = 8;
  if (!is_second_order(params_) && known->most_trials <= safe_trials) { return; }
  plan_.weight_sums = bill_.take(sums, {.bytes = bytes,
                                        .build_ns = num_edges() * costs().read_edge,
                                        .gain_ns = steps_ * known->mean_degree * costs().read_edge,
                                        .without = "steps whose trials run out read their neighbourhoods"});
}

sampling_plan make_walk_plan(graph const& graph, walk_params const& params, std::int64_t expected_walks,
                             cpu_exec const& exec)
{
  sampling_plan plan;
  plan_context const where = context_of(graph, params.table_bytes, exec);
  walk_planning walk(where, params, expected_walks, plan);
  if (walk.choose_rule()) {
    walk.choose_weight_table();
    walk.choose_sums_of_trials();
  }
  return plan;
}

walk_tables make_walk_tables(graph const& graph, walk_params const& params, sampling_plan const& plan,
                             cpu_exec const& exec)
{
  walk_tables out;
  row_cut const cut = walk_planning::cut_of(plan, params);
  auto& cache = graph.derived();
  graph_view view = graph.view();
  if (cut) {
    out.groups = cache.get(label_groups_table(*cut), [&] {
      return make_label_groups(view, *cut, std::ssize(*labels_of(graph, *cut, exec)), exec);
    });
    view = out.groups->rows;
  }
  if (!params.weighted || plan.rule == sampling_rule::scan) { return out; }
  out.statistics = cache.get(statistics_table(cut), [&] { return make_weight_statistics(view, exec); });
  if (plan.weight_sums) {
    out.sums = cache.get(weight_sums_table(cut), [&] { return make_weight_sums(view, exec); });
  }
  if (plan.layout != table_layout::table) { return out; }
  if (plan.rule == sampling_rule::reject) {
    out.vertices = cache.get(vertex_records_table(cut),
                             [&] { return make_vertex_records(view, out.statistics->largest.data(), exec); });
    out.edges = cache.get(edge_records_table(cut), [&] { return make_edge_records(view, exec); });
  } else if (plan.rule == sampling_rule::alias) {
    out.alias = cache.get(alias_records_table(cut), [&] { return make_alias_records(view, exec); });
  } else {
    out.prefix_sums = cache.get(prefix_sums_table(cut), [&] { return make_prefix_sums(view, exec); });
  }
  return out;
}

namespace {

/// The rule of k-hop trees, with the reason added to `plan`: from the parameters alone.
void choose_khop_rule(sampling_plan& plan, khop_params const& params)
{
  if (!params.weighted) {
    plan.reasons.emplace_back(params.replace ? "uniform: independent bounded integers"
                                             : "uniform: Floyd's method, O(fan-out) whatever the degree");
  } else if (!params.replace) {
    plan.rule = sampling_rule::scan;
    plan.layout = table_layout::online;
    plan.reasons.emplace_back("scan: an exponential race gives k draws without replacement in one pass");
  } else {
    plan.rule = params.rule == sampling_rule::its ? sampling_rule::its : sampling_rule::alias;
    plan.reasons.push_back(fmt::format("{}: many draws from one neighbourhood", to_string(plan.rule)));
  }
}

/// Vertices whose neighbours are drawn, over all hops.
double expected_parents(khop_params const& params, std::int64_t num_roots)
{
  auto picks = static_cast<double>(num_roots);
  double parents = 0;
  for (auto const f : params.fanouts) {
    parents += picks;
    picks *= static_cast<double>(std::max<std::int64_t>(f, 1));
  }
  return parents;
}

}  // namespace

sampling_plan make_khop_plan(plan_context const& where, khop_params const& params, std::int64_t num_roots,
                             alias_form form)
{
  sampling_plan plan;
  choose_khop_rule(plan, params);
  if (!params.weighted || !params.replace) { return plan; }
  table_bill bill(where, plan);
  auto const choose = [&]<class Table>(Table const& table) {
    choose_weights(plan, bill, table, where.input.num_vertices(), where, expected_parents(params, num_roots), "vertex",
                   "the CPU works out what it would hold as it goes");
  };
  if (plan.rule == sampling_rule::its) {
    choose(prefix_sums_table());
  } else if (form == alias_form::buckets) {
    choose(alias_buckets_table());
  } else {
    choose(alias_records_table());
  }
  return plan;
}

sampling_plan make_khop_plan(graph const& graph, khop_params const& params, std::int64_t num_roots,
                             cpu_exec const& exec)
{
  return make_khop_plan(context_of(graph, params.table_bytes, exec), params, num_roots, alias_form::buckets);
}

pick_tables make_pick_tables(graph const& graph, sampling_plan const& plan, cpu_exec const& exec)
{
  pick_tables out;
  auto& cache = graph.derived();
  if (plan.weight_sums) {
    out.sums = cache.get(weight_sums_table(), [&] { return make_weight_sums(graph.view(), exec); });
  }
  if (plan.layout != table_layout::table) { return out; }
  if (plan.rule == sampling_rule::alias) {
    out.alias = cache.get(alias_buckets_table(), [&] { return make_alias_buckets(graph.view(), exec); });
  } else {
    out.prefix_sums = cache.get(prefix_sums_table(), [&] { return make_prefix_sums(graph.view(), exec); });
  }
  return out;
}

}  // namespace plan
}  // namespace tendril
