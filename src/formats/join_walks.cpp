// Files of parts of a job, joined into the file of the whole job. The first pass compares the parts and adds up their
// sizes; the second copies them. A part is open only while it is looked at: there may be more parts than a process may
// have files.

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <tendril/array_file.hpp>
#include <tendril/buffer.hpp>
#include <tendril/checked.hpp>
#include <tendril/error.hpp>
#include <tendril/file.hpp>
#include <tendril/walk_parts.hpp>
#include <tendril/write_walks.hpp>

#include "base/expects.hpp"   // TENDRIL_EXPECTS
#include "base/parallel.hpp"  // parallel_ranges
#include "formats/mapped_file.hpp"
#include "formats/npy.hpp"
#include "formats/part_sequence.hpp"
#include "formats/safetensors.hpp"
#include "formats/walk_arrays.hpp"

namespace tendril {
namespace {

using bytes_view = std::span<std::byte const>;

constexpr std::size_t piece_bytes = std::size_t{8} << 20U;  // large against any per-call cost
constexpr std::int64_t piece_vertices = std::int64_t{1} << 21U;
constexpr char const* first_entry = "first_walk";  // of metadata: the logical id of the first walk

/// An array of a part.
struct part_array {
  array_spec spec;
  bytes_view bytes;
};

/// A file of walks that is open.
struct part_file {
  std::string path;
  std::shared_ptr<formats::mapped_file const> file;
  std::vector<part_array> arrays;  ///< None: text.
  std::map<std::string, std::string> metadata;
  std::int64_t num_walks = 0;
  bool is_ragged = false;
};

template <class... Values>
[[noreturn]] void refuse(std::string const& path, fmt::format_string<Values...> what, Values&&... values)
{
  throw format_error(path + ": " + fmt::format(what, std::forward<Values>(values)...));
}

std::string_view extension_of(walk_format format)
{
  switch (format) {
    case walk_format::npy: return ".npy";
    case walk_format::safetensors: return ".safetensors";
    default: return ".txt";
  }
}

array_spec spec_of(std::string const& path, std::string name, formats::dtype type, std::vector<std::int64_t> shape)
{
  if (type != formats::dtype::int32 && type != formats::dtype::int64) {
    refuse(path, "array '{}' is {}, expected int32 or int64", name, formats::to_string(type));
  }
  return {std::move(name), type == formats::dtype::int32 ? element_type::int32 : element_type::int64, std::move(shape)};
}

void expect_dimensions(std::string const& path, array_spec const& spec, std::size_t dimensions)
{
  if (spec.shape.size() != dimensions) {
    refuse(path, "array '{}' has {} dimensions, expected {} as of walks", spec.name, spec.shape.size(), dimensions);
  }
}

void read_npy(part_file& part)
{
  auto array = formats::parse_npy(part.path, std::string(formats::row_arrays[0]), part.file->bytes(), part.file);
  array_spec spec = spec_of(part.path, array.name, array.type, array.shape);
  expect_dimensions(part.path, spec, 2);
  part.num_walks = spec.shape[0];
  part.arrays.push_back({std::move(spec), array.bytes});
}

void read_safetensors(part_file& part)
{
  auto contents = formats::parse_safetensors(part.path, part.file->bytes());
  part.is_ragged = contents.tensors.contains(std::string(formats::ragged_arrays[0]));
  auto const& names = part.is_ragged ? formats::ragged_arrays : formats::row_arrays;
  for (auto const name : names) {
    auto const found = contents.tensors.find(std::string(name));
    if (found == contents.tensors.end()) { refuse(part.path, "no array '{}', expected a file of walks", name); }
    auto const& tensor = found->second;
    auto const bytes = part.file->bytes().subspan(static_cast<std::size_t>(tensor.begin),
                                                  static_cast<std::size_t>(tensor.end - tensor.begin));
    part.arrays.push_back({spec_of(part.path, tensor.name, tensor.type, tensor.shape), bytes});
  }
  if (contents.tensors.size() != names.size()) {
    refuse(part.path, "{} arrays, expected {} and {} alone", contents.tensors.size(), names[0], names[1]);
  }
  array_spec const& first = part.arrays[0].spec;
  array_spec const& second = part.arrays[1].spec;
  expect_dimensions(part.path, first, part.is_ragged ? 1 : 2);
  expect_dimensions(part.path, second, 1);
  element_type const needed = part.is_ragged ? first.type : second.type;
  if (needed != (part.is_ragged ? element_type::int64 : element_type::int32)) {
    refuse(part.path, "array '{}' is {}, expected {}", part.is_ragged ? first.name : second.name, to_string(needed),
           part.is_ragged ? "int64" : "int32");
  }
  part.num_walks = part.is_ragged ? first.shape[0] - 1 : first.shape[0];
  if (part.is_ragged && part.num_walks < 0) { refuse(part.path, "no offset, expected one at least"); }
  if (!part.is_ragged && second.shape[0] != part.num_walks) {
    refuse(part.path, "{} lengths of {} walks, expected as many", second.shape[0], part.num_walks);
  }
  part.metadata = std::move(contents.metadata);
}

/// @throws format_error for a file that is damaged or no file of walks; io_error.
part_file open_part(std::string const& path, walk_format format)
{
  if (!path.ends_with(extension_of(format))) {
    refuse(path, "expected {}, the format of the output", extension_of(format));
  }
  part_file part;
  part.path = path;
  part.file = formats::mapped_file::open(path);
  if (format == walk_format::npy) { read_npy(part); }
  if (format == walk_format::safetensors) { read_safetensors(part); }
  if (format == walk_format::text) {
    auto const bytes = part.file->bytes();
    if (!bytes.empty() && bytes.back() != std::byte{'\n'}) {
      refuse(path, "the last line has no end, expected a complete file");
    }
  }
  return part;
}

std::string entry_text(std::map<std::string, std::string> const& metadata, std::string const& name)
{
  auto const found = metadata.find(name);
  return found == metadata.end() ? "missing" : "'" + found->second + "'";
}

/// Compares two parts in all that parts of one job share.
void expect_alike(part_file const& part, part_file const& first)
{
  if (part.is_ragged != first.is_ragged) {
    refuse(part.path, "{}, expected {} as in {}", part.is_ragged ? "ragged walks" : "rows",
           first.is_ragged ? "ragged walks" : "rows", first.path);
  }
  for (std::size_t a = 0; a < part.arrays.size(); ++a) {
    array_spec const& here = part.arrays[a].spec;
    array_spec const& there = first.arrays[a].spec;
    if (here.type != there.type) {
      refuse(part.path, "{} is {}, expected {} as in {}", here.name, to_string(here.type), to_string(there.type),
             first.path);
    }
    if (here.shape.size() == 2 && here.shape[1] != there.shape[1]) {
      refuse(part.path, "rows of {} vertices, expected {} as in {}", here.shape[1], there.shape[1], first.path);
    }
  }
  auto names = part.metadata;
  names.insert(first.metadata.begin(), first.metadata.end());
  for (auto const& entry : names) {
    std::string const& name = entry.first;
    if (name == formats::part_number_entry || name == first_entry) { continue; }  // part_sequence compares these
    std::string const here = entry_text(part.metadata, name), there = entry_text(first.metadata, name);
    if (here != there) { refuse(part.path, "{} is {}, expected {} as in {}", name, here, there, first.path); }
  }
}

std::optional<std::int64_t> first_walk_of(part_file const& part)
{
  auto const found = part.metadata.find(first_entry);
  if (found == part.metadata.end()) { return std::nullopt; }
  std::string const& text = found->second;
  std::int64_t number = 0;
  auto const read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (read.ec != std::errc{} || read.ptr != text.data() + text.size() || number < 0) {
    refuse(part.path, "first_walk is '{}', expected a number from 0 on", text);
  }
  return number;
}

/// @param before  The offset before it.
void expect_offset(part_file const& part, std::int64_t which, std::int64_t offset, std::int64_t before)
{
  std::int64_t const size = part.arrays[1].spec.shape[0];
  if (which == 0 ? offset != 0 : offset <= before || offset > size) {
    refuse(part.path, "offset {} is {}, expected {}", which, offset,
           which == 0 ? "0" : fmt::format("{} to {}", before + 1, size));
  }
}

void expect_last_offset(part_file const& part, std::int64_t last)
{
  std::int64_t const size = part.arrays[1].spec.shape[0];
  if (last != size) { refuse(part.path, "the last offset is {}, expected {}", last, size); }
}

/// Copies parts into a file, piece by piece.
class joiner {
 public:
  joiner(std::string const& path, part_file const& first, std::int64_t num_walks, std::int64_t total_bytes,
         cpu_exec const& exec)
      : exec_(exec), total_(total_bytes)
  {
    if (first.arrays.empty()) {
      text_.emplace(path);
      text_->expect_size(total_bytes);
      return;
    }
    std::vector<array_spec> specs;
    for (auto const& array : first.arrays) {
      specs.push_back(array.spec);
      specs.back().shape[0] = num_walks;
    }
    if (first.is_ragged) {
      specs[0].shape[0] = checked_sum("offsets of walks", num_walks, 1);
      specs[1].shape = {grows};
    }
    auto metadata = first.metadata;
    metadata.erase(formats::part_number_entry);
    arrays_.emplace(path, std::move(specs), metadata);
    if (first.is_ragged) { arrays_->append(0, std::span(&num_vertices_, 1)); }
  }

