// Tests of what NVRTC compiles. Compiling alone needs NVRTC but no GPU.

#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <tendril/custom_code.hpp>
#include <tendril/error.hpp>

#include "gpu/device/custom_module.hpp"
#include "jit/custom_unit.hpp"
#include "support/gpu_test.hpp"

namespace tendril::test {

/// $TENDRIL_NVRTC: a folder that has libnvrtc, for machines where nothing else says where it is.
inline std::vector<std::string> nvrtc_folders()
{
  char const* const folder = std::getenv("TENDRIL_NVRTC");
  return folder == nullptr ? std::vector<std::string>{} : std::vector<std::string>{folder};
}

inline bool has_nvrtc()
{
  try {
    gpu::nvrtc const library(nvrtc_folders());
    return true;
  } catch (device_error const&) {
    return false;
  }
}

using parameters = std::vector<custom_parameter>;

/// Compiles for an H200.
class nvrtc_test : public testing::Test {
 protected:
  void SetUp() override
  {
    if (!has_nvrtc()) { GTEST_SKIP() << "no NVRTC"; }
  }

  static gpu::nvrtc_result compile(jit::custom_code const& code, jit::unit_graph graph = jit::unit_graph::csr)
  {
    return gpu::compile_unit(gpu::nvrtc(nvrtc_folders()), code, graph, 9, 0);
  }

  /// What compiling a struct `w` says.
  static std::string complaint(jit::custom_kind const& kind, std::string const& source, parameters values = {})
  {
    jit::custom_code code(kind);
    code.source = source;
    code.struct_name = "w";
    code.parameters = std::move(values);
    gpu::nvrtc_result const result = compile(code);
    if (result.done) { return "nothing"; }
    try {
      jit::throw_compile_error(code, "NVRTC", result.log);
    } catch (argument_error const& problem) {
      return problem.what();
    }
  }
};

/// Compiles for a GPU that is there, into a cache of its own.
class nvrtc_gpu_test : public gpu_test {
 protected:
  void SetUp() override
  {
    gpu_test::SetUp();
    if (IsSkipped()) { return; }
    if (!has_nvrtc()) { GTEST_SKIP() << "no NVRTC"; }
    std::string pattern = (std::filesystem::temp_directory_path() / "tendril-custom-XXXXXX").string();
    folder = mkdtemp(pattern.data());
    options.cache_folder = folder.string();
    options.nvrtc_folders = nvrtc_folders();
  }
  void TearDown() override
  {
    if (!folder.empty()) { std::filesystem::remove_all(folder); }
  }

  std::filesystem::path folder;
  custom_options options;
};

}  // namespace tendril::test
