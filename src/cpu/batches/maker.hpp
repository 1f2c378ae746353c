// Makes mini-batches one after the other, of one or many types, and keeps what it needs for the next. Hops are measured
// and picked in parallel, numbering is serial: it defines the order. GPU twin: src/gpu/batches.

#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <tendril/minibatch.hpp>

#include "cpu/batches/block_pool.hpp"
#include "cpu/batches/inner_edges.hpp"
#include "cpu/batches/labor_picks.hpp"
#include "cpu/batches/local_numbers.hpp"
#include "cpu/batches/picks.hpp"

namespace tendril::cpu {

/// What all batches of a sampler have in common.
struct minibatch_job {
  struct ends {
    std::size_t from, to;  // vertex types
  };
  minibatch_params const& params;
  std::vector<std::int64_t> num_vertices;  ///< By vertex type.
  std::vector<ends> edge_ends;             ///< By edge type.
  std::vector<edge_source> sources;        ///< By edge type; where picks come from elsewhere, of no use.

  [[nodiscard]] bool is_labor() const { return params.choice == neighbor_choice::labor; }
  /// Whether the sampled edges have weights, and stay.
  [[nodiscard]] bool has_weights() const { return is_labor() && params.subgraph == subgraph_type::directional; }
  /// The rule of a hop by LABOR, whose numbers all neighbours of one type share.
  [[nodiscard]] labor_hop_rule labor_rule(std::uint64_t batch, std::uint32_t hop, std::size_t edge_type) const
  {
    auto const to = static_cast<std::uint32_t>(edge_ends[edge_type].to);
    return {core::labor_numbers::of(params.seed, batch, static_cast<std::uint64_t>(params.batch_dependency)),
            core::labor_step(hop, to, params.layer_dependency), params.normalize};
  }
};

/// @tparam Key  uint32 for batches whose seeds share vertices, uint64 for disjoint ones.
template <class Key>
class minibatch_maker {
 public:
  /// `job` must outlive the maker; results come from `pool`.
  minibatch_maker(minibatch_job const& job, std::shared_ptr<block_pool> const& pool);

  /// Batch number `batch`, with the threads and to the progress report of `exec`. Seeds are vertices of the graph.
  [[nodiscard]] minibatch make(batch_seeds const& seeds, std::uint64_t batch, cpu_exec const& exec);

  /// The steps of `make`, for batches whose edges are found elsewhere: begin; for each hop begin_hop, of each edge type
  /// frontier, make_slots, number, and then end_hop; for induced batches of each edge type all_vertices, make_slots,
  /// keep_numbers; finish.
  void begin(batch_seeds const& seeds, std::uint64_t batch);
  void begin_hop();
  /// What a hop expands. Its offsets [1, count] are for the caller to fill with the numbers of slots.
  [[nodiscard]] hop_expansion<Key> frontier(std::size_t type, std::uint32_t hop);
  /// Makes room for the slots of all vertices, once offsets [1, count] hold how many each has.
  void make_slots(std::size_t type, hop_expansion<Key>& what);
  /// Numbers the neighbours in the slots.
  void number(std::size_t type, hop_expansion<Key> const& what);
  void end_hop();
  /// Forgets the edges of a type: all of the batch's vertices will be expanded.
  [[nodiscard]] hop_expansion<Key> all_vertices(std::size_t type);
  /// Takes what the slots hold for numbers of vertices.
  void keep_numbers(std::size_t type, hop_expansion<Key> const& what);
  /// Adds reverses where the batch has them, and hands it over.
  [[nodiscard]] minibatch finish();

 private:
  struct vertex_state {
    explicit vertex_state(std::shared_ptr<block_pool> const& pool) : keys(pool) {}

    local_numbers<Key> numbers;
    pooled_array<Key> keys;  // by number; of a batch that is not disjoint, the result
    std::vector<std::int64_t> num_sampled;
    std::int64_t fresh = 0;  // the first of those that the hop before saw first
    std::int64_t end = 0;    // how many there are at the beginning of the hop
    std::int64_t expected = 0;
  };
  struct edge_state {
    explicit edge_state(std::shared_ptr<block_pool> const& pool)
        : row(pool), col(pool), edge(pool), weights(pool), indptr(pool)
    {
    }

    pooled_array<std::int64_t> row, col;
    pooled_array<edge_id> edge;
    pooled_array<float> weights;  // of LABOR
    pooled_array<std::int64_t> indptr;
    std::vector<std::int64_t> first_expanded, num_expanded, num_sampled;
    std::int64_t expected = 0;  // edges: what the batch before had
    std::int64_t expected_rows = 0;
    std::vector<edge_chooser<Key>> choosers;  // one a thread
    std::vector<labor_picks<Key>> labor;      // likewise, in their place
  };

  void add_seeds(batch_seeds const& seeds);
  void make_choosers(cpu_exec const& exec);
  void pick(std::size_t type, hop_expansion<Key>& what, cpu_exec const& exec);
  void pick_labor(std::size_t type, std::uint32_t hop, hop_expansion<Key>& what, cpu_exec const& exec);
  void drop_empty_slots(edge_state& edges, hop_expansion<Key> const& hop);
  void add_reverses(edge_state& edges);
  void induce(std::size_t type, cpu_exec const& exec);
  void find_inner_edges(std::size_t type, std::int64_t row, std::vector<inner_edge>& out) const;

  /// Room for `more` further keys.
  void reserve_numbers(vertex_state& vertices, std::int64_t num_vertices, std::int64_t more);

  minibatch_job const& job_;
  std::uint64_t batch_ = 0;
  std::vector<vertex_state> vertices_;
  std::vector<edge_state> edges_;
  std::vector<std::int64_t> tree_time_;  // empty: no constraint
  buffer<edge_id> first_;                // of a hop's vertices
  buffer<std::uint32_t> degree_;
  buffer<Key> reached_;              // of a hop's slots
  std::vector<found_range> ranges_;  // of LABOR
  inner_edge_finder inner_;
};

}  // namespace tendril::cpu
