// What every executor keeps of a planned walk; each adds its own.

#pragma once

#include <tendril/walk.hpp>

namespace tendril {

struct walker::state {
  virtual ~state() = default;

  graph input;
  walk_params params;
  sampling_plan plan;
  int device = -1;  ///< The GPU it was made for, or -1.
};

}  // namespace tendril
