#include "place/region_ring.hpp"

#include <stdexcept>

#include <fmt/format.h>

namespace tendril::place {

std::int64_t region_ring::take(std::int64_t region, std::int64_t bytes)
{
  if (bytes > bytes_) { throw std::logic_error(fmt::format("region_ring: {} bytes in a block of {}", bytes, bytes_)); }
  std::int64_t const begin = next_ + bytes > bytes_ ? 0 : next_;
  std::int64_t const end = begin + bytes;
  std::erase_if(held_, [&](stretch const& s) {
    bool const in_the_way = s.begin < end && begin < s.end;
    if (in_the_way) { begins_[static_cast<std::size_t>(s.region)] = none; }
    return in_the_way;
  });
  held_.push_back({region, begin, end});
  begins_[static_cast<std::size_t>(region)] = begin;
  next_ = end;
  return begin;
}

}  // namespace tendril::place
