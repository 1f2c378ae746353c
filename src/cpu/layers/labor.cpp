// LABOR-0. The rule: src/core/labor.hpp. A hop's edges are chosen in parallel, range by range of the vertices that ask;
// numbering is serial: it defines the order.

#include <tendril/labor.hpp>

#include <algorithm>
#include <unordered_map>

#include "base/parallel.hpp"  // parallel_ranges
#include "core/labor.hpp"
#include "cpu/arguments.hpp"

namespace tendril {
namespace {

constexpr std::int64_t vertices_a_range = 64;

/// Edges taken by a range of vertices.
struct taken_edges {
  std::vector<std::int64_t> rows;
  std::vector<edge_id> edges;
  std::vector<vertex_id> targets;
  std::vector<float> weights;
};

template <class View>
class labor_builder {
 public:
  labor_builder(View const& graph, labor_params const& params, cpu_exec const& exec)
      : graph_(graph), params_(params), exec_(exec), key_(core::labor_key(params.seed, params.batch))
  {
  }

  labor_batch build(std::span<vertex_id const> seeds)
  {
    labor_batch out;
    for (auto const v : seeds) { (void)number(v); }
    out.num_sampled_nodes.push_back(num_nodes());
    for (std::size_t h = 0; h < params_.fanouts.size(); ++h) {
      std::int64_t const before = num_nodes();
      out.hops.push_back(join(take(static_cast<std::uint32_t>(h))));
      out.num_sampled_nodes.push_back(num_nodes() - before);
    }
    out.node = buffer<vertex_id>(num_nodes(), *exec_.memory);
    std::copy(node_.begin(), node_.end(), out.node.begin());
    return out;
  }

 private:
  [[nodiscard]] std::int64_t num_nodes() const { return static_cast<std::int64_t>(node_.size()); }

  std::int64_t number(vertex_id v)
  {
    auto const [at, is_new] = numbers_.try_emplace(v, num_nodes());
    if (is_new) { node_.push_back(v); }
    return at->second;
  }

  /// The edges of a hop, range by range.
  [[nodiscard]] std::vector<taken_edges> take(std::uint32_t hop) const
  {
    std::int64_t const fanout = params_.fanouts[hop];
    std::vector<taken_edges> parts(static_cast<std::size_t>((num_nodes() + vertices_a_range - 1) / vertices_a_range));
    base::parallel_ranges(exec_, num_nodes(), vertices_a_range, [&](std::int64_t begin, std::int64_t end) {
      auto& part = parts[static_cast<std::size_t>(begin / vertices_a_range)];
      for (std::int64_t i = begin; i < end; ++i) {
        vertex_id const v = node_[static_cast<std::size_t>(i)];
        auto const row = graph_.row(v);
        edge_id const first = row.first_edge();
        std::uint32_t const degree = row.degree();
        auto const choice = core::labor_choice::of(fanout, degree);
        std::size_t const before = part.edges.size();
        for (std::uint32_t j = 0; j < degree; ++j) {
          vertex_id const u = row.neighbor(j);
          if (!choice.all && !choice.takes(core::labor_number(key_, u, hop))) { continue; }
          part.edges.push_back(first + j);
          part.targets.push_back(u);
        }
        std::size_t const taken = part.edges.size() - before;
        part.rows.resize(part.edges.size(), i);
        part.weights.resize(part.edges.size(),
                            choice.weight(fanout, degree, static_cast<std::int64_t>(taken), params_.normalize));
      }
    });
    return parts;
  }

  labor_hop join(std::vector<taken_edges> const& parts)
  {
    std::int64_t size = 0;
    for (auto const& part : parts) { size += static_cast<std::int64_t>(part.edges.size()); }
    labor_hop out{buffer<std::int64_t>(size, *exec_.memory), buffer<std::int64_t>(size, *exec_.memory),
                  buffer<edge_id>(size, *exec_.memory), buffer<float>(size, *exec_.memory)};
    std::int64_t k = 0;
    for (auto const& part : parts) {
      std::copy(part.rows.begin(), part.rows.end(), out.row.data() + k);
      std::copy(part.edges.begin(), part.edges.end(), out.edge.data() + k);
      std::copy(part.weights.begin(), part.weights.end(), out.weights.data() + k);
      for (auto const u : part.targets) { out.col[k++] = number(u); }
    }
    return out;
  }

  View graph_;
  labor_params const& params_;
  cpu_exec const& exec_;
  rng_key key_;
  std::unordered_map<vertex_id, std::int64_t> numbers_;
  std::vector<vertex_id> node_;
};

}  // namespace

labor_batch labor_sample(graph const& graph, std::span<vertex_id const> seeds, labor_params const& params,
                         cpu_exec const& exec)
{
  validate(params);
  cpu::check_in_host_memory(graph);
  graph_view const view = graph.view();
  cpu::check_vertices("seed", seeds, view);
  return view.visit([&](auto const& g) { return labor_builder(g, params, exec).build(seeds); });
}

}  // namespace tendril
