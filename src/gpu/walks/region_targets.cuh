// Lists of which some lie in host memory, as walks by regions see them: a place says whether its list can be read now, and
// where its words are.

#pragma once

#include <cstdint>
#include <type_traits>

#include <tendril/compressed_view.hpp>

#include "gpu/walks/places.cuh"
#include "place/regions.hpp"

namespace tendril::gpu {

/// The lists on the GPU, and those of the regions that are there. In the place of compressed_targets.
struct region_targets {
  using weights_type = compressed_targets::weights_type;

  compressed_targets lists;
  std::uint64_t gpu_bytes;      ///< Lists that begin below this byte are on the GPU.
  place::region_index regions;  ///< Of the others.
  std::uint32_t const* const*
      windows;  ///< [regions] where the lists' first word would be; null: the region is not there.

  /// Where a list begins, without a look at its words, which may have to come first.
  struct place : list_start {
    std::uint32_t const* words = nullptr;  ///< Null: in a region that is not there.

    [[nodiscard]] __device__ bool can_be_read() const { return words != nullptr; }
  };

  template <class Load>
  [[nodiscard]] __device__ place locate(std::int64_t v, Load load) const
  {
    list_start const start = lists.start_of(v, load);
    bool const stays = start.degree == 0 || start.byte() < gpu_bytes;  // an empty list may begin anywhere
    return {start, stays ? lists.words() : windows[regions(start.byte())]};
  }
  [[nodiscard]] __device__ compressed_row row(place const& at) const
  {
    return lists.in(at.words).row(static_cast<list_start const&>(at), gather_load{});
  }
};

/// Finds the places of lists alone.
struct region_rows {
  region_targets targets;

  using place = region_targets::place;
  [[nodiscard]] __device__ place operator()(std::uint64_t row) const
  {
    return targets.locate(static_cast<std::int64_t>(row), cached_load{});
  }
};

/// A compressed graph with these lists, for what makes proposers of views.
struct region_view {
  compressed_view graph;
  region_targets lists;

  static constexpr bool targets_by_number = false;
  [[nodiscard]] region_targets targets() const { return lists; }
  [[nodiscard]] weight_view const& weights() const { return graph.weights(); }
  [[nodiscard]] edge_arrays edges() const { return graph.edges(); }
};

/// The place that lane `source` has, and the number of its first edge. Whole warp.
template <class Place>
requires std::is_base_of_v<own_place<region_targets>, Place>
[[nodiscard]] __device__ own_place<region_targets> broadcast(Place const& at, int source)
{
  auto const words = broadcast(reinterpret_cast<unsigned long long>(at.words), source);
  list_start start;
  start.at = broadcast(at.at, source);
  start.degree = broadcast(at.degree, source);
  start.vertex = broadcast(at.vertex, source);
  start.begins_with_header = broadcast(static_cast<int>(at.begins_with_header), source) != 0;
  return {{start, reinterpret_cast<std::uint32_t const*>(words)}, broadcast(at.first_edge, source)};
}

}  // namespace tendril::gpu
