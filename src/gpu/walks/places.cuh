// Where a walker's candidates lie: how a vertex (and the label that a metapath wants next) leads to a range of edges.
// A place is loaded as soon as its vertex is known, so that the load is under way while rows are written and the next
// random numbers are made.

#pragma once

#include <cstdint>

#include <tendril/graph_view.hpp>

#include "gpu/device/launch.cuh"
#include "gpu/tables/tables.hpp"

namespace tendril::gpu {

/// Reads what is not changed while a kernel runs, without a place in the first-level cache: for gathers over large
/// tables, which would only push out the hot rows. T has 4, 8 or 16 bytes. Any thread.
template <class T>
__device__ __forceinline__ T gather(T const* address)
{
  static_assert(sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 16);
  T value;
  if constexpr (sizeof(T) == 4) {
    auto& bits = reinterpret_cast<std::uint32_t&>(value);
    asm("ld.global.nc.L1::no_allocate.u32 %0, [%1];" : "=r"(bits) : "l"(address));
  } else if constexpr (sizeof(T) == 8) {
    auto& bits = reinterpret_cast<uint2&>(value);
    asm("ld.global.nc.L1::no_allocate.v2.u32 {%0, %1}, [%2];" : "=r"(bits.x), "=r"(bits.y) : "l"(address));
  } else {
    auto& bits = reinterpret_cast<uint4&>(value);
    asm("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
        : "=r"(bits.x), "=r"(bits.y), "=r"(bits.z), "=r"(bits.w)
        : "l"(address));
  }
  return value;
}

/// What a view calls for every address that it reads: gather; or through the first-level cache.
struct gather_load {
  static constexpr bool quads = true;  // <tendril/list_code.hpp>
  template <class T>
  [[nodiscard]] __device__ T operator()(T const* address) const
  {
    return gather(address);
  }
};
struct cached_load {
  static constexpr bool quads = true;
  template <class T>
  [[nodiscard]] __device__ T operator()(T const* address) const
  {
    if constexpr (sizeof(T) == 16) {
      uint4 const bits = __ldg(reinterpret_cast<uint4 const*>(address));
      return reinterpret_cast<T const&>(bits);
    } else {
      return __ldg(address);
    }
  }
};

/// One or the other.
struct neighbor_load {
  bool cached;

  static constexpr bool quads = true;
  template <class T>
  [[nodiscard]] __device__ T operator()(T const* address) const
  {
    return cached ? cached_load{}(address) : gather(address);
  }
};

// A place has `first_edge`, the number of the first edge, and `degree`. The targets of a view take it for their own place,
// but compressed ones no range of edges.

/// A range of edges.
template <class Offset>
struct edge_range {
  Offset first_edge;
  std::uint32_t degree;

  [[nodiscard]] __device__ operator csr_place() const { return {static_cast<edge_id>(first_edge), degree}; }
};

/// Rows of 8 bytes, for graphs of less than 2^32 edges.
struct compact_rows {
  row_record const* records;

  using place = edge_range<std::uint32_t>;
  [[nodiscard]] __device__ place operator()(std::uint64_t row) const
  {
    uint2 const record = __ldg(reinterpret_cast<uint2 const*>(records + row));
    return {record.x, record.y};
  }
};

/// The numbers of the graph's edges, which every form has.
struct wide_rows {
  edge_offsets first_edges;

  using place = edge_range<edge_id>;
  [[nodiscard]] __device__ place operator()(std::uint64_t row) const
  {
    edge_id const* const array = first_edges.array();
    if (array == nullptr) {
      auto const v = static_cast<std::int64_t>(row);
      return {first_edges[v], first_edges.degree(v)};
    }
    edge_id const first = __ldg(array + row);
    return {first, static_cast<std::uint32_t>(__ldg(array + row + 1) - first)};
  }
};

/// A place that the view keeps itself.
template <class Targets>
struct own_place : Targets::place {
  edge_id first_edge;
};

/// These places. The number of the first edge is a load where something reads it.
template <class Targets>
struct own_rows {
  Targets targets;
  edge_offsets first_edges;

