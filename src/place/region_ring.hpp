// Which regions of lists lie on the GPU: as many of the latest as a block of memory holds.

#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace tendril::place {

/// Gives regions stretches of a block of memory, one behind the other and from the front again, whatever their sizes. A
/// region stays until another one is given a part of its stretch.
class region_ring {
 public:
  /// @param bytes  Of the block: three times the largest region or more, or all of them. Then a region that is taken never
  ///               drives out the one that was taken before it.
  region_ring(std::int64_t bytes, std::int64_t num_regions)
      : bytes_(bytes), begins_(static_cast<std::size_t>(num_regions), none)
  {
  }

  /// A region that is not held comes in. @return the first byte of its stretch. @throws logic_error if the block is smaller.
  std::int64_t take(std::int64_t region, std::int64_t bytes);

  [[nodiscard]] bool holds(std::int64_t region) const { return begins_[static_cast<std::size_t>(region)] != none; }
  /// The first byte of a region that is held.
  [[nodiscard]] std::int64_t begin(std::int64_t region) const { return begins_[static_cast<std::size_t>(region)]; }

 private:
  static constexpr std::int64_t none = -1;
  struct stretch {
    std::int64_t region, begin, end;
  };

  std::int64_t bytes_, next_ = 0;
  std::vector<stretch> held_;
  std::vector<std::int64_t> begins_;  // of each region; none: it is not held
};

}  // namespace tendril::place
