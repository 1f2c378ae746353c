// Mini-batches: neighbours sampled hop by hop, vertices deduplicated and numbered anew in order of first appearance.
// The choice of neighbours: src/cpu/neighbor_picks.hpp. Hops are sampled in parallel, numbering is serial: it defines
// the order.

#include <tendril/minibatch.hpp>

#include <algorithm>
#include <numeric>

#include "cpu/neighbor_picks.hpp"
#include "plan/minibatch_checks.hpp"
#include "plan/minibatch_state.hpp"
#include "store/expects.hpp"   // TENDRIL_EXPECTS
#include "store/parallel.hpp"  // parallel_ranges

namespace tendril {
namespace {

/// Numbers vertices in order of first appearance: open addressing over (tree, vertex), sized by what is in the batch.
class local_numbers {
 public:
  local_numbers() { grow(1024); }

  /// The local number of (tree, vertex), and whether it is new.
  std::pair<std::int64_t, bool> number(std::uint32_t tree, vertex_id v)
  {
    if (static_cast<std::size_t>(size_) * 2 >= keys_.size()) { grow(keys_.size() * 2); }
    std::size_t const at = find((std::uint64_t{tree} << 32U) | v);
    if (numbers_[at] >= 0) { return {numbers_[at], false}; }
    keys_[at] = (std::uint64_t{tree} << 32U) | v;
    numbers_[at] = size_;
    return {size_++, true};
  }

  /// The local number of (tree, vertex), or -1.
  [[nodiscard]] std::int64_t lookup(std::uint32_t tree, vertex_id v) const
  {
    return numbers_[find((std::uint64_t{tree} << 32U) | v)];
  }

 private:
  [[nodiscard]] std::size_t find(std::uint64_t key) const
  {
    std::size_t const mask = keys_.size() - 1;
    std::size_t at = ((key ^ (key >> 32U)) * 0x9E3779B97F4A7C15ULL >> 20U) & mask;
    while (numbers_[at] >= 0 && keys_[at] != key) { at = (at + 1) & mask; }
    return at;
  }

  void grow(std::size_t slots)
  {
    std::vector<std::uint64_t> keys(slots);
    std::vector<std::int64_t> numbers(slots, -1);
    keys.swap(keys_);
    numbers.swap(numbers_);
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (numbers[i] < 0) { continue; }
      std::size_t const at = find(keys[i]);
      keys_[at] = keys[i];
      numbers_[at] = numbers[i];
    }
  }

  std::vector<std::uint64_t> keys_;
  std::vector<std::int64_t> numbers_;
  std::int64_t size_ = 0;
};

/// The batch as it grows.
class batch_builder {
 public:
  batch_builder(graph const& graph, minibatch_params const& params, cpu_exec const& exec, std::uint64_t batch)
      : graph_(graph.view()), params_(params), exec_(exec)
  {
    key_ = core::make_key(params.seed, core::domain::minibatch, batch);
    rule_.replace = params.replace;
    rule_.weighted = params.weighted && graph.num_edges() > 0;
    rule_.rule = !rule_.weighted ? sampling_rule::uniform : params.replace ? sampling_rule::alias : sampling_rule::scan;
  }

  minibatch build(std::span<vertex_id const> seeds)
  {
    std::vector<std::int64_t> nodes_a_hop, edges_a_hop;
    for (std::size_t i = 0; i < seeds.size(); ++i) {
      add(params_.disjoint ? static_cast<std::uint32_t>(i) : 0, seeds[i]);
    }
    nodes_a_hop.push_back(num_nodes());
    std::int64_t frontier = 0;
    for (std::size_t h = 0; h < params_.num_neighbors.size(); ++h) {
      std::int64_t const end = num_nodes();
      std::int64_t const edges = static_cast<std::int64_t>(edge_.size());
      expand(frontier, end, static_cast<std::uint32_t>(h), params_.num_neighbors[h]);
      frontier = end;
      nodes_a_hop.push_back(num_nodes() - end);
      edges_a_hop.push_back(static_cast<std::int64_t>(edge_.size()) - edges);
    }
    if (params_.subgraph == subgraph_type::bidirectional) { add_reverses(); }
    if (params_.subgraph == subgraph_type::induced) { induce(); }
    minibatch out;
    minibatch_vertices& vertices = out.vertices.emplace_back();
    vertices.node = copy<vertex_id>(node_);
    if (params_.disjoint) { vertices.batch = copy<std::int64_t>(tree_); }
    vertices.num_sampled = std::move(nodes_a_hop);
    minibatch_edges& edges = out.edges.emplace_back();
    edges.row = copy<std::int64_t>(row_);
    edges.col = copy<std::int64_t>(col_);
    edges.edge = copy<edge_id>(edge_);
    edges.num_sampled = std::move(edges_a_hop);
    return out;
  }

