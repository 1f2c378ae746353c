// Any bytes as a file for read_npz, if they start as a zip file does. Mutations hardly ever have the right CRC, so
// other bytes are packed into one that has: a byte that chooses a member's name, two that tell its size, its contents;
// and so on.

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include <zlib.h>

#include "fuzz_target.hpp"

#include "formats/readers.hpp"

namespace {

constexpr std::array<std::string_view, 10> names = {"format",  "shape",     "indptr",    "indices",  "data",
                                                    "weights", "edge_type", "node_type", "edge_ids", "tendril_notes"};

template <class T>
void append(std::string& bytes, T value)
{
  bytes.append(reinterpret_cast<char const*>(&value), sizeof(T));
}

/// What local header and directory have in common: from the version to the lengths of name and extra field.
std::string describe(std::string_view name, std::string_view contents)
{
  std::string fields;
  append(fields, std::uint16_t{20});
  fields.append(8, '\0');
  append(fields,
         static_cast<std::uint32_t>(crc32_z(0, reinterpret_cast<Bytef const*>(contents.data()), contents.size())));
  append(fields, static_cast<std::uint32_t>(contents.size()));
  append(fields, static_cast<std::uint32_t>(contents.size()));
  append(fields, static_cast<std::uint16_t>(name.size()));
  append(fields, std::uint16_t{0});
  return fields;
}

std::string pack(std::string_view input)
{
  std::string file, directory;
  std::uint16_t count = 0;
  while (input.size() >= 3) {
    std::string const name = std::string(names[static_cast<unsigned char>(input[0]) % names.size()]) + ".npy";
    std::size_t const size = static_cast<unsigned char>(input[1]) + 256U * static_cast<unsigned char>(input[2]);
    std::string_view const contents = input.substr(3, size);
    input.remove_prefix(3 + contents.size());
    std::string const fields = describe(name, contents);
    append(directory, std::uint32_t{0x02014b50});
    append(directory, std::uint16_t{20});
    directory += fields;
    directory.append(10, '\0');
    append(directory, static_cast<std::uint32_t>(file.size()));
    directory += name;
    append(file, std::uint32_t{0x04034b50});
    file.append(fields).append(name).append(contents);
    ++count;
  }
  auto const offset = static_cast<std::uint32_t>(file.size());
  file += directory;
  append(file, std::uint32_t{0x06054b50});
  append(file, std::uint32_t{0});
  append(file, count);
  append(file, count);
  append(file, static_cast<std::uint32_t>(directory.size()));
  append(file, offset);
  append(file, std::uint16_t{0});
  return file;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size)
{
  std::string_view const input{reinterpret_cast<char const*>(data), size};
  std::string const file = input.starts_with("PK") ? std::string(input) : pack(input);
  // A folder that does not exist: no meta.json lies beside the file.
  return tendril::fuzz::run_reader(tendril::formats::read_npz, "/nonexistent/fuzz.npz",
                                   reinterpret_cast<std::uint8_t const*>(file.data()), file.size());
}
