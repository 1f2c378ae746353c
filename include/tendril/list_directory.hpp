// Where the lists of neighbours of a compressed graph are: 11 vertices share 64 bytes, so that a vertex takes 46.5 bits,
// for the place of its list, its degree and the number of its first edge. What a walker reads of a vertex lies in one half
// of these 64 bytes, in two loads that don't wait for each other. Halves with a list that is too large for a share of 32
// bits point to wide entries, one a vertex. Includes little, so that a program compiled at run time can include it too.

#pragma once

#include <cstdint>

#include <tendril/row.hpp>  // plain_load
#include <tendril/types.hpp>

namespace tendril {

/// What stands at the head of a list: how its neighbours are written (<tendril/list_code.hpp>), and a width in bits.
class list_header {
 public:
  list_header() = default;
  explicit TENDRIL_HD list_header(std::uint32_t byte) : byte_(static_cast<std::uint8_t>(byte)) {}
  /// @param width  1 to 32
  TENDRIL_HD list_header(std::uint32_t code, std::uint32_t width)
      : byte_(static_cast<std::uint8_t>(code << width_bits | (width - 1U)))
  {
  }

  [[nodiscard]] TENDRIL_HD std::uint32_t byte() const { return byte_; }
  [[nodiscard]] TENDRIL_HD std::uint32_t code() const { return std::uint32_t{byte_} >> width_bits; }
  [[nodiscard]] TENDRIL_HD std::uint32_t width() const { return (byte_ & ((1U << width_bits) - 1U)) + 1U; }
  [[nodiscard]] TENDRIL_HD bool operator==(list_header const&) const = default;

 private:
  static constexpr std::uint32_t width_bits = 5;
  std::uint8_t byte_ = 0;
};

/// Where the list of a vertex is, as a walker keeps it between steps.
struct alignas(16) list_place {
  std::uint64_t at = 0;  ///< The byte behind its header, in the lower 48 bits; its header in the upper 8.
  std::uint32_t degree = 0;
  vertex_id vertex = 0;  ///< Its id, which near codes count from: in a part not the number of its row.

  static constexpr unsigned header_shift = 56;
  static constexpr unsigned byte_bits = 48;
  static constexpr std::uint64_t unread = std::uint64_t{1} << byte_bits;  ///< Set while `at` is the header's byte.

  [[nodiscard]] static TENDRIL_HD list_place of(std::uint64_t byte, list_header header, std::uint32_t degree,
                                                vertex_id v)
  {
    return {byte | (std::uint64_t{header.byte()} << header_shift), degree, v};
  }
  [[nodiscard]] TENDRIL_HD std::uint64_t byte() const { return at & ((std::uint64_t{1} << byte_bits) - 1U); }
  [[nodiscard]] TENDRIL_HD list_header header() const
  {
    return list_header(static_cast<std::uint32_t>(at >> header_shift));
  }
  /// Whether the header is known.
  [[nodiscard]] TENDRIL_HD bool is_read() const { return (at & unread) == 0; }
};

/// A list as the directory tells of it, whose own words need not be read. Of a list that begins with its header, the place
/// is that of the header.
struct list_start : list_place {
  bool begins_with_header = false;

  /// The place of the list, which lies in `words`.
  template <class Load>
  [[nodiscard]] TENDRIL_HD list_place read(std::uint32_t const* words, Load load) const
  {
    if (!begins_with_header) { return *this; }  // NOLINT(cppcoreguidelines-slicing): the place is what is asked for
    std::uint64_t const start = byte();
    list_header const own(load(words + (start >> 2U)) >> (8U * (start & 3U)) & 0xffU);
    return of(start + 1, own, degree, vertex);
  }
};

/// The entry of a vertex in a wide half.
struct alignas(16) wide_list {
  std::uint64_t at = 0;  ///< As list_place::at.
  std::uint32_t degree = 0;
  std::uint32_t reserved = 0;  ///< 0
};

/// How half a block says where its lists are.
enum class block_kind : std::uint8_t {
  own,     ///< Each list begins with its header.
  shared,  ///< All lists have the header of the half.
  wide,    ///< Each vertex has a wide entry, which holds its header.
};

/// What the vertices of half a block share.
struct half_head {
  std::uint64_t bits = 0;

