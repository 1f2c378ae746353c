#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <tendril/exec.hpp>
#include <tendril/file.hpp>

#include "formats/gzip.hpp"

namespace tendril::formats {

/// Writes text into a file that appears when it is complete, compressed if its name ends in .gz.
class text_writer {
 public:
  explicit text_writer(std::string const& path) : file_(path), buffer_(std::make_unique<char[]>(buffer_bytes))
  {
    if (path.ends_with(".gz")) { gzip_.emplace(file_); }
  }

  void text(std::string_view part)
  {
    if (part.size() > buffer_bytes - longest_number) {
      flush();
      put(part.data(), part.size());
      return;
    }
    reserve(part.size());
    part.copy(buffer_.get() + size_, part.size());
    size_ += part.size();
  }

  void letter(char c)
  {
    reserve(1);
    buffer_[size_++] = c;
  }

  /// An integer, or a float in the shortest notation that reads back as the same number.
  template <class T>
  void number(T value)
  {
    reserve(longest_number);
    char* const at = buffer_.get() + size_;
    size_ += static_cast<std::size_t>(std::to_chars(at, at + longest_number, value).ptr - at);
  }

  void commit()
  {
    flush();
    if (gzip_) { gzip_->finish(); }
    file_.commit();
  }

 private:
  static constexpr std::size_t buffer_bytes = std::size_t{1} << 18U;
  static constexpr std::size_t longest_number = 32;

  void reserve(std::size_t size)
  {
    if (size_ + size > buffer_bytes) { flush(); }
  }

  void flush()
  {
    put(buffer_.get(), size_);
    size_ = 0;
  }

  void put(char const* data, std::size_t size)
  {
    if (gzip_) {
      gzip_->write(data, size);
    } else {
      file_.write(data, size);
    }
  }

  atomic_file file_;
  std::optional<gzip_writer> gzip_;
  std::unique_ptr<char[]> buffer_;
  std::size_t size_ = 0;
};

/// Tells `exec.on_progress` about every 2^16th vertex that is written.
inline void report_writing(cpu_exec const& exec, std::int64_t vertex, std::int64_t num_vertices)
{
  if (exec.on_progress && vertex % (std::int64_t{1} << 16U) == 0) {
    exec.on_progress({"writing", vertex, num_vertices});
  }
}

}  // namespace tendril::formats
