// Walks that come as text on a GPU: compiled by NVRTC with the engine's kernels, loaded, and launched as those that nvcc
// compiled are. CPU twin: src/cpu/custom_walk.cpp.

#include <tendril/custom_walk.hpp>

#include <utility>

#include <fmt/format.h>

#include <tendril/engine/dynamic_launch.hpp>
#include <tendril/gpu.hpp>

#include "gpu/check.hpp"
#include "gpu/nvrtc.hpp"
#include "plan/custom_unit.hpp"
#include "store/code_cache.hpp"

namespace tendril {
namespace gpu {
namespace {

/// Loaded code, and the struct that its walk is.
class custom_module {
 public:
  /// Loads a file that `packed` made. @return null if it is none.
  static std::shared_ptr<custom_module> load(std::string const& file)
  {
    std::size_t const first = file.find('\n');
    std::size_t const second = first == std::string::npos ? first : file.find('\n', first + 1);
    if (second == std::string::npos) { return nullptr; }
    auto module = std::shared_ptr<custom_module>(new custom_module);
    std::string const names[] = {file.substr(0, first), file.substr(first + 1, second - first - 1), "tendril_make"};
    cudaKernel_t kernels[3] = {};
    std::string const cubin = file.substr(second + 1);  // aligned as memory of its own is
    bool loaded =
        cudaLibraryLoadData(&module->library_, cubin.data(), nullptr, nullptr, 0, nullptr, nullptr, 0) == cudaSuccess;
    for (int i = 0; i < 3 && loaded; ++i) {
      loaded = cudaLibraryGetKernel(&kernels[i], module->library_, names[i].c_str()) == cudaSuccess;
    }
    if (!loaded) {
      (void)cudaGetLastError();
      return nullptr;
    }
    module->kernels = {kernels[0], kernels[1]};
    module->make = kernels[2];
    return module;
  }
  static std::string packed(nvrtc_result const& result)
  {
    return result.names[0] + '\n' + result.names[1] + '\n' + result.cubin;
  }
  ~custom_module()
  {
    if (library_ != nullptr) { (void)cudaLibraryUnload(library_); }
  }
  custom_module(custom_module const&) = delete;
  custom_module& operator=(custom_module const&) = delete;

  engine::dynamic_kernels kernels{};
  void const* make = nullptr;
  std::vector<std::byte> bytes;  ///< Of the struct.
  bool has_bound = false;

 private:
  custom_module() = default;
  cudaLibrary_t library_ = nullptr;
};

/// From the cache, or compiled and put there.
std::shared_ptr<custom_module> load(custom_walk::state const& walk, int device)
{
  nvrtc const compiler(walk.options.nvrtc_folders);
  gpu_info const info = describe_gpu(device);
  auto const options = nvrtc::options(info.major, info.minor);
  std::string const unit = plan::gpu_unit(walk);
  auto files = plan::unit_files(walk);
  auto const standard = plan::nvrtc_headers();
  files.insert(files.end(), standard.begin(), standard.end());
  std::string all;
  for (auto const& file : files) { all += store::content_hash({file.name, file.text}); }
  std::string const name =
      store::content_hash({compiler.name(), fmt::format("{}", fmt::join(options, " ")), unit, all}) + ".kernels";

  store::code_cache const cache(walk.options.cache_folder);
  if (auto kept = custom_module::load(cache.find(name)); kept) { return kept; }
  nvrtc_result const result =
      compiler.compile(unit, files, options, {plan::scan_kernel_name, plan::reject_kernel_name});
  if (!result.done) { plan::throw_compile_error(walk, compiler.name(), result.log); }
  std::string const file = custom_module::packed(result);
  auto module = custom_module::load(file);
  if (!module) {
    throw device_error(
        fmt::format("GPU {}: cannot load what {} compiled; is its driver older?", device, compiler.name()));
  }
  cache.keep(name, file, store::temporary_folder(cache.work_folder()));
  return module;
}

/// Has the GPU set the struct's fields: only there is known how it lies in memory.
engine::custom_made make(custom_walk::state const& walk, custom_module const& module, gpu_exec const& exec)
{
  std::vector<engine::custom_word> const words = plan::parameter_words(walk);
  engine::custom_made made{};
  buffer<engine::custom_word> words_there(static_cast<std::int64_t>(words.size()), memory_of(exec));
  buffer<engine::custom_made> made_there(1, memory_of(exec));
  auto* first = words_there.data();
  auto* out = made_there.data();
  if (!words.empty()) {
    TENDRIL_CUDA_TRY(
        cudaMemcpyAsync(first, words.data(), words.size() * sizeof words[0], cudaMemcpyHostToDevice, exec.stream));
  }
  TENDRIL_CUDA_TRY(cudaMemsetAsync(out, 0, sizeof made, exec.stream));
  void* arguments[] = {&first, &out};
  TENDRIL_CUDA_TRY(cudaLaunchKernel(module.make, dim3(1), dim3(1), arguments, 0, exec.stream));
  TENDRIL_CUDA_TRY(cudaMemcpyAsync(&made, out, sizeof made, cudaMemcpyDeviceToHost, exec.stream));
  TENDRIL_CUDA_TRY(cudaStreamSynchronize(exec.stream));
  return made;
}

/// The walk's code on a GPU, loaded when first asked for.
std::shared_ptr<custom_module const> module_of(custom_walk::state& walk, gpu_exec const& exec)
{
  std::lock_guard const guard(walk.mutex);
  device_guard const device(exec.device);
  std::shared_ptr<void const>& slot = walk.gpus[exec.device];
  if (!slot) {
    auto module = load(walk, exec.device);
    engine::custom_made const made = make(walk, *module, exec);
    module->bytes = plan::struct_bytes(walk, made);
    module->has_bound = made.has_bound != 0;
    slot = std::move(module);
  }
  return std::static_pointer_cast<custom_module const>(slot);
}

/// Enqueues a batch with the kernels of a module, which must outlive what is returned, as `exec` must.
auto launcher(custom_module const& module, gpu_exec const& exec)
{
  return [&](engine::dynamic_setup const& setup, bool rejecting, engine::dynamic_batch const& batch) {
    return engine::enqueue_kernels(module.kernels, module.bytes.data(), setup, rejecting, batch, {}, exec);
  };
}

}  // namespace
}  // namespace gpu

void custom_walk::compile(gpu_exec const& exec) const { (void)gpu::module_of(*state_, exec); }

void custom_walk::run_into(graph const& graph, std::span<vertex_id const> starts, dynamic_walk_params const& params,
                           std::int64_t first_walk, vertex_id* vertices, std::int32_t* lengths,
                           gpu_exec const& exec) const
{
  auto const module = gpu::module_of(*state_, exec);
  engine::run_walk_into(graph, starts, params, module->has_bound, exec, first_walk, {vertices, lengths},
                        gpu::launcher(*module, exec));
}

walks custom_walk::run(graph const& graph, std::span<vertex_id const> starts, dynamic_walk_params const& params,
                       gpu_exec const& exec, std::int64_t first_walk) const
{
  auto const module = gpu::module_of(*state_, exec);
  return engine::run_walk_on_gpu(graph, starts, params, module->has_bound, exec, first_walk,
                                 gpu::launcher(*module, exec));
}

}  // namespace tendril
