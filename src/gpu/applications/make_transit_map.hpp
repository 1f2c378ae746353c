// The map from the transits of a step to the pairs (sample, transit) that have them: made on the GPU, never seen by the
// host. NextDoor (Jangda, Polisetty, Guha, Serafini, EuroSys'21, section 6.1.2) calls it the scheduling index.

#pragma once

#include <cstdint>

#include <tendril/buffer.hpp>
#include <tendril/edge_arrays.hpp>
#include <tendril/engine/applications/transit_map.hpp>
#include <tendril/exec.hpp>

namespace tendril::gpu {

/// How pairs are grouped by transit. Never changes a sample.
enum class transit_grouping : std::uint8_t {
  automatic,  ///< By the number of pairs a vertex.
  sort,       ///< A radix sort of (transit, pair), over as many bits as the vertices need. O(pairs) memory.
  count,      ///< A histogram over all vertices by atomics, its prefix sums, and a scatter. O(pairs + vertices) memory.
};

/// What a map is made for.
struct transit_map_spec {
  edge_arrays graph;              ///< In device memory.
  std::int64_t most_pairs = 0;    ///< That a map will be asked for: 1 to 2^31 - 1.
  std::int64_t calls_a_pair = 0;  ///< That each pair asks for; 0: as many as the transit has neighbours.
  std::uint32_t unit = 1024;      ///< Calls that a block is given at a time. Transits with more are shared by blocks.
  transit_grouping grouping = transit_grouping::automatic;
  bool only_sorts = false;  ///< Only sorted() will be asked for: no memory for lists of transits.
};

/// Pairs in the order of their transits; those without one, whose transit is no_vertex, come last. Device memory.
struct sorted_pairs {
  vertex_id const* transits = nullptr;   ///< [pairs] ascending
  std::uint32_t const* pairs = nullptr;  ///< [pairs] and the pair that has each.
};

/// Makes maps, one after the other in the same memory. All work is enqueued on the stream of `exec`.
class transit_mapper {
 public:
  /// Allocates 12 bytes a pair and up to 24 a transit (at most one a pair, or a vertex) from memory_of(exec); counting
  /// takes 4 bytes a pair less and 8 a vertex more. @throws memory_error; device_error.
  transit_mapper(transit_map_spec const& spec, gpu_exec const& exec);

  /// Enqueues the map of `num_pairs` pairs, 1 to most_pairs, whose transits are given: vertices, or no_vertex for pairs
  /// that have none and stay out of the map. What it points to lasts until the next call. Doesn't synchronise. A sort
  /// takes scratch memory from memory_of(exec) and returns it. @throws memory_error; device_error.
  [[nodiscard]] engine::transit_map make(vertex_id const* transits, std::int64_t num_pairs);

  /// Enqueues the sort of such pairs. Only where the spec asks for transit_grouping::sort. What it points to lasts until the
  /// next call of make() or sorted(). Doesn't synchronise. @throws as make().
  [[nodiscard]] sorted_pairs sorted(vertex_id const* transits, std::int64_t num_pairs);

  /// Enqueues the map of pairs [begin, end) of those that were sorted last, where begin < end. The lists of transits last
  /// until the next call of any. Doesn't synchronise. @throws device_error.
  [[nodiscard]] engine::transit_map map_of(std::int64_t begin, std::int64_t end);

  /// The most transits that a map can hold of less than 32 calls, of less than a unit, and units of the others: what
  /// bounds a grid where the host doesn't know their numbers.
  [[nodiscard]] std::int64_t most_few() const { return few_ ? most_runs_ : 0; }
  [[nodiscard]] std::int64_t most_block() const { return block_ ? most_runs_ : 0; }
  [[nodiscard]] std::int64_t most_units() const { return most_units_; }

  [[nodiscard]] transit_grouping grouping() const { return spec_.grouping; }  ///< sort or count.

 private:
  template <class Runs>
  engine::transit_map classify(Runs const& runs, std::uint32_t const* pairs);
  void sort(vertex_id const* transits, std::int64_t num_pairs);
  void count(vertex_id const* transits, std::int64_t num_pairs);

  transit_map_spec spec_;
  gpu_exec exec_;
  std::int64_t most_runs_ = 0;
  std::int64_t most_units_ = 0;
  bool few_ = true, block_ = true;
  buffer<std::uint32_t> pairs_;       // grouped
  buffer<std::uint32_t> ordered_;     // sort: 0, 1, 2, …; count: the rank of each pair in its run
  buffer<vertex_id> keys_;            // sort: transits, sorted
  buffer<std::uint32_t> sizes_;       // count: [num_vertices]
  buffer<std::uint32_t> begins_;      // count: [num_vertices]
  buffer<engine::transit_run> runs_;  // few from the front, block from the back
  buffer<engine::transit_run> grid_;  // and its units
  buffer<std::uint32_t> first_units_;
  buffer<engine::transit_counts> counts_;
};

}  // namespace tendril::gpu
