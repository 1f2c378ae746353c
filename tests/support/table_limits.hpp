#pragma once

#include <cstdint>

namespace tendril::test {

// Limits on the bytes of tables: with room for any, and with room for none.
inline constexpr std::int64_t with_tables = std::int64_t{1} << 40U;
inline constexpr std::int64_t without_tables = 1;

}  // namespace tendril::test
