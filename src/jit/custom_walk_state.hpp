// What the executors keep of a walk that came as text.

#pragma once

#include <tendril/custom_walk.hpp>

#include "jit/custom_code.hpp"

namespace tendril {

namespace jit {

[[nodiscard]] custom_kind const& walk_kind();

}  // namespace jit

struct custom_walk::state : jit::custom_code {
  state() : custom_code(jit::walk_kind()) {}
};

}  // namespace tendril
