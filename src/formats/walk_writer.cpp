// Walks into files, batch by batch: arrays through array_writer, text formatted in parallel.

#include <tendril/write_walks.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include <tendril/checked.hpp>
#include <tendril/error.hpp>
#include <tendril/file.hpp>

#include "base/expects.hpp"   // TENDRIL_EXPECTS
#include "base/parallel.hpp"  // parallel_ranges
#include "formats/walk_arrays.hpp"

namespace tendril {
namespace {

constexpr std::string_view standard_output = "-";
constexpr std::size_t longest_id = 11;                            // ten digits and a separator
constexpr std::int64_t text_piece_bytes = std::int64_t{1} << 20;  // of text that one thread formats at a time

/// "00" to "99", one after the other.
constexpr auto two_digits = [] {
  std::array<char, 200> digits{};
  for (std::size_t i = 0; i < 100; ++i) {
    digits[2 * i] = static_cast<char>('0' + i / 10);
    digits[2 * i + 1] = static_cast<char>('0' + i % 10);
  }
  return digits;
}();

/// Writes `v` in decimal at `out`. @return the end.
char* write_id(char* out, vertex_id v)
{
  std::array<char, 10> reversed;
  char* const end = reversed.data() + reversed.size();
  char* at = end;
  while (v >= 100) {
    at -= 2;
    std::memcpy(at, &two_digits[2 * (v % 100)], 2);
    v /= 100;
  }
  if (v >= 10) {
    at -= 2;
    std::memcpy(at, &two_digits[2 * v], 2);
  } else {
    *--at = static_cast<char>('0' + v);
  }
  return std::copy(at, end, out);
}

/// One row as a line: its vertices up to the first `no_vertex`. @return the end.
char* write_line(char* out, vertex_id const* row, std::int64_t width)
{
  for (std::int64_t i = 0; i < width && row[i] != no_vertex; ++i) {
    if (i > 0) { *out++ = ' '; }
    out = write_id(out, row[i]);
  }
  *out++ = '\n';
  return out;
}

/// A text file that appears when it is complete, or standard output.
class text_sink {
 public:
  /// @param num_lines  That will be written.
  text_sink(std::string const& path, std::int64_t num_lines)
  {
    constexpr std::int64_t shortest_line = 2;  // a digit, and the end
    if (path == standard_output) { return; }
    file_.emplace(path);
    file_->expect_size(checked_product("bytes of a file", num_lines, shortest_line));
  }

  void write(char const* data, std::size_t size)
  {
    if (file_) {
      file_->write(data, size);
    } else if (std::fwrite(data, 1, size, stdout) != size) {
      throw io_error(fmt::format("standard output: cannot write: {}", std::strerror(errno)));
    }
  }

  void commit()
  {
    if (file_) {
      file_->commit();
    } else if (std::fflush(stdout) != 0) {
      throw io_error(fmt::format("standard output: cannot write: {}", std::strerror(errno)));
    }
  }

 private:
  std::optional<atomic_file> file_;
};

std::vector<array_spec> walk_arrays(walk_format format, walk_file_info const& info)
{
  element_type const type = info.type.value_or(vertex_element_type(info.num_vertices));
  if (info.ragged) {
    std::int64_t const num_offsets = checked_sum("offsets of walks", info.num_walks, 1);
    auto const [offsets, vertices] = formats::ragged_arrays;
    return {{std::string(offsets), element_type::int64, {num_offsets}}, {std::string(vertices), type, {grows}}};
  }
  auto const [walks, lengths] = formats::row_arrays;
  std::vector<array_spec> arrays{{std::string(walks), type, {info.num_walks, info.length + 1}}};
  if (format == walk_format::safetensors) {
    arrays.push_back({std::string(lengths), element_type::int32, {info.num_walks}});
  }
  return arrays;
}

}  // namespace

walk_format walk_format_of(std::string_view path)
{
  if (path == standard_output || path.ends_with(".txt")) { return walk_format::text; }
  if (path.ends_with(".npy")) { return walk_format::npy; }
  TENDRIL_EXPECTS(path.ends_with(".safetensors"),
                  "{}: unknown extension, expected .npy, .safetensors or .txt, or - for text on standard output", path);
  return walk_format::safetensors;
}

struct walk_writer::state {
  state(std::string const& where, walk_file_info const& what, std::optional<shared_walks> const& part = {})
      : path(where), num_walks(part ? part->size : what.num_walks), width(what.length + 1)
  {
    TENDRIL_EXPECTS(num_walks >= 0 && width >= 1, "{}: {} walks of {} steps, expected neither to be negative", path,
                    num_walks, what.length);
    TENDRIL_EXPECTS(what.type != element_type::int32 || vertex_element_type(what.num_vertices) == element_type::int32,
                    "{}: int32 can't hold {} vertices, expected int64", path, what.num_vertices);
    walk_format const format = walk_format_of(path);
    TENDRIL_EXPECTS(!what.ragged || format == walk_format::safetensors,
                    "{}: ragged walks are two arrays, expected .safetensors", path);
    if (part) {
      TENDRIL_EXPECTS(format != walk_format::text, "{}: several processes write arrays, expected .npy or .safetensors",
                      path);
      TENDRIL_EXPECTS(part->first >= 0 && num_walks <= what.num_walks - part->first,
                      "{}: walks {} to {}, expected some of {}", path, part->first, part->first + num_walks,
                      what.num_walks);
      arrays.emplace(path, walk_arrays(format, what), what.metadata, part->unfinished);
      what.ragged ? seek_ragged(*part) : seek_rows(*part, format);
    } else if (format == walk_format::text) {
      text.emplace(path, num_walks);
    } else {
      has_lengths = format == walk_format::safetensors;
      arrays.emplace(path, walk_arrays(format, what), what.metadata);
    }
    if (what.ragged && !part) { append_first_offset(); }
  }

