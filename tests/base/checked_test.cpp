// Sizes that no integer or no memory holds: an error that says which, never a smaller size.

#include <cstdint>
#include <limits>
#include <string>

#include <gtest/gtest.h>

#include <tendril/buffer.hpp>
#include <tendril/checked.hpp>

namespace tendril {
namespace {

constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t two_to_62 = std::int64_t{1} << 62;

/// What a call that must throw a memory_error says.
template <class F>
std::string message_of(F&& f)
{
  try {
    f();
  } catch (memory_error const& e) {
    return e.what();
  }
  return "no memory_error";
}

TEST(Checked, MultipliesAndAddsWhatFits)
{
  static_assert(checked_product("n", 3, 4) == 12);
  static_assert(checked_product("n", 3U, std::size_t{4}, std::int64_t{5}) == 60);
  static_assert(checked_product("n", largest) == largest);
  static_assert(checked_product("n", two_to_62, 1, 1) == two_to_62);
  static_assert(checked_product("n", std::int64_t{3037000499}, std::int64_t{3037000499}) == 9223372030926249001);
  static_assert(checked_sum("n", 3, 4U, std::size_t{5}) == 12);
  static_assert(checked_sum("n", largest - 1, 1) == largest);
}

TEST(Checked, NothingTimesAnythingIsNothing)
{
  static_assert(checked_product("n", two_to_62, two_to_62, 0) == 0);
  static_assert(checked_product("n", 0, largest) == 0);
  static_assert(checked_sum("n", 0, 0) == 0);
}

TEST(Checked, WhatDoesNotFitIsNamedWithItsNumbers)
{
  EXPECT_EQ(message_of([] { (void)checked_product("walks", two_to_62, 4); }),
            "walks: 4611686018427387904 * 4, expected less than 2^63");
  EXPECT_EQ(message_of([] { (void)checked_product("walks", two_to_62, 2); }),
            "walks: 4611686018427387904 * 2, expected less than 2^63");
  EXPECT_EQ(message_of([] { (void)checked_product("n", std::int64_t{3037000500}, std::int64_t{3037000500}); }),
            "n: 3037000500 * 3037000500, expected less than 2^63");
  EXPECT_EQ(message_of([] { (void)checked_product("n", 2, 3, largest); }),
            "n: 2 * 3 * 9223372036854775807, expected less than 2^63");
  EXPECT_EQ(message_of([] { (void)checked_sum("n", largest, 1); }),
            "n: 9223372036854775807 + 1, expected less than 2^63");
}

TEST(Checked, NumbersThatAreNoSizes)
{
  EXPECT_EQ(message_of([] { (void)checked_product("n", -1, 4); }), "n: -1 * 4, expected numbers from 0 on");
  EXPECT_EQ(message_of([] { (void)checked_product("n", 0, -1); }), "n: 0 * -1, expected numbers from 0 on");
  EXPECT_EQ(message_of([] { (void)checked_sum("n", 5, -1); }), "n: 5 + -1, expected numbers from 0 on");
  EXPECT_EQ(message_of([] { (void)checked_product("n", std::numeric_limits<std::uint64_t>::max(), 1); }),
            "n: 18446744073709551615 * 1, expected less than 2^63");
}

TEST(Checked, ABufferRefusesSizesWhoseBytesCannotBeCounted)
{
  EXPECT_EQ(message_of([] { buffer<std::int64_t> const b(std::int64_t{1} << 61); }),
            "out of memory: bytes of an array: 2305843009213693952 * 8, expected less than 2^63");
  EXPECT_EQ(message_of([] { buffer<std::int32_t> const b(-1); }),
            "out of memory: bytes of an array: -1 * 4, expected numbers from 0 on");
  EXPECT_EQ(buffer<std::int32_t>(0).data(), nullptr);
}

TEST(Checked, ABufferThatNoMemoryHolds)
{
  EXPECT_EQ(message_of([] { buffer<char> const b(largest); }),
            "out of memory: 9223372036854775807 bytes of host memory could not be had");
}

}  // namespace
}  // namespace tendril