  void append(part_file const& part)
  {
    if (text_) {
      append_text(part);
    } else if (part.is_ragged) {
      append_offsets(part);
      append_array(part, 1);
    } else {
      for (std::size_t a = 0; a < part.arrays.size(); ++a) { append_array(part, a); }
    }
  }

  void commit()
  {
    if (text_) {
      text_->commit();
    } else {
      arrays_->commit();
    }
  }

  /// Of text.
  [[nodiscard]] std::int64_t num_lines() const { return num_lines_; }

 private:
  /// Calls take(piece) for all bytes, in order, and takes their pages out of memory afterwards.
  template <class Take>
  void for_pieces(part_file const& part, bytes_view bytes, Take take)
  {
    while (!bytes.empty()) {
      auto const piece = bytes.first(std::min(bytes.size(), piece_bytes));
      take(piece);
      bytes = bytes.subspan(piece.size());
      part.file->release_pages();
      done_ += static_cast<std::int64_t>(piece.size());
      if (exec_.on_progress) { exec_.on_progress({"joining", done_, total_}); }
    }
  }

  /// The same with elements, which are copied: a file need not align them.
  template <class T, class Take>
  void for_elements(part_file const& part, bytes_view bytes, Take take)
  {
    buffer<T> elements(static_cast<std::int64_t>(std::min(bytes.size(), piece_bytes) / sizeof(T)));
    for_pieces(part, bytes, [&](bytes_view piece) {
      std::memcpy(elements.data(), piece.data(), piece.size());
      take(std::span<T>(elements.data(), piece.size() / sizeof(T)));
    });
  }

