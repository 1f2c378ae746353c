// A web-like graph: the neighbours of one vertex are a pure function of seed, size and vertex. They come in ascending
// order, run by run, after a few hundred operations and without a table, so any part of a graph of any size can be made
// alone, on CPU and GPU. Integers only.
//
// Ids are in the order of URLs. A tree of ranges splits each chunk of 2^17 ids at drawn places; ranges become hosts, whose
// sizes follow a power law, and split further into directories. Each range from host to directory may hold a navigation
// item: its index page, or a run of pages. The pages of a directory share these items, and each page drops some of them:
// the copying model (Kumar et al., FOCS'00) with the runs that WebGraph finds (Boldi and Vigna, WWW'04). A page adds
// links of its own: nearby pages at small gaps, whose number follows a power law, and itself. The first page of a directory
// links the whole directory. Links to other hosts have power-law popularity: each aligned block of 2^k ids has one popular
// page, and a link draws k uniformly.
//
// The draws, of domain generator_web:
//
//   decision                        fold   item               step             draw
//   split, stop and item of range   0      first id           size             0
//   items of a host                 0      first id           size             1
//   items of a directory, pages     0      first id           size             2
//   popular page of a block         1      number of block    k                0
//   items that a page keeps         2      page               0                0
//   number and place of own links   2      page               1                0
//   own link i                      2      page               2                i / 4, word i mod 4

#pragma once

#include <cstdint>

#include "core/random.hpp"

namespace tendril::core {

/// Consecutive ids, [begin, end).
struct web_run {
  vertex_id begin, end;

  [[nodiscard]] TENDRIL_HD std::uint32_t size() const { return end - begin; }
};

/// What the pages of a directory share.
struct web_directory {
  static constexpr int max_items = 12;  ///< Each takes a byte of a page's first block.

  web_run pages;              ///< The directory.
  web_run host;               ///< Its host.
  std::uint32_t empty_pages;  ///< Of 2^16 pages; the index page isn't counted.
  std::uint32_t self_links;   ///< Of 2^8 pages.
  int num_items = 0;
  web_run items[max_items];       ///< By `begin`; they may overlap.
  std::uint32_t keep[max_items];  ///< Of 2^8 pages: how many link the item.

  /// Inserts an item in order. A directory that is full ignores it.
  TENDRIL_HD void add(web_run item, std::uint32_t share)
  {
    if (num_items == max_items) { return; }
    int i = num_items++;
    for (; i > 0 && items[i - 1].begin > item.begin; --i) {
      items[i] = items[i - 1];
      keep[i] = keep[i - 1];
    }
    items[i] = item;
    keep[i] = share;
  }
};

class web_row;

/// The rule of one graph. Trivially copyable: kernels take it by value.
class web_graph {
 public:
  static constexpr std::uint32_t chunk_size = 1U << 17U;  ///< The largest host.

  /// @param num_vertices  1 to 2^32 - 1.
  /// @param empty_pages   Of 2^16 pages: those without links whatever their directory.
  /// @param length        2^8 times the factor of the lengths of runs and of the numbers of own links, at most 2^15; beyond
  ///                      2^8 there are also more of both.
  TENDRIL_HD web_graph(std::uint64_t seed, std::uint32_t num_vertices, std::uint32_t empty_pages, std::uint32_t length)
      : ranges_(make_key(seed, domain::generator_web, 0)),
        popular_(make_key(seed, domain::generator_web, 1)),
        pages_(make_key(seed, domain::generator_web, 2)),
        num_vertices_(num_vertices),
        empty_pages_(empty_pages),
        length_(length)
  {
    while ((std::uint64_t{1} << num_levels_) < num_vertices) { ++num_levels_; }
    ++num_levels_;  // the last level is one block: the whole graph
    // 2^8 times the logarithm of the length's factor, linear between powers of two.
    std::uint32_t doublings = 0;
    for (unsigned k = 0; k < 7 && length > (256U << k); ++k) {
      std::uint32_t const beyond = length - (256U << k), step = 256U << k;
      doublings += (beyond < step ? beyond : step) >> k;
    }
    item_share_ = item_share + (more_items * doublings >> 8U);
    own_share_ = own_share + (more_own * doublings >> 8U);
  }

