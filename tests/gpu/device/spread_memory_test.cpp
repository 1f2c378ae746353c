// Memory over several GPUs: each of them writes and reads all of it; it is given back; what has no room is one line.

#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include <tendril/buffer.hpp>
#include <tendril/gpu_array.hpp>
#include <tendril/several_gpus.hpp>

#include "support/gpu_test.hpp"
#include "support/messages.hpp"

namespace tendril::test {
namespace {

class SpreadMemory : public gpu_test {};

TEST_F(SpreadMemory, IsThereForEachGpu)
{
  gpu_set const gpus = all_gpus();
  memory_resource& memory = spread_gpu_memory(gpus);
  EXPECT_EQ(&memory, &spread_gpu_memory(gpus));
  for (std::int64_t const size : {1, 1000, 10'000'019}) {
    buffer<vertex_id> all(size, memory);
    for (int const gpu : gpus) {
      gpu_exec const there(gpu);
      std::vector<vertex_id> values(static_cast<std::size_t>(size));
      std::iota(values.begin(), values.end(), static_cast<vertex_id>(gpu));
      auto const own = copy_to_gpu(values, there);
      copy_on_gpu(own.data(), all.data(), values.size() * sizeof(vertex_id), there);
      synchronize(there);
      for (int const reader : gpus) {
        std::vector<vertex_id> read(values.size());
        copy_to_host(all.data(), read.data(), read.size() * sizeof(vertex_id), gpu_exec(reader));
        EXPECT_EQ(read, values) << "written by " << gpu << ", read by " << reader;
      }
    }
  }
}

TEST_F(SpreadMemory, RefusesWhatHasNoRoom)
{
  memory_resource& memory = spread_gpu_memory(all_gpus());
  std::string const message =
      message_of<memory_error>([&] { buffer<std::byte> const all(std::int64_t{1} << 42, memory); });
  char const* const where = num_gpus() > 1 ? ", in equal parts on each" : "";
  EXPECT_NE(message.find(std::string("out of memory: 4398046.5 MB needed") + where), std::string::npos) << message;
  buffer<std::byte> const some(1 << 20, memory);  // it still works
  EXPECT_EQ(message_of<argument_error>([] { (void)spread_gpu_memory(gpu_set()); }),
            "memory of several GPUs: no GPU, expected one or more");
}

}  // namespace
}  // namespace tendril::test
