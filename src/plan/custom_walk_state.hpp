// What the executors keep of a walk that came as text.

#pragma once

#include <tendril/custom_walk.hpp>

#include "plan/custom_code.hpp"

namespace tendril {

namespace plan {

[[nodiscard]] custom_kind const& walk_kind();

}  // namespace plan

struct custom_walk::state : plan::custom_code {
  state() : custom_code(plan::walk_kind()) {}
};

}  // namespace tendril
