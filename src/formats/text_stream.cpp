#include "formats/text_stream.hpp"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include <tendril/error.hpp>

#include "base/parallel.hpp"  // num_threads

namespace tendril::formats {
namespace {

constexpr std::int64_t min_block_bytes = std::int64_t{1} << 18U;  // small ones feed all threads of a small file
constexpr std::int64_t min_inflated_block = std::int64_t{1} << 16U;
constexpr std::int64_t max_inflated_block = std::int64_t{1} << 22U;

/// The longest line taken from a gzip file: without a limit, a small file could inflate to one line of any length.
constexpr std::int64_t max_inflated_line = std::int64_t{1} << 26U;

}  // namespace

text_stream::text_stream(std::string path, std::span<std::byte const> bytes, cpu_exec const& exec,
                         std::int64_t most_bytes)
    : path_(std::move(path)), bytes_(bytes), most_bytes_(most_bytes)
{
  auto const size = static_cast<std::int64_t>(bytes.size());
  int const threads = base::num_threads(exec);
  block_bytes_ = std::min(std::clamp(size / (4 * threads), min_block_bytes, max_block_bytes), most_bytes);
  threads_ = static_cast<int>(std::min<std::int64_t>(threads, size / min_block_bytes + 1));
  if (is_gzip(bytes)) { gzip_ = std::make_unique<gzip_reader>(path_, bytes); }
  current_ = fetch();
  std::string_view& text = current_.text;
  if (text.empty()) { throw format_error(fmt::format("{}: empty file, expected a graph", path_)); }
  if (text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff")) {
    throw format_error(fmt::format("{}:1: text in UTF-16, expected ASCII or UTF-8", path_));
  }
  if (text.starts_with("\xef\xbb\xbf")) { text.remove_prefix(3); }
}

std::optional<std::string_view> text_stream::peek_line()
{
  if (current_.text.empty()) { current_ = fetch(); }
  if (current_.text.empty()) { return std::nullopt; }
  std::string_view line = current_.text.substr(0, current_.text.find('\n'));
  if (line.ends_with('\r')) { line.remove_suffix(1); }
  return line;
}

void text_stream::consume_line()
{
  std::size_t const end = current_.text.find('\n');
  current_.text.remove_prefix(end == std::string_view::npos ? current_.text.size() : end + 1);
  ++line_number_;
}

void text_stream::skip_to(std::int64_t position, std::int64_t line_number)
{
  line_number_ = line_number;
  if (!gzip_) {
    current_ = {};
    position_ = position;
    return;
  }
  while (position_ - static_cast<std::int64_t>(carry_.size()) < position) {
    current_ = fetch();
    if (current_.text.empty()) { return; }
  }
  current_.text.remove_prefix(static_cast<std::size_t>(position - next_position()));
}

text_block text_stream::next_block()
{
  if (!current_.text.empty()) { return std::exchange(current_, {}); }
  return fetch();
}

text_block text_stream::fetch()
{
  if (gzip_) { return inflate_block(); }
  auto const* const text = reinterpret_cast<char const*>(bytes_.data());
  std::int64_t const begin = position_;
  std::int64_t end = std::min(begin + block_bytes_, num_bytes());
  if (end < num_bytes()) {
    void const* const feed = std::memchr(text + end, '\n', static_cast<std::size_t>(num_bytes() - end));
    end = feed == nullptr ? num_bytes() : static_cast<char const*>(feed) - text + 1;
  }
  position_ = end;
  return {{text + begin, static_cast<std::size_t>(end - begin)}, nullptr};
}

text_block text_stream::inflate_block()
{
  // The carried line goes first; the block ends with the last line feed inflated, and what follows is carried on.
  std::int64_t const usual = std::clamp(8 * num_bytes(), min_inflated_block, max_inflated_block);
  for (std::int64_t fresh = std::min(usual, most_bytes_);; fresh *= 2) {
    auto const carried = static_cast<std::int64_t>(carry_.size());
    auto storage = std::make_shared<buffer<char>>(carried + fresh);
    carry_.copy(storage->data(), carry_.size());
    auto const inflated =
        static_cast<std::int64_t>(gzip_->read(storage->data() + carried, static_cast<std::size_t>(fresh)));
    position_ += inflated;
    std::string_view const text(storage->data(), static_cast<std::size_t>(carried + inflated));
    bool const ended = inflated < fresh;
    std::size_t const end = ended ? text.size() : text.rfind('\n') + 1;  // npos + 1 is 0: no line is complete
    carry_ = text.substr(end);
    carry_storage_ = storage;
    if (end > 0 || ended) { return {text.substr(0, end), storage}; }
    if (static_cast<std::int64_t>(text.size()) > max_inflated_line) {
      throw format_error(fmt::format("{}: a line of more than {} bytes in a gzip file, expected shorter lines", path_,
                                     max_inflated_line));
    }
  }
}

}  // namespace tendril::formats
