#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>

#include <tendril/error.hpp>

namespace tendril {
namespace detail {

inline constexpr std::int64_t largest_size = std::numeric_limits<std::int64_t>::max();

/// "walks: 4611686018427387904 * 4, expected less than 2^63".
template <std::integral... Numbers>
[[noreturn]] void throw_no_size(char const* what, char const* sign, Numbers... numbers)
{
  std::string text;
  ((text += (text.empty() ? "" : sign) + std::to_string(numbers)), ...);
  bool const negative = (std::cmp_less(numbers, 0) || ...);
  throw memory_error(what + (": " + text) + (negative ? ", expected numbers from 0 on" : ", expected less than 2^63"));
}

/// Whether a number is a size: 0 to 2^63 - 1, whatever its type.
template <std::integral Number>
[[nodiscard]] constexpr bool is_size(Number number) noexcept
{
  return std::cmp_greater_equal(number, 0) && std::in_range<std::int64_t>(number);
}

/// product *= factor, for factor > 0. @return whether the product fits.
[[nodiscard]] constexpr bool multiply(std::int64_t& product, std::int64_t factor) noexcept
{
  bool const fits = product <= largest_size / factor;
  if (fits) { product *= factor; }
  return fits;
}

/// sum += term. @return whether the sum fits.
[[nodiscard]] constexpr bool add(std::int64_t& sum, std::int64_t term) noexcept
{
  bool const fits = sum <= largest_size - term;
  if (fits) { sum += term; }
  return fits;
}

}  // namespace detail

/// The product of some counts. Sizes of memory and of files come from here: a product that wraps around asks for too
/// little memory, and what is written then goes past its end.
///
/// @param what     What the product counts, for the message.
/// @param factors  Each 0 or more.
/// @throws memory_error if a factor is negative or the product is 2^63 or more; says `what` and the factors.
template <std::integral... Factors>
[[nodiscard]] constexpr std::int64_t checked_product(char const* what, Factors... factors)
{
  std::int64_t product = 1;
  bool fits = (detail::is_size(factors) && ...);
  if (fits && ((factors == 0) || ...)) { return 0; }
  fits = fits && (detail::multiply(product, static_cast<std::int64_t>(factors)) && ...);
  if (!fits) { detail::throw_no_size(what, " * ", factors...); }
  return product;
}

/// The sum of some counts. @throws as checked_product.
template <std::integral... Terms>
[[nodiscard]] constexpr std::int64_t checked_sum(char const* what, Terms... terms)
{
  std::int64_t sum = 0;
  bool const fits = (detail::is_size(terms) && ...) && (detail::add(sum, static_cast<std::int64_t>(terms)) && ...);
  if (!fits) { detail::throw_no_size(what, " + ", terms...); }
  return sum;
}

}  // namespace tendril
