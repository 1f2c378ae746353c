// What the GPU's sampler of mini-batches knows before any call, and what it keeps from call to call beside outputs.

#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include <tendril/gpu.hpp>  // memory_of
#include <tendril/minibatch.hpp>
#include <tendril/partition.hpp>

#include "gpu/batches/bounds.hpp"
#include "gpu/batches/expand.hpp"
#include "gpu/batches/expected.hpp"
#include "gpu/batches/fused.hpp"
#include "gpu/batches/labor.hpp"
#include "gpu/batches/numbering.hpp"
#include "gpu/batches/output.hpp"
#include "gpu/batches/queue_space.hpp"
#include "gpu/batches/stamped_table.hpp"
#include "samplers/batches/checks.hpp"  // edge_choice
#include "samplers/batches/plan.hpp"

namespace tendril::gpu {

/// What bounds the batches that are made together. For tests to change before they make a sampler; nothing changes a
/// batch.
struct minibatch_limits {
  std::int64_t picks = most_picks_a_launch;
  /// Vertices to expect in the table. More are fewer and fuller launches, but a table further beyond the second-level
  /// cache. bench/minibatch, "batches together".
  std::int64_t vertices = std::int64_t{1} << 23U;
  std::uint32_t first_stamp = 1;  ///< Of a new table.
  /// Picks of a single batch up to which `automatic` repeats a captured graph.
  std::int64_t graph_picks = std::int64_t{1} << 23U;
  /// Picks of one hop of a single batch up to which `automatic` fuses the hops, where it can: a few seeds. From there on a
  /// captured graph is faster. bench/minibatch, "a batch".
  std::int64_t fused_picks = std::int64_t{1} << 10U;
  std::int64_t labor_percent = 125;  ///< batch_limits::labor_percent
  /// Bytes that a call of one batch by LABOR may take for what is likely; above, picks are counted, and the host waits for
  /// the counts of each hop.
  std::int64_t likely_bytes = std::int64_t{1} << 28U;
};
minibatch_limits& default_minibatch_limits();

/// How the picks of one edge type are made.
struct edge_plan {
  graph_view graph;
  std::int64_t const* times = nullptr;
  std::uint32_t const* ordinal = nullptr;
  std::int32_t from = 0, to = 0;
  samplers::edge_choice choice = samplers::edge_choice::uniform;
  // Of weighted choices with replacement, one of both.
  std::shared_ptr<buffer<core::alias_bucket> const> buckets;
  std::shared_ptr<plan::weight_sums const> sums;
  buffer<std::int64_t> time_of;       ///< [num_edges] by position, where induced edges are compared with times.
  std::vector<std::int64_t> fanouts;  ///< A hop; without replacement at most the largest degree. -1: all.
};

/// A sampler's arguments, worked out.
struct batch_plan {
  std::uint64_t seed = 0;
  std::size_t num_hops = 0;
  std::vector<edge_plan> edges;
  batch_limits sizes;
  std::vector<std::int64_t> num_vertices;
  bool disjoint = false, replace = false, all = false;
  subgraph_type subgraph = subgraph_type::directional;
  minibatch_limits limits;
  // Of LABOR.
  bool labor = false, normalize = true, layer_dependency = false;
  std::uint64_t dependency = 0;  ///< batch_call::dependency
  /// Picks are counted, and memory is made for exactly as many: for a call of one batch that would take much memory, and where
  /// there was too little.
  bool counts_picks = false;

  /// Whether the host waits for the number of picks of such a fan-out.
  [[nodiscard]] bool is_counted(std::int64_t fanout) const { return fanout < 0 || (counts_picks && fanout > 0); }
  [[nodiscard]] std::size_t num_types() const { return num_vertices.size(); }
  [[nodiscard]] std::size_t num_launches() const { return num_hops * edges.size(); }
  [[nodiscard]] std::size_t launch_of(std::size_t hop, std::size_t t) const { return hop * edges.size() + t; }
  [[nodiscard]] bool takes_all() const;  ///< Some fan-out is -1.
  [[nodiscard]] bool waits() const;      ///< Some launch's picks are counted and waited for.
  /// Memory is made for what is expected, not for all that there can be: only where nothing follows before the host knows
  /// whether that was enough. The search for induced edges would not end in a table that is full.
  [[nodiscard]] bool is_made_as_expected() const { return !waits() && subgraph != subgraph_type::induced; }
  /// That of the graphs of edge types that have edges, or of the first of them.
  [[nodiscard]] graph_form form() const;
  [[nodiscard]] bool has_one_form() const;
  [[nodiscard]] bool is_captured() const;  ///< Its launches can be: nothing is allocated between them.

