// A CSR in GPU memory from arcs as sortable numbers: compact ids, sort, unique, offsets.

#pragma once

#include <bit>
#include <cstdint>
#include <utility>

#include <tendril/buffer.hpp>
#include <tendril/exec.hpp>
#include <tendril/graph.hpp>

namespace tendril::gpu {

/// Where the ends of an arc are in its key. Keys order as (source, target) does.
struct key_layout {
  unsigned id_bits = 0;  ///< Of either end.

  [[nodiscard]] static key_layout of(std::int64_t num_ids)
  {
    return {num_ids <= 1 ? 0U : static_cast<unsigned>(std::bit_width(static_cast<std::uint64_t>(num_ids - 1)))};
  }
  [[nodiscard]] TENDRIL_HD std::uint64_t key(std::uint64_t source, std::uint64_t target) const
  {
    return (source << id_bits) | target;
  }
  [[nodiscard]] TENDRIL_HD vertex_id source(std::uint64_t key) const { return static_cast<vertex_id>(key >> id_bits); }
  [[nodiscard]] TENDRIL_HD vertex_id target(std::uint64_t key) const
  {
    return static_cast<vertex_id>(key & ((std::uint64_t{1} << id_bits) - 1));
  }
};

/// The key of an arc that is not there. No arc has it: ids are below 2^32 - 1, and where all bits of shorter keys are
/// set, the bit above them isn't.
inline constexpr std::uint64_t no_arc = ~std::uint64_t{0};

struct arc_list {
  key_layout layout;
  std::int64_t size = 0;             ///< Arcs that count; the buffers may be longer.
  buffer<std::uint64_t> keys;        ///< [size], device memory.
  buffer<std::int64_t> positions{};  ///< [size] or empty: where in the unsorted list each arc was.
  bool has_gaps = false;             ///< Some keys may be no_arc.
};

/// Fills in `positions`, so that they are sorted along: 0, 1, … Does not synchronise.
void number_arcs(arc_list& arcs, gpu_exec const& exec);

/// What build_csr makes: offsets, neighbours, ids and flags; and the arcs in their order, for what else an edge gets.
struct built_csr {
  graph_arrays arrays;
  arc_list arcs;
};

/// Sorts arcs and makes a CSR of them, without duplicates if the options drop them: of equal keys the first stays.
/// Ids are made compact if the options say so. Edge ids are made from positions. Synchronises.
///
/// Peak memory: 16.2 bytes an arc, 32.2 with positions, and 8 to 16 bytes a vertex. When it returns, 8 bytes an arc of
/// the unsorted list and 4 an edge of the graph are left, and 8 an arc more with positions.
///
/// @param num_ids  Ids are below; the number of vertices if ids don't become compact.
/// @throws argument_error for a vertex of 2^32 edges or more; memory_error; device_error.
[[nodiscard]] built_csr build_csr(arc_list arcs, std::int64_t num_ids, build_options const& options,
                                  gpu_exec const& exec);

/// Bytes that make_arcs and build_csr take at their peak, with `bytes_an_edge` for what an edge of the result gets
/// besides its neighbour.
[[nodiscard]] double build_csr_bytes(double num_arcs, double num_ids, double bytes_an_edge, bool positions,
                                     build_options const& options);

/// @throws memory_error "what: the graph takes about 12.0 GB to build, …" if `bytes` are more than the GPU has free.
///         Memory of a resource of the caller's is the caller's to know. Synchronises.
void expect_gpu_memory(char const* what, double bytes, gpu_exec const& exec);

/// Labels below 2^16 for `size` items, 1 byte each for at most 256 different ones, else 2: `draw(labels)` fills a
/// std::uint8_t* or std::uint16_t*.
template <class Draw>
label_array make_labels(std::int64_t size, int num_labels, memory_resource& memory, Draw draw)
{
  if (num_labels <= 256) {
    buffer<std::uint8_t> narrow(size, memory);
    draw(narrow.data());
    return shared_array(std::move(narrow));
  }
  buffer<std::uint16_t> wide(size, memory);
  draw(wide.data());
  return shared_array(std::move(wide));
}

}  // namespace tendril::gpu
