#include "place/regions.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace tendril::place {
namespace {

/// What a pass costs beside its bytes, in bytes: launches, and the host's look at the counts.
constexpr double bytes_a_pass = 1e6;
/// Passes over all regions until the last walks are done.
constexpr double last_passes = 4;
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

std::int64_t region_bytes(std::int64_t all, std::int64_t num_walks)
{
  constexpr double pass_seconds = 40e-6, walk_seconds = 2.4e-12;  // of a pass that serves no walk. bench/placed-walks
  double const wanted = 8 * (pass_seconds + walk_seconds * as_double(num_walks)) * bulk_bytes;
  return static_cast<std::int64_t>(std::clamp(wanted, as_double(all) / 64, as_double(all) / 8)) + 1;
}

regions cut_regions(std::span<std::uint64_t const> cuts, std::int64_t bytes)
{
  regions out;
  if (cuts.size() < 2) { return out; }
  std::uint64_t const first = cuts.front();
  std::uint64_t const end = cuts.back();
  std::uint64_t const all = end - first;
  auto const wanted = static_cast<std::uint64_t>(bytes);
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

std::int64_t buffer_bytes(regions const& cut, double share, std::int64_t beyond)
{
  std::int64_t const three = 3 * (cut.largest_bytes() + beyond);
  std::int64_t const all = cut.all_bytes() + cut.size() * beyond;
  auto const wanted = static_cast<std::int64_t>(share * static_cast<double>(all));
  return std::min(std::max(wanted, three), all);
}

double passing_seconds(std::int64_t all, double reads, double held)
{
  double const apart = 1 - std::clamp(held, 0.0, 1.0);
  return (apart * apart * reads / 2 + last_passes) * as_double(all) / bulk_bytes;
}

std::int64_t least_walks(double passing_seconds, double reads)
{
  if (!(reads > 0)) { return std::numeric_limits<std::int64_t>::max(); }
  constexpr double most = 1e18;
  return static_cast<std::int64_t>(std::ceil(std::min(most, passing_seconds * single_reads / reads)));
}

std::optional<std::int64_t> region_choice::next(regions const& cut, std::span<std::uint64_t const> waiting,
                                                std::int64_t except) const
{
  std::int64_t best = -1;
  double most = 0;
  std::uint64_t all = 0;
  for (std::int64_t r = 0; r < cut.size(); ++r) {
    std::uint64_t const here = waiting[static_cast<std::size_t>(r)];
    all += here;
    double const density = static_cast<double>(here) / (as_double(cut.bytes(r)) + bytes_a_pass);
    if (r != except && density > most) {
      best = r;
      most = density;
    }
  }
  if (best < 0) { return std::nullopt; }
  double const share = as_double(cut.bytes(best)) / as_double(cut.all_bytes());
  double const served =
      std::max(static_cast<double>(waiting[static_cast<std::size_t>(best)]), turns * static_cast<double>(all) * share);
  if (served * bytes_a_walk < as_double(cut.bytes(best))) { return std::nullopt; }
  return best;
}

}  // namespace tendril::place