 private:
  [[nodiscard]] std::int64_t num_nodes() const { return static_cast<std::int64_t>(node_.size()); }

  std::int64_t add(std::uint32_t tree, vertex_id v)
  {
    auto const [number, is_new] = numbers_.number(tree, v);
    if (is_new) {
      node_.push_back(v);
      tree_.push_back(tree);
    }
    return number;
  }

  /// Samples the neighbours of the local vertices [begin, end) in parallel, then numbers them in order.
  void expand(std::int64_t begin, std::int64_t end, std::uint32_t hop, std::int64_t fanout)
  {
    std::int64_t const count = end - begin;
    std::vector<std::int64_t> offset(static_cast<std::size_t>(count) + 1, 0);
    for (std::int64_t i = 0; i < count; ++i) {
      std::int64_t const degree = graph_.degree(node_[static_cast<std::size_t>(begin + i)]);
      bool const all = fanout < 0 || (!params_.replace && degree <= fanout);
      offset[static_cast<std::size_t>(i) + 1] = offset[static_cast<std::size_t>(i)] + (all          ? degree
                                                                                       : degree > 0 ? fanout
                                                                                                    : 0);
    }
    std::vector<edge_id> picked(static_cast<std::size_t>(offset.back()));
    store::parallel_ranges(exec_, count, 64, [&](std::int64_t from, std::int64_t to) {
      cpu::neighbor_picker picker(graph_, rule_);
      std::vector<std::uint32_t> picks;
      std::vector<std::uint64_t> bits;
      for (std::int64_t i = from; i < to; ++i) {
        std::int64_t const at = offset[static_cast<std::size_t>(i)];
        auto const k = static_cast<std::uint32_t>(offset[static_cast<std::size_t>(i) + 1] - at);
        pick(picker, picks, bits, begin + i, hop, k, fanout < 0);
        edge_id const first = graph_.first_edge(node_[static_cast<std::size_t>(begin + i)]);
        for (std::uint32_t j = 0; j < k; ++j) {
          picked[static_cast<std::size_t>(at + j)] = picks[j] == cpu::empty_slot ? -1 : first + picks[j];
        }
      }
    });
    for (std::int64_t i = 0; i < count; ++i) {
      for (std::int64_t s = offset[static_cast<std::size_t>(i)]; s < offset[static_cast<std::size_t>(i) + 1]; ++s) {
        edge_id const e = picked[static_cast<std::size_t>(s)];
        if (e < 0) { continue; }
        std::int64_t const to = add(tree_[static_cast<std::size_t>(begin + i)], graph_.indices[e]);
        row_.push_back(begin + i);
        col_.push_back(to);
        edge_.push_back(e);
      }
    }
  }

  /// The picks of one local vertex. Its draws belong to (vertex, hop), in a disjoint batch to (vertex, seed, hop).
  void pick(cpu::neighbor_picker& picker, std::vector<std::uint32_t>& picks, std::vector<std::uint64_t>& bits,
            std::int64_t local, std::uint32_t hop, std::uint32_t k, bool all) const
  {
    vertex_id const v = node_[static_cast<std::size_t>(local)];
    std::uint64_t const tree = params_.disjoint ? std::uint64_t{tree_[static_cast<std::size_t>(local)]} + 1 : 0;
    picks.resize(k);
    if (k == 0) { return; }
    if (all) {
      std::iota(picks.begin(), picks.end(), 0U);
      return;
    }
    std::uint64_t const item = v | (tree << 32U);
    if (rule_.takes_bits()) {
      bits.resize(k);
      for (std::uint32_t j = 0; j < k; ++j) { bits[j] = core::draw_bits(key_, item, hop, 0, j); }
      picker.pick_uniform(graph_.degree(v), k, bits.data(), picks.data());
    } else {
      picker.pick_weighted(graph_.first_edge(v), graph_.degree(v), k, {key_, item, hop}, picks.data());
    }
  }

