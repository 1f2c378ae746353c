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
  hetero_graph const& graph;
  minibatch_params const& params;
  std::vector<edge_source> sources;  ///< One an edge type.
};

/// @tparam Key  uint32 for batches whose seeds share vertices, uint64 for disjoint ones.
template <class Key>
class minibatch_maker {
 public:
  /// `job` must outlive the maker; results come from `pool`.
  minibatch_maker(minibatch_job const& job, std::shared_ptr<block_pool> const& pool);

  /// Batch number `batch`, with the threads and to the progress report of `exec`. Seeds are vertices of the graph.
  [[nodiscard]] minibatch make(batch_seeds const& seeds, std::uint64_t batch, cpu_exec const& exec);

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

  void begin(batch_seeds const& seeds, cpu_exec const& exec);
  void add_seeds(batch_seeds const& seeds);
  void expand(std::size_t type, std::uint32_t hop, cpu_exec const& exec);
  void pick(std::size_t type, hop_expansion<Key>& what, cpu_exec const& exec);
  void pick_labor(std::size_t type, std::uint32_t hop, hop_expansion<Key>& what, cpu_exec const& exec);
  void make_slots(edge_state& edges, hop_expansion<Key>& what);
  void number(std::size_t type, std::int64_t begin, std::int64_t end);
  void drop_empty_slots(edge_state& edges, hop_expansion<Key> const& hop);
  void add_reverses(edge_state& edges);
  void induce(std::size_t type, cpu_exec const& exec);
  void find_inner_edges(std::size_t type, std::int64_t row, std::vector<inner_edge>& out) const;
  [[nodiscard]] minibatch finish();

  /// Room for `more` further keys.
  void reserve_numbers(vertex_state& vertices, std::int64_t num_vertices, std::int64_t more);

  [[nodiscard]] bool is_labor() const { return job_.params.choice == neighbor_choice::labor; }
  /// Whether the sampled edges have weights, and stay.
  [[nodiscard]] bool has_weights() const { return is_labor() && job_.params.subgraph == subgraph_type::directional; }

  minibatch_job const& job_;
  rng_key key_{};
  core::labor_numbers numbers_;
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