  using place = own_place<Targets>;
  [[nodiscard]] __device__ place operator()(std::uint64_t row) const
  {
    return {targets.locate(static_cast<std::int64_t>(row), cached_load{}), first_edges[static_cast<std::int64_t>(row)]};
  }
};

/// A range of edges, and the largest of their weights.
struct weighted_range {
  edge_id first_edge;
  std::uint32_t degree;
  float largest;

  [[nodiscard]] __device__ operator csr_place() const { return {first_edge, degree}; }
};

/// Rows of 16 bytes with the bound of rejection.
struct weighted_rows {
  plan::vertex_record const* records;

  using place = weighted_range;
  [[nodiscard]] __device__ place operator()(std::uint64_t row) const
  {
    uint4 const record = __ldg(reinterpret_cast<uint4 const*>(records + row));
    return {static_cast<edge_id>(record.x | (std::uint64_t{record.y} << 32U)), record.z, __uint_as_float(record.w)};
  }
};

/// A place that the view keeps itself, and the largest of the weights.
template <class Targets>
struct own_weighted_place : own_place<Targets> {
  float largest;
};

template <class Targets>
struct own_weighted_rows {
  own_rows<Targets> own;
  weighted_rows weighted;

  using place = own_weighted_place<Targets>;
  [[nodiscard]] __device__ place operator()(std::uint64_t row) const { return {own(row), weighted(row).largest}; }
};

/// A place with what is kept of the row's weights.
template <class Place>
struct summed_place : Place {
  core::row_weight weights;
};

/// Rows with what is kept of their weights. Where places are ranges of edges they are those of `own`.
template <class Rows>
struct summed_rows {
  Rows own;
  core::row_weight const* weights;

  using place = summed_place<typename Rows::place>;
  [[nodiscard]] __device__ place operator()(std::uint64_t row) const
  {
    uint4 const kept = __ldg(reinterpret_cast<uint4 const*>(weights + row));
    return {{own(row)}, {kept.x | (std::uint64_t{kept.y} << 32U), __uint_as_float(kept.z), kept.w}};
  }
};

// The place, or number, that lane `source` has; of a weighted place the range alone. Whole warp. Members go one by one:
// copies of whole places, as words, cost kernels up to 24 registers.

template <class T>
[[nodiscard]] __device__ T broadcast(T value, int source)
{
  return __shfl_sync(full_warp, value, source);
}
template <class Offset>
[[nodiscard]] __device__ edge_range<Offset> broadcast(edge_range<Offset> const& at, int source)
{
  return {broadcast(at.first_edge, source), broadcast(at.degree, source)};
}
[[nodiscard]] __device__ inline edge_range<edge_id> broadcast(weighted_range const& at, int source)
{
  return {broadcast(at.first_edge, source), broadcast(at.degree, source)};
}
[[nodiscard]] __device__ inline edge_range<edge_id> broadcast(summed_place<edge_range<edge_id>> const& at, int source)
{
  return {broadcast(at.first_edge, source), broadcast(at.degree, source)};
}
template <class Place>
requires std::is_base_of_v<own_place<compressed_targets>, Place>
[[nodiscard]] __device__ own_place<compressed_targets> broadcast(Place const& at, int source)
{
  return {{broadcast(at.at, source), broadcast(at.degree, source), broadcast(at.vertex, source)},
          broadcast(at.first_edge, source)};
}

/// A row a vertex.
struct vertex_index {
  [[nodiscard]] __device__ std::uint64_t operator()(vertex_id v, std::int32_t) const { return v; }
};

/// A row a vertex and label, as plan::label_groups has them.
struct label_index {
  label_id const* schema;  ///< [size], device memory
  std::int32_t size;
  std::int32_t shift;  ///< 1 where the schema names vertices: a step wants its target's entry.
  std::int32_t num_labels;

  [[nodiscard]] __device__ std::uint64_t operator()(vertex_id v, std::int32_t step) const
  {
    return std::uint64_t{v} * static_cast<std::uint32_t>(num_labels) + __ldg(schema + (step + shift) % size);
  }
};

/// Rows by index: leads from a vertex, and the step that will leave it, to its candidates.
template <class Rows, class Index>
struct place_finder {
  Rows rows;
  Index index;

  using place = typename Rows::place;
  [[nodiscard]] __device__ place operator()(vertex_id v, std::int32_t step) const { return rows(index(v, step)); }
};

}  // namespace tendril::gpu
