// Any bytes as a file for read_edge_list; the first chooses among columns and build options.

#include "fuzz_target.hpp"

#include "store/readers.hpp"

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size)
{
  if (size == 0) { return 0; }
  tendril::read_options options;
  if (data[0] % 64 > 3) { options.build.num_vertices = 1 << 10; }  // large ids take time, so they have few of the turns
  switch (data[0] % 4) {
    case 0: break;
    case 1: options.columns = {"source", "target", "-", "weight", "label"}; break;
    case 2: options.build.compact = options.build.symmetrize = true; break;
    default: options.build.drop_duplicates = options.build.drop_self_loops = options.build.keep_edge_ids = true; break;
  }
  return tendril::fuzz::run_reader(tendril::store::read_edge_list, "fuzz", data + 1, size - 1, options);
}
