// What decides how a graph is stored and placed: its size in each form, its degrees, the gaps between neighbours, and
// how many of the lists that a job reads a GPU would hold.

#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include <tendril/compress.hpp>
#include <tendril/exec.hpp>
#include <tendril/graph.hpp>

namespace tendril {

inline constexpr std::size_t num_graph_forms = enum_names<graph_form>.size();

/// What the neighbours of a graph take in one form, to the byte.
struct form_size {
  graph_form form = graph_form::csr;
  std::int64_t directory_bytes = 0;  ///< In CSR form `indptr`.
  std::int64_t list_bytes = 0;       ///< With headers and padding; in CSR form `indices`.

  [[nodiscard]] std::int64_t bytes() const noexcept { return directory_bytes + list_bytes; }
};

/// The vertices whose degree lies in [first, last].
struct degree_class {
  std::int64_t first = 0, last = 0;
  std::int64_t num_vertices = 0;
  edge_id num_edges = 0;
  /// Of the neighbours alone, by form in the order of enum_names<graph_form>: without headers and padding.
  std::array<std::int64_t, num_graph_forms> list_bits{};
};

/// How many of a job's reads find their list in GPU memory, when lists that are read most often per byte go there first.
/// Lists move 11 at a time, as they share an entry of the directory.
class placement_curve {
 public:
  struct point {
    std::int64_t bytes = 0;   ///< Of lists in GPU memory.
    std::uint64_t reads = 0;  ///< Of these.
  };

  placement_curve() = default;
  /// @param points  Rising, from {0, 0} to all bytes and all reads.
  explicit placement_curve(std::vector<point> points) : points_(std::move(points)) {}

  [[nodiscard]] std::vector<point> const& points() const noexcept { return points_; }

  /// The share of reads, in [0, 1], where `bytes` of lists are in GPU memory. 1 of a job without reads.
  [[nodiscard]] double share_at(std::int64_t bytes) const noexcept;

 private:
  std::vector<point> points_;
};

struct profile_params {
  int fanout = 15;  ///< Neighbours that a mini-batch reads of a vertex, at most.
};

/// What `profile_graph` measures.
struct graph_profile {
  std::array<form_size, num_graph_forms> sizes;  ///< In the order of enum_names<graph_form>.
  std::vector<degree_class> degrees;             ///< Rising, without empty classes; degrees below 16 each by itself.
  /// Neighbours by the bit width of their difference from the neighbour before: [0] parallel edges, [1] consecutive ids,
  /// [2] differences of 2 and 3, [3] of 4 to 7, … The first neighbour of a list has none.
  std::array<std::int64_t, 33> gaps{};
  graph_form placed_form = graph_form::csr;  ///< Of the curves: that of the graph; `packed` of a graph in CSR form.
  placement_curve walks;                     ///< A vertex is read as often as edges lead to it.
  placement_curve batches;                   ///< Each vertex is read once: min(fanout, degree) of its neighbours.

  [[nodiscard]] form_size const& size_of(graph_form form) const noexcept;
  /// The form that takes the fewest bytes, the first of enum_names<graph_form> where several do.
  [[nodiscard]] form_size const& smallest() const noexcept;
};

/// Measures all of that in one parallel pass over the neighbours (two if the graph is not symmetric), without writing the
/// graph in any form. The result doesn't depend on the number of threads. Memory: the rows of
/// some thousand vertices a thread, and 4 bytes a vertex if the graph is not symmetric.
/// @throws argument_error if `input` is on a GPU or the fan-out is below 1; format_error if its content is not sound.
[[nodiscard]] graph_profile profile_graph(graph const& input, profile_params const& params = {},
                                          cpu_exec const& exec = {});

}  // namespace tendril
