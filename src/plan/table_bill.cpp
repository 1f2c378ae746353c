#include "plan/table_bill.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>

#include <tendril/error.hpp>

namespace tendril::plan {

table_budget table_budget::of(graph const& graph, table_limit asked)
{
  if (asked) { return {*asked, false}; }
  if (graph.form() == graph_form::csr) { return {}; }
  std::int64_t const csr_bytes = 8 * (graph.num_vertices() + 1) + 4 * graph.num_edges();
  return {std::max<std::int64_t>(0, csr_bytes - graph.arrays().compressed.num_bytes()), true};
}

bool table_bill::decide(bool taken, std::string reason)
{
  plan_.reasons.push_back(std::move(reason));
  return taken;
}

bool table_bill::is_within_limit(table_offer const& offer) const
{
  if (offer.bytes <= where_.limit.bytes - plan_.table_bytes) { return true; }
  bool const may_exceed = offer.spares_lists && where_.needs_tables && where_.limit.is_saved;
  return may_exceed && offer.bytes <= where_.free_bytes() / 2;
}

std::string table_bill::refuse(char const* name, std::int64_t bytes)
{
  plan_.table_bytes_refused = std::max(plan_.table_bytes_refused, bytes);
  std::string const much = fmt::format("{} of {:.1f} MB", name, static_cast<double>(bytes) / 1e6);
  double const limit = static_cast<double>(where_.limit.bytes) / 1e6;
  if (!where_.limit.is_saved) { return fmt::format("{} would exceed the limit of {:.1f} MB for tables", much, limit); }
  return fmt::format("{} would undo the compression, which saves {:.1f} MB; table_bytes sets another limit", much,
                     limit);
}

bool table_bill::accept(char const* name, bool built, table_offer const& offer)
{
  std::int64_t const megabytes = offer.bytes / 1'000'000;
  bool const within = is_within_limit(offer);
  if (built && within) { return decide(true, fmt::format("{}: built by an earlier call", name)); }
  if (offer.gain_ns < offer.build_ns && !built) {
    return decide(false, fmt::format("{}: this job is too small to pay for {}", offer.without, name));
  }
  if (!within) { return decide(false, fmt::format("{}: {}", offer.without, refuse(name, offer.bytes))); }
  if (offer.bytes > where_.free_bytes() / 2) {
    return decide(false, fmt::format("{}: {} of {} MB would take over half of {}", offer.without, name, megabytes,
                                     where_.memory));
  }
  return decide(true, fmt::format("{}: {} MB, pays for this job", name, megabytes));
}

bool table_bill::fits(char const* name, bool built, table_offer const& offer)
{
  if (!is_within_limit(offer)) {
    return decide(false, fmt::format("{}: {}", offer.without, refuse(name, offer.bytes)));
  }
  if (built) { return decide(true, fmt::format("{}: built by an earlier call", name)); }
  std::int64_t const megabytes = offer.bytes / 1'000'000;
  if (offer.bytes <= where_.free_bytes()) { return decide(true, fmt::format("{}: {} MB", name, megabytes)); }
  return decide(false,
                fmt::format("{}: {} of {} MB does not fit into {}", offer.without, name, megabytes, where_.memory));
}

void table_bill::require(char const* name, bool built, std::int64_t bytes, char const* instead)
{
  if (built) {
    plan_.reasons.push_back(fmt::format("{}: built by an earlier call", name));
    return;
  }
  std::int64_t const free_bytes = where_.free_bytes();
  if (bytes > free_bytes) {
    throw memory_error(fmt::format("{}: {:.1f} MB needed, {} is {:.1f} MB; {}", name, static_cast<double>(bytes) / 1e6,
                                   where_.memory, static_cast<double>(free_bytes) / 1e6, instead));
  }
  plan_.reasons.push_back(fmt::format("{}: {} MB", name, bytes / 1'000'000));
}

}  // namespace tendril::plan