  static constexpr unsigned header_shift = 40, degree_shift = 48, kind_shift = 53, step_shift = 55, edge_shift = 56;
  static constexpr std::uint64_t base_mask = (std::uint64_t{1} << header_shift) - 1U;
  static constexpr std::uint32_t coarse_step = 4;

  /// @param base         The byte that places are counted from; of a wide half, its first wide entry. Below 2^40.
  /// @param degree_bits  0 to 31 of each share, from the lowest; the rest is the place.
  /// @param step         Places are counted in units of 2^step bytes: 0 or coarse_step.
  [[nodiscard]] static TENDRIL_HD half_head of(block_kind kind, std::uint64_t base, list_header header,
                                               std::uint32_t degree_bits, std::uint32_t step)
  {
    return {base | std::uint64_t{header.byte()} << header_shift | std::uint64_t{degree_bits} << degree_shift |
            static_cast<std::uint64_t>(kind) << kind_shift | std::uint64_t{step / coarse_step} << step_shift};
  }
  [[nodiscard]] TENDRIL_HD std::uint64_t base() const { return bits & base_mask; }
  [[nodiscard]] TENDRIL_HD list_header header() const
  {
    return list_header(static_cast<std::uint32_t>(bits >> header_shift) & 0xffU);
  }
  [[nodiscard]] TENDRIL_HD std::uint32_t degree_bits() const
  {
    return static_cast<std::uint32_t>(bits >> degree_shift) & 31U;
  }
  [[nodiscard]] TENDRIL_HD std::uint32_t step() const
  {
    static_assert(coarse_step == 4);
    return static_cast<std::uint32_t>(bits >> (step_shift - 2U)) & coarse_step;
  }
  /// May be no block_kind where the content is not sound.
  [[nodiscard]] TENDRIL_HD std::uint32_t kind() const { return static_cast<std::uint32_t>(bits >> kind_shift) & 3U; }
  [[nodiscard]] TENDRIL_HD bool is(block_kind what) const { return kind() == static_cast<std::uint32_t>(what); }

  /// The degree that a share says.
  [[nodiscard]] TENDRIL_HD std::uint32_t degree(std::uint32_t share) const
  {
    return share & ((1U << degree_bits()) - 1U);
  }
  /// The byte where the list of a share begins.
  [[nodiscard]] TENDRIL_HD std::uint64_t start(std::uint32_t share) const
  {
    return base() + (std::uint64_t{share >> degree_bits()} << step());
  }
};

/// 6 vertices, or 5 and the lower bits of an edge's number.
struct alignas(32) list_half {
  half_head head;
  std::uint32_t shares[6] = {};
};

/// 11 vertices that follow each other: 6 in the first half, 5 in the second. What is read to find a list lies in one half,
/// a sector of a GPU's memory.
struct list_block {
  static constexpr std::uint32_t vertices = 11;
  static constexpr std::uint32_t first_half = 6;  ///< Vertices.
  static constexpr edge_id most_edges = (edge_id{1} << 40U) - 1;

  list_half halves[2];

  [[nodiscard]] static TENDRIL_HD std::uint32_t half_of(std::uint32_t i) { return i < first_half ? 0U : 1U; }
  /// The vertices of a half.
  [[nodiscard]] static TENDRIL_HD std::uint32_t size_of(std::uint32_t half)
  {
    return half == 0 ? first_half : vertices - first_half;
  }

