#include "graph/regions.hpp"

#include <algorithm>
#include <utility>

#include <sys/mman.h>
#include <unistd.h>

#ifndef MADV_PAGEOUT
#define MADV_PAGEOUT 21  // Linux 5.4
#endif
#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22  // Linux 5.14
#endif

namespace tendril {
namespace {

constexpr std::size_t piece_bytes = std::size_t{16} << 20U;  // that is asked for while the one before it is read

/// Whole pages around a stretch of memory.
std::span<std::byte const> whole_pages(std::span<std::byte const> stretch)
{
  static auto const page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  auto const address = reinterpret_cast<std::uintptr_t>(stretch.data());
  std::uintptr_t const begin = address / page * page;
  std::uintptr_t const end = (address + stretch.size() + page - 1) / page * page;
  return {stretch.data() - (address - begin), end - begin};
}

/// Advice that a system doesn't know, or doesn't take of memory of this kind, changes nothing.
int advise(std::span<std::byte const> pages, int advice)
{
  return pages.empty() ? 0
                       : madvise(const_cast<std::byte*>(pages.data()), pages.size(),
                                 advice);  // NOLINT(cppcoreguidelines-pro-type-const-cast)
}

/// Reads a byte of each page, where pages can't be asked for.
void touch(std::span<std::byte const> pages)
{
  constexpr std::size_t smallest_page = 4096;
  for (std::size_t i = 0; i < pages.size(); i += smallest_page) {
    (void)*static_cast<std::byte const volatile*>(&pages[i]);
  }
}

template <class T>
std::span<std::byte const> part(shared_array<T> const& array, std::int64_t begin, std::int64_t end)
{
  if (end <= begin || end > array.size()) { return {}; }
  return std::as_bytes(std::span(array.data() + begin, static_cast<std::size_t>(end - begin)));
}

std::span<std::byte const> part(label_array const& array, std::int64_t begin, std::int64_t end)
{
  if (end <= begin || end > array.size()) { return {}; }
  std::int64_t const width = array.bytes_per_label();
  return {static_cast<std::byte const*>(array.view().data) + begin * width,
          static_cast<std::size_t>((end - begin) * width)};
}

}  // namespace

graph_regions::graph_regions(graph input, std::int64_t most_bytes)
    : input_(std::move(input)), edges_(input_.view().edges())
{
  std::int64_t const vertices = input_.num_vertices();
  auto const groups = [&](std::int64_t v) { return (v + together - 1) / together; };
  while (first_vertex_.back() < vertices) {
    std::int64_t const first = first_vertex_.back();
    std::int64_t const most = bytes_before(first) + most_bytes;
    std::int64_t end = groups(first) + 1;  // the last that still fits, or the next one
    for (std::int64_t beyond = groups(vertices) + 1; end + 1 < beyond;) {
      std::int64_t const middle = end + (beyond - end) / 2;
      bool const fits = bytes_before(std::min(middle * together, vertices)) <= most;
      (fits ? end : beyond) = middle;
    }
    first_vertex_.push_back(std::min(end * together, vertices));
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
  std::int64_t const an_edge = (a.weights.empty() ? 0 : 4) + a.edge_labels.bytes_per_label();
  std::int64_t const a_vertex = a.node_types.bytes_per_label();
  std::int64_t const lists = input_.form() == graph_form::csr
                                 ? 8 * v + 4 * edges_.first_edge(v)
                                 : static_cast<std::int64_t>(sizeof(list_block)) * (v / together) + 4 * first_word(v);
  return lists + an_edge * edges_.first_edge(v) + a_vertex * v;
}

std::vector<graph_regions::bytes> graph_regions::stretches(std::int64_t region) const
{
  graph_arrays const& a = input_.arrays();
  std::int64_t const v = begin(region);
  std::int64_t const end_v = end(region);
  edge_id const e = edges_.first_edge(v);
  edge_id const end_e = edges_.first_edge(end_v);
  std::vector<bytes> out{part(a.weights, e, end_e), part(a.edge_labels, e, end_e), part(a.node_types, v, end_v)};
  if (input_.form() == graph_form::csr) {
    out.push_back(part(a.indptr, v, end_v + 1));
    out.push_back(part(a.indices, e, end_e));
  } else {
    out.push_back(part(a.compressed.blocks, v / together, end_v / together + 1));
    out.push_back(part(a.compressed.words, first_word(v), first_word(end_v)));
  }
  return out;
}

void graph_regions::read(std::int64_t region) const
{
  for (bytes const stretch : stretches(region)) {
    if (stretch.empty()) { continue; }
    bytes rest = whole_pages(stretch);
    advise(rest.first(std::min(piece_bytes, rest.size())), MADV_WILLNEED);
    while (!rest.empty()) {
      bytes const piece = rest.first(std::min(piece_bytes, rest.size()));
      rest = rest.subspan(piece.size());
      advise(rest.first(std::min(piece_bytes, rest.size())), MADV_WILLNEED);
      if (advise(piece, MADV_POPULATE_READ) != 0) { touch(piece); }
    }
  }
}

void graph_regions::give_back(std::int64_t region) const
{
  for (bytes const stretch : stretches(region)) {
    if (!stretch.empty()) { advise(whole_pages(stretch), MADV_PAGEOUT); }
  }
}

}  // namespace tendril
