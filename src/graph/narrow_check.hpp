// Whether the edge arrays of a compressed graph that are in fewer bits hold what they may. Their shapes are checked when
// the graph is made.

#pragma once

#include <cstdint>
#include <string>

#include <tendril/graph.hpp>
#include <tendril/packed_numbers.hpp>

namespace tendril::validation {

/// What is wrong with the weights that edges can have; empty: nothing.
[[nodiscard]] std::string weight_value_problem(narrow_edges const& narrow);

/// Whether a code can be beyond the dictionary.
inline bool has_spare_codes(narrow_edges const& narrow)
{
  return !narrow.weight_codes.empty() && narrow.weight_values.size() < std::int64_t{1} << narrow.weight_codes.width;
}

/// Whether the code of edge e is in a dictionary of `size` values.
TENDRIL_HD bool is_good_code(packed_numbers const& codes, std::uint32_t size, edge_id e)
{
  return codes.at(e, plain_load{}) < size;
}

/// Whether the codes of edges [begin, end) are in the dictionary.
inline bool has_good_codes(narrow_edges const& narrow, edge_id begin, edge_id end)
{
  packed_numbers const codes = narrow.weight_codes.view();
  auto const size = static_cast<std::uint32_t>(narrow.weight_values.size());
  bool good = true;
  for (edge_id e = begin; e < end; ++e) { good &= is_good_code(codes, size, e); }
  return good;
}

/// What is wrong with the code of edge e; empty: nothing.
[[nodiscard]] std::string code_problem(narrow_edges const& narrow, edge_id e);

}  // namespace tendril::validation
