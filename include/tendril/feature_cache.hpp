#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <iterator>
#include <span>
#include <vector>

#include <tendril/exec.hpp>
#include <tendril/hetero_graph.hpp>
#include <tendril/names.hpp>
#include <tendril/types.hpp>

// Which rows of features a GPU keeps beside those in host memory. The rows themselves, and this bookkeeping on a GPU, are in
// gpu_feature_cache.hpp. What is here works on the host: it is the oracle of the GPU's, and tells hit rates without a GPU.

namespace tendril {

/// What decides which rows a cache holds.
enum class cache_policy {
  fixed,      ///< The caller: the rows of `fill` stay.
  lookahead,  ///< The batches ahead: rows that are used soonest stay (Belady's rule), beyond those batches by a score.
  lru,        ///< The batches before: the rows that were used last stay.
};

template <>
inline constexpr std::array<named<cache_policy>, 3> enum_names<cache_policy>{
    {{cache_policy::fixed, "fixed"}, {cache_policy::lookahead, "lookahead"}, {cache_policy::lru, "lru"}}};

struct row_cache_params {
  std::int64_t num_rows = 0;   ///< Of the table.
  std::int64_t num_slots = 0;  ///< Rows that the cache holds. Together with num_rows below 2^32 - 1.
  cache_policy policy = cache_policy::lookahead;
  int window = 16;  ///< Batches that are known at a time, the one that is served among them: 1 to 32.
};

/// @throws argument_error for values out of range.
void validate(row_cache_params const& params);

/// What a cache has of a batch, and what it takes from it.
struct cache_step {
  std::vector<vertex_id> missed;       ///< Rows that come from the table, in the batch's order; a row may occur twice.
  std::vector<std::uint32_t> sources;  ///< Of each id: the slot of its row, or num_slots + its position in `missed`.
  std::vector<std::uint32_t> kept;     ///< Positions in `missed`, ascending: rows that the cache takes afterwards.
  std::vector<std::uint32_t> kept_slots;  ///< Where they go.

  [[nodiscard]] std::int64_t num_hits() const { return std::ssize(sources) - std::ssize(missed); }

  friend bool operator==(cache_step const&, cache_step const&) = default;
};

/// The bookkeeping of a cache, in host memory, by one thread: which row lies in which slot. What it does is a function of
/// its parameters and of the batches that it has seen and served.
class row_cache {
 public:
  /// An empty cache. @throws as validate; memory_error.
  explicit row_cache(row_cache_params const& params);

  /// Replaces the content: row rows[i] lies in slot i. The batches that were seen and not served are forgotten.
  /// @param rows  At most num_slots, all different. @throws argument_error, memory_error: the content stays.
  void fill(std::span<vertex_id const> rows);

  /// Lookahead: the worth of each row beyond the window; without it all are equal. @param scores  [num_rows].
  /// @throws argument_error for another size; memory_error.
  void rank(std::span<std::uint8_t const> scores);

  /// Makes the next batch known. @param rows  Each below num_rows; less than 2^31.
  /// @throws argument_error for others, and if `window` batches are known and not served.
  void see(std::span<vertex_id const> rows);

  /// Serves the earliest batch that is known and not served. @throws argument_error if there is none.
  [[nodiscard]] cache_step serve();

  /// The row of each slot; no_vertex: it is empty.
  [[nodiscard]] std::vector<vertex_id> const& content() const noexcept { return content_; }

  [[nodiscard]] row_cache_params const& params() const noexcept { return params_; }

 private:
  void classify(std::vector<vertex_id> const& rows, cache_step& step);
  void change(cache_step& step);

  row_cache_params params_;
  std::vector<vertex_id> content_;
  std::vector<std::uint32_t> slot_of_;  // [num_rows]; no_vertex: none
  std::vector<std::uint32_t> states_;   // [num_rows] of core::cache_rule
  std::vector<std::uint8_t> scores_;
  std::deque<std::vector<vertex_id>> known_;
  std::uint32_t num_seen_ = 0;
  std::uint32_t num_served_ = 0;
};

/// The `count` rows of the greatest scores, the greatest first, of equal scores those of lower ids; rows of score 0 last.
/// @param scores  Not NaN. @throws argument_error for NaN, or a count above scores.size().
[[nodiscard]] std::vector<vertex_id> best_rows(std::span<double const> scores, std::int64_t count);

/// How often each vertex is a neighbour: the static scores of PaGraph (Lin et al., SoCC 2020), which TurboGNN takes over.
/// @return Per vertex type, [num_vertices]. @throws argument_error for a graph on a GPU; memory_error.
[[nodiscard]] std::vector<std::vector<double>> neighbor_counts(hetero_graph const& graph, cpu_exec const& exec = {});

/// PageRank (Page et al., 1999) over the edges that samplers follow, from a vertex to its neighbours: how often a long walk
/// visits each vertex, which restarts at a random one with probability 0.15. A vertex of several edge types follows all its
/// edges alike. Sums are integers, so the result is the same for any number of threads.
/// @return Per vertex type, [num_vertices]; all add up to about 1. @throws argument_error for a graph on a GPU; memory_error.
[[nodiscard]] std::vector<std::vector<double>> pageranks(hetero_graph const& graph, int iterations = 20,
                                                         cpu_exec const& exec = {});

}  // namespace tendril
