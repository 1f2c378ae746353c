// The lists in host memory of a placed graph, cut into regions that pass through the GPU one after another, and what decides
// which region is next. Bulk walks wait for the region that their next list lies in (LightTraffic, ICDE'23, streams parts of
// a graph to those of its walks that wait there; FlashMob, SOSP'21, keeps a part in the CPU's cache).
//
// The reckoning, of walks that take c steps on lists in host memory, where buffers hold the share k of these: a step finds
// its list in a buffer as often as k says, and waits (1 - k) / 2 passes over all regions otherwise. So c steps take
// c (1 - k)^2 / 2 passes, and some more until the last walks are done, whatever their number; a read of its own for each
// step takes c / `single_reads` for each walk. Half of R-MAT 24's lists, 0.83 GB, are 16 ms a pass; by a simulation of this
// schedule on R-MAT 18, walks of 80 steps take 20 passes where one region of twelve is at hand, 15 where buffers hold eight
// regions of 24, and 13 with 16 of 48.

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <tendril/types.hpp>

namespace tendril::place {

/// Regions have numbers below this: a walk keeps its own in a byte, with two values to spare.
inline constexpr std::int64_t most_regions = 254;

/// Rates of the bus between GPU and host. bench/placed-walks
inline constexpr double bulk_bytes = 51e9;      ///< A second, in order.
inline constexpr double single_reads = 0.24e9;  ///< Steps a second that each read a list in host memory.

/// Which region a byte of the lists lies in. Trivially copyable; owns nothing.
struct region_index {
  std::uint64_t const* begins = nullptr;  ///< [regions + 1]: the first byte of each, never descending, and the end.
  std::uint64_t first = 0;                ///< begins[0]
  std::uint32_t shift = 0;                ///< Region r begins at byte first + (r << shift), or behind it.

  /// @param byte  In [first, end).
  [[nodiscard]] TENDRIL_HD std::uint32_t operator()(std::uint64_t byte) const
  {
    auto region = static_cast<std::uint32_t>((byte - first) >> shift);
    while (begins[region] > byte) { --region; }
    return region;
  }
};

/// Regions of lists in host memory. Some may be empty.
struct regions {
  std::vector<std::uint64_t> begins;  ///< [size() + 1]
  std::uint32_t shift = 0;

  [[nodiscard]] std::int64_t size() const { return begins.empty() ? 0 : static_cast<std::int64_t>(begins.size()) - 1; }
  [[nodiscard]] std::int64_t bytes(std::int64_t region) const
  {
    auto const r = static_cast<std::size_t>(region);
    return static_cast<std::int64_t>(begins[r + 1] - begins[r]);
  }
  [[nodiscard]] std::int64_t largest_bytes() const;
  [[nodiscard]] std::int64_t all_bytes() const
  {
    return begins.empty() ? 0 : static_cast<std::int64_t>(begins.back() - begins.front());
  }
};

/// The bytes of regions for so many walks. Smaller ones spare passes, since buffers hold more of them beside the one that comes
/// in; but each pass looks at all walks, and should take an eighth of the time in which a region comes in, or less.
/// @param all  Bytes of all lists in host memory. There are 8 to 64 regions, or up to 128 by the rounding of cut_regions.
[[nodiscard]] std::int64_t region_bytes(std::int64_t all, std::int64_t num_walks);

/// Cuts lists into regions of about so many bytes, each where a cut is.
/// @param cuts   placed_lists::cuts
/// @param bytes  1 or more. A power of two is taken that is no larger, and so large that there are no more than most_regions.
[[nodiscard]] regions cut_regions(std::span<std::uint64_t const> cuts, std::int64_t bytes);

/// Memory for buffers that hold a share of all lists in host memory. It has room for three regions, or for all.
/// @param beyond  Bytes that a region takes in addition.
[[nodiscard]] std::int64_t buffer_bytes(regions const& cut, double share, std::int64_t beyond);

/// The time in which the regions pass that walks need, however many.
/// @param all    Bytes of all lists in host memory.
/// @param reads  Of them, a walk.
/// @param held   The share of them that buffers hold beside the region that comes in.
[[nodiscard]] double passing_seconds(std::int64_t all, double reads, double held);

/// With so many walks the regions pass in less time than the walks' own reads take.
[[nodiscard]] std::int64_t least_walks(double passing_seconds, double reads);

/// Which region passes next.
struct region_choice {
  /// A region is worth to pass if the walks that it serves are no fewer than its bytes divided by this: what passes in the
  /// time of a single read. Infinity: any region that a walk waits for.
  double bytes_a_walk = bulk_bytes / single_reads;

  /// The region that most walks wait for, for its bytes, if it is worth it: for the walks that wait for it, or for those
  /// that will, twice the average of all regions, when each has had its turn.
  /// @param waiting  [cut.size()] walks
  /// @param except   A region that has passed already, or is about to; -1: none.
  [[nodiscard]] std::optional<std::int64_t> next(regions const& cut, std::span<std::uint64_t const> waiting,
                                                 std::int64_t except) const;
};

}  // namespace tendril::place
