#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <tendril/types.hpp>

#include "formats/bitstream.hpp"
#include "formats/webgraph_properties.hpp"

namespace tendril::formats {

/// Reads the successor lists of a BV graph one at a time (Boldi & Vigna, "The WebGraph Framework I", WWW'04). A list
/// is an outdegree; a reference to an earlier list with blocks of it to copy and to skip; intervals; and residuals
/// as gaps. All of them are checked against each other, so that whatever the bits are, nothing outside of the
/// arrays is touched and no more work is done than bits and outdegrees ask for.
///
/// Not thread-safe; each thread has its own. Every member throws bitstream_error for malformed bits.
class webgraph_lists {
 public:
  webgraph_lists(webgraph_properties const& properties, std::span<std::byte const> graph)
      : properties_(properties), bits_(graph)
  {
  }

  [[nodiscard]] bit_reader& bits() noexcept { return bits_; }

  /// The outdegree with which the list at the current position begins.
  [[nodiscard]] std::int64_t read_outdegree();

  /// Reads the list of vertex x up to its residuals.
  /// @param begin  Where list x begins in an array of all lists; begin[-i] is where the list i vertices before x begins.
  void read_head(std::int64_t x, edge_id const* begin);

  [[nodiscard]] std::int64_t outdegree() const noexcept { return outdegree_; }
  [[nodiscard]] std::int64_t reference() const noexcept { return reference_; }  ///< x refers to x - this; 0: to none.

  /// Reads the residuals after `read_head(x)` and forgets them: the position is then that of the next list.
  void skip_residuals(std::int64_t x);

  /// Reads the residuals after `read_head(x, begin)` and writes the whole list to indices[*begin] and on; the list
  /// that it refers to must be there already.
  void write_list(std::int64_t x, edge_id const* begin, vertex_id* indices);

 private:
  struct run {
    std::int64_t left, length;
  };

  void read_reference(std::int64_t x, edge_id const* begin);
  void read_intervals(std::int64_t x);
  template <class F>
  void read_residuals(std::int64_t x, F&& take);
  vertex_id* write_extras(std::int64_t x, vertex_id* out);

  webgraph_properties const& properties_;
  bit_reader bits_;
  std::int64_t outdegree_ = 0, reference_ = 0, num_extras_ = 0, num_residuals_ = 0;
  std::vector<std::int64_t> blocks_;  // lengths, copied and skipped in turn
  std::vector<run> intervals_;
  std::vector<vertex_id> extras_;
};

}  // namespace tendril::formats
