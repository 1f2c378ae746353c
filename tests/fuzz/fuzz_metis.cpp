// Any bytes as a file for read_metis.

#include "fuzz_target.hpp"

#include "formats/readers.hpp"

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size)
{
  return tendril::fuzz::run_reader(tendril::formats::read_metis, "fuzz", data, size);
}