  void append_first_offset()
  {
    next_offset = 0;
    arrays->append(0, std::span(&*next_offset, 1));
  }

  void seek_rows(shared_walks const& part, walk_format format)
  {
    has_lengths = format == walk_format::safetensors;
    arrays->seek(0, part.first * width);
    if (has_lengths) { arrays->seek(1, part.first); }
  }

  /// The offset behind a walk lies with this walk, and the first one with the process that begins the file.
  void seek_ragged(shared_walks const& part)
  {
    TENDRIL_EXPECTS(part.first_vertex >= 0 && part.first_vertex <= part.num_vertices,
                    "{}: vertices from {} on, expected some of {}", path, part.first_vertex, part.num_vertices);
    arrays->set_size(1, part.num_vertices);
    if (part.unfinished.empty()) { append_first_offset(); }
    arrays->seek(0, part.first + 1);
    arrays->seek(1, part.first_vertex);
    next_offset = part.first_vertex;
  }

  /// Counts walks that are about to be appended.
  void expect_more(std::int64_t walks)
  {
    TENDRIL_EXPECTS(walks <= num_walks - appended, "{}: more than {} walks", path, num_walks);
    appended += walks;
  }

  /// Appends rows to the arrays of a ragged file.
  void append_ragged(std::span<vertex_id const> vertices, std::span<std::int32_t const> lengths, cpu_exec const& exec)
  {
    auto const rows = static_cast<std::int64_t>(lengths.size());
    std::int64_t const grain = std::max<std::int64_t>(text_piece_bytes / (4 * width), 1);
    std::vector<std::int64_t> ends;
    buffer<vertex_id> joined(checked_product("walks of a piece", std::min(grain, rows), width));
    for (std::int64_t first = 0; first < rows; first += grain) {
      ends.clear();
      vertex_id* to = joined.data();
      for (std::int64_t r = first; r < std::min(first + grain, rows); ++r) {
        std::int64_t const size = lengths[static_cast<std::size_t>(r)] + std::int64_t{1};
        TENDRIL_EXPECTS(size >= 1 && size <= width, "{}: a walk of {} steps, expected 0 to {}", path, size - 1,
                        width - 1);
        to = std::copy_n(vertices.data() + r * width, size, to);
        ends.push_back(*next_offset += size);
      }
      arrays->append(0, ends);
      arrays->append(1, std::span<vertex_id const>(joined.data(), to), exec);
    }
  }