  void add_reverses()
  {
    std::size_t const edges = edge_.size();
    for (std::size_t k = 0; k < edges; ++k) {
      row_.push_back(col_[k]);
      col_.push_back(row_[k]);
      edge_.push_back(edge_[k]);
    }
  }

  /// Replaces the sampled edges by all edges between the batch's vertices.
  void induce()
  {
    row_.clear();
    col_.clear();
    edge_.clear();
    for (std::int64_t i = 0; i < num_nodes(); ++i) {
      vertex_id const v = node_[static_cast<std::size_t>(i)];
      edge_id const first = graph_.first_edge(v);
      edge_id const last = first + graph_.degree(v);
      for (edge_id e = first; e < last; ++e) {
        std::int64_t const to = numbers_.lookup(tree_[static_cast<std::size_t>(i)], graph_.indices[e]);
        if (to < 0) { continue; }
        row_.push_back(i);
        col_.push_back(to);
        edge_.push_back(e);
      }
    }
  }

  template <class T, class From>
  [[nodiscard]] buffer<T> copy(From const& from) const
  {
    buffer<T> out(static_cast<std::int64_t>(from.size()), *exec_.memory);
    std::copy(from.begin(), from.end(), out.begin());
    return out;
  }

  graph_view graph_;
  minibatch_params const& params_;
  cpu_exec const& exec_;
  cpu::pick_rule rule_;
  rng_key key_;
  local_numbers numbers_;
  std::vector<vertex_id> node_;
  std::vector<std::uint32_t> tree_;  // the seed each vertex belongs to in a disjoint batch, else 0
  std::vector<std::int64_t> row_, col_;
  std::vector<edge_id> edge_;
};

class cpu_state final : public minibatch_sampler::state {
 public:
  cpu_state(hetero_graph graph, minibatch_params the_params, cpu_exec const& exec)
      : state(std::move(graph), std::move(the_params)), exec_(exec)
  {
    TENDRIL_EXPECTS(input.edge_types().size() == 1 && !input.has_times() && params.frontier == batch_frontier::fresh &&
                        params.num_neighbors_of_type.empty(),
                    "minibatch_sampler: one type, without times, frontier fresh");
  }

  minibatch sample(batch_seeds const& seeds, std::uint64_t batch) override
  {
    plan::check_seed_range(input, 0, seeds.vertices[0]);
    return batch_builder(input.edge_types()[0].edges, params, exec_, batch).build(seeds.vertices[0]);
  }

  std::vector<minibatch> sample_batches(std::int32_t, std::span<vertex_id const> seeds, std::int64_t batch_size,
                                        std::uint64_t first_batch, std::span<std::int64_t const>) override
  {
    std::vector<minibatch> out;
    for (std::int64_t b = 0; b * batch_size < std::ssize(seeds); ++b) {
      out.push_back(sample({{plan::cut_batch(seeds, batch_size, b)}}, first_batch + static_cast<std::uint64_t>(b)));
    }
    return out;
  }

 private:
  cpu_exec exec_;
};

}  // namespace

minibatch_sampler::minibatch_sampler(hetero_graph graph, minibatch_params params, cpu_exec const& exec)
{
  TENDRIL_EXPECTS(graph.device() < 0, "graph: it is on GPU {}, expected one in host memory (to_host), or a gpu_exec",
                  graph.device());
  plan::check_minibatch(graph, params);
  state_ = std::make_unique<cpu_state>(std::move(graph), std::move(params), exec);
}

minibatch neighbor_sample(graph const& graph, std::span<vertex_id const> seeds, minibatch_params const& params,
                          cpu_exec const& exec, std::uint64_t batch)
{
  return minibatch_sampler(hetero_graph(graph), params, exec).sample({{seeds}}, batch);
}

}  // namespace tendril
