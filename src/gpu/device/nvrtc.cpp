#include "gpu/device/nvrtc.hpp"

#include <cstddef>
#include <cstdlib>
#include <memory>

#include <dlfcn.h>

#include <fmt/format.h>

#include <tendril/error.hpp>

namespace tendril::gpu {
namespace {

// The parts of nvrtc.h that are used, which need not be there to build this.
using program = void*;
constexpr int success = 0;
constexpr int compilation_failed = 6;
using version_function = int(int*, int*);
using create_function = int(program*, char const*, char const*, int, char const* const*, char const* const*);
using destroy_function = int(program*);
using compile_function = int(program, int, char const* const*);
using add_name_function = int(program, char const*);
using lowered_name_function = int(program, char const*, char const**);
using size_function = int(program, std::size_t*);
using text_function = int(program, char*);
using error_function = char const*(int);

template <class Function>
Function* function_of(void* library, char const* name)
{
  auto* const found = reinterpret_cast<Function*>(dlsym(library, name));
  if (found == nullptr) { throw device_error(fmt::format("NVRTC: it has no {}, expected version 12 or 13", name)); }
  return found;
}

/// Never closed: once opened it stays, as the runtime that is linked does.
void* open_library(std::vector<std::string> const& folders)
{
  std::vector<std::string> places;
  places.reserve(folders.size() + 3);
  for (auto const& folder : folders) { places.push_back(folder + "/"); }
  places.emplace_back();  // what the process has loaded, then the system's path
  for (char const* const variable : {"CUDA_HOME", "CUDA_PATH"}) {
    char const* const folder = std::getenv(variable);
    if (folder != nullptr) { places.push_back(fmt::format("{}/lib64/", folder)); }
  }
  places.emplace_back("/usr/local/cuda/lib64/");
  for (char const* const name : {"libnvrtc.so.13", "libnvrtc.so.12"}) {
    for (auto const& place : places) {
      void* const library = dlopen((place + name).c_str(), RTLD_NOW | RTLD_LOCAL);
      if (library != nullptr) { return library; }
    }
  }
  throw device_error(
      "NVRTC: there is no libnvrtc.so.13 or .12, which compiles texts for GPUs; it comes with the CUDA toolkit, or "
      "with 'pip install nvidia-cuda-nvrtc'");
}

std::string text_of(program unit, size_function* size_of, text_function* get)
{
  std::size_t size = 0;
  if (size_of(unit, &size) != success) { return ""; }
  std::string text(size, '\0');
  if (get(unit, text.data()) != success) { return ""; }
  return text;
}

/// NVRTC opens its other half by name alone, which finds it if it is loaded, wherever that was from.
void open_builtins(void* library, int major, int minor)
{
  Dl_info place{};
  if (dladdr(dlsym(library, "nvrtcVersion"), &place) == 0) { return; }
  std::string const path = place.dli_fname;
  std::string const folder = path.substr(0, path.rfind('/') + 1);  // empty: found by the system, and so is the other
  (void)dlopen(fmt::format("{}libnvrtc-builtins.so.{}.{}", folder, major, minor).c_str(), RTLD_NOW | RTLD_LOCAL);
}

}  // namespace

nvrtc::nvrtc(std::vector<std::string> const& folders) : library_(open_library(folders))
{
  function_of<version_function>(library_, "nvrtcVersion")(&major_, &minor_);
  open_builtins(library_, major_, minor_);
}

std::string nvrtc::name() const { return fmt::format("NVRTC {}.{}", major_, minor_); }

std::vector<std::string> nvrtc::options(int major, int minor)
{
  // Functions without an annotation are for the GPU: a walk's source needs none.
  return {fmt::format("--gpu-architecture=sm_{}{}", major, minor), "--std=c++20", "--fmad=false",
          "--device-as-default-execution-space", "--disable-warnings"};
}

nvrtc_result nvrtc::compile(std::string const& unit, std::span<jit::embedded_text const> files,
                            std::vector<std::string> const& with, std::vector<std::string> const& expressions) const
{
  auto const check = [&](int status) {
    if (status == success) { return; }
    auto* const describe = function_of<error_function>(library_, "nvrtcGetErrorString");
    throw device_error(fmt::format("{}: {}", name(), describe(status)));
  };
  std::vector<std::string> owned;  // the C interface wants zeros at the ends
  for (auto const& file : files) {
    owned.emplace_back(file.name);
    owned.emplace_back(file.text);
  }
  std::vector<char const*> names;
  std::vector<char const*> texts;
  for (std::size_t i = 0; i < owned.size(); i += 2) {
    names.push_back(owned[i].c_str());
    texts.push_back(owned[i + 1].c_str());
  }
  std::vector<char const*> options;
  options.reserve(with.size());
  for (auto const& option : with) { options.push_back(option.c_str()); }

  void* const library = library_;
  program raw = nullptr;
  check(function_of<create_function>(library, "nvrtcCreateProgram")(
      &raw, unit.c_str(), "unit.cu", static_cast<int>(names.size()), texts.data(), names.data()));
  auto* const destroy = function_of<destroy_function>(library, "nvrtcDestroyProgram");
  std::shared_ptr<void> const guard(raw, [destroy](program open) { destroy(&open); });
  for (auto const& expression : expressions) {
    check(function_of<add_name_function>(library, "nvrtcAddNameExpression")(raw, expression.c_str()));
  }
  int const status = function_of<compile_function>(library, "nvrtcCompileProgram")(
      raw, static_cast<int>(options.size()), options.data());
  nvrtc_result result;
  result.log = text_of(raw, function_of<size_function>(library, "nvrtcGetProgramLogSize"),
                       function_of<text_function>(library, "nvrtcGetProgramLog"));
  while (!result.log.empty() && result.log.back() == '\0') { result.log.pop_back(); }
  if (status == compilation_failed) { return result; }
  check(status);
  for (auto const& expression : expressions) {
    char const* lowered = nullptr;
    check(function_of<lowered_name_function>(library, "nvrtcGetLoweredName")(raw, expression.c_str(), &lowered));
    result.names.emplace_back(lowered);
  }
  result.cubin = text_of(raw, function_of<size_function>(library, "nvrtcGetCUBINSize"),
                         function_of<text_function>(library, "nvrtcGetCUBIN"));
  result.done = true;
  return result;
}

}  // namespace tendril::gpu
