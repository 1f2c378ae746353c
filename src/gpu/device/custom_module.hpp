// Structs that come as text on a GPU: compiled by NVRTC with the engine's kernels, loaded, and launched as those that
// nvcc compiled are.

#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include <cuda_runtime_api.h>

#include <tendril/engine/custom_struct.hpp>
#include <tendril/exec.hpp>

#include "gpu/device/nvrtc.hpp"
#include "jit/custom_code.hpp"

namespace tendril::gpu {

/// What NVRTC is asked to name: the kernels of a kind for such graphs, then tendril_make.
[[nodiscard]] std::vector<std::string> kernel_names(jit::custom_kind const& kind, jit::unit_graph graph);

/// Compiles a unit with all that it includes, for such graphs and GPUs of that compute capability.
[[nodiscard]] nvrtc_result compile_unit(nvrtc const& compiler, jit::custom_code const& code, jit::unit_graph graph,
                                        int major, int minor);

/// Loaded code, and the struct in it.
class custom_module {
 public:
  /// What is kept of a result: names, then code.
  [[nodiscard]] static std::string packed(nvrtc_result const& result);
  /// Loads that. @return null if it is no such thing with so many kernels.
  static std::shared_ptr<custom_module> load(std::string const& file, std::size_t num_kernels);
  ~custom_module();
  custom_module(custom_module const&) = delete;
  custom_module& operator=(custom_module const&) = delete;

  std::vector<void const*> kernels;  ///< cudaKernel_t, as kernel_names() has them.
  std::vector<std::byte> bytes;      ///< Of the struct.
  std::int32_t flags = 0;            ///< custom_made::flags

 private:
  custom_module() = default;
  cudaLibrary_t library_ = nullptr;
};

/// The code of a struct on a GPU for such graphs, from the cache or compiled and put there; loaded when first asked for, which
/// synchronises.
/// @throws argument_error for what is wrong with the struct; device_error without NVRTC.
[[nodiscard]] std::shared_ptr<custom_module const> module_of(jit::custom_code& code, jit::unit_graph graph,
                                                             gpu_exec const& exec);

}  // namespace tendril::gpu
