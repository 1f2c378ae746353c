#include "graph/list_check.hpp"

#include <fmt/format.h>

#include "graph/list_checker.hpp"

namespace tendril::validation {
namespace {

/// What is wrong, in a line.
struct in_words {
  using line = std::string;
  [[nodiscard]] static line nothing() { return {}; }
  template <class... Values>
  [[nodiscard]] static line that(fmt::format_string<Values const&...> format, Values const&... values)
  {
    return fmt::format(format, values...);
  }
  [[nodiscard]] static bool is(line const& what) { return !what.empty(); }
};

}  // namespace

std::string block_problem(compressed_lists const& lists, std::int64_t b)
{
  return block_problem_of<in_words>(stored_lists::of(lists), b);
}

std::string list_problem(compressed_lists const& lists, std::int64_t v)
{
  auto const stored = stored_lists::of(lists);
  std::string const what = list_problem_of<in_words>(stored, v);
  return what.empty() ? what : fmt::format("vertex {}: {}", stored.id(v), what);
}

}  // namespace tendril::validation
