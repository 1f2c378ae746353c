// Tests that need a GPU: on a machine without one they are skipped, by name.

#pragma once

#include <gtest/gtest.h>

#include <tendril/error.hpp>
#include <tendril/gpu.hpp>

namespace tendril::test {

class gpu_test : public testing::Test {
 protected:
  void SetUp() override
  {
    if (num_gpus() == 0) { GTEST_SKIP() << "no GPU"; }
  }
  gpu_exec exec{0};
};

}  // namespace tendril::test
