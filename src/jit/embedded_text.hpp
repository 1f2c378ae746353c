// Headers that the library holds as text, for compilers that run when the program does. CMakeLists.txt lists them.

#pragma once

#include <span>
#include <string_view>

namespace tendril::jit {

struct embedded_text {
  std::string_view name;  ///< As an #include has it.
  std::string_view text;
};

/// What the engines of dynamic walks and of sampling applications are made of.
std::span<embedded_text const> engine_headers();

/// The standard headers that those include, for NVRTC.
std::span<embedded_text const> nvrtc_headers();

}  // namespace tendril::jit
