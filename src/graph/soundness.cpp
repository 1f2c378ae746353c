// Whether samplers may run on a graph, as fast as memory delivers it. A neighbour smaller than the one before it in the
// array (a descent) is allowed only where a vertex's list begins. So the neighbours of every vertex ascend if the array
// has as many descents as lists begin with one, and both are counted without a branch: the loops below vectorise. Compressed
// lists are decoded, once it is known that each can be read. The GPU twin is src/gpu/graph/{soundness,list_soundness}.cu;
// `expect_sound` (validate.cpp) says what is wrong.

#include "graph/soundness.hpp"

#include <algorithm>
#include <atomic>
#include <limits>

#include "base/parallel.hpp"  // parallel_ranges
#include "graph/check.hpp"    // view_of
#include "graph/list_checker.hpp"
#include "graph/narrow_check.hpp"

namespace tendril::validation {
namespace {

constexpr std::int64_t elements_a_range = std::int64_t{1} << 16U;  // elements a thread takes at once
constexpr std::int64_t piece = std::int64_t{1} << 24U;             // elements between two calls of on_progress

/// Adds up what parallel ranges find. Relaxed: the end of a parallel loop orders it.
class findings {
 public:
  void add(bool bad, std::int64_t descents, std::int64_t allowed)
  {
    if (bad) { bad_.store(true, std::memory_order_relaxed); }
    surplus_.fetch_add(descents - allowed, std::memory_order_relaxed);
  }
  [[nodiscard]] bool bad() const { return bad_.load(std::memory_order_relaxed); }
  [[nodiscard]] bool good() const { return !bad() && surplus_.load(std::memory_order_relaxed) == 0; }

