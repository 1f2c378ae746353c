// Rows come out where they are asked for, of every size and type, whatever the number of threads, and the first id that
// is no row is named.

#include <tendril/features.hpp>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tendril/error.hpp>

#include "support/messages.hpp"
#include "support/sanitized.hpp"

namespace tendril {
namespace {

cpu_exec threads(int count)
{
  cpu_exec exec;
  exec.num_threads = count;
  return exec;
}

/// Bytes that differ from place to place.
std::vector<std::byte> pattern(std::int64_t size)
{
  std::vector<std::byte> out(static_cast<std::size_t>(size));
  std::uint32_t state = 1;
  for (auto& one : out) {
    state = state * 1664525U + 1013904223U;
    one = static_cast<std::byte>(state >> 24U);
  }
  return out;
}

feature_table table_of(std::vector<std::byte> const& bytes, std::int64_t num_rows, std::int64_t row_bytes)
{
  return {bytes, {"uint8", {num_rows, row_bytes}}};
}

template <class Id>
std::vector<Id> some_ids(std::int64_t count, std::int64_t num_rows)
{
  std::vector<Id> ids(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) { ids[i] = static_cast<Id>(i * 7919 % num_rows); }
  return ids;
}

/// One byte after the other: the gather that is obviously right.
template <class Id>
std::vector<std::byte> expected_rows(std::vector<std::byte> const& bytes, std::int64_t row_stride,
                                     std::int64_t row_bytes, std::vector<Id> const& ids)
{
  std::vector<std::byte> out;
  for (Id const id : ids) {
    for (std::int64_t k = 0; k < row_bytes; ++k) {
      out.push_back(bytes[static_cast<std::size_t>(id * row_stride + k)]);
    }
  }
  return out;
}

template <class Id>
class GatherOfIds : public ::testing::Test {
};
using id_types = ::testing::Types<std::int32_t, std::int64_t>;
TYPED_TEST_SUITE(GatherOfIds, id_types);

TYPED_TEST(GatherOfIds, RowsOfEverySizeComeOutForAnyThreads)
{
  std::vector<std::int64_t> sizes(70);
  std::iota(sizes.begin(), sizes.end(), 0);
  for (std::int64_t const more : {127, 128, 129, 255, 256, 400, 511, 512, 1000, 1024, 1025, 4095, 4096, 4097}) {
    sizes.push_back(more);
  }
  constexpr std::int64_t num_rows = 331;
  for (std::int64_t const row_bytes : sizes) {
    auto const bytes = pattern(num_rows * row_bytes);
    auto const ids = some_ids<TypeParam>(row_bytes < 70 ? test::unless_sanitized(9000, 4000) : 1000, num_rows);
    auto const expected = expected_rows(bytes, row_bytes, row_bytes, ids);
    for (int const count : {1, 2, 3, 8}) {
      std::vector<std::byte> out(expected.size() + 2, std::byte{0xa5});  // at an odd address, with a byte on both sides
      gather(table_of(bytes, num_rows, row_bytes), ids, std::span(out).subspan(1, expected.size()), threads(count));
      EXPECT_TRUE(std::equal(expected.begin(), expected.end(), out.begin() + 1)) << row_bytes << " bytes";
      EXPECT_EQ(out.front(), std::byte{0xa5});
      EXPECT_EQ(out.back(), std::byte{0xa5});
    }
  }
}

TYPED_TEST(GatherOfIds, TheFirstIdThatIsNoRowIsNamedForAnyThreads)
{
  constexpr std::int64_t num_rows = 5000;
  auto const bytes = pattern(num_rows * 24);
  auto const table = table_of(bytes, num_rows, 24);
  struct one {
    std::int64_t place, id;
  };
  for (auto const& bad : {std::vector<one>{{17, 5000}},
                          {{17, -1}, {18, 5000}},
                          {{99'999, 7000}},
                          {{0, 5001}, {99'999, -2}},
                          {{60'000, -5}, {90'000, 5000}}}) {
    auto ids = some_ids<TypeParam>(100'000, num_rows);
    for (auto const& [place, id] : bad) { ids[place] = static_cast<TypeParam>(id); }
    for (int const count : {1, 2, 3, 8}) {
      std::vector<std::byte> out(ids.size() * 24 + 1, std::byte{0xa5});
      EXPECT_EQ(test::message_of<argument_error>(
                    [&] { gather(table, ids, std::span(out).first(ids.size() * 24), threads(count)); }),
                "ids[" + std::to_string(bad[0].place) + "] is " + std::to_string(bad[0].id) + ", expected 0 to 4999");
      EXPECT_EQ(out.back(), std::byte{0xa5});
    }
  }
}

TEST(Gather, RowsWithGapsBetweenThem)
{
  constexpr std::int64_t num_rows = 50;
  auto const bytes = pattern(49 * 128 + 100);  // no gap behind the last row
  feature_table const table(bytes, {"float32", {num_rows, 5, 5}, 128});
  EXPECT_EQ(table.row_bytes(), 100);
  EXPECT_EQ(table.num_bytes(), 5000);
  auto const ids = some_ids<std::int32_t>(200, num_rows);
  std::vector<std::byte> out(200 * 100);
  gather(table, ids, out);
  EXPECT_EQ(out, expected_rows(bytes, 128, 100, ids));
}

TEST(Gather, EveryTypeHasItsSize)
{
  std::vector<std::pair<std::string, int>> const types = {
      {"bool", 1},  {"int8", 1},   {"uint8", 1}, {"int16", 2},  {"uint16", 2},  {"float16", 2}, {"bfloat16", 2},
      {"int32", 4}, {"uint32", 4}, {"int64", 8}, {"uint64", 8}, {"float32", 4}, {"float64", 8}};
  for (auto const& [type, size] : types) {
    auto const bytes = pattern(10 * 3 * size);
    feature_table const table(bytes, {type, {10, 3}});
    EXPECT_EQ(table.row_bytes(), 3 * size);
    EXPECT_EQ(table.type(), type);
    std::vector<std::byte> out(static_cast<std::size_t>(2 * 3 * size));
    gather(table, std::vector<std::int64_t>{9, 0}, out);
    EXPECT_EQ(out, expected_rows(bytes, 3 * size, 3 * size, std::vector<std::int64_t>{9, 0}));
  }
}

TEST(Gather, NothingIsGatheredFromNothing)
{
  feature_table const none;
  EXPECT_EQ(none.num_rows(), 0);
  gather(none, std::vector<std::int32_t>{}, {});
  std::vector<std::byte> out(1);
  EXPECT_EQ(test::message_of<argument_error>([&] { gather(none, std::vector<std::int64_t>{0}, out); }),
            "ids[0] is 0, expected none: the table has no rows");
  feature_table const narrow({}, {"float64", {7, 0}});
  gather(narrow, std::vector<std::int32_t>{6, 6, 0}, {});
  EXPECT_EQ(test::message_of<argument_error>([&] {
              gather(narrow, std::vector<std::int32_t>{6, 7}, {});
            }),
            "ids[1] is 7, expected 0 to 6");
  gather(std::span<gather_request const>{});
}

TEST(Gather, SeveralTablesInOneGo)
{
  auto const wide = pattern(1000 * 400), labels = pattern(1000 * 8), masks = pattern(300);
  auto const many = some_ids<std::int64_t>(5000, 1000);
  auto const few = some_ids<std::int32_t>(70, 300);
  std::vector<std::byte> out_wide(5000 * 400), out_labels(5000 * 8), out_masks(70);
  for (int const count : {1, 2, 3, 8}) {
    std::vector<gather_request> const requests = {{table_of(wide, 1000, 400), many, out_wide},
                                                  {feature_table(), std::span<std::int32_t const>(), {}},
                                                  {table_of(labels, 1000, 8), many, out_labels},
                                                  {table_of(masks, 300, 1), few, out_masks}};
    for (auto* const out : {&out_wide, &out_labels, &out_masks}) { std::fill(out->begin(), out->end(), std::byte{0}); }
    gather(requests, threads(count));
    EXPECT_EQ(out_wide, expected_rows(wide, 400, 400, many));
    EXPECT_EQ(out_labels, expected_rows(labels, 8, 8, many));
    EXPECT_EQ(out_masks, expected_rows(masks, 1, 1, few));
  }
  auto wrong = few;
  wrong[69] = 300;
  auto also_wrong = many;
  also_wrong[4321] = -8;
  for (int const count : {1, 2, 3, 8}) {
    std::vector<gather_request> const requests = {{table_of(labels, 1000, 8), many, out_labels},
                                                  {table_of(masks, 300, 1), wrong, out_masks},
                                                  {table_of(wide, 1000, 400), also_wrong, out_wide}};
    EXPECT_EQ(test::message_of<argument_error>([&] { gather(requests, threads(count)); }),
              "request 1: ids[69] is 300, expected 0 to 299");
    EXPECT_EQ(test::message_of<argument_error>([&] { gather(std::span(requests).last(1), threads(count)); }),
              "request 0: ids[4321] is -8, expected 0 to 999");
  }
}

TEST(Gather, RefusesMemoryThatDoesNotFit)
{
  auto bytes = pattern(100);
  auto const table = table_of(bytes, 10, 10);
  std::vector<std::int64_t> ids = {1, 2, 3};
  std::vector<std::byte> out(29);
  EXPECT_EQ(test::message_of<argument_error>([&] { gather(table, ids, out); }),
            "out has 29 bytes, expected 30 for 3 rows of 10");
  EXPECT_EQ(test::message_of<argument_error>([&] { gather(table, ids, std::span(bytes).last(30)); }),
            "out overlaps the table, expected memory of its own");
  EXPECT_EQ(test::message_of<argument_error>(
                [&] { gather(table_of(bytes, 10, 8), ids, std::as_writable_bytes(std::span(ids))); }),
            "out overlaps ids, expected memory of its own");
}

TEST(Gather, RefusesTablesThatCanNotBe)
{
  auto const bytes = pattern(100);
  auto const refusal = [&](feature_rows const& rows) {
    return test::message_of<argument_error>([&] { (void)feature_table(bytes, rows); });
  };
  EXPECT_EQ(refusal({"float31", {5}}),
            "features of type 'float31', expected bool, int8 to int64, uint8 to uint64, float16, bfloat16, float32 or "
            "float64");
  EXPECT_EQ(refusal({"other", {5}}).substr(0, 24), "features of type 'other'");
  EXPECT_EQ(refusal({"int8", {}}), "features without dimensions, expected rows");
  EXPECT_EQ(refusal({"int8", {3, -1}}), "features with an extent of -1, expected 0 or more");
  EXPECT_EQ(refusal({"int8", {101}}), "100 bytes of features, expected at least 101 for 101 rows of 1");
  EXPECT_EQ(refusal({"int32", {2, 5}, 19}), "19 bytes from one row of features to the next, expected at least 20");
  EXPECT_EQ(refusal({"int32", {2, 5}, 81}), "100 bytes of features, expected at least 101 for 2 rows of 20");
  constexpr std::int64_t large = std::int64_t{1} << 61;
  for (auto const& rows : {feature_rows{"int64", {2, large}}, {"int64", {large, 2}}, {"int8", {5}, large * 3}}) {
    EXPECT_THROW((void)feature_table(bytes, rows), memory_error);
  }
  EXPECT_EQ(feature_table(bytes, {"int8", {3, large, large, 0}}).row_bytes(), 0);
}

TEST(Gather, CanBeCancelled)
{
  auto const bytes = pattern(1000 * 1000);
  auto const ids = some_ids<std::int64_t>(10'000, 1000);
  std::vector<std::byte> out(10'000'000);
  for (bool const mapped : {false, true}) {
    feature_table const table(bytes, {"uint8", {1000, 1000}}, {}, mapped);
    int looks = 0;
    cpu_exec exec = threads(1);
    exec.check_cancel = [&] {
      if (++looks == 20) { throw io_error("enough"); }
    };
    EXPECT_THROW(gather(table, ids, out, exec), io_error);
  }
}

}  // namespace
}  // namespace tendril