  /// Synchronises. @throws memory_error; device_error.
  [[nodiscard]] static batch_plan of(hetero_graph const& graph, minibatch_params const& params, gpu_exec const& exec);

  /// A hop of LABOR, without memory.
  [[nodiscard]] labor_job labor_of(std::size_t hop, std::size_t t) const;

  /// The same of the rows that a rank has: the sizes are those of the whole graph, and picks are counted, since other ranks have
  /// a say in them. @param largest_degree  Of the whole graph.
  [[nodiscard]] static batch_plan of_part(graph const& rows, partition_info const& whole, std::int64_t largest_degree,
                                          minibatch_params const& params, gpu_exec const& exec);
};

/// The tables that a sampler on the GPU takes.
[[nodiscard]] samplers::batches_plan plan_batches(hetero_graph const& graph, minibatch_params const& params,
                                                  gpu_exec const& exec);

/// A group of batches that are made together.
struct batch_input {
  std::vector<std::span<vertex_id const>> seeds;     ///< [vertex types]
  std::vector<std::span<std::int64_t const>> times;  ///< Likewise, or empty.
  std::int64_t num_batches = 1;
  std::int64_t batch_size = 1;  ///< Of more than one batch, whose seeds are of one type.
  batch_numbers numbers;

  [[nodiscard]] std::int64_t num_seeds() const;
};

/// What the launches of a group need memory for, as far as it is known: up to the next one whose picks are counted.
struct batch_forecast {
  batch_bounds bounds;            ///< Behind the last launch that is covered.
  std::size_t hop = 0, type = 0;  ///< The launch that isn't; hop is num_hops where all are.
  std::int64_t picks = 0;         ///< Of a launch, the most.
  std::int64_t tiles = 0;         ///< Of all launches together.
  std::int64_t race_bytes = 0;
  std::int64_t staged = 0;          ///< Of LABOR: labor_memory::staged.
  std::int64_t tasks = 0;           ///< (vertex, hop), of all hops.
  std::vector<std::int64_t> lists;  ///< Of each vertex type: expanded in one hop, the most.

  /// @param types  From this edge type of hop `hop` on. @throws too_many_picks.
  [[nodiscard]] static batch_forecast of(batch_plan const& plan, batch_bounds const& start, std::size_t hop,
                                         std::size_t type);
};

/// Which of expected_sizes is whose.
struct size_index {
  static constexpr std::size_t table = 0;  ///< Vertices of a group.
  [[nodiscard]] static std::size_t nodes(std::size_t type) { return 1 + type; }
  /// Edges of a batch; the next one is for the vertices expanded.
  [[nodiscard]] static std::size_t edges(batch_plan const& plan, std::size_t t) { return 1 + plan.num_types() + 2 * t; }
};

/// More than one launch can count. A group is made in smaller ones then; if it is one batch, it is refused.
struct too_many_picks {
  std::size_t hop;
  std::int64_t picks;
};

/// @throws memory_error  that says so, of a single batch.
[[noreturn]] void refuse(too_many_picks const& what, batch_plan const& plan);

/// More vertices or edges than memory was made for. What is expected has been corrected: the group is made again.
struct more_than_expected {};

/// The columns of counts of a group, in words of 8 bytes; all zero at first.
class count_columns {
 public:
  count_columns() = default;
  count_columns(batch_plan const& plan, std::int64_t num_batches, std::int64_t tiles);

  // What the host reads at the end: offsets of columns of num_batches words.
  [[nodiscard]] std::int64_t seeds_known(std::size_t type) const { return column(type); }
  [[nodiscard]] std::int64_t known_after(std::size_t launch) const { return column(types_ + launch); }
  [[nodiscard]] std::int64_t edges_after(std::size_t launch) const { return column(types_ + launches_ + launch); }
  [[nodiscard]] std::int64_t report_words() const { return column(types_ + 2 * launches_); }

