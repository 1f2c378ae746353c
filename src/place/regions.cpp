#include "place/regions.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace tendril::place {
namespace {

constexpr std::uint64_t least_bytes = std::uint64_t{1} << 20U;
constexpr std::uint64_t most_bytes = std::uint64_t{1} << 28U;
constexpr std::uint64_t regions_wanted = 8;
/// Of the walks that wait for a region when its turn comes, divided by the average of all regions.
constexpr double turns = 2;

double as_double(std::int64_t x) { return static_cast<double>(x); }

}  // namespace

std::int64_t regions::largest_bytes() const
{
  std::int64_t largest = 0;
  for (std::int64_t r = 0; r < size(); ++r) { largest = std::max(largest, bytes(r)); }
  return largest;
}

regions cut_regions(std::span<std::uint64_t const> cuts, std::int64_t bytes)
{
  regions out;
  if (cuts.size() < 2) { return out; }
  std::uint64_t const first = cuts.front();
  std::uint64_t const end = cuts.back();
  std::uint64_t const all = end - first;
  std::uint64_t const wanted =
      bytes > 0 ? static_cast<std::uint64_t>(bytes) : std::clamp(all / regions_wanted, least_bytes, most_bytes);
  out.shift = static_cast<std::uint32_t>(std::bit_width(wanted) - 1);
  while (((all - 1) >> out.shift) + 1 > static_cast<std::uint64_t>(most_regions)) { ++out.shift; }
  std::uint64_t const count = ((all - 1) >> out.shift) + 1;
  auto cut = cuts.begin();
  for (std::uint64_t r = 0; r < count; ++r) {
    std::uint64_t const wanted_begin = first + (r << out.shift);
    cut = std::lower_bound(cut, cuts.end(), wanted_begin);
    out.begins.push_back(*cut);
  }
  out.begins.push_back(end);
  return out;
}

std::optional<std::int64_t> region_choice::next(regions const& cut, std::span<std::uint64_t const> waiting,
                                                std::int64_t except) const
{
  std::int64_t best = -1;
  std::uint64_t most = 0;
  std::uint64_t all = 0;
  for (std::int64_t r = 0; r < cut.size(); ++r) {
    std::uint64_t const here = waiting[static_cast<std::size_t>(r)];
    all += here;
    if (r != except && here > most) {
      best = r;
      most = here;
    }
  }
  if (best < 0) { return std::nullopt; }
  double const served = std::max(static_cast<double>(most), turns * static_cast<double>(all) / as_double(cut.size()));
  if (served * bytes_a_walk < as_double(cut.bytes(best))) { return std::nullopt; }
  return best;
}

std::int64_t region_choice::least_walks(regions const& cut) const
{
  if (cut.size() == 0) { return std::numeric_limits<std::int64_t>::max(); }
  auto const bytes = static_cast<double>(cut.begins.back() - cut.begins.front());
  return static_cast<std::int64_t>(std::ceil(bytes / (turns * bytes_a_walk)));
}

}  // namespace tendril::place
