#include "graph/regions.hpp"

#include <algorithm>
#include <utility>

namespace tendril {
graph_regions::graph_regions(graph input, std::int64_t most_bytes)
    : input_(std::move(input)), edges_(input_.view().edges())
{
  std::int64_t const vertices = input_.num_vertices();
  auto const groups = [&](std::int64_t v) { return (v + together - 1) / together; };
  while (first_vertex_.back() < vertices) {
    std::int64_t const first = first_vertex_.back();
    std::int64_t const most = bytes_before_.back() + most_bytes;
    std::int64_t end = groups(first) + 1;  // the last that still fits, or the next one
    for (std::int64_t beyond = groups(vertices) + 1; end + 1 < beyond;) {
      std::int64_t const middle = end + (beyond - end) / 2;
      bool const fits = bytes_before(std::min(middle * together, vertices)) <= most;
      (fits ? end : beyond) = middle;
    }
    first_vertex_.push_back(std::min(end * together, vertices));
    bytes_before_.push_back(bytes_before(first_vertex_.back()));
    parts_.push_back(parts(first, first_vertex_.back()));
  }
}

std::int64_t graph_regions::region_of(vertex_id v) const
{
  return std::upper_bound(first_vertex_.begin(), first_vertex_.end(), std::int64_t{v}) - first_vertex_.begin() - 1;
}

std::int64_t graph_regions::first_word(std::int64_t v) const
{
  compressed_lists const& lists = input_.arrays().compressed;
  if (v == input_.num_vertices()) { return lists.words.size() - list_codes::words_beyond; }
  half_head const& head = lists.blocks[v / together].halves[0].head;
  std::uint64_t const at = head.is(block_kind::wide) ? lists.wide[static_cast<std::int64_t>(head.base())].at &
                                                           ((std::uint64_t{1} << list_place::byte_bits) - 1)
                                                     : head.base();
  return static_cast<std::int64_t>(at / 4);
}

std::int64_t graph_regions::bytes_before(std::int64_t v) const
{
  graph_arrays const& a = input_.arrays();
  std::int64_t const edge_bits = (a.weights.empty() ? 0 : 32) + 8 * a.edge_labels.bytes_per_label() +
                                 a.narrow.weight_codes.width + a.narrow.labels.width;
  std::int64_t const lists = input_.form() == graph_form::csr
                                 ? 8 * v + 4 * edges_.first_edge(v)
                                 : static_cast<std::int64_t>(sizeof(list_block)) * (v / together) + 4 * first_word(v);
  return lists + edge_bits * edges_.first_edge(v) / 8;
}

std::span<std::byte const> graph_regions::array(std::size_t k) const
{
  std::span<std::byte const> out;
  for_each_array(input_.arrays(), [&](std::size_t number, auto const& array) {
    if (number == k) { out = bytes_of(array); }
  });
  return out;
}

graph_regions::array_parts graph_regions::places(std::int64_t begin, std::int64_t end) const
{
  constexpr auto block_bytes = static_cast<std::int64_t>(sizeof(list_block));
  array_parts out;
  if (input_.form() == graph_form::csr) {
    out[0] = {8 * begin, 8 * (end + 1)};
  } else {
    out[2] = {begin / together * block_bytes, (end + together - 1) / together * block_bytes};
  }
  return out;
}

graph_regions::array_parts graph_regions::parts(std::int64_t begin, std::int64_t end) const
{
  graph_arrays const& a = input_.arrays();
  edge_id const e = edges_.first_edge(begin);
  edge_id const end_e = edges_.first_edge(end);
  auto const of_edges = [&](std::int64_t bytes) { return byte_range{e * bytes, end_e * bytes}; };
  auto out = places(begin, end);
  if (input_.form() == graph_form::csr) {
    out[1] = of_edges(4);
  } else {
    std::int64_t const last = std::min((end + together - 1) / together * together, input_.num_vertices());
    out[3] = {4 * first_word(begin), 4 * (first_word(last) + list_codes::words_beyond)};
  }
  out[4] = of_edges(a.weights.empty() ? 0 : 4);
  out[5] = of_edges(a.edge_labels.bytes_per_label());
  // A number may begin in one word and end in the next, and one reads both.
  auto const of_packed = [&](packed_array const& array) {
    auto const word = [&](edge_id edge) { return edge * array.width / 32; };
    return byte_range{4 * word(e), 4 * std::min(word(end_e) + 2, array.words.size())};
  };
  if (end_e > e && !a.narrow.weight_codes.empty()) { out[6] = of_packed(a.narrow.weight_codes); }
  if (end_e > e && !a.narrow.labels.empty()) { out[7] = of_packed(a.narrow.labels); }
  return out;
}

}  // namespace tendril
