// What walks and applications that come as text have in common: the values of their fields, and what compiles them.

#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace tendril {

/// The value of a field of the struct, by name: a number, or as many as an array has at most.
struct custom_parameter {
  std::string name;
  std::variant<double, std::int64_t, std::vector<double>, std::vector<std::int64_t>> value;
};

/// What compiles a struct, and where the result is kept. Never part of a result.
struct custom_options {
  /// For the CPU: a program with the options of g++ and clang++, and first options if it needs some, apart by spaces.
  /// Empty: $CXX, or the first of c++, g++, clang++ that is on the path.
  std::string compiler;
  /// For GPUs: where to look for libnvrtc besides the system's library path and CUDA's folder.
  std::vector<std::string> nvrtc_folders;
  /// Where compiled code stays. Empty: tendril/ in $XDG_CACHE_HOME, or in ~/.cache. A folder that can't be written, or
  /// belongs to somebody else, isn't used; the text is compiled again then.
  std::string cache_folder;
};

}  // namespace tendril
