#pragma once

// A serial verifier of multi-dimensional walks that shares nothing with the engine but the graph's arrays. Of sample i
// it checks that
//   1. its row begins with its roots, as given;
//   2. up to its length, each step names a root of the set, and the vertex reached is an out-neighbour of the vertex
//      that stands there; it takes its place;
//   3. it is shorter than asked for only where no root has an out-edge (by degree), or where some root has none
//      (uniformly: the one that was chosen is not on record);
//   4. what follows is no_vertex, and -1 for slots.

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <tendril/multidim.hpp>

namespace tendril::test {

class multidim_verifier {
 public:
  multidim_verifier(graph const& graph, multidim_params const& params) : graph_(graph.csr()), params_(params) {}

  /// The first violation in one line; empty if there is none.
  [[nodiscard]] std::string operator()(std::span<vertex_id const> roots, std::int64_t num_roots,
                                       multidim_walks const& out) const
  {
    auto const n = static_cast<std::int64_t>(roots.size()) / num_roots;
    if (out.num_walks != n || out.num_roots != num_roots || out.length != params_.length ||
        out.vertices.size() != n * (num_roots + params_.length) || out.slots.size() != n * params_.length ||
        out.lengths.size() != n) {
      return "the arrays have other shapes than [n, num_roots + length], [n, length] and [n]";
    }
    for (std::int64_t i = 0; i < n; ++i) {
      vertex_id const* const row = out.vertices.data() + i * (num_roots + params_.length);
      std::vector<vertex_id> const set(roots.begin() + i * num_roots, roots.begin() + (i + 1) * num_roots);
      if (!std::equal(set.begin(), set.end(), row)) { return fmt::format("sample {}: its roots are others", i); }
      std::string const wrong = check(set, row + num_roots, out.slots.data() + i * params_.length, out.lengths[i]);
      if (!wrong.empty()) { return fmt::format("sample {}: {}", i, wrong); }
    }
    return {};
  }

 private:
  [[nodiscard]] std::string check(std::vector<vertex_id> set, vertex_id const* reached, std::int32_t const* slots,
                                  std::int32_t length) const
  {
    if (length < 0 || length > params_.length) { return fmt::format("length {}", length); }
    for (std::int32_t t = 0; t < length; ++t) {
      if (slots[t] < 0 || slots[t] >= static_cast<std::int64_t>(set.size())) {
        return fmt::format("step {}: root {}", t, slots[t]);
      }
      vertex_id& root = set[static_cast<std::size_t>(slots[t])];
      if (!is_edge(root, reached[t])) {
        return fmt::format("step {}: root {}: {} -> {} is no edge", t, slots[t], root, reached[t]);
      }
      root = reached[t];
    }
    auto const dead = [&](vertex_id v) { return graph_.indptr[v] == graph_.indptr[v + std::int64_t{1}]; };
    bool const may_end = params_.choose == root_choice::by_degree ? std::all_of(set.begin(), set.end(), dead)
                                                                  : std::any_of(set.begin(), set.end(), dead);
    if (length < params_.length && !may_end) { return fmt::format("ends after {} steps, but could go on", length); }
    for (std::int64_t t = length; t < params_.length; ++t) {
      if (reached[t] != no_vertex || slots[t] != -1) {
        return fmt::format("step {} after its end holds {}, {}", t, reached[t], slots[t]);
      }
    }
    return {};
  }

  [[nodiscard]] bool is_edge(vertex_id from, vertex_id to) const
  {
    auto const* const first = graph_.indices + graph_.indptr[from];
    auto const* const last = graph_.indices + graph_.indptr[from + std::int64_t{1}];
    return std::find(first, last, to) != last;
  }

  csr_arrays graph_;
  multidim_params params_;
};

}  // namespace tendril::test