  /// The number of the second half's first edge: the lower 32 bits stand behind its shares, the upper 8 in its head.
  [[nodiscard]] TENDRIL_HD edge_id middle_edge() const
  {
    list_half const& half = halves[1];
    return static_cast<edge_id>(half.head.bits >> half_head::edge_shift << 32U | half.shares[vertices - first_half]);
  }
  /// The same, when the heads have been written. @param edge  0 to most_edges.
  TENDRIL_HD void set_middle_edge(edge_id edge)
  {
    constexpr std::uint64_t others = (std::uint64_t{1} << half_head::edge_shift) - 1U;
    auto const number = static_cast<std::uint64_t>(edge);
    list_half& half = halves[1];
    half.head.bits = (half.head.bits & others) | number >> 32U << half_head::edge_shift;
    half.shares[vertices - first_half] = static_cast<std::uint32_t>(number);
  }
};
static_assert(sizeof(list_block) == 64);

/// Where the directory tells of a vertex.
struct half_place {
  std::uint32_t block, half, in_half;

  explicit TENDRIL_HD half_place(vertex_id v)
      : block(v / list_block::vertices),
        half(list_block::half_of(v % list_block::vertices)),
        in_half(v % list_block::vertices - half * list_block::first_half)
  {
  }
};

/// The degrees of vertices [begin, end) of half a block, numbered within the half, added up.
TENDRIL_HD std::uint64_t sum_of_degrees(list_half const& half, wide_list const* wide, std::uint32_t begin,
                                        std::uint32_t end)
{
  std::uint64_t sum = 0;
  if (half.head.is(block_kind::wide)) {
    for (std::uint32_t k = begin; k < end; ++k) { sum += wide[half.head.base() + k].degree; }
    return sum;
  }
  for (std::uint32_t k = 0; k < list_block::first_half; ++k) {
    sum += k >= begin && k < end ? half.head.degree(half.shares[k]) : 0U;
  }
  return sum;
}

/// The number of the first edge of v.
TENDRIL_HD_CALLED edge_id first_edge_of(list_block const* blocks, wide_list const* wide, vertex_id v)
{
  constexpr std::uint32_t first_half = list_block::first_half;
  list_block const& block = blocks[v / list_block::vertices];
  std::uint32_t const i = v % list_block::vertices;
  edge_id const middle = block.middle_edge();
  if (i < first_half) { return middle - static_cast<edge_id>(sum_of_degrees(block.halves[0], wide, i, first_half)); }
  return middle + static_cast<edge_id>(sum_of_degrees(block.halves[1], wide, 0, i - first_half));
}

/// The degrees of a compressed graph, and the numbers of its edges. Trivially copyable; owns nothing.
class list_blocks {
 public:
  list_blocks() = default;
  /// @param blocks  [num_vertices / 11 + 1]: vertex num_vertices has a block, too, and no edges.
  TENDRIL_HD list_blocks(list_block const* blocks, wide_list const* wide) : blocks_(blocks), wide_(wide) {}

  [[nodiscard]] TENDRIL_HD list_block const* data() const { return blocks_; }
  [[nodiscard]] TENDRIL_HD wide_list const* wide() const { return wide_; }

  [[nodiscard]] TENDRIL_HD std::uint32_t degree(std::int64_t v) const
  {
    auto const vertex = static_cast<vertex_id>(v);
    half_place const at(vertex);
    list_half const& half = blocks_[at.block].halves[at.half];
    if (half.head.is(block_kind::wide)) { return wide_[half.head.base() + at.in_half].degree; }
    return half.head.degree(half.shares[at.in_half]);
  }

  /// The number of the first edge of v; v may be num_vertices. Adds up to 6 degrees.
  [[nodiscard]] TENDRIL_HD edge_id first_edge(std::int64_t v) const
  {
    return first_edge_of(blocks_, wide_, static_cast<vertex_id>(v));
  }

  /// Starts to bring what is read of v first into the cache. Host only.
  void prefetch(std::int64_t v) const { prefetch_address(blocks_ + static_cast<vertex_id>(v) / list_block::vertices); }

