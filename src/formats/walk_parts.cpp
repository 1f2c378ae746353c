// Which walks of a job each of its parts makes.

#include <tendril/walk_parts.hpp>

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "base/expects.hpp"  // TENDRIL_EXPECTS

namespace tendril {
namespace {

/// Whether the text is a number, and nothing else.
bool parse_whole(std::string_view text, std::int64_t& number)
{
  char const* const end = text.data() + text.size();
  auto const read = std::from_chars(text.data(), end, number);
  return read.ec == std::errc{} && read.ptr == end;
}

}  // namespace

job_part parse_job_part(std::string_view text)
{
  job_part part;
  auto const slash = text.find('/');
  bool const is_part = slash != std::string_view::npos && parse_whole(text.substr(0, slash), part.index) &&
                       parse_whole(text.substr(slash + 1), part.count) && part.index >= 0 && part.index < part.count;
  TENDRIL_EXPECTS(is_part, "'{}', expected I/N with I from 0 to N - 1", text);
  return part;
}

std::string to_string(job_part part) { return fmt::format("{}/{}", part.index, part.count); }

walk_range walks_of(job_part part, std::int64_t num_walks)
{
  TENDRIL_EXPECTS(part.index >= 0 && part.index < part.count, "part {}/{}, expected 0 to N - 1", part.index,
                  part.count);
  std::int64_t const each = num_walks / part.count;
  std::int64_t const larger = num_walks % part.count;  // parts with one walk more
  return {part.index * each + std::min(part.index, larger), each + (part.index < larger ? 1 : 0)};
}

}  // namespace tendril
