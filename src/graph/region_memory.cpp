#include "graph/region_memory.hpp"

#include <cstddef>
#include <vector>

#include "graph/check.hpp"

namespace tendril {
namespace {

constexpr std::int64_t most_asked_for = std::int64_t{64} << 10;  // of an array: of a hub one page is read

/// The same array, elsewhere.
template <class T>
void move_to(shared_array<T>& array, file_window const& window)
{
  if (array.empty()) { return; }
  array = shared_array<T>({reinterpret_cast<T const*>(window.data()), static_cast<std::size_t>(array.size())}, nullptr);
}

void move_to(label_array& array, file_window const& window)
{
  auto const size = static_cast<std::size_t>(array.size());
  if (array.bytes_per_label() == 1) {
    array = shared_array<std::uint8_t>({reinterpret_cast<std::uint8_t const*>(window.data()), size}, nullptr);
  } else if (array.bytes_per_label() == 2) {
    array = shared_array<std::uint16_t>({reinterpret_cast<std::uint16_t const*>(window.data()), size}, nullptr);
  }
}

}  // namespace

region_memory::region_memory(graph_regions const& regions) : regions_(regions)
{
  for (std::size_t k = 0; k < windows_.size(); ++k) { windows_[k] = file_window(regions.array(k)); }
  graph_arrays arrays = regions.input().arrays();
  graph_regions::for_each_array(arrays, [&](std::size_t k, auto& array) { move_to(array, windows_[k]); });
  view_ = validation::view_of(arrays);
}

std::int64_t region_memory::read(std::int64_t region)
{
  if (has(region)) { return 0; }
  held_ = nothing;
  std::vector<file_piece> pieces;
  for (file_window& window : windows_) { window.give_back(); }
  auto const& parts = regions_.parts(region);
  for (std::size_t k = 0; k < windows_.size(); ++k) { windows_[k].make_room(parts[k], pieces); }
  read_pieces(pieces);
  held_ = region;
  std::int64_t bytes = 0;
  for (file_piece const& piece : pieces) { bytes += std::ssize(piece.to); }
  return bytes;
}

void region_memory::ask_for(std::span<vertex_id const> vertices) const
{
  auto const ask = [&](graph_regions::array_parts const& parts) {
    for (std::size_t k = 0; k < windows_.size(); ++k) {
      if (parts[k].size() <= most_asked_for) { windows_[k].ask_for(parts[k]); }
    }
  };
  for (vertex_id const v : vertices) { ask(regions_.places(v, std::int64_t{v} + 1)); }
  for (vertex_id const v : vertices) { ask(regions_.parts(v, std::int64_t{v} + 1)); }
}

}  // namespace tendril
