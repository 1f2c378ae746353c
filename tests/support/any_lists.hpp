#pragma once

// Lists at which codes change, and the compressed forms.

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <vector>

#include <tendril/graph.hpp>

#include "support/list_graph.hpp"
#include "support/sanitized.hpp"

namespace tendril::test {

inline constexpr std::array compressed_forms{graph_form::packed, graph_form::runs, graph_form::ef, graph_form::vbyte,
                                             graph_form::best};

/// A list of `size` ids below `most`: spread, in runs of consecutive ids, or with parallel edges.
inline std::vector<vertex_id> any_list(std::mt19937_64& random, std::size_t size, std::uint64_t most)
{
  std::vector<vertex_id> list(size);
  std::uint64_t const kind = random() % 3;
  for (std::size_t i = 0; i < size; ++i) {
    bool const goes_on = kind == 1 && i > 0 && random() % 8 != 0;
    list[i] = static_cast<vertex_id>(goes_on ? (list[i - 1] + std::uint64_t{1}) % most
                                             : random() % (kind == 2 ? most / 7 + 1 : most));
  }
  std::sort(list.begin(), list.end());
  return list;
}

/// Lists of any length and width: short ones, and each length around those at which codes change.
inline graph any_lists(std::int64_t num_vertices, std::uint64_t seed = 3)
{
  std::mt19937_64 random(seed);
  std::vector<std::vector<vertex_id>> lists(static_cast<std::size_t>(num_vertices));
  for (auto& list : lists) {
    constexpr std::array lengths{31U,  32U,  33U,  64U,  127U, 128U, 129U, 223U,
                                 224U, 225U, 256U, 257U, 447U, 448U, 449U, 700U};
    std::size_t const size = random() % 40 == 0 ? lengths[random() % lengths.size()] : random() % 6;
    std::uint64_t const most = std::max<std::uint64_t>(static_cast<std::uint64_t>(num_vertices) >> (random() % 17), 1);
    list = any_list(random, size, most);
  }
  return from_lists(lists);
}

inline std::vector<graph> corner_graphs()
{
  std::vector<vertex_id> hub(40'000);
  for (std::size_t i = 0; i < hub.size(); ++i) { hub[i] = static_cast<vertex_id>(i); }
  std::vector<std::vector<vertex_id>> star(hub.size(), {0});
  star[17] = hub;
  std::vector<vertex_id> even(20'000);
  for (std::size_t i = 0; i < even.size(); ++i) { even[i] = static_cast<vertex_id>(2 * i); }
  std::vector<std::vector<vertex_id>> hubs(hub.size());
  for (std::size_t v = 100; v < 112; ++v) { hubs[v] = even; }
  return {from_lists({}),
          from_lists({{}}),
          from_lists({{}, {}, {}}),
          from_lists({{0}}),
          from_lists({{0, 0, 0, 0, 0}}),
          from_lists({{1, 1, 1}, {0, 0, 1, 1, 1, 1}}),
          from_lists({{}, {0, 2}, {}, {3}, {}}),
          from_lists(std::vector<std::vector<vertex_id>>(11, {0, 10})),
          from_lists(std::vector<std::vector<vertex_id>>(12, {0, 11})),
          from_lists(std::vector<std::vector<vertex_id>>(13, {0, 12})),
          from_lists(star),
          from_lists(hubs),
          any_lists(1),
          any_lists(5000),
          any_lists(unless_sanitized(12, 2) * 1024),
          any_lists(unless_sanitized(3 * 12, 5) * 1024 + 77)};
}

}  // namespace tendril::test
