#pragma once

// A mini-batch of one type in plain vectors that tests may change.

#include <cstdint>
#include <span>
#include <vector>

#include <tendril/minibatch.hpp>

namespace tendril::test {

/// A vector that counts as buffers do.
template <class T>
class column : public std::vector<T> {
 public:
  column() = default;
  column(shared_array<T> const& from) : std::vector<T>(from.begin(), from.end()) {}  // NOLINT: a copy, as meant

  [[nodiscard]] std::int64_t size() const { return std::ssize(static_cast<std::vector<T> const&>(*this)); }
  [[nodiscard]] T& operator[](std::int64_t i) { return this->at(static_cast<std::size_t>(i)); }
  [[nodiscard]] T const& operator[](std::int64_t i) const { return this->at(static_cast<std::size_t>(i)); }
};

struct plain_batch {
  column<std::int64_t> row, col;
  column<vertex_id> node;
  column<edge_id> edge;
  column<std::int64_t> batch;
  std::vector<std::int64_t> num_sampled_nodes, num_sampled_edges;

  friend bool operator==(plain_batch const&, plain_batch const&) = default;
};

inline plain_batch to_plain(minibatch const& from)
{
  auto const& nodes = from.vertices.at(0);
  auto const& edges = from.edges.at(0);
  return {edges.row, edges.col, nodes.node, edges.edge, nodes.batch, nodes.num_sampled, edges.num_sampled};
}

/// neighbor_sample in plain vectors.
inline plain_batch sampled_batch(graph const& g, std::span<vertex_id const> seeds, minibatch_params const& params,
                                 cpu_exec const& exec = {}, std::uint64_t batch = 0)
{
  return to_plain(neighbor_sample(g, seeds, params, exec, batch));
}

}  // namespace tendril::test
