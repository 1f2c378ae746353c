// What ranks ask each other for mini-batches, and what they answer, in sections.

#pragma once

#include <cstdint>

#include "dist/sections.hpp"

namespace tendril::dist {

/// The head of a question for the edges of vertices of one batch; their keys follow (src/cpu/batches/picks.hpp).
template <class Key>
struct frontier_question {
  static constexpr std::uint32_t all_inner = 0xffffffff;

  std::uint64_t batch;  ///< Its number.
  std::uint32_t
      hop;  ///< all_inner: all edges between the keys, which are a whole batch, from those that the receiver has.
  std::uint32_t count;  ///< Keys.

  [[nodiscard]] std::int64_t bytes() const
  {
    return static_cast<std::int64_t>(sizeof *this) + padded(count * static_cast<std::int64_t>(sizeof(Key)));
  }
};
static_assert(sizeof(frontier_question<std::uint64_t>) == 16);

/// The head of an answer.
struct frontier_answer {
  std::uint32_t count;        ///< Vertices.
  std::uint32_t has_weights;  ///< 1 or 0.
  std::int64_t num_edges;     ///< Of all of them.
};
static_assert(sizeof(frontier_answer) == 16);

/// Where the arrays of an answer lie behind its head.
class answer_layout {
 public:
  explicit answer_layout(frontier_answer const& head) : head_(head) {}

  /// [count] the first edge of each vertex, in the whole graph.
  [[nodiscard]] std::int64_t first() const { return sizeof(frontier_answer); }
  /// [count] how many edges each vertex got.
  [[nodiscard]] std::int64_t counts() const { return first() + 8 * std::int64_t{head_.count}; }
  /// [count] the weight that they have, with has_weights.
  [[nodiscard]] std::int64_t weights() const { return counts() + padded(4 * std::int64_t{head_.count}); }
  /// [num_edges] neighbours, or their numbers in the batch.
  [[nodiscard]] std::int64_t neighbors() const
  {
    return weights() + (head_.has_weights != 0 ? padded(4 * std::int64_t{head_.count}) : 0);
  }
  /// [num_edges] positions in the rows of their vertices.
  [[nodiscard]] std::int64_t positions() const { return neighbors() + padded(4 * head_.num_edges); }
  [[nodiscard]] std::int64_t bytes() const { return positions() + padded(4 * head_.num_edges); }

 private:
  frontier_answer head_;
};

}  // namespace tendril::dist
