// What the executors keep of a walk that came as text.

#pragma once

#include <map>
#include <memory>
#include <mutex>

#include <tendril/custom_walk.hpp>

namespace tendril {

struct custom_walk::state {
  std::string source;
  std::string struct_name;
  std::vector<custom_parameter> parameters;
  bool has_bytes = false;  ///< The struct comes as `bytes` instead.
  std::vector<std::byte> bytes;
  custom_walk_options options;

  std::mutex mutex;                                 ///< Guards the following while somebody compiles.
  std::shared_ptr<void const> cpu;                  ///< src/cpu/custom_walk.cpp
  std::map<int, std::shared_ptr<void const>> gpus;  ///< src/gpu/custom_walk.cpp, by device.
};

}  // namespace tendril
