// Where the library has files mapped: for those that meet an address and ask for its file.

#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace tendril::base {

/// A file that is mapped as a whole.
struct mapped_range {
  std::byte const* begin = nullptr;
  std::size_t size = 0;
  int file = -1;  ///< Descriptor, open as long as the mapping is there; -1: somebody else has mapped the file.
};

/// Remembers a mapping until `forget_mapping`. Thread-safe.
/// @return Its number; -1 if many are remembered already, or the name is too long: then nothing is found there.
[[nodiscard]] int remember_mapping(mapped_range const& range, std::string const& name) noexcept;
void forget_mapping(int number) noexcept;

/// The library's own mapping that `address` lies in, which the caller keeps from going away.
[[nodiscard]] std::optional<mapped_range> mapping_at(void const* address) noexcept;

/// Gives the whole pages of [begin, end) back to the system, if they lie in such a mapping: who reads them again gets them
/// from the page cache.
void give_back_file_pages(void const* begin, void const* end) noexcept;

}  // namespace tendril::base
