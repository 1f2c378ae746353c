#include "plan/planner.hpp"

#include <algorithm>
#include <cmath>

#include <unistd.h>

#include "base/expects.hpp"  // TENDRIL_EXPECTS
#include "core/node2vec.hpp"
#include "graph/derived_cache.hpp"

namespace tendril {

namespace plan {
namespace {

// A trial of rejection costs as much as a whole step by alias table, which costs 16 bytes an edge and a build. With
// more trials than this a step, long walks are faster by table (bench/walks, axis rule).
constexpr double most_trials = 1.5;

// Costs in nanoseconds on one core (bench/walks, axis layout); only their ratios matter.
constexpr double pack_edge_ns = 1.5;   // building an edge record
constexpr double packed_gain_ns = 15;  // what a step saves by records
constexpr double alias_build_ns = 15;  // building an alias bucket or a prefix sum, per edge
constexpr double online_edge_ns = 6;   // reading one edge of a neighbourhood at the step
constexpr double group_build_ns = 6;   // placing an edge in its label's group

std::int64_t free_memory_bytes()
{
  long const pages = sysconf(_SC_AVPHYS_PAGES);
  long const page = sysconf(_SC_PAGESIZE);
  return pages > 0 ? static_cast<std::int64_t>(pages) * page : 0;
}

/// Collects what tables a plan needs and whether they are there already.
class table_costs {
 public:
  explicit table_costs(graph const& graph) : graph_(graph) {}

  [[nodiscard]] bool has(std::string const& key) const { return graph_.derived().find<void>(key) != nullptr; }

  void add(std::string const& key, std::int64_t bytes)
  {
    all_ += bytes;
    if (has(key)) { built_ += bytes; }
  }
  void write(sampling_plan& plan) const
  {
    plan.table_bytes = all_;
    plan.table_bytes_built = built_;
  }

