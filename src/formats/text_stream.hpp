#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <tendril/buffer.hpp>
#include <tendril/exec.hpp>

#include "formats/gzip.hpp"

namespace tendril::formats {

/// Whole lines of a file, the last one with or without its line feed.
struct text_block {
  std::string_view text;
  std::shared_ptr<buffer<char> const> storage;  ///< Holds `text` where it was inflated; otherwise it lies in the file.
};

/// The text of a file, plain or gzip, first line by line (headers), then in blocks of whole lines (the data), which
/// may be parsed in parallel. Skips a byte order mark. Not thread-safe.
class text_stream {
 public:
  /// @param most_bytes  Of a block, but for what completes its last line.
  /// @throws format_error if there is no text at all, or it is UTF-16.
  text_stream(std::string path, std::span<std::byte const> bytes, cpu_exec const& exec,
              std::int64_t most_bytes = max_block_bytes);

  /// The next line without its end ("\n" or "\r\n"), not consumed; nothing at the end of the file. Valid until the
  /// next call.
  [[nodiscard]] std::optional<std::string_view> peek_line();

  /// Consumes the line that `peek_line` showed.
  void consume_line();

  /// Lines consumed so far.
  [[nodiscard]] std::int64_t line_number() const noexcept { return line_number_; }

  /// Counts the lines of blocks that were parsed as consumed.
  void count_lines(std::int64_t lines) noexcept { line_number_ += lines; }

  /// Goes on at a place where a block began before, which is not before the current one.
  /// @param position, line_number  As they were there.
  void skip_to(std::int64_t position, std::int64_t line_number);

  /// What follows, in blocks; an empty one at the end.
  [[nodiscard]] text_block next_block();

  /// Bytes of the file read so far, of `num_bytes()`; for a gzip file, of those inflated.
  [[nodiscard]] std::int64_t position() const noexcept { return position_; }
  /// Where the next block begins, counted as `position`.
  [[nodiscard]] std::int64_t next_position() const noexcept
  {
    return position_ - static_cast<std::int64_t>(current_.text.size() + carry_.size());
  }
  [[nodiscard]] std::int64_t num_bytes() const noexcept { return static_cast<std::int64_t>(bytes_.size()); }
  [[nodiscard]] bool compressed() const noexcept { return gzip_ != nullptr; }
  [[nodiscard]] std::string const& path() const noexcept { return path_; }

  /// How many threads are worth using on the blocks.
  [[nodiscard]] int num_threads() const noexcept { return threads_; }

  /// Large blocks keep their edges in mappings of their own, which go back to the system once they are copied.
  static constexpr std::int64_t max_block_bytes = std::int64_t{1} << 24U;

 private:
  [[nodiscard]] text_block fetch();
  [[nodiscard]] text_block inflate_block();

  std::string path_;
  std::span<std::byte const> bytes_;
  std::unique_ptr<gzip_reader> gzip_;
  std::shared_ptr<buffer<char> const> carry_storage_;  // the unfinished last line of the block before
  std::string_view carry_;
  text_block current_;
  std::int64_t position_ = 0;
  std::int64_t line_number_ = 0;
  std::int64_t block_bytes_ = 0;
  std::int64_t most_bytes_ = max_block_bytes;
  int threads_ = 1;
};

}  // namespace tendril::formats
