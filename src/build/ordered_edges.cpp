// Edges that are in order already: a CSR by one pass. Each range of edges writes its neighbours, and the offsets of the
// vertices that begin in it: of all vertices after the one of the edge before the range, up to that of its last edge. A
// range works in blocks that stay in cache: a first loop without branches checks and narrows, a second one finds offsets.

#include <tendril/ordered_edges.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <limits>
#include <utility>

#include "base/expects.hpp"   // TENDRIL_EXPECTS
#include "base/parallel.hpp"  // parallel_ranges
#include "build/expects.hpp"  // expect_num_vertices

namespace tendril {
namespace {

constexpr std::int64_t grain = std::int64_t{1} << 16U;
constexpr std::int64_t block = std::int64_t{1} << 10U;  // 20 KB of 64-bit ends and of neighbours
constexpr std::int64_t most_edges = std::numeric_limits<std::uint32_t>::max();  // of a vertex

template <class Id>
class ordered_pass {
 public:
  ordered_pass(Id const* vertices, Id const* neighbors, std::int64_t num_vertices, vertex_id* indices, edge_id* indptr)
      : vertices_(vertices),
        neighbors_(neighbors),
        last_id_(static_cast<std::uint64_t>(num_vertices) - 1),
        indices_(indices),
        indptr_(indptr)
  {
  }

  /// False if an edge in [begin, end) is out of order or has an end that is no vertex.
  bool take(std::int64_t begin, std::int64_t end) const
  {
    for (; begin < end; begin += block) {
      std::int64_t const stop = std::min(begin + block, end);
      if (!narrow(begin, stop)) { return false; }
      find_offsets(begin, stop);
    }
    return true;
  }

 private:
  static std::uint64_t bits_of(Id id) { return static_cast<std::uint64_t>(std::int64_t{id}); }

  /// The sign bit of a number says that something is wrong. Numbers in range are below 2^32, so that no difference of two
  /// wraps around; a number out of range sets the bit by itself.
  [[nodiscard]] std::uint64_t range_violation(Id id) const
  {
    auto const number = bits_of(id);
    return number | (last_id_ - number);
  }

  [[nodiscard]] std::uint64_t order_violation(std::int64_t k) const
  {
    auto const step = bits_of(vertices_[k]) - bits_of(vertices_[k - 1]);
    auto const rise = bits_of(neighbors_[k]) - bits_of(neighbors_[k - 1]);
    return step | ((step - 1) & rise);  // the neighbours' difference counts where the step is 0
  }

  bool narrow(std::int64_t begin, std::int64_t end) const
  {
    std::uint64_t bad = range_violation(vertices_[begin]) | range_violation(neighbors_[begin]);
    indices_[begin] = static_cast<vertex_id>(neighbors_[begin]);
    if (begin > 0) {  // another thread may not have checked the edge before
      bad |= range_violation(vertices_[begin - 1]) | range_violation(neighbors_[begin - 1]) | order_violation(begin);
    }
    for (std::int64_t k = begin + 1; k < end; ++k) {
      bad |= range_violation(vertices_[k]) | range_violation(neighbors_[k]) | order_violation(k);
      indices_[k] = static_cast<vertex_id>(neighbors_[k]);
    }
    return (bad >> 63U) == 0;
  }

  void find_offsets(std::int64_t begin, std::int64_t end) const
  {
    // Where a vertex begins is as good as random: collected without a branch, which would be mispredicted.
    std::array<std::uint32_t, block> firsts;
    std::size_t num_firsts = 0;
    std::int64_t const before = begin == 0 ? -1 : std::int64_t{vertices_[begin - 1]};
    Id const* const vertices = vertices_ + begin;
    auto const size = static_cast<std::uint32_t>(end - begin);
    firsts[0] = 0;
    num_firsts += static_cast<std::size_t>(std::int64_t{vertices[0]} != before);
    for (std::uint32_t k = 1; k < size; ++k) {
      firsts[num_firsts] = k;
      num_firsts += static_cast<std::size_t>(vertices[k] != vertices[k - 1]);
    }
    std::int64_t vertex = before;
    for (std::size_t i = 0; i < num_firsts; ++i) {
      std::int64_t const next = vertices[firsts[i]];
      do {
        // Where edges further on are out of order, another thread may come to the same vertex; all is dropped then.
        std::atomic_ref(indptr_[++vertex]).store(begin + firsts[i], std::memory_order_relaxed);
      } while (vertex < next);
    }
  }

