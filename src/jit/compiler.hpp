// The system's C++ compiler.

#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "jit/embedded_text.hpp"

namespace tendril::jit {

struct compiler {
  std::string program;               ///< An absolute path.
  std::vector<std::string> options;  ///< What comes first.

  [[nodiscard]] std::string name() const;      ///< For a person: "g++".
  [[nodiscard]] std::string identity() const;  ///< Changes when the program does.
};

/// @param wanted  A program and its first options, or empty: $CXX, c++, g++, clang++, whichever there is first.
/// @throws io_error if there is none.
[[nodiscard]] compiler find_compiler(std::string const& wanted);

/// What a unit is compiled with, besides the compiler's own options.
[[nodiscard]] std::vector<std::string> library_options();

struct compiled {
  bool done;
  std::string output;  ///< What the compiler said, without the folder's name.
};

/// Compiles `unit`, which includes `files`, to `library`, a file in `folder`; leaves everything there.
/// @throws io_error if the compiler can't be run.
[[nodiscard]] compiled compile_library(compiler const& with, std::string const& unit,
                                       std::span<jit::embedded_text const> files, std::filesystem::path const& folder,
                                       std::string const& library);

}  // namespace tendril::jit