 private:
  std::atomic<bool> bad_{false};
  std::atomic<std::int64_t> surplus_{0};
};

/// Offsets, and the descents where lists begin. An offset out of range is not followed.
void check_lists(edge_id const* indptr, vertex_id const* indices, edge_id num_edges, std::int64_t begin,
                 std::int64_t end, findings& found)
{
  constexpr std::uint64_t most_edges = std::numeric_limits<std::uint32_t>::max();
  bool bad = false;
  for (std::int64_t v = begin; v < end; ++v) {
    bad |= static_cast<std::uint64_t>(indptr[v + 1]) - static_cast<std::uint64_t>(indptr[v]) > most_edges;
  }
  std::int64_t allowed = 0;
  for (std::int64_t v = begin; v < end; ++v) {
    edge_id const first = indptr[v];
    bool const inside = first > 0 && first < indptr[v + 1] && first < num_edges;
    if (inside) { allowed += indices[first] < indices[first - 1] ? 1 : 0; }
  }
  found.add(bad, 0, allowed);
}

/// The directory of vertices [begin, end), whole blocks, and their lists. Blocks must be right before lists are read.
void check_lists(compressed_lists const& lists, std::int64_t num_targets, std::int64_t begin, std::int64_t end,
                 findings& found)
{
  constexpr std::int64_t size = list_block::vertices;
  stored_lists const stored = stored_lists::of(lists);
  for (std::int64_t b = begin / size; b < (end + size - 1) / size; ++b) {
    if (block_problem_of<in_short>(stored, b)) { return found.add(true, 0, 0); }
  }
  compressed_view const g({lists.num_vertices, lists.num_edges, lists.directory(), nullptr, {}, {}});
  for (std::int64_t v = begin; v < std::min(end, lists.num_vertices); ++v) {
    if (list_problem_of<in_short>(stored, v)) { return found.add(true, 0, 0); }
    bool bad = false;
    vertex_id previous = 0;
    for (vertex_id const x : g.row(v)) {
      bad |= x < previous || x >= num_targets;
      previous = x;
    }
    if (bad) { return found.add(true, 0, 0); }
  }
}

void check_all_lists(compressed_lists const& lists, std::int64_t num_targets, cpu_exec const& exec, findings& found)
{
  constexpr std::int64_t vertices = list_block::vertices << 7U;  // that a thread takes at once
  constexpr std::int64_t vertices_a_piece = vertices << 10U;
  std::int64_t const all = lists.blocks.size() * list_block::vertices;
  for (std::int64_t first = 0; first < all && !found.bad(); first += vertices_a_piece) {
    if (exec.on_progress) { exec.on_progress({"checking", first, all}); }
    base::parallel_ranges(exec, std::min(vertices_a_piece, all - first), vertices,
                          [&](std::int64_t begin, std::int64_t end) {
                            check_lists(lists, num_targets, first + begin, first + end, found);
                          });
  }
}

void check_indices(graph_arrays const& a, std::int64_t num_targets, edge_id begin, edge_id end, findings& found)
{
  vertex_id const* const indices = a.indices.data();
  auto const most = static_cast<vertex_id>(num_targets);
  std::uint32_t bad = 0, descents = 0;  // a range has fewer edges than a uint32 can count
  for (edge_id e = begin; e < end; ++e) { bad |= indices[e] >= most ? 1U : 0U; }
  for (edge_id e = begin > 0 ? begin : 1; e < end; ++e) { descents += indices[e] < indices[e - 1] ? 1U : 0U; }
  found.add(bad != 0, descents, 0);
}

void check_attributes(graph_arrays const& a, edge_id begin, edge_id end, findings& found)
{
  std::uint32_t bad = 0;
  if (!a.weights.empty()) {
    float const* const weights = a.weights.data();
    constexpr float most = std::numeric_limits<float>::max();
    for (edge_id e = begin; e < end; ++e) { bad |= weights[e] >= 0 && weights[e] <= most ? 0U : 1U; }
  }
  if (!a.edge_ids.empty()) {
    edge_id const* const ids = a.edge_ids.data();
    for (edge_id e = begin; e < end; ++e) { bad |= ids[e] < 0 ? 1U : 0U; }
  }
  if (has_spare_codes(a.narrow)) { bad |= has_good_codes(a.narrow, begin, end) ? 0U : 1U; }
  found.add(bad != 0, 0, 0);
}

}  // namespace

bool is_sound(graph_arrays const& arrays, std::int64_t num_targets, cpu_exec const& exec)
{
  bool const is_compressed = !arrays.compressed.words.empty();
  if (!is_compressed && arrays.indptr.empty()) { return arrays.indices.empty(); }
  findings found;
  found.add(!weight_value_problem(arrays.narrow).empty(), 0, 0);
  edge_id num_edges = arrays.indices.size();
  auto const num_vertices = static_cast<vertex_id>(is_compressed ? 0 : arrays.indptr.size() - 1);
  if (is_compressed) {
    num_edges = arrays.compressed.num_edges;
    check_all_lists(arrays.compressed, num_targets, exec, found);
  } else {
    edge_id const* const indptr = arrays.indptr.data();
    if (indptr[0] != 0 || indptr[num_vertices] != num_edges) { return false; }
    for (std::int64_t first = 0; first < num_vertices; first += piece) {
      if (exec.on_progress && first > 0) { exec.on_progress({"checking", 0, num_edges}); }
      base::parallel_ranges(exec, std::min<std::int64_t>(piece, num_vertices - first), elements_a_range,
                            [&](std::int64_t begin, std::int64_t end) {
                              check_lists(indptr, arrays.indices.data(), num_edges, first + begin, first + end, found);
                            });
    }
  }
  for (edge_id first = 0; first < num_edges && !found.bad(); first += piece) {
    if (exec.on_progress) { exec.on_progress({"checking", first, num_edges}); }
    base::parallel_ranges(exec, std::min(piece, num_edges - first), elements_a_range,
                          [&](std::int64_t begin, std::int64_t end) {
                            check_attributes(arrays, first + begin, first + end, found);
                            if (!is_compressed) {
                              check_indices(arrays, num_targets, first + begin, first + end, found);
                            }
                          });
  }
  return found.good();
}

bool is_sound(graph_arrays const& arrays, cpu_exec const& exec)
{
  return is_sound(arrays, view_of(arrays).num_vertices, exec);
}

}  // namespace tendril::validation