  void append_text(std::span<vertex_id const> vertices, cpu_exec const& exec)
  {
    auto const rows = static_cast<std::int64_t>(vertices.size()) / width;
    std::int64_t const row_bytes =
        checked_sum("text of a walk", checked_product("text of a walk", width, longest_id), 1);
    std::int64_t const grain = std::max<std::int64_t>(text_piece_bytes / row_bytes, 1);
    auto const pieces_at_once = std::int64_t{2} * base::num_threads(exec);
    pieces.resize(static_cast<std::size_t>(std::min(pieces_at_once, (rows + grain - 1) / grain)));
    for (std::int64_t first = 0; first < rows; first += grain * pieces_at_once) {
      std::int64_t const n = std::min(grain * pieces_at_once, rows - first);
      base::parallel_ranges(exec, n, grain, [&](std::int64_t begin, std::int64_t end) {
        auto& [bytes, used] = pieces[static_cast<std::size_t>(begin / grain)];
        if (bytes.size() < grain * row_bytes) { bytes = buffer<char>(checked_product("text", grain, row_bytes)); }
        char* out = bytes.data();
        for (std::int64_t r = first + begin; r < first + end; ++r) {
          out = write_line(out, &vertices[static_cast<std::size_t>(r * width)], width);
        }
        used = static_cast<std::size_t>(out - bytes.data());
      });
      for (std::int64_t p = 0; p * grain < n; ++p) {
        auto const& [bytes, used] = pieces[static_cast<std::size_t>(p)];
        text->write(bytes.data(), used);
      }
    }
  }

  struct piece {
    buffer<char> bytes;
    std::size_t used = 0;
  };

  std::string path;
  std::int64_t num_walks, width;
  std::int64_t appended = 0;
  bool has_lengths = false;
  std::optional<std::int64_t> next_offset;  ///< Of a ragged file: where the next walk begins.
  std::optional<array_writer> arrays;       // or text
  std::optional<text_sink> text;
  std::vector<piece> pieces;  // of text, in order
};

walk_writer::walk_writer(std::string const& path, walk_file_info const& info)
    : state_(std::make_unique<state>(path, info))
{
}

walk_writer::walk_writer(std::string const& path, walk_file_info const& info, shared_walks const& part)
    : state_(std::make_unique<state>(path, info, part))
{
}

std::string const& walk_writer::unfinished_name() const noexcept
{
  static std::string const none;
  return state_->arrays ? state_->arrays->unfinished_name() : none;
}

walk_writer::~walk_writer() = default;
walk_writer::walk_writer(walk_writer&&) noexcept = default;
walk_writer& walk_writer::operator=(walk_writer&&) noexcept = default;

void walk_writer::append(std::span<vertex_id const> vertices, std::span<std::int32_t const> lengths,
                         cpu_exec const& exec)
{
  auto const rows = static_cast<std::int64_t>(lengths.size());
  TENDRIL_EXPECTS(static_cast<std::int64_t>(vertices.size()) == rows * state_->width,
                  "{}: {} vertices for {} walks, expected {}", state_->path, vertices.size(), rows,
                  rows * state_->width);
  state_->expect_more(rows);
  if (state_->text) {
    state_->append_text(vertices, exec);
    return;
  }
  if (state_->next_offset) {
    state_->append_ragged(vertices, lengths, exec);
    return;
  }
  state_->arrays->append(0, vertices, exec);
  if (state_->has_lengths) { state_->arrays->append(1, lengths); }
}

void walk_writer::append(std::span<std::int64_t const> offsets, std::span<vertex_id const> vertices,
                         cpu_exec const& exec)
{
  TENDRIL_EXPECTS(state_->next_offset, "{}: ragged walks, expected rows", state_->path);
  TENDRIL_EXPECTS(!offsets.empty() && offsets.front() == 0 && offsets.back() == std::ssize(vertices),
                  "{}: {} vertices of ragged walks, expected offsets from 0 to as many", state_->path, vertices.size());
  auto const walks = std::ssize(offsets) - 1;
  state_->expect_more(walks);
  std::vector<std::int64_t> ends(static_cast<std::size_t>(std::min(walks, text_piece_bytes / 8)));
  for (std::int64_t first = 0; first < walks; first += std::ssize(ends)) {
    std::int64_t const n = std::min(std::ssize(ends), walks - first);
    for (std::int64_t i = 0; i < n; ++i) {
      auto const walk = static_cast<std::size_t>(first + i);
      std::int64_t const size = offsets[walk + 1] - offsets[walk];
      TENDRIL_EXPECTS(size >= 1 && size <= state_->width, "{}: a walk of {} steps, expected 0 to {}", state_->path,
                      size - 1, state_->width - 1);
      ends[static_cast<std::size_t>(i)] = *state_->next_offset += size;
    }
    state_->arrays->append(0, std::span<std::int64_t const>(ends).first(static_cast<std::size_t>(n)));
  }
  state_->arrays->append(1, vertices, exec);
}

void walk_writer::commit()
{
  TENDRIL_EXPECTS(state_->appended == state_->num_walks, "{}: {} walks, expected {}", state_->path, state_->appended,
                  state_->num_walks);
  if (state_->text) {
    state_->text->commit();
  } else {
    state_->arrays->commit();
  }
}

}  // namespace tendril
