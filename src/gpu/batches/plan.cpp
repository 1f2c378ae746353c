#include "gpu/batches/plan.hpp"

#include <algorithm>

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <tendril/error.hpp>

#include "gpu/batches/induce.hpp"
#include "gpu/device/check.hpp"
#include "gpu/tables/derived_table.hpp"
#include "gpu/tables/plan_context.hpp"

namespace tendril::gpu {
namespace {

std::size_t index_of(std::int32_t type) { return static_cast<std::size_t>(type); }

/// The fan-outs of an edge type. Without replacement no vertex has more picks than edges, and slots for more than the
/// largest degree would stay empty; a vertex of no more edges than picks gives all of them either way.
/// @param most  The largest degree.
std::vector<std::int64_t> fanouts_of(minibatch_params const& params, std::size_t t, bool repeats, std::int64_t most)
{
  std::vector<std::int64_t> out;
  for (std::int64_t h = 0; h < samplers::hops_of(params); ++h) {
    std::int64_t const k = samplers::fanout_of(params, t, h);
    out.push_back(most == 0 ? 0 : repeats ? k : std::min(k, most));
  }
  return out;
}

std::int64_t largest_degree(edge_type const& type, gpu_exec const& exec)
{
  return type.edges.num_edges() == 0 ? 0 : known_largest_degree(type.edges, exec);
}

edge_plan edge_plan_of(edge_type const& type, std::size_t t, minibatch_params const& params,
                       sampling_plan const& planned, gpu_exec const& exec)
{
  edge_plan out;
  out.graph = type.edges.view();
  out.from = type.from;
  out.to = type.to;
  if (!type.order.empty()) {
    out.times = type.order.times.data();
    out.ordinal = type.order.ordinal.data();
  }
  out.choice = samplers::choice_of(type, params);
  bool const repeats = params.replace && out.choice != samplers::edge_choice::last;
  out.fanouts = fanouts_of(params, t, repeats, largest_degree(type, exec));
  if (params.subgraph == subgraph_type::induced && out.times != nullptr) {
    out.time_of = buffer<std::int64_t>(out.graph.num_edges, memory_of(exec));
    invert_times(out.graph, out.times, out.ordinal, out.time_of.data(), exec);
  }
  if (planned.weight_sums) {
    out.sums = derived_table(type.edges, plan::weight_sums_table(), exec,
                             [&] { return make_weight_sums(type.edges.view(), exec); });
  } else if (out.choice == samplers::edge_choice::alias) {
    out.buckets = derived_table(type.edges, plan::alias_buckets_table(), exec,
                                [&] { return make_alias_buckets(type.edges.view(), exec); });
  }
  return out;
}

}  // namespace

minibatch_limits& default_minibatch_limits()
{
  static minibatch_limits limits;
  return limits;
}

bool batch_plan::takes_all() const
{
  return std::any_of(edges.begin(), edges.end(), [](edge_plan const& type) {
    return std::any_of(type.fanouts.begin(), type.fanouts.end(), [](std::int64_t k) { return k < 0; });
  });
}

graph_form batch_plan::form() const
{
  auto const first =
      std::find_if(edges.begin(), edges.end(), [](edge_plan const& type) { return type.graph.num_edges > 0; });
  return first == edges.end() ? graph_form::csr : first->graph.form();
}

bool batch_plan::has_one_form() const
{
  return std::all_of(edges.begin(), edges.end(), [only = form()](edge_plan const& type) {
    return type.graph.num_edges == 0 || type.graph.form() == only;
  });
}

bool batch_plan::waits() const
{
  return takes_all() ||
         (counts_picks && std::any_of(edges.begin(), edges.end(), [](edge_plan const& type) {
            return std::any_of(type.fanouts.begin(), type.fanouts.end(), [](std::int64_t k) { return k > 0; });
          }));
}

bool batch_plan::is_captured() const
{
  // Above it picks of different neighbours take memory of their own for a launch.
  constexpr std::int64_t most_fanout = 4096;
  return !waits() && std::all_of(edges.begin(), edges.end(), [](edge_plan const& type) {
    return std::all_of(type.fanouts.begin(), type.fanouts.end(), [](std::int64_t k) { return k <= most_fanout; });
  });
}

samplers::batches_plan plan_batches(hetero_graph const& graph, minibatch_params const& params, gpu_exec const& exec)
{
  return samplers::plan_batches(
      graph, params, [&](tendril::graph const& edges, table_limit limit) { return context_of(edges, limit, exec); });
}

batch_plan batch_plan::of(hetero_graph const& graph, minibatch_params const& params, gpu_exec const& exec)
{
  batch_plan out;
  out.seed = params.seed;
  out.num_hops = static_cast<std::size_t>(samplers::hops_of(params));
  out.num_vertices = graph.num_vertices();
  out.disjoint = params.disjoint;
  out.replace = params.replace;
  out.all = params.frontier == batch_frontier::all;
  out.subgraph = params.subgraph;
  out.limits = default_minibatch_limits();
  out.labor = params.choice == neighbor_choice::labor;
  out.normalize = params.normalize;
  out.layer_dependency = params.layer_dependency;
  out.dependency = out.labor ? static_cast<std::uint64_t>(params.batch_dependency) : 0;
  out.sizes = {out.num_vertices, {}, out.disjoint, out.all, out.limits.labor_percent};
  auto const planned = plan_batches(graph, params, exec);
  for (std::size_t t = 0; t < graph.edge_types().size(); ++t) {
    auto const& type = graph.edge_types()[t];
    out.edges.push_back(edge_plan_of(type, t, params, planned.edges[t], exec));
    bool const repeats = params.replace && out.edges.back().choice != samplers::edge_choice::last;
    std::int64_t const labor_degree = out.labor ? largest_degree(type, exec) : -1;
    out.sizes.edges.push_back({index_of(type.from), index_of(type.to), type.edges.num_edges(), repeats, labor_degree});
  }
  return out;
}

labor_job batch_plan::labor_of(std::size_t hop, std::size_t t) const
{
  labor_job out;
  out.seed = seed;
  out.dependency = dependency;
  out.fanout = edges[t].fanouts[hop];
  out.most_degree = sizes.edges[t].labor_degree;
  out.stage = labor_stage(out.fanout, out.most_degree);
  out.normalize = normalize;
  return out;
}

batch_plan batch_plan::of_part(graph const& rows, partition_info const& whole, std::int64_t largest_degree,
                               minibatch_params const& params, gpu_exec const& exec)
{
  batch_plan out = of(hetero_graph(rows), params, exec);
  out.num_vertices = {whole.num_vertices};
  out.sizes.num_vertices = out.num_vertices;
  out.sizes.edges[0].num_edges = whole.num_edges;
  if (out.labor) { out.sizes.edges[0].labor_degree = largest_degree; }
  out.edges[0].fanouts = fanouts_of(params, 0, params.replace, largest_degree);
  out.counts_picks = true;
  return out;
}

std::int64_t batch_input::num_seeds() const
{
  std::int64_t sum = 0;
  for (auto const& of_type : seeds) { sum += std::ssize(of_type); }
  return sum;
}

batch_forecast batch_forecast::of(batch_plan const& plan, batch_bounds const& start, std::size_t hop, std::size_t type)
{
  batch_forecast out;
  out.bounds = start;
  out.lists.resize(plan.num_types());
  auto const see_lists = [&] {
    for (std::size_t v = 0; v < out.lists.size(); ++v) {
      out.lists[v] = std::max(out.lists[v], out.bounds.frontier(v).total);
      out.tasks += out.bounds.frontier(v).total;
    }
  };
  see_lists();
  for (; hop < plan.num_hops; ++hop, type = 0) {
    for (; type < plan.edges.size(); ++type) {
      auto const& edges = plan.edges[type];
      std::int64_t const k = edges.fanouts[hop];
      std::int64_t const expanded = out.bounds.frontier(index_of(edges.from)).total;
      if (plan.labor) {
        std::int64_t const stage = labor_stage(k, plan.sizes.edges[type].labor_degree);
        out.staged = std::max(out.staged, bounded_product(expanded, stage));
      }
      if (plan.is_counted(k)) {
        // What the launches before it have found goes to the next hop's lists already.
        for (std::size_t v = 0; v < out.lists.size(); ++v) {
          out.lists[v] = std::max(out.lists[v], out.bounds.next(v).total);
        }
        out.hop = hop;
        out.type = type;
        return out;
      }
      std::int64_t const picks = out.bounds.take(type, k).total;
      if (picks >= plan.limits.picks) { throw too_many_picks{hop, picks}; }
      out.picks = std::max(out.picks, picks);
      out.tiles += (picks + number_tile_slots - 1) / number_tile_slots;
      if (edges.choice == samplers::edge_choice::race && k > 0) {
        out.race_bytes = std::max(out.race_bytes, race_scratch_bytes(expanded, static_cast<std::uint32_t>(k)));
      }
    }
    out.bounds.end_hop();
    if (hop + 1 < plan.num_hops) { see_lists(); }
  }
  out.hop = plan.num_hops;
  return out;
}

void refuse(too_many_picks const& what, batch_plan const& plan)
{
  throw memory_error(
      fmt::format("hop {}: up to {} picks of one batch at once, expected fewer than {}; sample fewer seeds "
                  "a batch",
                  what.hop + 1, what.picks, plan.limits.picks));
}

count_columns::count_columns(batch_plan const& plan, std::int64_t num_batches, std::int64_t tiles)
    : types_(plan.num_types()),
      launches_(plan.num_launches()),
      hops_(plan.num_hops),
      batches_(num_batches),
      tiles_(tiles)
{
}

void batch_space::grow_table(std::int64_t vertices, std::uint32_t keep_from, table_cut const& cut,
                             minibatch_limits const& limits)
{
  if (stamped_table::is_too_large(vertices)) { throw too_many_picks{0, vertices}; }
  if (table_.grow(vertices, keep_from, cut, limits.first_stamp, exec_)) { ++generation; }
}

std::uint32_t batch_space::take_stamps(std::int64_t count)
{
  if (count > most_stamps) { throw too_many_picks{0, count}; }
  return table_.take(count, exec_);
}

void batch_space::copy(void const* from, void* to, std::int64_t bytes) const
{
  if (bytes == 0) { return; }
  TENDRIL_CUDA_TRY(cudaMemcpyAsync(to, from, static_cast<std::size_t>(bytes), cudaMemcpyDeviceToDevice, exec_.stream));
}

}  // namespace tendril::gpu
