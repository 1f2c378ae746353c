#pragma once

#include <string>

#include <fmt/format.h>

#include <tendril/error.hpp>
#include <tendril/layers.hpp>

namespace tendril::python {

[[nodiscard]] inline char const* name_of(propagation matrix)
{
  switch (matrix) {
    case propagation::symmetric: return "symmetric";
    case propagation::weights: return "weights";
    default: return "row";
  }
}

/// @throws argument_error.
[[nodiscard]] inline propagation parse_propagation(std::string const& name)
{
  for (propagation const matrix : {propagation::row, propagation::symmetric, propagation::weights}) {
    if (name == name_of(matrix)) { return matrix; }
  }
  throw argument_error(fmt::format("normalization is '{}', expected 'row', 'symmetric' or 'weights'", name));
}

}  // namespace tendril::python
