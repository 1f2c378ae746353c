#include "graph/narrow_check.hpp"

#include <cmath>

#include <fmt/format.h>

namespace tendril::validation {

std::string weight_value_problem(narrow_edges const& narrow)
{
  for (std::int64_t i = 0; i < narrow.weight_values.size(); ++i) {
    float const value = narrow.weight_values[i];
    if (!(std::isfinite(value) && value >= 0)) {
      return fmt::format("weight {} in the dictionary at {}, expected a finite number >= 0", value, i);
    }
  }
  return {};
}

std::string code_problem(narrow_edges const& narrow, edge_id e)
{
  auto const size = static_cast<std::uint32_t>(narrow.weight_values.size());
  if (is_good_code(narrow.weight_codes.view(), size, e)) { return {}; }
  return fmt::format("weight {} of the dictionary at edge {}, expected one of {}",
                     narrow.weight_codes.view().at(e, plain_load{}), e, size);
}

}  // namespace tendril::validation
