#include "dist/home_rows.hpp"

#include <algorithm>

#include <tendril/checked.hpp>

#include "base/parallel.hpp"

namespace tendril::dist {

home_rows::home_rows(std::int64_t most_walks, std::int64_t length, memory_resource& memory)
    : width_(length + 1),
      steps_(checked_product("vertices of a batch", most_walks, width_), memory),
      rows_(checked_product("vertices of a batch", most_walks, width_), memory),
      lengths_(most_walks, memory),
      repeats_(static_cast<std::size_t>(most_walks))
{
}

void home_rows::begin(std::span<vertex_id const> starts)
{
  num_walks_ = std::ssize(starts);
  std::copy(starts.begin(), starts.end(), steps_.data());
  std::fill_n(lengths_.data(), num_walks_, static_cast<std::int32_t>(width_ - 1));
  std::fill_n(repeats_.begin(), num_walks_, char{0});
}

std::span<vertex_id const> home_rows::rows(cpu_exec const& exec)
{
  // Tiles of 16 walks, whose vertices of a step fill a line of the cache.
  constexpr std::int64_t tile = 16;
  base::parallel_ranges(exec, num_walks_, 64 * tile, [&](std::int64_t first, std::int64_t end) {
    for (std::int64_t begin = first; begin < end; begin += tile) {
      std::int64_t const size = std::min(tile, end - begin);
      std::int32_t const longest = *std::max_element(lengths_.data() + begin, lengths_.data() + begin + size);
      for (std::int32_t step = 0; step <= longest; ++step) {
        vertex_id const* const from = steps_.data() + step * num_walks_ + begin;
        for (std::int64_t i = 0; i < size; ++i) { rows_[(begin + i) * width_ + step] = from[i]; }
      }
      for (std::int64_t i = begin; i < begin + size; ++i) {
        vertex_id* const row = rows_.data() + i * width_;
        vertex_id const rest = repeats_[static_cast<std::size_t>(i)] != 0 ? row[lengths_[i]] : no_vertex;
        std::fill(row + lengths_[i] + 1, row + width_, rest);
      }
    }
  });
  return {rows_.data(), static_cast<std::size_t>(num_walks_ * width_)};
}

}  // namespace tendril::dist