  Id const* vertices_;
  Id const* neighbors_;
  std::uint64_t last_id_;
  vertex_id* indices_;
  edge_id* indptr_;
};

/// Copies weights; false if one isn't finite or is negative.
bool take_weights(float const* from, std::int64_t begin, std::int64_t end, float* to)
{
  bool good = true;
  for (std::int64_t k = begin; k < end; ++k) {
    good &= from[k] - from[k] == 0.0F && from[k] >= 0.0F;  // infinity minus itself is a NaN, which equals nothing
    to[k] = from[k];
  }
  return good;
}

bool has_crowded_vertex(buffer<edge_id> const& indptr)
{
  return std::adjacent_find(indptr.begin(), indptr.end(),
                            [](edge_id begin, edge_id end) { return end - begin > most_edges; }) != indptr.end();
}

}  // namespace

template <class Id>
std::optional<graph> build_if_ordered(std::span<Id const> vertices, std::span<Id const> neighbors,
                                      std::span<float const> weights, std::int64_t num_vertices, cpu_exec const& exec)
{
  TENDRIL_EXPECTS(num_vertices >= 0 && num_vertices <= max_num_vertices,
                  "build_if_ordered: num_vertices is {}, expected 0 to {}", num_vertices, max_num_vertices);
  TENDRIL_EXPECTS(neighbors.size() == vertices.size(),
                  "build_if_ordered: {} neighbors, expected as many as vertices, {}", neighbors.size(),
                  vertices.size());
  TENDRIL_EXPECTS(weights.empty() || weights.size() == vertices.size(),
                  "build_if_ordered: {} weights, expected none or as many as vertices, {}", weights.size(),
                  vertices.size());
  auto const num_edges = static_cast<std::int64_t>(vertices.size());
  buffer<edge_id> indptr(num_vertices + 1, *exec.memory);
  buffer<vertex_id> indices(num_edges, *exec.memory);
  buffer<float> kept(static_cast<std::int64_t>(weights.size()), *exec.memory);

  ordered_pass<Id> const pass(vertices.data(), neighbors.data(), num_vertices, indices.data(), indptr.data());
  std::atomic<bool> good{true};
  base::parallel_ranges(exec, num_edges, grain, [&](std::int64_t begin, std::int64_t end) {
    if (!good.load(std::memory_order_relaxed)) { return; }
    if (!pass.take(begin, end) || (!weights.empty() && !take_weights(weights.data(), begin, end, kept.data()))) {
      good.store(false, std::memory_order_relaxed);
    }
  });
  if (!good) { return std::nullopt; }
  std::int64_t const first_after = num_edges == 0 ? 0 : std::int64_t{vertices.back()} + 1;
  base::parallel_ranges(exec, num_vertices + 1 - first_after, grain, [&](std::int64_t begin, std::int64_t end) {
    std::fill(indptr.data() + first_after + begin, indptr.data() + first_after + end, num_edges);
  });
  if (num_edges > most_edges && has_crowded_vertex(indptr)) { return std::nullopt; }

  graph_arrays arrays;
  arrays.indptr = std::move(indptr);
  arrays.indices = std::move(indices);
  if (!weights.empty()) { arrays.weights = std::move(kept); }
  return graph(std::move(arrays), graph_content::valid);
}

template std::optional<graph> build_if_ordered(std::span<std::int32_t const>, std::span<std::int32_t const>,
                                               std::span<float const>, std::int64_t, cpu_exec const&);
template std::optional<graph> build_if_ordered(std::span<std::int64_t const>, std::span<std::int64_t const>,
                                               std::span<float const>, std::int64_t, cpu_exec const&);

}  // namespace tendril