 private:
  list_block const* blocks_ = nullptr;
  wide_list const* wide_ = nullptr;
};

/// The same, and the lists.
class list_directory : public list_blocks {
 public:
  list_directory() = default;
  /// @param words     The lists, and 64 bytes beyond; aligned to 16 bytes in the memory of a GPU.
  /// @param first_id  The id of vertex 0: above 0 in a part of a graph alone.
  TENDRIL_HD list_directory(list_block const* blocks, wide_list const* wide, std::uint32_t const* words,
                            vertex_id first_id = 0)
      : list_blocks(blocks, wide), words_(words), first_id_(first_id)
  {
  }

  [[nodiscard]] TENDRIL_HD std::uint32_t const* words() const { return words_; }
  [[nodiscard]] TENDRIL_HD vertex_id first_id() const { return first_id_; }
  /// Which vertex lies at a place that this directory gave.
  [[nodiscard]] TENDRIL_HD vertex_id row_of(list_place const& at) const { return at.vertex - first_id_; }

  /// Where v's list begins, read by load(address) from the directory alone.
  template <class Load = plain_load>
  [[nodiscard]] TENDRIL_HD list_start start_of(std::int64_t v, Load load = {}) const
  {
    auto const vertex = static_cast<vertex_id>(v);
    half_place const at(vertex);
    list_half const* const half = data()[at.block].halves + at.half;
    half_head const head{load(&half->head.bits)};
    std::uint32_t const share = load(half->shares + at.in_half);
    // Worked out for wide blocks, too: a GPU else reads the share when it knows the kind of block.
    bool const shared = head.is(block_kind::shared);
    list_header const header = shared ? head.header() : list_header(0);
    vertex_id const id = first_id_ + vertex;
    list_start out{list_place::of(head.start(share), header, head.degree(share), id), !shared};
    if (head.is(block_kind::wide)) {
      wide_list const entry = load(wide() + head.base() + at.in_half);
      out = {{entry.at, entry.degree, id}, false};
    }
    return out;
  }

  /// The place of v's list, read by load(address).
  template <class Load = plain_load>
  [[nodiscard]] TENDRIL_HD list_place locate(std::int64_t v, Load load = {}) const
  {
    return start_of(v, load).read(words_, load);
  }

  /// The same, but a list's own header is left unread: it is in memory that nothing has asked for yet. Host only.
  [[nodiscard]] list_place locate_ahead(std::int64_t v) const
  {
    list_start place = start_of(v, plain_load{});
    place.at &= ~list_place::unread;  // wide entries of a foreign file may have any bits there
    if (place.begins_with_header) { place.at |= list_place::unread; }
    return place;  // NOLINT(cppcoreguidelines-slicing): `at` says what is unread
  }
  /// Reads the header of a place that locate_ahead gave.
  void read_header(list_place& place) const
  {
    if (place.is_read()) { return; }
    place = list_start{place, true}.read(words_, plain_load{});
  }

 private:
  std::uint32_t const* words_ = nullptr;
  vertex_id first_id_ = 0;
};

/// The numbers of the first edges of vertices, as CSR's array of offsets or a directory has them: [num_vertices + 1].
class edge_offsets {
 public:
  edge_offsets() = default;
  TENDRIL_HD edge_offsets(edge_id const* offsets) : offsets_(offsets) {}  // NOLINT(google-explicit-constructor)
  TENDRIL_HD edge_offsets(list_blocks const& lists) : lists_(lists) {}    // NOLINT(google-explicit-constructor)

  /// CSR's array, or null.
  [[nodiscard]] TENDRIL_HD edge_id const* array() const { return offsets_; }
  [[nodiscard]] TENDRIL_HD edge_id operator[](std::int64_t v) const
  {
    return offsets_ != nullptr ? offsets_[v] : lists_.first_edge(v);
  }
  [[nodiscard]] TENDRIL_HD std::uint32_t degree(std::int64_t v) const
  {
    return offsets_ != nullptr ? static_cast<std::uint32_t>(offsets_[v + 1] - offsets_[v]) : lists_.degree(v);
  }

 private:
  edge_id const* offsets_ = nullptr;
  list_blocks lists_;
};

}  // namespace tendril
