// Any bytes as a file for read_edge_list; the first chooses among columns and build options. Vertices are few, or their
// ids made compact: a graph of 2^24 vertices is what a line may ask for, and takes a second under the sanitizers.

#include "fuzz_target.hpp"

#include "formats/readers.hpp"

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size)
{
  if (size == 0) { return 0; }
  tendril::read_options options;
  auto& build = options.build;
  build.num_vertices = 1 << 10;
  switch (data[0] % 4) {
    case 0: break;
    case 1: options.columns = {"source", "target", "-", "weight", "label"}; break;
    case 2:
      build.compact = build.symmetrize = true;
      build.num_vertices = -1;
      break;
    default: build.drop_duplicates = build.drop_self_loops = build.keep_edge_ids = true; break;
  }
  return tendril::fuzz::run_reader(tendril::formats::read_edge_list, "fuzz", data + 1, size - 1, options);
}
