// Copies between GPUs: every byte, in both directions; from a GPU to itself where there is one alone.

#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include <tendril/gpu_array.hpp>
#include <tendril/several_gpus.hpp>

#include "support/gpu_test.hpp"

namespace tendril::test {
namespace {

class PeerCopy : public gpu_test {};

TEST_F(PeerCopy, BringsEveryByte)
{
  gpu_set const gpus = all_gpus();
  for (int const from : gpus) {
    for (int const to : gpus) {
      for (std::int64_t const size : {0, 1, 1'000'003}) {
        std::vector<vertex_id> values(static_cast<std::size_t>(size));
        std::iota(values.begin(), values.end(), vertex_id{7});
        gpu_exec const here(from), there(to);
        auto const source = copy_to_gpu(values, here);
        synchronize(here);
        for (memory_resource* memory : {&gpu_memory(to), &lasting_gpu_memory(to)}) {
          buffer<vertex_id> copy(size, *memory);
          copy_between_gpus(source.data(), from, copy.data(), static_cast<std::size_t>(size) * sizeof(vertex_id),
                            there);
          std::vector<vertex_id> back(values.size());
          copy_to_host(copy.data(), back.data(), back.size() * sizeof(vertex_id), there);
          EXPECT_EQ(back, values) << "from " << from << " to " << to;
        }
      }
    }
  }
}

}  // namespace
}  // namespace tendril::test
