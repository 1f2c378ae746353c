#include "gpu/device/custom_module.hpp"

#include <utility>

#include <fmt/format.h>

#include <tendril/buffer.hpp>
#include <tendril/gpu.hpp>

#include "gpu/device/check.hpp"
#include "jit/code_cache.hpp"
#include "jit/custom_unit.hpp"

namespace tendril::gpu {
namespace {

/// The engine's headers and the source, and the standard headers that they include.
std::vector<jit::embedded_text> files_of(jit::custom_code const& code)
{
  auto files = jit::unit_files(code);
  auto const standard = jit::nvrtc_headers();
  files.insert(files.end(), standard.begin(), standard.end());
  return files;
}

/// From the cache, or compiled and put there.
std::shared_ptr<custom_module> load(jit::custom_code const& code, jit::unit_graph graph, int device)
{
  nvrtc const compiler(code.options.nvrtc_folders);
  gpu_info const info = describe_gpu(device);
  auto const options = nvrtc::options(info.major, info.minor);
  std::string all;
  for (auto const& file : files_of(code)) { all += jit::content_hash({file.name, file.text}); }
  std::string const name = jit::content_hash({compiler.name(), fmt::format("{}", fmt::join(options, " ")),
                                              jit::gpu_unit(code, graph), all}) +
                           ".kernels";

  std::size_t const num_kernels = kernel_names(*code.kind, graph).size();
  jit::code_cache const cache(code.options.cache_folder);
  if (auto kept = custom_module::load(cache.find(name), num_kernels); kept) { return kept; }
  nvrtc_result const result = compile_unit(compiler, code, graph, info.major, info.minor);
  if (!result.done) { jit::throw_compile_error(code, compiler.name(), result.log); }
  std::string const file = custom_module::packed(result);
  auto module = custom_module::load(file, num_kernels);
  if (!module) {
    throw device_error(
        fmt::format("GPU {}: cannot load what {} compiled; is its driver older?", device, compiler.name()));
  }
  cache.keep(name, file, jit::temporary_folder(cache.work_folder()));
  return module;
}

/// Has the GPU set the struct's fields: only there is known how it lies in memory.
engine::custom_made make(jit::custom_code const& code, custom_module const& module, gpu_exec const& exec)
{
  std::vector<engine::custom_word> const words = jit::parameter_words(code);
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
  TENDRIL_CUDA_TRY(cudaLaunchKernel(module.kernels.back(), dim3(1), dim3(1), arguments, 0, exec.stream));
  TENDRIL_CUDA_TRY(cudaMemcpyAsync(&made, out, sizeof made, cudaMemcpyDeviceToHost, exec.stream));
  TENDRIL_CUDA_TRY(cudaStreamSynchronize(exec.stream));
  return made;
}

}  // namespace

std::vector<std::string> kernel_names(jit::custom_kind const& kind, jit::unit_graph graph)
{
  auto const kernels = jit::is_part(graph) ? kind.part_kernels : kind.kernels;
  std::vector<std::string> names(kernels.begin(), kernels.end());
  names.emplace_back("tendril_make");
  return names;
}

nvrtc_result compile_unit(nvrtc const& compiler, jit::custom_code const& code, jit::unit_graph graph, int major,
                          int minor)
{
  return compiler.compile(jit::gpu_unit(code, graph), files_of(code), nvrtc::options(major, minor),
                          kernel_names(*code.kind, graph));
}

std::string custom_module::packed(nvrtc_result const& result)
{
  return fmt::format("{}\n", fmt::join(result.names, "\n")) + result.cubin;
}

std::shared_ptr<custom_module> custom_module::load(std::string const& file, std::size_t num_kernels)
{
  std::vector<std::string> names;
  std::size_t at = 0;
  for (std::size_t end = 0; names.size() < num_kernels; at = end + 1) {
    end = file.find('\n', at);
    if (end == std::string::npos) { return nullptr; }
    names.push_back(file.substr(at, end - at));
  }
  auto module = std::shared_ptr<custom_module>(new custom_module);
  std::string const cubin = file.substr(at);  // aligned as memory of its own is
  bool loaded =
      cudaLibraryLoadData(&module->library_, cubin.data(), nullptr, nullptr, 0, nullptr, nullptr, 0) == cudaSuccess;
  for (auto const& name : names) {
    cudaKernel_t kernel{};
    loaded = loaded && cudaLibraryGetKernel(&kernel, module->library_, name.c_str()) == cudaSuccess;
    module->kernels.push_back(kernel);
  }
  if (!loaded) {
    (void)cudaGetLastError();
    return nullptr;
  }
  return module;
}

custom_module::~custom_module()
{
  if (library_ != nullptr) { (void)cudaLibraryUnload(library_); }
}

std::shared_ptr<custom_module const> module_of(jit::custom_code& code, jit::unit_graph graph, gpu_exec const& exec)
{
  std::lock_guard const guard(code.mutex);
  device_guard const device(exec.device);
  std::shared_ptr<void const>& slot = code.modules[{exec.device, graph}];
  if (!slot) {
    auto module = load(code, graph, exec.device);
    engine::custom_made const made = make(code, *module, exec);
    module->bytes = jit::struct_bytes(code, made);
    module->flags = made.flags;
    slot = std::move(module);
  }
  return std::static_pointer_cast<custom_module const>(slot);
}

}  // namespace tendril::gpu