  void append_array(part_file const& part, std::size_t which)
  {
    auto const copy = [&](auto zero) {
      using element = decltype(zero);
      for_elements<element>(part, part.arrays[which].bytes, [&](std::span<element> elements) {
        arrays_->append(which, std::span<element const>(elements));
      });
    };
    if (part.arrays[which].spec.type == element_type::int32) {
      copy(std::int32_t{});
    } else {
      copy(std::int64_t{});
    }
  }

  /// Offsets go on where those of the part before end. The first offset of a part is the last of the part before.
  void append_offsets(part_file const& part)
  {
    std::int64_t walk = -1, last = 0;
    for_elements<std::int64_t>(part, part.arrays[0].bytes, [&](std::span<std::int64_t> offsets) {
      for (std::int64_t& offset : offsets) {
        ++walk;
        expect_offset(part, walk, offset, last);
        last = offset;
        offset += num_vertices_;
      }
      bool const begins = walk + 1 == std::ssize(offsets);
      arrays_->append(0, std::span<std::int64_t const>(offsets).subspan(begins ? 1 : 0));
    });
    expect_last_offset(part, last);
    num_vertices_ = checked_sum("vertices of all parts", num_vertices_, last);
  }

  void append_text(part_file const& part)
  {
    std::int64_t before = 0;
    for_pieces(part, part.file->bytes(), [&](bytes_view piece) {
      expect_text(part.path, before, piece);
      before += std::ssize(piece);
      text_->write(piece.data(), piece.size());
      num_lines_ += std::count(piece.begin(), piece.end(), std::byte{'\n'});
    });
  }

  /// @param before  Bytes of the file before these.
  void expect_text(std::string const& path, std::int64_t before, bytes_view bytes) const
  {
    constexpr std::int64_t grain = std::int64_t{1} << 18;
    auto const is_text = [](std::byte b) {
      return (b >= std::byte{'0'} && b <= std::byte{'9'}) || b == std::byte{' '} || b == std::byte{'\n'};
    };
    std::atomic<bool> all{true};
    base::parallel_ranges(exec_, std::ssize(bytes), grain, [&](std::int64_t begin, std::int64_t end) {
      auto const some = bytes.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin));
      if (!std::all_of(some.begin(), some.end(), is_text)) { all = false; }
    });
    if (!all) {
      auto const at = std::find_if_not(bytes.begin(), bytes.end(), is_text) - bytes.begin();
      refuse(path, "byte {}: {:#04x}, expected digits, spaces and ends of lines", before + at,
             std::to_integer<unsigned>(bytes[static_cast<std::size_t>(at)]));
    }
  }