  [[nodiscard]] TENDRIL_HD std::uint32_t num_vertices() const { return num_vertices_; }

  /// The directory of vertex v < num_vertices. Any thread.
  [[nodiscard]] TENDRIL_HD web_directory directory_of(vertex_id v) const
  {
    web_directory out;
    vertex_id begin = v - v % chunk_size;
    std::uint32_t size = chunk_size;
    for (bool in_host = false;;) {
      random_block const block = draw_block(ranges_, begin, size, 0);
      std::uint32_t const decisions = block.word[0];
      web_run const range{begin, end_of(begin, size)};
      if (!in_host && (size <= smallest_host || byte(decisions, 0) < host_share)) {
        in_host = true;
        out.host = range;
        add_host_items(out, size);
      }
      if (in_host) {
        if (byte(decisions, 2) < item_share_) {
          bool const index = size > largest_shared || (decisions >> 24U & 1U) != 0;
          out.add(index ? index_page(range) : run_in(range, block.word[1]), keep_share(byte(block.word[2], 0)));
        }
        bool const may_stop = size <= largest_directory && byte(decisions, 1) < directory_share;
        if (size <= smallest_directory || may_stop) {
          out.pages = range;
          finish_directory(out, size);
          return out;
        }
      }
      // From a quarter to three quarters of the range go to the left.
      std::uint32_t const left = size * (64 + (byte(block.word[2], 1) >> 1U)) >> 8U;
      bool const right = v - begin >= left;
      begin += right ? left : 0;
      size = right ? size - left : left;
    }
  }

  /// The neighbours of page v of `directory`, which must outlive the result, as must this rule. Any thread.
  [[nodiscard]] TENDRIL_HD web_row row(web_directory const& directory, vertex_id v) const;

 private:
  friend class web_row;

  // Sizes, and shares of 2^8. docs/generators.md has the statistics that they give, beside those of web crawls.
  static constexpr std::uint32_t smallest_host = 24, smallest_directory = 16, largest_directory = 512;
  static constexpr std::uint32_t host_share = 24;  ///< Of ranges: those that are a host.
  static constexpr std::uint32_t directory_share = 32;
  static constexpr std::uint32_t item_share = 64;        ///< Of the ranges within a host.
  static constexpr std::uint32_t largest_shared = 8192;  ///< Ranges beyond it share only their index page.
  static constexpr std::uint32_t short_run_share = 184, longest_run = 34;
  static constexpr std::uint32_t smallest_comb = 36;  ///< Half of the runs from here on have gaps.
  static constexpr std::uint32_t host_run_share = 144, directory_run_share = 160;
  static constexpr std::uint32_t outer_item_share = 64;  ///< Of hosts, of directories: a link to another host.
  static constexpr std::uint32_t leaf_directory_share = 36, poor_directory_share = 90, self_directory_share = 80;
  static constexpr std::uint32_t own_share = 136, outer_share = 16;  ///< Of pages: own links, a link to another host.
  static constexpr std::uint32_t own_run_share = 24;                 ///< Of own links: runs of 2 to 9.
  static constexpr std::uint32_t num_own_levels = 6, num_own_gaps = 9;
  // Added to the shares for each time that the length doubles, up to seven times.
  static constexpr std::uint32_t more_items = 20, more_own = 12;

  [[nodiscard]] static TENDRIL_HD std::uint32_t byte(std::uint32_t word, unsigned i) { return word >> (8 * i) & 0xffU; }

  [[nodiscard]] TENDRIL_HD vertex_id end_of(vertex_id begin, std::uint32_t size) const
  {
    return size < num_vertices_ - begin ? begin + size : num_vertices_;
  }
  [[nodiscard]] static TENDRIL_HD web_run page(vertex_id v) { return {v, v + 1}; }
  [[nodiscard]] static TENDRIL_HD web_run index_page(web_run range) { return page(range.begin); }

