#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include <zlib.h>

#include <tendril/file.hpp>

namespace tendril::formats {

/// Whether `bytes` start as a gzip file does.
[[nodiscard]] bool is_gzip(std::span<std::byte const> bytes) noexcept;

/// Inflates gzip data piece by piece; members that follow each other read as one.
class gzip_reader {
 public:
  /// @param path For messages.
  gzip_reader(std::string path, std::span<std::byte const> bytes);
  gzip_reader(gzip_reader const&) = delete;
  gzip_reader& operator=(gzip_reader const&) = delete;
  ~gzip_reader();

  /// Inflates up to `size` bytes; less than that only at the end, after which it is 0.
  /// @throws format_error where the data is corrupt or ends inside a member.
  [[nodiscard]] std::size_t read(char* out, std::size_t size);

 private:
  [[noreturn]] void fail(char const* what) const;
  void feed();
  [[nodiscard]] bool next_member();

  std::string path_;
  std::span<std::byte const> bytes_;
  std::size_t fed_ = 0;  // bytes handed to zlib so far, whose counters may be 32 bits wide
  z_stream stream_{};
  bool ended_ = false;
};

/// Deflates into a file, as one gzip member.
class gzip_writer {
 public:
  explicit gzip_writer(atomic_file& file);
  gzip_writer(gzip_writer const&) = delete;
  gzip_writer& operator=(gzip_writer const&) = delete;
  ~gzip_writer();

  void write(char const* data, std::size_t size);
  void finish();  ///< Writes what is still inside and the trailer. The file is not committed.

 private:
  void deflate_all(int flush);

  atomic_file& file_;
  z_stream stream_{};
  std::unique_ptr<char[]> out_;
};

}  // namespace tendril::formats