  [[nodiscard]] std::int64_t expanded_after(std::size_t launch) const
  {
    return column(types_ + 2 * launches_ + launch);
  }
  [[nodiscard]] std::int64_t edges_added() const { return column(types_ + 3 * launches_); }
  [[nodiscard]] std::int64_t vertices_added() const { return column(types_ + 3 * launches_ + 1); }
  [[nodiscard]] std::int64_t next_count(std::size_t hop, std::size_t type) const
  {
    return column(types_ + 3 * launches_ + 2) + static_cast<std::int64_t>(hop * types_ + type);
  }
  [[nodiscard]] std::int64_t list_begin(std::size_t type) const
  {
    return next_count(hops_ + 1, 0) + static_cast<std::int64_t>(type) * (batches_ + 1);
  }
  /// Of a launch, those of seeds first.
  [[nodiscard]] std::int64_t ticket(std::size_t launch) const
  {
    return list_begin(types_) + static_cast<std::int64_t>(launch);
  }
  [[nodiscard]] std::int64_t sizes() const { return ticket(types_ + launches_); }
  /// Of the persistent executor: tickets handed out, tail, seeds taken, seeds put in.
  [[nodiscard]] std::int64_t queue() const { return sizes() + 2; }
  [[nodiscard]] std::int64_t tiles() const { return queue() + 4; }
  [[nodiscard]] std::int64_t num_words() const { return tiles() + tiles_; }

 private:
  [[nodiscard]] std::int64_t column(std::size_t i) const { return static_cast<std::int64_t>(i) * batches_; }

  std::size_t types_ = 0, launches_ = 0, hops_ = 0;
  std::int64_t batches_ = 0, tiles_ = 0;
};

/// Grows and never shrinks.
class batch_space {
 public:
  explicit batch_space(gpu_exec const& exec) : exec_(exec) {}

  /// Two lists of each vertex type.
  struct list {
    buffer<vertex_id> vertices;
    buffer<std::uint32_t> groups;
  };

  /// Makes `what` hold `size` elements; keeps what it holds if `keep`.
  template <class T>
  void grow(buffer<T>& what, std::int64_t size, bool keep = false)
  {
    if (what.size() >= size) { return; }
    buffer<T> larger(size, memory_of(exec_));
    if (keep) { copy(what.data(), larger.data(), what.size() * static_cast<std::int64_t>(sizeof(T))); }
    what = std::move(larger);
    ++generation;
  }

  /// Room for `vertices` in the table; keeps those of stamps from `keep_from` on, if that is not 0, where a table that is cut so has
  /// them.
  void grow_table(std::int64_t vertices, std::uint32_t keep_from, table_cut const& cut, minibatch_limits const& limits);

  /// As many stamps of the table that no call before had. @throws too_many_picks for more than there are.
  [[nodiscard]] std::uint32_t take_stamps(std::int64_t count);

  [[nodiscard]] number_table whole_table() { return table_.view(); }

  /// As much of it as `vertices` need.
  [[nodiscard]] number_table table(std::int64_t vertices) { return table_.view(vertices); }

  buffer<edge_id> picked;
  buffer<std::uint32_t> at;
  std::vector<list> lists;  ///< [2 * vertex types]
  buffer<batch_group> groups;
  buffer<unsigned long long> block;  ///< What a call says to the kernels, and the columns of counts behind it.
  buffer<std::byte> race;
  std::optional<queue_space> queue;      ///< Of the persistent executor.
  buffer<fused_state> fused;             ///< [1] of the fused executor, once it was used.
  buffer<std::int64_t> counts, offsets;  ///< Where picks are counted.
  struct labor_space {
    buffer<std::uint32_t> staged, spilled;
    buffer<labor_long_row> long_rows;
    buffer<labor_lists> lists;
    buffer<float> weights;
    buffer<std::byte> scan;

    /// @param counts, offsets, picked_weights  As of labor_memory.
    [[nodiscard]] labor_memory view(std::int64_t* counts, std::int64_t* offsets, float* picked_weights)
    {
      return {staged.data(), counts, offsets, picked_weights, long_rows.data(), spilled.data(), lists.data()};
    }
  };
  labor_space labor;
  buffer<unsigned long long> late_tiles;                ///< Of launches behind one.
  std::vector<buffer<unsigned long long>> host_blocks;  ///< Pinned, of each group that is under way.
  kept_outputs outputs;
  std::uint64_t generation = 0;  ///< Changes with any address.
  expected_sizes expected;

 private:
  void copy(void const* from, void* to, std::int64_t bytes) const;

  gpu_exec exec_;
  stamped_table table_;
};

}  // namespace tendril::gpu