  /// Of 2^8 pages, those that keep an item: all of them for half of the items, half of them for the least popular.
  [[nodiscard]] static TENDRIL_HD std::uint32_t keep_share(std::uint32_t bits)
  {
    return bits < 128 ? 256 : 256 - ((bits - 127) * (bits - 127) >> 7U);
  }

  /// `count` times the factor of lengths, at least 1; 8 random bits decide how it is rounded.
  [[nodiscard]] TENDRIL_HD std::uint32_t scaled(std::uint64_t count, std::uint32_t bits) const
  {
    auto const out = static_cast<std::uint32_t>((count * length_ + bits) >> 8U);
    return out < 1 ? 1 : out;
  }

  /// A run somewhere within a range: 2 to 5 pages, or 12 to 34, before they are scaled. The place's low bits round its size.
  [[nodiscard]] TENDRIL_HD web_run run_in(web_run range, std::uint32_t bits) const
  {
    std::uint32_t const u = byte(bits, 1);
    std::uint32_t const wanted =
        scaled(byte(bits, 0) < short_run_share ? 2 + (u & 3U)
                                               : longest_run / 3 + 1 + (u * (longest_run - longest_run / 3) >> 8U),
               byte(bits, 2));
    std::uint32_t const size = wanted < range.size() ? wanted : range.size();
    std::uint64_t const places = range.size() - size + 1;
    vertex_id const begin = range.begin + static_cast<std::uint32_t>((bits >> 16U) * places >> 16U);
    return {begin, begin + size};
  }

  /// A popular page anywhere.
  [[nodiscard]] TENDRIL_HD web_run popular_page(std::uint32_t level_bits, std::uint32_t block_bits) const
  {
    auto const level = static_cast<std::uint32_t>(std::uint64_t{level_bits} * num_levels_ >> 32U);
    std::uint64_t const num_blocks = (std::uint64_t{num_vertices_ - 1} >> level) + 1;
    std::uint64_t const block = block_bits * num_blocks >> 32U;
    auto const begin = static_cast<vertex_id>(block << level);
    std::uint64_t const rest = num_vertices_ - begin, whole = std::uint64_t{1} << level;
    std::uint64_t const size = whole < rest ? whole : rest;
    return page(begin + bounded(draw_block(popular_, block, level, 0).low(), static_cast<std::uint32_t>(size)));
  }

  /// @param size  Of the host before the end of the graph cuts it.
  TENDRIL_HD void add_host_items(web_directory& out, std::uint32_t size) const
  {
    random_block const block = draw_block(ranges_, out.host.begin, size, 1);
    std::uint32_t const decisions = block.word[0];
    out.add(index_page(out.host), keep_share(byte(decisions, 0)));
    if (byte(decisions, 1) < host_run_share) {
      out.add(run_in(out.host, block.word[1]), keep_share(byte(decisions, 2)));
    }
    if (byte(decisions, 3) < outer_item_share) { out.add(popular_page(block.word[2], block.word[3]), 224); }
  }

