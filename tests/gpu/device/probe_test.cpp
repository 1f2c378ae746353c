// A GPU that this build has no code for gets one line that names the GPU, its capability and what the build has.

#include <string>

#include <gtest/gtest.h>

#include <tendril/gpu.hpp>

#include "gpu/device/check.hpp"
#include "gpu/device/probe.hpp"
#include "support/gpu_test.hpp"

namespace tendril {
namespace {

using probe_on_gpu = test::gpu_test;

gpu_info made_up(int major, int minor)
{
  gpu_info info{};
  info.name = "Made Up";
  info.device = 2;
  info.major = major;
  info.minor = minor;
  return info;
}

TEST(Probe, NothingIsMissing) { EXPECT_EQ(gpu::missing_code(made_up(8, 0), cudaSuccess), ""); }

TEST(Probe, TooOld)
{
  EXPECT_EQ(gpu::missing_code(made_up(7, 5), cudaErrorNoKernelImageForDevice),
            "GPU 2 (Made Up) has compute capability 7.5, expected 8.0 or newer");
  // Code for it would not help: the kernels use instructions that it lacks.
  EXPECT_NE(gpu::missing_code(made_up(7, 5), cudaSuccess), "");
}

TEST(Probe, OtherGpus)
{
  std::string const line = gpu::missing_code(made_up(12, 0), cudaErrorNoKernelImageForDevice);
  EXPECT_EQ(line.rfind("GPU 2 (Made Up) has compute capability 12.0, expected ", 0), 0U) << line;
  EXPECT_NE(line.find("-DCMAKE_CUDA_ARCHITECTURES=120)"), std::string::npos) << line;
  EXPECT_EQ(line.find('\n'), std::string::npos) << line;
}

TEST(Probe, OtherProblems)
{
  std::string const line = gpu::missing_code(made_up(9, 0), cudaErrorECCUncorrectable);
  EXPECT_NE(line.find("cudaErrorECCUncorrectable"), std::string::npos) << line;
  EXPECT_EQ(line.find("CMAKE_CUDA_ARCHITECTURES"), std::string::npos) << line;
}

TEST_F(probe_on_gpu, Loads)
{
  gpu::device_guard const guard(0);
  EXPECT_EQ(gpu::load_probe(), cudaSuccess);
}

}  // namespace
}  // namespace tendril
