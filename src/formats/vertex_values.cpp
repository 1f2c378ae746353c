// A number for each vertex, out of a file.

#include <tendril/vertex_values.hpp>

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include <tendril/error.hpp>

#include "formats/array_view.hpp"
#include "formats/mapped_file.hpp"
#include "formats/npy.hpp"
#include "formats/text_numbers.hpp"
#include "formats/text_stream.hpp"

namespace tendril {
namespace {

buffer<float> read_npy_values(std::string const& path, std::shared_ptr<formats::mapped_file const> const& file,
                              cpu_exec const& exec)
{
  auto const values = formats::to_weights(path, formats::parse_npy(path, "values", file->bytes(), file), exec);
  buffer<float> out(values.size(), *exec.memory);
  for (std::int64_t i = 0; i < values.size(); ++i) {
    if (!std::isfinite(values[i]) || values[i] < 0) {
      throw format_error(fmt::format("{}: element {}: {}, expected a finite number of at least 0", path, i, values[i]));
    }
    out[i] = values[i];
  }
  return out;
}

/// The number of a line, or nothing for a blank line and a comment.
std::optional<float> parse_line(std::string const& path, std::int64_t line, std::string_view text)
{
  char const* at = text.data();
  char const* const end = at + text.size();
  while (at < end && formats::is_blank(*at)) { ++at; }
  if (at == end || *at == '#') { return std::nullopt; }
  char const* const begin = at;
  float value = 0;
  bool const good = formats::parse_weight(at, end, value) && at > begin;
  while (at < end && formats::is_blank(*at)) { ++at; }
  if (!good || at != end) {
    throw format_error(fmt::format("{}:{}: {}, expected one finite number of at least 0", path, line,
                                   formats::quoted({begin, static_cast<std::size_t>(end - begin)})));
  }
  return value;
}

buffer<float> read_text_values(std::string const& path, formats::mapped_file const& file, cpu_exec const& exec)
{
  formats::text_stream stream(path, file.bytes(), exec);
  std::vector<float> values;
  while (auto const line = stream.peek_line()) {
    if (auto const value = parse_line(path, stream.line_number() + 1, *line)) { values.push_back(*value); }
    stream.consume_line();
  }
  buffer<float> out(static_cast<std::int64_t>(values.size()), *exec.memory);
  std::copy(values.begin(), values.end(), out.begin());
  return out;
}

}  // namespace

buffer<float> read_vertex_values(std::string const& path, std::int64_t num_vertices, cpu_exec const& exec)
{
  auto const file = formats::mapped_file::open(path);
  auto values = file->bytes().empty()    ? buffer<float>()
                : path.ends_with(".npy") ? read_npy_values(path, file, exec)
                                         : read_text_values(path, *file, exec);
  if (values.size() != num_vertices) {
    throw format_error(fmt::format("{}: {} numbers, expected {}, one a vertex", path, values.size(), num_vertices));
  }
  return values;
}

}  // namespace tendril