  /// @param size  Of the directory before the end of the graph cuts it.
  TENDRIL_HD void finish_directory(web_directory& out, std::uint32_t size) const
  {
    random_block const block = draw_block(ranges_, out.pages.begin, size, 2);
    std::uint32_t const decisions = block.word[0];
    if (byte(decisions, 0) < directory_run_share) {
      out.add(run_in(out.pages, block.word[1]), keep_share(byte(decisions, 1)));
    }
    // The same bits say which page, and how many pages keep it.
    if (byte(decisions, 2) < outer_item_share) {
      out.add(popular_page(block.word[2], block.word[3]), keep_share(byte(block.word[3], 0)));
    }
    std::uint32_t const kind = byte(decisions, 3);
    std::uint32_t const empty = kind < leaf_directory_share ? 64'000 : 5'000;
    out.empty_pages = empty_pages_ + ((65'536 - empty_pages_) * empty >> 16U);
    out.self_links = byte(block.word[1], 2) < self_directory_share ? 230 : 16;
    bool const poor = kind >= leaf_directory_share && kind < leaf_directory_share + poor_directory_share;
    if (!poor) { return; }
    for (int i = 0; i < out.num_items; ++i) { out.keep[i] >>= 1U + (kind & 3U); }
  }

  rng_key ranges_, popular_, pages_;
  std::uint32_t num_vertices_;
  std::uint32_t empty_pages_;
  std::uint32_t length_;
  std::uint32_t num_levels_ = 0;  ///< Of popular pages.
  std::uint32_t item_share_, own_share_;
};

/// The neighbours of one page, run by run.
class web_row {
 public:
  TENDRIL_HD web_row(web_graph const& graph, web_directory const& directory, vertex_id v)
      : graph_(&graph), directory_(&directory)
  {
    bool const index = v == directory.pages.begin;
    random_block const block = draw_block(graph.pages_, v, 0, 0);
    std::uint32_t const decisions = block.word[3];
    if ((decisions & 0xffffU) < (index ? graph.empty_pages_ : directory.empty_pages)) { return; }
    for (int i = 0; i < directory.num_items; ++i) {
      std::uint32_t const bits = web_graph::byte(block.word[i / 4], static_cast<unsigned>(i % 4));
      kept_ |= std::uint32_t{bits < directory.keep[i]} << static_cast<unsigned>(i);
    }
    next_item();
    if (web_graph::byte(decisions, 2) < directory.self_links) { self_ = v; }
    std::uint32_t const own = web_graph::byte(decisions, 3);
    if (index) {
      own_ = {v + 1, directory.pages.end};
      own_head_ = own_.size() > 0 ? own_.begin : no_vertex;
    } else if (own < graph.own_share_ + web_graph::outer_share) {
      start_own(v, own >= graph.own_share_);
    }
  }

  /// The next run of consecutive neighbours, which the run before it doesn't touch; false if there is none. Runs ascend.
  TENDRIL_HD bool next(web_run& out)
  {
    vertex_id first = head();
    if (first == no_vertex) { return false; }
    out = {first, first};
    do {
      vertex_id const end = take(first);
      out.end = out.end < end ? end : out.end;
      first = head();
    } while (first != no_vertex && first <= out.end);
    return true;
  }

  /// The number of neighbours that `next` has still to give.
  [[nodiscard]] TENDRIL_HD std::uint32_t degree() const
  {
    web_row rest = *this;
    std::uint32_t sum = 0;
    for (web_run run{}; rest.next(run);) { sum += run.size(); }
    return sum;
  }

 private:
  TENDRIL_HD void start_own(vertex_id v, bool outer)
  {
    random_block const block = draw_block(graph_->pages_, v, 1, 0);
    if (outer) {
      own_ = graph_->popular_page(block.word[2], block.word[3]);
      own_head_ = own_.begin;
      return;
    }
    page_ = v;
    // At level j, 7 of 8^(j + 1) pages, there are 4^j to 4^(j + 1) links: P(n links or more) falls as n^-1.5.
    unsigned level = 0;
    for (std::uint32_t bits = block.word[0]; (bits & 7U) == 0 && level + 1 < web_graph::num_own_levels; bits >>= 3U) {
      ++level;
    }
    std::uint32_t const u = block.word[1] & 0xffffU;
    std::uint64_t const factor = 65'536 + 3 * std::uint64_t{u * u >> 16U};  // 2^16 to 2^18, mostly below 2^17
    own_left_ = graph_->scaled((factor << (2 * level)) >> 16U, web_graph::byte(block.word[0], 3));
    gap_bits_ = web_graph::byte(block.word[1], 2) * web_graph::num_own_gaps >> 8U;
    // About half of these links lie before the page on average.
    std::uint64_t const back = (std::uint64_t{own_left_} << gap_bits_) * web_graph::byte(block.word[1], 3) >> 9U;
    vertex_id const first = directory_->host.begin;
    own_.end = back < v - first ? v - static_cast<vertex_id>(back) : first;
    next_own();
  }

  /// The next of the page's own runs begins a drawn gap, 2/3 of 2^gap_bits_ on average, after the end of the last.
  TENDRIL_HD void next_own()
  {
    own_head_ = no_vertex;
    if (own_left_ == 0) { return; }
    --own_left_;
    if (own_count_ % 4 == 0) { own_bits_ = draw_block(graph_->pages_, page_, 2, own_count_ / 4); }
    std::uint32_t const bits = own_bits_.word[own_count_ % 4];
    ++own_count_;
    std::uint32_t const u = bits & 0xffffU;
    auto const gap = 1 + static_cast<std::uint32_t>(std::uint64_t{u * u} << gap_bits_ >> 31U);
    std::uint32_t const size =
        web_graph::byte(bits, 2) < web_graph::own_run_share ? 2 + (web_graph::byte(bits, 3) & 7U) : 1;
    vertex_id const end = directory_->host.end;
    std::uint32_t const room = end - own_.end;
    if (gap >= room) {
      own_left_ = 0;
      return;
    }
    own_.begin = own_.end + gap;
    own_.end = size < room - gap ? own_.begin + size : end;
    own_head_ = own_.begin;
  }

  TENDRIL_HD void next_item()
  {
    item_head_ = no_vertex;
    if (kept_ == 0) { return; }
    while ((kept_ >> item_ & 1U) == 0) { ++item_; }
    kept_ ^= 1U << item_;
    item_head_ = directory_->items[item_].begin;
  }

  /// The first id of all that is left.
  [[nodiscard]] TENDRIL_HD vertex_id head() const
  {
    vertex_id const first = item_head_ < own_head_ ? item_head_ : own_head_;
    return first < self_ ? first : self_;
  }

  /// Takes the item at item_head_. A comb leaves out the last of each 4 or 8 aligned ids: a call takes one of its parts, and
  /// the comb ends where the next item begins, because only one item is open at a time.
  /// @return The end.
  TENDRIL_HD vertex_id take_item()
  {
    web_run const item = directory_->items[item_];
    if (item.size() < web_graph::smallest_comb || (item.begin & 1U) == 0) {
      next_item();
      return item.end;
    }
    vertex_id const left_out = item_head_ | ((item.begin & 2U) != 0 ? 7U : 3U);
    vertex_id const part_end = left_out > item_head_ ? left_out : item_head_ + 1;
    vertex_id stop = item.end;
    for (unsigned i = item_ + 1; kept_ >> i != 0; ++i) {
      if ((kept_ >> i & 1U) == 0) { continue; }
      vertex_id const begin = directory_->items[i].begin;
      stop = begin < stop ? begin : stop;
      break;
    }
    if (left_out < stop - 1) {
      item_head_ = left_out + 1;
    } else {
      next_item();
    }
    return part_end < item.end ? part_end : item.end;
  }

  /// Takes a run that begins at head(). @return Its end.
  TENDRIL_HD vertex_id take(vertex_id first)
  {
    if (first == item_head_) { return take_item(); }
    if (first == own_head_) {
      vertex_id const end = own_.end;
      next_own();
      return end;
    }
    self_ = no_vertex;
    return first + 1;
  }

  web_graph const* graph_;
  web_directory const* directory_;
  std::uint32_t kept_ = 0;  ///< The items that are left, a bit each, without the one at item_head_.
  unsigned item_ = 0;
  vertex_id item_head_ = no_vertex, own_head_ = no_vertex, self_ = no_vertex;  ///< no_vertex: none left.
  vertex_id page_ = 0;
  web_run own_{0, 0};
  std::uint32_t own_left_ = 0, own_count_ = 0;
  unsigned gap_bits_ = 0;
  random_block own_bits_{};
};

TENDRIL_HD web_row web_graph::row(web_directory const& directory, vertex_id v) const { return {*this, directory, v}; }

/// f(v, row) for each vertex in [begin, end), which is within the graph. Any thread.
template <class F>
TENDRIL_HD void for_each_web_row(web_graph const& graph, vertex_id begin, vertex_id end, F&& f)
{
  for (vertex_id v = begin; v < end;) {
    web_directory const directory = graph.directory_of(v);
    for (; v < end && v < directory.pages.end; ++v) { f(v, graph.row(directory, v)); }
  }
}

}  // namespace tendril::core
