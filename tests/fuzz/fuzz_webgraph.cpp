// A .properties, an .offsets and a .graph file in one input: two bytes tell the size of the first, two that of the
// second (all ones: there is none), the rest is the third.

#include <algorithm>
#include <string_view>

#include "fuzz_target.hpp"

#include "formats/webgraph.hpp"

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size)
{
  if (size < 5) { return 0; }
  constexpr std::size_t no_offsets = 0xffff;
  std::size_t const properties_size = data[0] + 256U * data[1], offsets_size = data[2] + 256U * data[3];
  std::string_view input{reinterpret_cast<char const*>(data) + 4, size - 4};
  std::string_view const properties = input.substr(0, properties_size);
  input.remove_prefix(properties.size());
  std::string_view const offsets = offsets_size == no_offsets ? std::string_view() : input.substr(0, offsets_size);
  input.remove_prefix(offsets.size());

  tendril::formats::webgraph_files files{"fuzz.graph", std::as_bytes(std::span(input)), properties, {}};
  if (offsets_size != no_offsets) { files.offsets = std::as_bytes(std::span(offsets)); }
  auto const decode = [&](auto const& /*path*/, auto /*bytes*/, auto /*owner*/, auto const& /*options*/,
                          auto const& exec) { return tendril::formats::decode_webgraph(files, exec); };
  return tendril::fuzz::run_reader(decode, "fuzz.graph", data, size);
}
