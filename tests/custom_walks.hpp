// Sources of walks that come as text, for the tests of both sides.

#pragma once

#include <fstream>
#include <sstream>
#include <string>

#include <tendril/dynamic_walk.hpp>

namespace tendril::test {

/// The text of a header of examples/.
inline std::string example_source(std::string const& name)
{
  std::ifstream const file(std::string(TENDRIL_SOURCE_DIR) + "/examples/" + name);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// A member function: the smaller the graph's weight the likelier, by an expression for a constant.
inline std::string weight_of(std::string const& constant)
{
  return "float weight(walk_state const&, walk_edge const& e) const { return 1 / (e.weight() + (" + constant + ")); }";
}

/// What weight_of("1") makes.
struct small_weights_walk {
  [[nodiscard]] TENDRIL_HD float weight(walk_state const&, walk_edge const& e) const { return 1 / (e.weight() + 1); }
};

}  // namespace tendril::test
