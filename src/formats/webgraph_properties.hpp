#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "formats/bitstream.hpp"  // coding

namespace tendril::formats {

/// What a WebGraph `.properties` file says about how its `.graph` is coded.
struct webgraph_properties {
  std::int64_t num_vertices = 0;
  std::int64_t num_arcs = 0;
  std::int64_t window = 7;               ///< How far back a list may refer; 0: no references.
  std::int64_t min_interval_length = 4;  ///< 0: no intervals.
  coding outdegrees{bit_code::gamma};
  coding references{bit_code::unary};
  coding block_counts{bit_code::gamma};
  coding blocks{bit_code::gamma};
  coding intervals{bit_code::gamma};
  coding residuals{bit_code::zeta};
  coding offsets{bit_code::gamma};
};

/// Reads the text of a `.properties` file (a Java property file; keys that don't matter here are skipped).
/// @param path  Named in errors.
/// @throws format_error "path:line: …" for a value that is missing, malformed or not supported.
[[nodiscard]] webgraph_properties parse_webgraph_properties(std::string const& path, std::string_view text);

}  // namespace tendril::formats
