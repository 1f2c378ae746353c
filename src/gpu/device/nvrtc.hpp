// NVIDIA's compiler for programs that are made at run time. Opened when it is needed, never linked: without it all else
// works.

#pragma once

#include <span>
#include <string>
#include <vector>

#include "jit/embedded_text.hpp"

namespace tendril::gpu {

/// What came of compiling.
struct nvrtc_result {
  bool done = false;
  std::string log;                 ///< What the compiler said.
  std::string cubin;               ///< Code for the GPU.
  std::vector<std::string> names;  ///< What the expressions asked for are called in it.
};

class nvrtc {
 public:
  /// Finds and opens the library: in `folders`, where a program that runs has it already, on the system's library path,
  /// in CUDA's folder. @throws device_error if there is none.
  explicit nvrtc(std::vector<std::string> const& folders);

  [[nodiscard]] std::string name() const;  ///< "NVRTC 13.0"

  /// What a unit is compiled with, for a GPU of that compute capability.
  [[nodiscard]] static std::vector<std::string> options(int major, int minor);

  /// @param files        What the unit may include.
  /// @param expressions  Names of kernels, as C++ has them.
  /// @throws device_error if the compiler itself fails.
  [[nodiscard]] nvrtc_result compile(std::string const& unit, std::span<jit::embedded_text const> files,
                                     std::vector<std::string> const& with,
                                     std::vector<std::string> const& expressions) const;

 private:
  void* library_;
  int major_ = 0, minor_ = 0;
};

}  // namespace tendril::gpu
