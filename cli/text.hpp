// Numbers and lists as people write and read them.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tendril::cli {

/// 1234567 as "1,234,567".
[[nodiscard]] std::string grouped(std::int64_t value);

/// 71234567 as "71.2 M": three significant digits and a decimal prefix.
[[nodiscard]] std::string si(double value);

/// 71234567 as "71.2 MB" (decimal).
[[nodiscard]] std::string bytes_text(std::int64_t bytes);

/// Seconds as "423 ms", "4.23 s", "3:07" or "1:02:03".
[[nodiscard]] std::string duration(double seconds);

/// "1 walk", "2 walks".
[[nodiscard]] std::string counted(std::int64_t count, std::string_view singular, std::string_view plural);

/// The parts of "a,b,c".
[[nodiscard]] std::vector<std::string> split(std::string_view list);

/// The known word that is closest to `word`, if it is close enough to have been meant: by insertions, deletions,
/// replacements and swaps of neighbours, a third of its letters at most; else empty.
[[nodiscard]] std::string nearest(std::string_view word, std::vector<std::string> const& known);

/// An integer that fills the whole text. @throws argument_error "option: 'text', expected what".
[[nodiscard]] std::int64_t parse_integer(std::string_view text, std::string_view option, std::string_view expected);

/// The same for a list of them. @throws argument_error.
[[nodiscard]] std::vector<std::int64_t> parse_integers(std::string_view list, std::string_view option,
                                                       std::string_view expected);

/// Bytes as in 500000, 64K, 1.5G: K, M, G and T are powers of 1024. @throws argument_error as parse_integer.
[[nodiscard]] std::int64_t parse_bytes(std::string_view text, std::string_view option);

/// Batches of `each` that hold `size` things; the last one may hold fewer.
[[nodiscard]] inline std::int64_t batches_of(std::int64_t size, std::int64_t each)
{
  return size / each + (size % each == 0 ? 0 : 1);
}

/// The most memory this process has held so far, in bytes.
[[nodiscard]] std::int64_t peak_memory();

}  // namespace tendril::cli