 private:
  graph const& graph_;
  std::int64_t all_ = 0, built_ = 0;
};

std::string key_of(char const* table, sampling_plan const& plan, grouping by)
{
  if (!plan.grouped_by_label) { return table; }
  return fmt::format("{}:{}", table, by == grouping::by_edge_label ? "edge-label" : "target-type");
}

/// Decides the layout of tables with an entry an edge that cost `bytes` and `build_ns`, against `online_ns` without them.
void choose_layout(sampling_plan& plan, form_traits const& form, bool already_built, std::int64_t bytes,
                   double build_ns, double online_ns, char const* table, char const* without,
                   table_layout layout_without)
{
  if (!form.allows_edge_tables) {
    plan.layout = layout_without;
    plan.reasons.push_back(fmt::format("{}: the graph's form allows no table with an entry an edge", without));
  } else if (already_built) {
    plan.layout = table_layout::table;
    plan.reasons.push_back(fmt::format("{}: built by an earlier call", table));
  } else if (online_ns < build_ns) {
    plan.layout = layout_without;
    plan.reasons.push_back(fmt::format("{}: this job is too small to pay for building it", without));
  } else if (bytes > free_memory_bytes() / 2) {
    plan.layout = layout_without;
    plan.reasons.push_back(
        fmt::format("{}: {} of {} MB would take over half of the free memory", without, table, bytes / 1'000'000));
  } else {
    plan.layout = table_layout::table;
    plan.reasons.push_back(fmt::format("{}: {} MB, pays for this job", table, bytes / 1'000'000));
  }
}

void check_rule(sampling_rule rule, bool weighted, bool second_order)
{
  bool const needs_weights =
      rule == sampling_rule::alias || rule == sampling_rule::its || (rule == sampling_rule::reject && !second_order);
  TENDRIL_EXPECTS(weighted || !needs_weights, "rule {}: needs weights, but the choice is unweighted (expected auto{})",
                  to_string(rule), second_order ? ", scan or reject" : ", uniform or scan");
  TENDRIL_EXPECTS(rule != sampling_rule::uniform || (!weighted && !second_order),
                  "rule uniform: the choice is {}, expected auto, scan, reject or alias",
                  weighted ? "weighted" : "biased by p and q");
  TENDRIL_EXPECTS(rule != sampling_rule::its || !second_order,
                  "rule its: not available with p and q, expected auto, scan, reject or alias");
}

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

/// Chooses where a weighted rule gets its numbers from, and bills it.
void plan_weight_tables(sampling_plan& plan, table_costs& bill, graph const& graph, form_traits const& form,
                        grouping by, double steps, cpu_exec const& exec)
{
  auto const edges = static_cast<double>(graph.num_edges());
  if (plan.rule == sampling_rule::scan) {
    plan.layout = table_layout::online;
    return;
  }
  auto const statistics = statistics_of(graph, exec);
  bill.add("statistics", statistics->num_bytes);
  double const online_ns = steps * statistics->mean_degree * online_edge_ns;
  if (plan.rule == sampling_rule::reject) {
    std::string const key = key_of("edge-records", plan, by);
    std::int64_t const bytes = 8 * graph.num_edges() + 16 * graph.num_vertices();
    choose_layout(plan, form, bill.has(key), bytes, edges * pack_edge_ns, steps * packed_gain_ns, "edge records",
                  "graph arrays", table_layout::none);
    if (plan.layout == table_layout::table) { bill.add(key, bytes); }
    return;
  }
  bool const alias = plan.rule == sampling_rule::alias;
  std::string const key = key_of(alias ? "alias-records" : "prefix-sums", plan, by);
  std::int64_t const bytes = (alias ? 16 : 8) * graph.num_edges();
  choose_layout(plan, form, bill.has(key), bytes, edges * alias_build_ns, online_ns,
                alias ? "alias table" : "prefix sums", "computed at each step", table_layout::online);
  if (plan.layout == table_layout::table) { bill.add(key, bytes); }
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

sampling_rule choose_walk_rule(sampling_plan& plan, walk_params const& params,
                               std::function<weight_statistics const&()> const& statistics)
{
  bool const second_order = is_second_order(params);
  check_rule(params.rule, params.weighted, second_order);
  if (params.rule != sampling_rule::automatic) {
    plan.reasons.push_back(fmt::format("{}: as asked for", to_string(params.rule)));
    return params.rule;
  }
  if (second_order) {
    auto const bias = core::node2vec_bias::of(params.p, params.q);
    double const typical = std::min(1.0F, bias.away);
    if (bias.largest / typical > 256) {
      plan.reasons.push_back(fmt::format("scan: with p = {}, q = {} rejection could take {:.0f} trials a step",
                                         params.p, params.q, bias.largest / typical));
      return sampling_rule::scan;
    }
    if (!params.weighted) {
      plan.reasons.emplace_back("reject: uniform proposals against max(1/p, 1, 1/q), most judged without a search");
      return sampling_rule::reject;
    }
  }
  if (params.weighted) { return choose_weighted_rule(plan, statistics()); }
  plan.reasons.emplace_back("uniform: every edge is as likely as the others");
  return sampling_rule::uniform;
}

bool is_second_order(walk_params const& params) { return params.second_order || params.p != 1 || params.q != 1; }

grouping metapath_grouping(walk_params const& params)
{
  return params.metapath_of == metapath_kind::edge_labels ? grouping::by_edge_label : grouping::by_target_type;
}

std::shared_ptr<weight_statistics const> statistics_of(graph const& graph, cpu_exec const& exec)
{
  return graph.derived().get<weight_statistics>("statistics",
                                                [&] { return make_weight_statistics(graph.view(), exec); });
}

std::shared_ptr<std::vector<char> const> labels_of(graph const& graph, grouping by, cpu_exec const& exec)
{
  char const* const key = by == grouping::by_edge_label ? "edge-labels-in-use" : "node-types-in-use";
  return graph.derived().get<std::vector<char>>(key, [&] { return labels_in_use(graph.view(), by, exec); });
}

form_traits traits_of(graph_form form)
{
  switch (form) {
    case graph_form::csr:
    case graph_form::packed: break;
  }
  return {.allows_edge_tables = true};
}

sampling_plan make_walk_plan(graph const& graph, walk_params const& params, std::int64_t expected_walks,
                             cpu_exec const& exec)
{
  return make_walk_plan(graph, traits_of(graph.form()), params, expected_walks, exec);
}

sampling_plan make_walk_plan(graph const& graph, form_traits const& form, walk_params const& params,
                             std::int64_t expected_walks, cpu_exec const& exec)
{
  sampling_plan plan;
  plan.rule = choose_walk_rule(plan, params, [&]() -> weight_statistics const& { return *statistics_of(graph, exec); });
  double const steps = expected_steps(params, expected_walks);
  table_costs bill(graph);
  grouping const by = metapath_grouping(params);

  if (!params.metapath.empty()) {
    auto const labels = static_cast<std::int64_t>(labels_of(graph, by, exec)->size());
    std::int64_t const bytes = 8 * (graph.num_vertices() * labels + 1) + (params.weighted ? 8 : 4) * graph.num_edges();
    plan.grouped_by_label = true;
    std::string const key = key_of("label-groups", plan, by);
    double const mean_degree =
        static_cast<double>(graph.num_edges()) / static_cast<double>(std::max<std::int64_t>(1, graph.num_vertices()));
    choose_layout(plan, form, bill.has(key), bytes, static_cast<double>(graph.num_edges()) * group_build_ns,
                  steps * mean_degree * online_edge_ns, "neighbours grouped by label", "labels read at each step",
                  table_layout::online);
    plan.grouped_by_label = plan.layout == table_layout::table && plan.rule != sampling_rule::scan;
    if (!plan.grouped_by_label) {
      plan.layout = table_layout::online;
      return plan;
    }
    bill.add(key, bytes);
  }
  if (params.weighted) {
    plan_weight_tables(plan, bill, graph, form, by, steps, exec);
  } else if (plan.rule == sampling_rule::scan) {
    plan.layout = table_layout::online;
  }
  bill.write(plan);
  return plan;
}

walk_tables make_walk_tables(graph const& graph, walk_params const& params, sampling_plan const& plan,
                             cpu_exec const& exec)
{
  walk_tables out;
  grouping const by = metapath_grouping(params);
  auto& cache = graph.derived();
  graph_view view = graph.view();
  if (plan.grouped_by_label) {
    out.groups = cache.get<label_groups>(key_of("label-groups", plan, by), [&] {
      return make_label_groups(view, by, static_cast<std::int64_t>(labels_of(graph, by, exec)->size()), exec);
    });
    view = out.groups->rows;
  }
  if (!params.weighted || plan.rule == sampling_rule::scan) { return out; }
  out.statistics =
      cache.get<weight_statistics>(key_of("statistics", plan, by), [&] { return make_weight_statistics(view, exec); });
  if (plan.layout != table_layout::table) { return out; }
  if (plan.rule == sampling_rule::reject) {
    out.vertices = cache.get<buffer<vertex_record>>(key_of("vertex-records", plan, by), [&] {
      return make_vertex_records(view, out.statistics->largest.data(), exec);
    });
    out.edges =
        cache.get<buffer<edge_record>>(key_of("edge-records", plan, by), [&] { return make_edge_records(view, exec); });
  } else if (plan.rule == sampling_rule::alias) {
    out.alias = cache.get<buffer<alias_record>>(key_of("alias-records", plan, by),
                                                [&] { return make_alias_records(view, exec); });
  } else {
    out.prefix_sums =
        cache.get<buffer<std::uint64_t>>(key_of("prefix-sums", plan, by), [&] { return make_prefix_sums(view, exec); });
  }
  return out;
}

void choose_khop_rule(sampling_plan& plan, khop_params const& params)
{
  if (!params.weighted) {
    TENDRIL_EXPECTS(params.rule == sampling_rule::automatic || params.rule == sampling_rule::uniform,
                    "rule {}: needs weights, but the choice is unweighted (expected auto or uniform)",
                    to_string(params.rule));
    plan.reasons.emplace_back(params.replace ? "uniform: independent bounded integers"
                                             : "uniform: Floyd's method, O(fan-out) whatever the degree");
    return;
  }
  if (!params.replace) {
    TENDRIL_EXPECTS(params.rule == sampling_rule::automatic || params.rule == sampling_rule::scan,
                    "rule {}: weighted draws without replacement are a race over the neighbourhood (expected auto or "
                    "scan)",
                    to_string(params.rule));
    plan.rule = sampling_rule::scan;
    plan.layout = table_layout::online;
    plan.reasons.emplace_back("scan: an exponential race gives k draws without replacement in one pass");
    return;
  }
  TENDRIL_EXPECTS(params.rule != sampling_rule::uniform && params.rule != sampling_rule::reject,
                  "rule {}: weighted draws with replacement use alias or its (expected auto, alias or its)",
                  to_string(params.rule));
  plan.rule = params.rule == sampling_rule::its ? sampling_rule::its : sampling_rule::alias;
  if (params.rule == sampling_rule::scan) { plan.rule = sampling_rule::its; }
  plan.reasons.push_back(fmt::format("{}: many draws from one neighbourhood", to_string(plan.rule)));
}

sampling_plan make_khop_plan(graph const& graph, khop_params const& params, std::int64_t num_roots,
                             cpu_exec const& exec)
{
  return make_khop_plan(graph, traits_of(graph.form()), params, num_roots, exec);
}

sampling_plan make_khop_plan(graph const& graph, form_traits const& form, khop_params const& params,
                             std::int64_t num_roots, cpu_exec const& exec)
{
  sampling_plan plan;
  choose_khop_rule(plan, params);
  if (!params.weighted || !params.replace) { return plan; }
  double picks = static_cast<double>(num_roots);
  double parents = 0;
  for (auto const f : params.fanouts) {
    parents += picks;
    picks *= static_cast<double>(std::max<std::int64_t>(f, 1));
  }
  bool const alias = plan.rule == sampling_rule::alias;
  char const* const key = alias ? "alias-buckets" : "prefix-sums";
  std::int64_t const bytes = (alias ? 16 : 8) * graph.num_edges();
  auto const statistics = statistics_of(graph, exec);
  table_costs bill(graph);
  choose_layout(plan, form, bill.has(key), bytes, static_cast<double>(graph.num_edges()) * alias_build_ns,
                parents * statistics->mean_degree * online_edge_ns, alias ? "alias table" : "prefix sums",
                "computed at each vertex", table_layout::online);
  if (plan.layout == table_layout::table) { bill.add(key, bytes); }
  bill.write(plan);
  return plan;
}

khop_tables make_khop_tables(graph const& graph, sampling_plan const& plan, cpu_exec const& exec)
{
  khop_tables out;
  if (plan.layout != table_layout::table) { return out; }
  auto& cache = graph.derived();
  if (plan.rule == sampling_rule::alias) {
    out.alias =
        cache.get<buffer<core::alias_bucket>>("alias-buckets", [&] { return make_alias_buckets(graph.view(), exec); });
  } else {
    out.prefix_sums =
        cache.get<buffer<std::uint64_t>>("prefix-sums", [&] { return make_prefix_sums(graph.view(), exec); });
  }
  return out;
}

}  // namespace plan
}  // namespace tendril
