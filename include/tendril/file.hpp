#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <span>
#include <string>

namespace tendril {

/// A file that appears under its name only when it is complete. Bytes go into a temporary file in the same folder;
/// `commit` renames the temporary file; the destructor removes it if there was no commit. A symbolic link stays, and the
/// file that it leads to is replaced. A device or a named pipe is written in place, as bytes come.
class atomic_file {
 public:
  /// @throws io_error "path: cannot create: …".
  explicit atomic_file(std::string path);

  /// Opens a file that another process has begun, to write some of its bytes by `write_at`. The other one commits, after
  /// all who joined have.
  /// @param unfinished  What unfinished_name() says there. @throws io_error "path: cannot open …".
  atomic_file(std::string path, std::string const& unfinished);
  atomic_file(atomic_file const&) = delete;
  atomic_file& operator=(atomic_file const&) = delete;
  ~atomic_file();

  /// Appends `size` bytes. @throws io_error, also for a full disk.
  void write(void const* data, std::size_t size);

  /// Says that the file will have `size` bytes at least. @throws io_error if it cannot: its file system has not so much
  /// room, or `ulimit -f` does not allow it.
  void expect_size(std::int64_t size) const;

  /// Reserves `size` bytes for a later `write_at`; until then they are zeros. @throws io_error, as expect_size, and for a pipe.
  void skip(std::int64_t size);

  /// Overwrites bytes written or skipped earlier (for example a header with counts), then continues at the end of the
  /// file.
  void write_at(std::int64_t offset, void const* data, std::size_t size);

  [[nodiscard]] std::int64_t size() const noexcept { return size_; }

  /// The name of the temporary file; empty of what is written in place or was begun by another process.
  [[nodiscard]] std::string const& unfinished_name() const noexcept { return temporary_; }

  /// Flushes and renames the file. @throws io_error.
  void commit();

  /// Removes the temporary files and folders of all live atomic_file and atomic_folder objects. Async-signal-safe, for a
  /// handler that ends the process.
  static void remove_all_unfinished() noexcept;

 private:
  void remove_temporary() noexcept;

  std::string path_, target_, temporary_;  // the latter two are empty of what is written in place
  std::FILE* file_ = nullptr;
  std::int64_t size_ = 0;
  std::int64_t size_limit_;  // of `ulimit -f`
  int slot_ = -1;
};

/// A folder of files that appears under its name only when it is complete. It is made beside `path` under a temporary name;
/// `commit` renames it; the destructor removes it if there was no commit. A symbolic link stays, and the folder that it leads
/// to is made.
class atomic_folder {
 public:
  /// @throws argument_error  as expect_free; io_error "path: cannot create: …".
  explicit atomic_folder(std::string path);
  atomic_folder(atomic_folder const&) = delete;
  atomic_folder& operator=(atomic_folder const&) = delete;
  ~atomic_folder();

  /// The path of a file in the folder, which is to be written before `commit`. Folders in the folder are not meant.
  [[nodiscard]] std::string operator/(std::string const& name) const;

  /// Renames the folder. An empty folder of that name is replaced. @throws io_error.
  void commit();

  /// @throws argument_error if `path` is a file, or a folder that is not empty.
  static void expect_free(std::string const& path);

 private:
  std::string path_, target_, temporary_;  // the last is empty after `commit`
  int slot_ = -1;
};

/// The name of the file that the library has mapped where `address` points, or null. Async-signal-safe: a handler of
/// SIGBUS asks whether si_addr lies in a file. A process gets that signal when it reads a mapped file past its end, after
/// another process has made the file shorter. The library installs no handler by itself.
[[nodiscard]] char const* mapped_file_at(void const* address) noexcept;

/// Tells `mapped_file_at`, as long as it lives, of memory that somebody else has mapped, as NumPy's memmap does. Where many files
/// are mapped already, or the name is very long, nothing is found there.
class foreign_mapping {
 public:
  foreign_mapping(std::span<std::byte const> memory, std::string const& file) noexcept;
  foreign_mapping(foreign_mapping const&) = delete;
  foreign_mapping& operator=(foreign_mapping const&) = delete;
  ~foreign_mapping();

 private:
  int slot_;
};

/// Installs a handler of SIGBUS for the whole process: a read past the end of a mapped file then prints the line
/// "tendril: error: FILE: the file was truncated while it was read" to stderr, removes the temporary files of all live
/// atomic_file objects (not in a fork of the process), and ends the process with code 1. Any other SIGBUS goes where it went before. The command `tendril`
/// and the Python package call this.
void end_process_on_truncated_file() noexcept;

}  // namespace tendril
