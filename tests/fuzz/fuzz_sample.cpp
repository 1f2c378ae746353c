// Any bytes as a graph file of any format, and every sampler on what comes out.

#include "sample_any.hpp"

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size)
{
  (void)tendril::fuzz::sample_any(data, size);
  return 0;
}
