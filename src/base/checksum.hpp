#pragma once

#include <cstddef>
#include <cstdint>

#include <zlib.h>

namespace tendril::base {

/// The CRC-32 of some bytes, going on from that of those before. Zlib begins anew where a pointer is null, as that of no
/// bytes may be.
[[nodiscard]] inline std::uint32_t checksum_after(std::uint32_t before, void const* data, std::size_t size)
{
  return size == 0 ? before : static_cast<std::uint32_t>(crc32_z(before, static_cast<Bytef const*>(data), size));
}

}  // namespace tendril::base
