#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

namespace tendril::formats {

/// A file mapped read-only. Share it to keep pointers into it valid.
class mapped_file {
 public:
  /// @throws io_error "path: cannot open: No such file or directory", also for directories and special files.
  static std::shared_ptr<mapped_file const> open(std::string const& path);

  explicit mapped_file(std::string path) : path_(std::move(path)) {}
  mapped_file(mapped_file const&) = delete;
  mapped_file& operator=(mapped_file const&) = delete;
  ~mapped_file();

  [[nodiscard]] std::span<std::byte const> bytes() const noexcept { return {data_, size_}; }
  [[nodiscard]] std::string const& path() const noexcept { return path_; }

  /// Takes the file's pages out of this process's memory; a read brings them back. Thread-safe.
  void release_pages() const noexcept;

 private:
  std::string path_;
  std::byte const* data_ = nullptr;
  std::size_t size_ = 0;
  int fd_ = -1;    // stays open, for reads around the mapping
  int slot_ = -1;  // of base::remember_mapping
};

}  // namespace tendril::formats
