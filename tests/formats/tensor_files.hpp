#pragma once

// Safetensors files made by hand, well-formed or not.

#include <cstdint>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "support/binary_files.hpp"

namespace tendril::test {

struct tensor {
  std::string name, type;
  std::int64_t size = 0;
  std::string bytes;
  std::int64_t columns = 0;  ///< Of a tensor with two dimensions.
};

/// A file with any header, well-formed or not.
inline std::string file_of(std::string const& header, std::string const& data = {})
{
  return pack(static_cast<std::uint64_t>(header.size())) + header + data;
}

/// A file with these tensors, one after the other; `metadata` is JSON.
inline std::string file_of(std::vector<tensor> const& tensors, std::string const& metadata = "{}")
{
  std::string header = "{\"__metadata__\":" + metadata, data;
  for (auto const& t : tensors) {
    std::string const shape = t.columns > 0 ? fmt::format("{},{}", t.size, t.columns) : std::to_string(t.size);
    header += fmt::format(R"(,"{}":{{"dtype":"{}","shape":[{}],"data_offsets":[{},{}]}})", t.name, t.type, shape,
                          data.size(), data.size() + t.bytes.size());
    data += t.bytes;
  }
  header += "}";
  header.resize((header.size() + 71) / 64 * 64 - 8, ' ');
  return file_of(header, data);
}

}  // namespace tendril::test
