#pragma once

#include <tendril/generate.hpp>
#include <tendril/graph.hpp>

#include "support/sanitized.hpp"

namespace tendril::test {

/// Symmetric, without duplicates.
inline graph simple_rmat()
{
  build_options build;
  build.symmetrize = true;
  build.drop_duplicates = true;
  return generate_rmat({unless_sanitized(12, 10), 16}, build);
}

}  // namespace tendril::test
