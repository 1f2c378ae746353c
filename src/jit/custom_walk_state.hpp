// What the executors keep of a walk that came as text.

#pragma once

#include <string>

#include <tendril/custom_walk.hpp>
#include <tendril/error.hpp>

#include "jit/custom_code.hpp"

namespace tendril {

namespace jit {

[[nodiscard]] custom_kind const& walk_kind();

/// What a walk is, for comparisons between processes.
[[nodiscard]] std::string identity_of(custom_code const& code);

/// What make() gives. @throws argument_error of make(), which says besides what a walk on parts may read.
template <class F>
auto for_parts(F const& make)
{
  try {
    return make();
  } catch (argument_error const& error) {
    throw argument_error(
        std::string("on parts of a graph, where a walk reads the edges of the walker's own vertex alone: ") +
        error.what());
  }
}

}  // namespace jit

struct custom_walk::state : jit::custom_code {
  state() : custom_code(jit::walk_kind()) {}
};

}  // namespace tendril
