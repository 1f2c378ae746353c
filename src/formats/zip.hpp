#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tendril/exec.hpp>
#include <tendril/file.hpp>  // atomic_file

namespace tendril::formats {

/// A member of a zip file, as the central directory describes it.
struct zip_entry {
  std::string name;
  int method = 0;  ///< 0 stored, 8 deflated.
  bool encrypted = false;
  std::uint32_t crc = 0;
  std::uint64_t packed_size = 0, size = 0;
  std::uint64_t local_header = 0;  ///< Where its own header begins.
};

/// Bytes and what keeps them alive: the file where they are stored as they are, a buffer where they were inflated.
struct zip_member {
  std::span<std::byte const> bytes;
  std::shared_ptr<void const> owner;
};

/// A zip file, with zip64 sizes or without, that is all in memory or mapped.
class zip_reader {
 public:
  /// Reads the central directory. @param path For messages.
  /// @throws format_error if there is none, or it doesn't fit the file.
  zip_reader(std::string path, std::span<std::byte const> bytes, std::shared_ptr<void const> owner);

  [[nodiscard]] std::map<std::string, zip_entry> const& entries() const noexcept { return entries_; }

  /// The contents of a member: inflated where they are deflated, and checked against size and CRC. Memory is used as
  /// inflating fills it, whatever the directory says about sizes.
  /// @throws format_error for what doesn't fit, or a method other than stored and deflated; memory_error.
  [[nodiscard]] zip_member read(zip_entry const& entry, cpu_exec const& exec) const;

 private:
  [[nodiscard]] std::span<std::byte const> packed_bytes(zip_entry const& entry) const;
  void inflate(zip_entry const& entry, std::span<std::byte const> packed, std::span<std::byte> out,
               cpu_exec const& exec) const;

  std::string path_;
  std::span<std::byte const> bytes_;
  std::shared_ptr<void const> owner_;
  std::map<std::string, zip_entry> entries_;
};

/// Writes a zip file of stored members, each aligned to 64 bytes, with zip64 sizes: one after the other, or, where
/// sizes are known beforehand, each in its place. Several processes may fill members of one file.
class zip_writer {
 public:
  /// @param has_begun  Whether another process has begun this file: it writes the headers, and finishes.
  explicit zip_writer(atomic_file& file, bool has_begun = false) : file_(file), has_begun_(has_begun) {}

  void begin(std::string name);                    ///< Starts a member.
  void write(void const* data, std::size_t size);  ///< Appends to it.
  void end();                                      ///< Completes it.
  void finish();                                   ///< Writes the directory. The file is not committed.

  /// Leaves room for a whole member of `size` bytes. @return its number, for `fill` and `complete`.
  [[nodiscard]] std::size_t reserve(std::string name, std::uint64_t size);
  void fill(std::size_t member, void const* data, std::size_t size);  ///< Its next bytes.
  void seek(std::size_t member, std::uint64_t byte);                  ///< The next bytes are those from `byte` on.
  void complete(std::size_t member);                                  ///< All of it has been filled, once.

  /// What this process has filled, for `add_filled` of the one that completes the members.
  [[nodiscard]] std::string filled() const;
  void add_filled(std::string_view by_another);

 private:
  struct run {
    std::uint64_t member = 0, begin = 0, size = 0, crc = 0;
  };
  struct room {
    std::int64_t offset = 0;  // of the first byte
    std::uint64_t at = 0;     // where the next bytes go
  };

  atomic_file& file_;
  bool has_begun_;
  std::vector<zip_entry> entries_;
  std::map<std::size_t, room> rooms_;
  std::vector<run> runs_;  // that were filled
};

}  // namespace tendril::formats
