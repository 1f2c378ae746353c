// Common to walks and applications from source text: the values of the struct's fields, and the choice of the compiler.

#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace tendril {

/// The value of one field of the struct, by name: a number, or at most as many numbers as the array has elements.
struct custom_parameter {
  std::string name;
  std::variant<double, std::int64_t, std::vector<double>, std::vector<std::int64_t>> value;
};

/// The compiler for a struct, and the folder for compiled code. Never part of a result.
struct custom_options {
  /// For the CPU: a program that accepts the options of g++ and clang++, optionally followed by more options,
  /// separated by spaces; a level of optimisation among them replaces -O3. Empty: $CXX, or the first of c++, g++, clang++ on the path.
  std::string compiler;
  /// For GPUs: folders to search for libnvrtc, in addition to the system's library path and CUDA's folder.
  std::vector<std::string> nvrtc_folders;
  /// Folder for compiled code. Empty: tendril/ in $XDG_CACHE_HOME, or in ~/.cache. A folder that can't be written, or
  /// belongs to another user, isn't used; each process then compiles the text again.
  std::string cache_folder;
};

}  // namespace tendril
