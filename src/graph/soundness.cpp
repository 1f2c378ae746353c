// Whether samplers may run on a graph, as fast as memory delivers it. A neighbour smaller than the one before it in the
// array (a descent) is allowed only where a vertex's list begins. So the neighbours of every vertex ascend if the array
// has as many descents as lists begin with one, and both are counted without a branch: the loops below vectorise. Packed
// neighbours are decoded, once it is known that every record points into the words. The GPU twin is
// src/gpu/graph/soundness.cu; `expect_sound` (validate.cpp) says what is wrong.

#include "graph/soundness.hpp"

#include <algorithm>
#include <atomic>
#include <limits>

#include "base/parallel.hpp"  // parallel_ranges
#include "graph/check.hpp"    // packed_of

namespace tendril::validation {
namespace {

constexpr std::int64_t grain = std::int64_t{1} << 16U;  // elements a thread takes at once
constexpr std::int64_t piece = std::int64_t{1} << 26U;  // edges between two calls of on_progress

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

void check_records(packed_arrays const& g, std::int64_t num_words, std::int64_t begin, std::int64_t end,
                   findings& found)
{
  bool bad = false;
  for (std::int64_t v = begin; v < end; ++v) { bad |= !fits(g.records[v], g.indptr[v], g.indptr[v + 1], num_words); }
  found.add(bad, 0, 0);
}

/// The packed neighbours at edges [begin, end), whose records fit.
void check_packed(packed_arrays const& g, edge_id begin, edge_id end, findings& found)
{
  bool bad = false;
  auto v = std::upper_bound(g.indptr, g.indptr + g.num_vertices + 1, begin) - g.indptr - 1;
  for (edge_id e = begin; e < end; ++v) {
    auto i = static_cast<std::uint32_t>(e - g.indptr[v]);
    auto const stop = static_cast<std::uint32_t>(std::min(end, g.indptr[v + 1]) - g.indptr[v]);
    packed_row const row = packed_view(g).row(v);
    vertex_id const first = g.records[v].first;
    // A neighbour can wrap around 2^32, but not its difference from the first one, which ascends too.
    std::uint32_t above = i == 0 ? 0 : row.neighbor(i - 1) - first;
    bad |= i == 0 && stop > 0 && row.neighbor(0) != first;
    for (; i < stop; ++i) {
      std::uint32_t const next = row.neighbor(i) - first;
      bad |= next < above;
      above = next;
    }
    bad |= stop > 0 && std::uint64_t{first} + above >= static_cast<std::uint64_t>(g.num_vertices);
    e = g.indptr[v] + stop;
  }
  found.add(bad, 0, 0);
}

void check_indices(graph_arrays const& a, vertex_id num_vertices, edge_id begin, edge_id end, findings& found)
{
  vertex_id const* const indices = a.indices.data();
  std::uint32_t bad = 0, descents = 0;  // a range has fewer edges than a uint32 can count
  for (edge_id e = begin; e < end; ++e) { bad |= indices[e] >= num_vertices ? 1U : 0U; }
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
  found.add(bad != 0, 0, 0);
}

}  // namespace

bool is_sound(graph_arrays const& arrays, cpu_exec const& exec)
{
  if (arrays.indptr.empty()) { return arrays.indices.empty(); }
  std::int64_t const num_vertices = arrays.indptr.size() - 1;
  bool const is_packed = !arrays.packed.words.empty();
  packed_arrays const packed = packed_of(arrays);
  edge_id const num_edges = is_packed ? packed.num_edges : arrays.indices.size();
  edge_id const* const indptr = arrays.indptr.data();
  if (indptr[0] != 0 || indptr[num_vertices] != num_edges) { return false; }
  findings found;
  base::parallel_ranges(exec, num_vertices, grain, [&](std::int64_t begin, std::int64_t end) {
    if (is_packed) { return check_records(packed, arrays.packed.words.size(), begin, end, found); }
    check_lists(indptr, arrays.indices.data(), num_edges, begin, end, found);
  });
  for (edge_id first = 0; first < num_edges && !found.bad(); first += piece) {
    if (exec.on_progress) { exec.on_progress({"checking", first, num_edges}); }
    base::parallel_ranges(exec, std::min(piece, num_edges - first), grain, [&](std::int64_t begin, std::int64_t end) {
      check_attributes(arrays, first + begin, first + end, found);
      if (is_packed) { return check_packed(packed, first + begin, first + end, found); }
      check_indices(arrays, static_cast<vertex_id>(num_vertices), first + begin, first + end, found);
    });
  }
  return found.good();
}

}  // namespace tendril::validation
