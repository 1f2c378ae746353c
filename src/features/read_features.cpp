// Tables of features out of files, which are mapped.

#include <tendril/features.hpp>

#include <algorithm>
#include <cstring>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/mman.h>
#include <unistd.h>

#include <tendril/error.hpp>
#include <tendril/mapped_graph.hpp>  // memory_limit

#include "formats/array_view.hpp"
#include "formats/mapped_file.hpp"
#include "formats/npy.hpp"
#include "formats/safetensors.hpp"
#include "formats/text_numbers.hpp"  // quoted

namespace tendril {
namespace {

using file_handle = std::shared_ptr<formats::mapped_file const>;

bool begins_as_safetensors(std::span<std::byte const> bytes)
{
  constexpr std::size_t length_bytes = 8;
  return bytes.size() > length_bytes && bytes[length_bytes] == std::byte{'{'};
}

/// "'a', 'b' and 3 more".
std::string names_of(std::map<std::string, formats::tensor_entry> const& tensors)
{
  constexpr std::size_t most = 8;
  std::vector<std::string> names;
  for (auto const& [name, tensor] : tensors) {
    if (names.size() == most) { break; }
    names.push_back(formats::quoted(name));
  }
  auto const more = tensors.size() - names.size();
  return fmt::format("{}{}", fmt::join(names, ", "), more > 0 ? fmt::format(" and {} more", more) : "");
}

formats::tensor_entry const& choose_tensor(std::string const& path, std::string const& name,
                                           std::map<std::string, formats::tensor_entry> const& tensors)
{
  if (tensors.empty()) { throw format_error(fmt::format("{}: no tensor, expected one", path)); }
  if (name.empty()) {
    if (tensors.size() == 1) { return tensors.begin()->second; }
    throw argument_error(
        fmt::format("{}: {} tensors, expected the name of one: {}", path, tensors.size(), names_of(tensors)));
  }
  auto const found = tensors.find(name);
  if (found == tensors.end()) {
    throw argument_error(fmt::format("{}: no tensor {}, expected {}", path, formats::quoted(name), names_of(tensors)));
  }
  return found->second;
}

formats::array_view tensor_of(file_handle const& file, std::string const& name)
{
  auto const contents = formats::parse_safetensors(file->path(), file->bytes());
  auto const& tensor = choose_tensor(file->path(), name, contents.tensors);
  auto const size = static_cast<std::size_t>(tensor.end - tensor.begin);
  return {tensor.name, tensor.type, tensor.shape, file->bytes().subspan(static_cast<std::size_t>(tensor.begin), size),
          file};
}

formats::array_view array_of(file_handle const& file, std::string const& name)
{
  constexpr std::string_view npy{"\x93NUMPY", 6};
  auto const bytes = file->bytes();
  if (bytes.empty()) { throw format_error(fmt::format("{}: empty file, expected features", file->path())); }
  if (bytes.size() >= npy.size() && std::memcmp(bytes.data(), npy.data(), npy.size()) == 0) {
    if (!name.empty()) {
      throw argument_error(
          fmt::format("{}: name {}, expected none: a .npy holds one array", file->path(), formats::quoted(name)));
    }
    return formats::parse_npy(file->path(), "features", bytes, file);
  }
  if (begins_as_safetensors(bytes) || file->path().ends_with(".safetensors")) { return tensor_of(file, name); }
  throw format_error(fmt::format("{}: neither a .npy nor a .safetensors, expected one of these", file->path()));
}

/// Without this, the system reads around a missing page: it fills memory with pages that are not needed.
void expect_random_reads(std::span<std::byte const> bytes)
{
  auto const page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  std::size_t const before = reinterpret_cast<std::uintptr_t>(bytes.data()) % page;
  auto* const first = const_cast<std::byte*>(bytes.data());  // NOLINT(cppcoreguidelines-pro-type-const-cast)
  madvise(first - before, bytes.size() + before, MADV_RANDOM);
}

}  // namespace

feature_table read_features(std::string const& path, std::string const& name)
{
  auto const file = formats::mapped_file::open(path);
  auto const array = array_of(file, name);
  auto const fail = [&](std::string const& what) {
    return format_error(fmt::format("{}: array {}: {}", path, formats::quoted(array.name), what));
  };
  if (array.type == formats::dtype::other) {
    throw fail("elements of another type, expected bool, integers or floats, little-endian, of at most 8 bytes");
  }
  if (array.shape.empty()) { throw fail("no dimensions, expected rows"); }
  if (formats::count_elements(std::span(array.shape).subspan(1), array.type) < 0) {
    throw fail(fmt::format("rows of countless elements in shape {}", array.shape_text()));
  }
  if (std::ssize(array.bytes) > memory_limit() / 4 * 3) { expect_random_reads(array.bytes); }
  return {array.bytes, {std::string(formats::to_string(array.type)), array.shape}, file, true};
}

}  // namespace tendril
