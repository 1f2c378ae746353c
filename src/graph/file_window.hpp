// Parts of an array in a mapped file, read into memory of their own: quicker than by missing pages, and the memory is what
// the caller asks for, whatever the system keeps of the file.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tendril {

/// A range of bytes of an array.
struct byte_range {
  std::int64_t begin = 0;
  std::int64_t end = 0;

  [[nodiscard]] bool empty() const { return begin >= end; }
  [[nodiscard]] std::int64_t size() const { return empty() ? 0 : end - begin; }
};

/// A part of a file, and where it goes. Both begin and end with whole pages.
struct file_piece {
  int file = -1;
  int file_around_cache = -1;  ///< The same file, opened with O_DIRECT; -1 where its system can't.
  std::int64_t offset = 0;
  std::span<std::byte> to;
  std::int64_t least = 0;  ///< Bytes that the file has there.
  char const* name = "";   ///< For messages.
};

/// Reads pieces into memory, some at a time. @throws io_error: a file is shorter, or can't be read.
void read_pieces(std::vector<file_piece> const& pieces);

/// A window on an array in a mapped file: a mapping of its own, in which memory takes the place of one range at a time. The
/// whole array can be read there; what is not in that range comes by pages, as in any mapping. An array that lies in no
/// mapped file is used where it is.
class file_window {
 public:
  file_window() = default;  ///< Of no array.
  explicit file_window(std::span<std::byte const> array);
  file_window(file_window&& other) noexcept;
  file_window& operator=(file_window&& other) noexcept;
  ~file_window();

  /// Where the array begins in the window.
  [[nodiscard]] std::byte const* data() const { return data_; }

  /// Makes memory for a range, in place of the one before. Nothing may read the range until it has been read from the file.
  /// @param pieces  Gets what is to be read. @throws memory_error.
  void make_room(byte_range range, std::vector<file_piece>& pieces);
  void give_back();

  /// Asks the system for the pages of a range that are not in memory, and goes on.
  void ask_for(byte_range range) const;

 private:
  std::byte const* data_ = nullptr;
  std::int64_t size_ = 0;           // of the array
  std::span<std::byte> pages_;      // all of the window; empty if the array is used where it is
  std::span<std::byte> in_memory_;  // of these
  std::int64_t first_offset_ = 0;   // in the file, of pages_
  std::int64_t file_size_ = 0;
  int file_ = -1;
  int file_around_cache_ = -1;
  char const* name_ = "";
  int mapping_ = -1;  // of base::remember_mapping
};

}  // namespace tendril
