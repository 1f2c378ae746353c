// Whether samplers may run on a graph, as fast as memory delivers it. A neighbour smaller than the one before it in the
// array (a descent) is allowed only where a vertex's list begins. So the neighbours of every vertex ascend if the array
// has as many descents as lists begin with one, and both are counted without a branch: the loops below vectorise. The GPU
// twin is src/gpu/graph/soundness.cu; `expect_sound` (validate.cpp) says what is wrong.

#include "graph/soundness.hpp"

#include <atomic>
#include <limits>

#include "base/parallel.hpp"  // parallel_ranges

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

void check_edges(graph_arrays const& a, vertex_id num_vertices, edge_id begin, edge_id end, findings& found)
{
  vertex_id const* const indices = a.indices.data();
  std::uint32_t bad = 0, descents = 0;  // a range has fewer edges than a uint32 can count
  for (edge_id e = begin; e < end; ++e) { bad |= indices[e] >= num_vertices ? 1U : 0U; }
  for (edge_id e = begin > 0 ? begin : 1; e < end; ++e) { descents += indices[e] < indices[e - 1] ? 1U : 0U; }
  if (!a.weights.empty()) {
    float const* const weights = a.weights.data();
    constexpr float most = std::numeric_limits<float>::max();
    for (edge_id e = begin; e < end; ++e) { bad |= weights[e] >= 0 && weights[e] <= most ? 0U : 1U; }
  }
  if (!a.edge_ids.empty()) {
    edge_id const* const ids = a.edge_ids.data();
    for (edge_id e = begin; e < end; ++e) { bad |= ids[e] < 0 ? 1U : 0U; }
  }
  found.add(bad != 0, descents, 0);
}

}  // namespace

bool is_sound(graph_arrays const& arrays, cpu_exec const& exec)
{
  if (arrays.indptr.empty()) { return arrays.indices.empty(); }
  std::int64_t const num_vertices = arrays.indptr.size() - 1;
  edge_id const num_edges = arrays.indices.size();
  edge_id const* const indptr = arrays.indptr.data();
  if (indptr[0] != 0 || indptr[num_vertices] != num_edges) { return false; }
  findings found;
  base::parallel_ranges(exec, num_vertices, grain, [&](std::int64_t begin, std::int64_t end) {
    check_lists(indptr, arrays.indices.data(), num_edges, begin, end, found);
  });
  for (edge_id first = 0; first < num_edges && !found.bad(); first += piece) {
    if (exec.on_progress) { exec.on_progress({"checking", first, num_edges}); }
    base::parallel_ranges(exec, std::min(piece, num_edges - first), grain, [&](std::int64_t begin, std::int64_t end) {
      check_edges(arrays, static_cast<vertex_id>(num_vertices), first + begin, first + end, found);
    });
  }
  return found.good();
}

}  // namespace tendril::validation
