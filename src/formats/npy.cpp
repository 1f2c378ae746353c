// The .npy container of NumPy. Format: numpy.lib.format (NEP 1).

#include "formats/npy.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include <tendril/error.hpp>

#include "base/expects.hpp"

namespace tendril::formats {
namespace {

constexpr std::string_view magic{"\x93NUMPY", 6};
constexpr std::size_t alignment = 64;

constexpr std::array<std::pair<std::string_view, dtype>, 16> descriptions{{{"|b1", dtype::boolean},
                                                                           {"|u1", dtype::uint8},
                                                                           {"|i1", dtype::int8},
                                                                           {"<u2", dtype::uint16},
                                                                           {"<i2", dtype::int16},
                                                                           {"<u4", dtype::uint32},
                                                                           {"<i4", dtype::int32},
                                                                           {"<u8", dtype::uint64},
                                                                           {"<i8", dtype::int64},
                                                                           {"<f2", dtype::float16},
                                                                           {"<f4", dtype::float32},
                                                                           {"<f8", dtype::float64},
                                                                           {"<b1", dtype::boolean},
                                                                           {"<u1", dtype::uint8},
                                                                           {"<i1", dtype::int8},
                                                                           {"?", dtype::boolean}}};

/// Reads the header, a Python dictionary of exactly three entries in any order.
class npy_header_parser {
 public:
  explicit npy_header_parser(std::string_view text) : text_(text) {}

  bool parse(dtype& type, bool& column_major, std::vector<std::int64_t>& shape)
  {
    bool has_type = false, has_order = false, has_shape = false;
    if (!take("{")) { return false; }
    while (!take("}")) {
      auto const key = parse_string();
      if (!key || !take(":")) { return false; }
      if (*key == "descr") {
        has_type = parse_type(type);
        if (!has_type) { return false; }
      } else if (*key == "fortran_order") {
        has_order = parse_bool(column_major);
        if (!has_order) { return false; }
      } else if (*key == "shape") {
        has_shape = parse_shape(shape);
        if (!has_shape) { return false; }
      } else {
        return false;
      }
      if (!take(",") && !peek('}')) { return false; }
    }
    skip_space();
    return text_.empty() && has_type && has_order && has_shape;
  }

 private:
  void skip_space()
  {
    std::size_t const next = text_.find_first_not_of(" \n\t\r");
    text_.remove_prefix(std::min(next, text_.size()));
  }

  bool peek(char c)
  {
    skip_space();
    return text_.starts_with(c);
  }

  bool take(std::string_view token)
  {
    skip_space();
    if (!text_.starts_with(token)) { return false; }
    text_.remove_prefix(token.size());
    return true;
  }

  std::optional<std::string_view> parse_string()
  {
    skip_space();
    if (text_.empty() || (text_[0] != '\'' && text_[0] != '"')) { return {}; }
    std::size_t const end = text_.find(text_[0], 1);
    if (end == std::string_view::npos) { return {}; }
    std::string_view const value = text_.substr(1, end - 1);
    text_.remove_prefix(end + 1);
    return value;
  }

  /// A string, or a list of fields, whose names and types are of no interest.
  bool parse_type(dtype& type)
  {
    type = dtype::other;
    if (peek('[')) {
      int depth = 0;
      for (std::size_t i = 0; i < text_.size(); ++i) {
        depth += static_cast<int>(text_[i] == '[') - static_cast<int>(text_[i] == ']');
        if (depth == 0) {
          text_.remove_prefix(i + 1);
          return true;
        }
      }
      return false;
    }
    auto const name = parse_string();
    for (auto const& [description, known] : descriptions) {
      if (name == description) { type = known; }
    }
    return name.has_value();
  }

  bool parse_bool(bool& value)
  {
    value = take("True");
    return value || take("False");
  }

  bool parse_shape(std::vector<std::int64_t>& shape)
  {
    constexpr std::size_t max_dimensions = 64;  // NumPy's own limit
    shape.clear();
    if (!take("(")) { return false; }
    while (!take(")")) {
      skip_space();
      std::int64_t extent = 0;
      auto const [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), extent);
      if (error != std::errc{} || extent < 0 || shape.size() == max_dimensions) { return false; }
      text_.remove_prefix(static_cast<std::size_t>(end - text_.data()));
      shape.push_back(extent);
      (void)take("L");  // as Python 2 wrote it
      if (!take(",") && !peek(')')) { return false; }
    }
    return true;
  }

  std::string_view text_;
};

std::string make_header(std::string_view description, std::string_view extents)
{
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", description, extents);
  constexpr std::size_t fixed = magic.size() + 4;
  std::size_t const padded = (fixed + header.size() + 1 + alignment - 1) / alignment * alignment;
  header.resize(padded - fixed - 1, ' ');
  header.push_back('\n');
  std::string result(magic);
  result += {'\x01', '\x00', static_cast<char>(header.size() & 0xffU), static_cast<char>(header.size() >> 8U)};
  return result + header;
}

}  // namespace

std::string npy_header(dtype type, std::span<std::int64_t const> shape)
{
  auto const* const description =
      std::find_if(descriptions.begin(), descriptions.end(), [&](auto const& entry) { return entry.second == type; });
  TENDRIL_EXPECTS(description != descriptions.end(), "{}: no such type in .npy files", to_string(type));
  std::string extents;
  for (std::int64_t const extent : shape) { extents += fmt::format("{},", extent); }
  return make_header(description->first, extents);
}

std::string npy_text_header(std::size_t size) { return make_header(fmt::format("|S{}", size), ""); }

array_view parse_npy(std::string const& path, std::string name, std::span<std::byte const> bytes,
                     std::shared_ptr<void const> owner)
{
  auto const fail = [&](std::string const& what) {
    return format_error(fmt::format("{}: array '{}': {}", path, name, what));
  };
  std::string_view text{reinterpret_cast<char const*>(bytes.data()), bytes.size()};
  if (!text.starts_with(magic) || text.size() < magic.size() + 4) { throw fail("not a .npy file"); }
  int const version = static_cast<unsigned char>(text[6]);
  std::size_t const length_bytes = version == 1 ? 2 : 4;
  if (version < 1 || version > 3) { throw fail(fmt::format(".npy version {}, expected 1, 2 or 3", version)); }
  text.remove_prefix(magic.size() + 2);
  if (text.size() < length_bytes) { throw fail("ends inside its header"); }
  std::uint32_t length = 0;
  std::memcpy(&length, text.data(), length_bytes);
  text.remove_prefix(length_bytes);
  if (length > text.size()) { throw fail(fmt::format("header of {} bytes, expected at most {}", length, text.size())); }

  array_view array;
  bool column_major = false;
  if (!npy_header_parser(text.substr(0, length)).parse(array.type, column_major, array.shape)) {
    throw fail("malformed header, expected {'descr': …, 'fortran_order': …, 'shape': …}");
  }
  if (column_major && array.shape.size() > 1) { throw fail("in column-major order, expected row-major"); }
  std::size_t const data_bytes = text.size() - length;
  array.bytes = bytes.last(data_bytes);
  if (array.type != dtype::other) {
    std::int64_t const count = count_elements(array.shape, array.type);
    if (count < 0 || count * size_of(array.type) != static_cast<std::int64_t>(data_bytes)) {
      throw fail(fmt::format("{} bytes of data, expected {} elements of {} bytes in shape {}", data_bytes,
                             count < 0 ? "countless" : std::to_string(count), size_of(array.type), array.shape_text()));
    }
  }
  array.name = std::move(name);
  array.owner = std::move(owner);
  return array;
}

}  // namespace tendril::formats