  cpu_exec const& exec_;
  std::int64_t total_, done_ = 0;
  std::int64_t num_vertices_ = 0;       ///< Of ragged walks so far.
  std::optional<array_writer> arrays_;  // or text
  std::optional<atomic_file> text_;
  std::int64_t num_lines_ = 0;  ///< Of text so far.
};

/// What the first pass keeps of the parts.
struct survey {
  part_file first;  ///< Closed: only what it says of its arrays.
  std::int64_t num_walks = 0;
  std::int64_t num_bytes = 0;
};

survey compare(std::span<std::string const> parts, walk_format format)
{
  survey out;
  formats::part_sequence parts_so_far("walk");
  for (auto const& path : parts) {
    part_file part = open_part(path, format);
    if (parts_so_far.num_parts() > 0) { expect_alike(part, out.first); }
    parts_so_far.take(part.path, part.metadata, first_walk_of(part), part.num_walks);
    out.num_bytes = checked_sum("bytes of all parts", out.num_bytes, std::ssize(part.file->bytes()));
    if (parts_so_far.num_parts() == 1) {
      out.first = std::move(part);
      out.first.file.reset();
      for (auto& array : out.first.arrays) { array.bytes = {}; }
    }
  }
  parts_so_far.end();
  out.num_walks = parts_so_far.num_items();
  return out;
}

std::int64_t offset_of(part_file const& part, std::int64_t which)
{
  std::int64_t offset = 0;
  std::memcpy(&offset, part.arrays[0].bytes.data() + which * 8, sizeof offset);
  return offset;
}

/// Vertices [first, last) of a ragged file, in whichever type.
void copy_vertices(part_file const& part, std::int64_t first, std::int64_t last, std::vector<vertex_id>& out)
{
  auto const copy = [&](auto zero) {
    using element = decltype(zero);
    auto const bytes = part.arrays[1].bytes.subspan(static_cast<std::size_t>(first) * sizeof(element));
    out.resize(static_cast<std::size_t>(last - first));
    for (std::size_t i = 0; i < out.size(); ++i) {
      element one = 0;
      std::memcpy(&one, bytes.data() + i * sizeof one, sizeof one);
      if (one < 0 || std::int64_t{one} >= std::int64_t{no_vertex}) {
        refuse(part.path, "vertices[{}] is {}, expected 0 to {}", first + static_cast<std::int64_t>(i), one,
               no_vertex - 1);
      }
      out[i] = static_cast<vertex_id>(one);
    }
  };
  part.arrays[1].spec.type == element_type::int32 ? copy(std::int32_t{}) : copy(std::int64_t{});
}

}  // namespace

void append_ragged_walks(std::string const& path, walk_writer& to, cpu_exec const& exec)
{
  part_file const part = open_part(path, walk_format::safetensors);
  TENDRIL_EXPECTS(part.is_ragged, "{}: rows, expected ragged walks", path);
  std::vector<std::int64_t> offsets;
  std::vector<vertex_id> vertices;
  std::int64_t first = offset_of(part, 0);
  expect_offset(part, 0, first, 0);
  for (std::int64_t walk = 0; walk < part.num_walks;) {
    offsets.assign(1, 0);
    std::int64_t last = first;
    while (walk < part.num_walks && last - first < piece_vertices) {
      ++walk;
      std::int64_t const next = offset_of(part, walk);
      expect_offset(part, walk, next, last);
      last = next;
      offsets.push_back(last - first);
    }
    copy_vertices(part, first, last, vertices);
    to.append(offsets, vertices, exec);
    part.file->release_pages();
    first = last;
  }
  expect_last_offset(part, first);
}

joined_walks join_walks(std::span<std::string const> parts, std::string const& path, cpu_exec const& exec)
{
  TENDRIL_EXPECTS(!parts.empty(), "join_walks: no part, expected one at least");
  walk_format const format = walk_format_of(path);
  TENDRIL_EXPECTS(path.ends_with(extension_of(format)), "{}: standard output, expected a file", path);
  survey const all = compare(parts, format);
  joiner out(path, all.first, all.num_walks, all.num_bytes, exec);
  for (auto const& part : parts) { out.append(open_part(part, format)); }
  out.commit();
  return {std::ssize(parts), format == walk_format::text ? out.num_lines() : all.num_walks};
}

}  // namespace tendril
