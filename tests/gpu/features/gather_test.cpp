// A GPU gathers the rows that the table has, wherever they lie, whoever gathers them; the first bad id is named.

#include <tendril/gpu_features.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "gpu/features/matrix_of.hpp"
#include "support/gpu_copies.hpp"
#include "support/gpu_test.hpp"
#include "support/messages.hpp"

namespace tendril::test {
namespace {

std::vector<std::byte> random_bytes(std::int64_t count)
{
  std::mt19937_64 random(7);
  std::vector<std::byte> bytes(static_cast<std::size_t>(count));
  for (std::byte& byte : bytes) { byte = static_cast<std::byte>(random()); }
  return bytes;
}

std::vector<std::int64_t> some_ids(std::int64_t count, std::int64_t num_rows)
{
  std::mt19937_64 random(3);
  std::vector<std::int64_t> ids(static_cast<std::size_t>(count));
  for (auto& id : ids) { id = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(num_rows)); }
  return ids;
}

/// What the CPU gathers.
std::vector<std::byte> expected_rows(feature_table const& table, std::vector<std::int64_t> const& ids)
{
  std::vector<std::byte> out(ids.size() * static_cast<std::size_t>(table.row_bytes()));
  gather(table, std::span<std::int64_t const>(ids), out);
  return out;
}

class GpuFeatures : public gpu_test {
 protected:
  /// Gathers between two bytes that must stay as they are, `offset` bytes behind an aligned address.
  template <class T>
  std::vector<std::byte> gathered(gpu_features const& from, buffer<T> const& ids, std::int64_t offset = 0,
                                  bool checked = true) const
  {
    std::int64_t const bytes = ids.size() * from.table().row_bytes();
    std::vector<std::byte> const guard(static_cast<std::size_t>(offset + bytes + 1), std::byte{0xa5});
    buffer<std::byte> const out = on_gpu(guard, exec);
    std::span<std::byte> const rows(const_cast<std::byte*>(out.data()) + offset, static_cast<std::size_t>(bytes));
    checked ? from.gather(matrix_of(ids), rows, exec) : from.gather_unchecked(matrix_of(ids), rows, exec);
    synchronize(exec);
    auto all = copied(out);
    EXPECT_TRUE(std::all_of(all.begin(), all.begin() + offset, [](std::byte b) { return b == std::byte{0xa5}; }));
    EXPECT_EQ(all.back(), std::byte{0xa5});
    return {all.begin() + offset, all.end() - 1};
  }

  /// Calls f with the table in every memory, by all who may gather from there.
  template <class F>
  void in_every_way(feature_table const& table, F const& f) const
  {
    feature_table const locked = pin_memory(table);
    f(gpu_features(to_gpu(table, exec), exec), "on the GPU");
    f(gpu_features(table, exec), "pageable");
    for (work_share const share : {work_share::automatic, work_share::gpu, work_share::cpu, work_share::both}) {
      f(gpu_features(locked, exec, share), "page-locked, " + std::string(to_string(share)));
    }
  }
};

TEST_F(GpuFeatures, RowsOfEverySizeComeOutOfAnyMemory)
{
  constexpr std::int64_t num_rows = 3001;
  for (std::int64_t const row_bytes :
       {1,   2,   3,   4,   6,   8,   12,  16,  20,   28,   31,   32,   48,   63,   64,
        100, 128, 200, 256, 400, 512, 516, 602, 1000, 1024, 2408, 4095, 4096, 8192, 20'000}) {
    auto const bytes = random_bytes(num_rows * row_bytes);
    feature_table const table(bytes, {"uint8", {num_rows, row_bytes}});
    auto const ids = some_ids(row_bytes > 1000 ? 2500 : 9001, num_rows);
    auto const there = on_gpu(ids, exec);
    auto const expected = expected_rows(table, ids);
    in_every_way(table, [&](gpu_features const& from, std::string const& how) {
      EXPECT_EQ(gathered(from, there), expected) << row_bytes << " bytes, " << how;
      EXPECT_EQ(gathered(from, there, row_bytes % 7), expected) << row_bytes << " bytes, elsewhere, " << how;
      EXPECT_EQ(gathered(from, there, 0, false), expected) << row_bytes << " bytes, unchecked, " << how;
    });
  }
}

/// The GPU reads the first rows of a gather, the CPU the others, whatever the part.
TEST_F(GpuFeatures, RowsDoNotDependOnThePartOfEach)
{
  constexpr std::int64_t num_rows = 4999, row_bytes = 400;
  auto const bytes = random_bytes(num_rows * row_bytes);
  feature_table const table(bytes, {"float32", {num_rows, row_bytes / 4}});
  gpu_features const locked(pin_memory(table), exec), pageable(table, exec);
  for (std::int64_t const size : {1, 31, 33, 2000, 70'001}) {
    auto const ids = some_ids(size, num_rows);
    auto const there = on_gpu(ids, exec);
    auto const expected = expected_rows(table, ids);
    for (double const part : {0.0, 1e-9, 0.1, 0.5, 0.999, 1.0}) {
      for (gpu_features const* from : {&locked, &pageable}) {
        buffer<std::byte> const out = on_gpu(std::vector<std::byte>(expected.size(), std::byte{0xa5}), exec);
        std::span<std::byte> const rows(const_cast<std::byte*>(out.data()), expected.size());
        from->gather_unchecked(matrix_of(there), rows, exec,
                               {.share = work_share::cpu, .num_threads = 3, .gpu_part = part});
        EXPECT_EQ(copied(out), expected) << size << " ids, part " << part;
      }
    }
  }
}

/// Who gathers is told by rows; the CPU's time is that of its threads.
TEST_F(GpuFeatures, AMeterIsToldWhoGathered)
{
  constexpr std::int64_t num_rows = 4999, row_bytes = 400, size = 3200;
  auto const bytes = random_bytes(num_rows * row_bytes);
  feature_table const table(bytes, {"float32", {num_rows, row_bytes / 4}});
  auto const others = bytes;  // whose pages stay pageable
  feature_table const unlocked(others, {"float32", {num_rows, row_bytes / 4}});
  gpu_features const locked(pin_memory(table), exec), pageable(unlocked, exec), here(to_gpu(table, exec), exec);
  ASSERT_EQ(pageable.memory(), row_memory::pageable);
  auto const ids = on_gpu(some_ids(size, num_rows), exec);
  buffer<std::byte> out(size * row_bytes, memory_of(exec));
  gather_meter meter;
  auto const told = [&](gpu_features const& from, work_share share, double part) {
    from.gather_unchecked(matrix_of(ids), out.span(), exec, {.share = share, .gpu_part = part, .meter = &meter});
    gather_meter::reading const done = meter.take();
    EXPECT_EQ(done.of_cpu.count() > 0, done.by_cpu > 0);
    return std::pair(done.by_cpu, done.by_gpu);
  };
  EXPECT_EQ(told(locked, work_share::cpu, 0), std::pair(size, std::int64_t{0}));
  EXPECT_EQ(told(locked, work_share::cpu, 0.25), std::pair(size * 3 / 4, size / 4));
  EXPECT_EQ(told(locked, work_share::cpu, 1), std::pair(std::int64_t{0}, size));
  EXPECT_EQ(told(locked, work_share::gpu, 0), std::pair(std::int64_t{0}, size));
  EXPECT_EQ(told(pageable, work_share::cpu, 0.25), std::pair(size, std::int64_t{0})) << "which the GPU can't read";
  EXPECT_EQ(told(pageable, work_share::gpu, 0), std::pair(size, std::int64_t{0}));
  EXPECT_EQ(told(here, work_share::cpu, 0), std::pair(std::int64_t{0}, std::int64_t{0})) << "no rows of the host";
  locked.gather_unchecked(matrix_of(ids), out.span(), exec, {.share = work_share::cpu, .meter = &meter});
  locked.gather_unchecked(matrix_of(ids), out.span(), exec, {.share = work_share::gpu, .meter = &meter});
  gather_meter::reading const both = meter.take();
  EXPECT_EQ(std::pair(both.by_cpu, both.by_gpu), std::pair(size, size));
  EXPECT_EQ(meter.take().by_cpu, 0);
}

TEST_F(GpuFeatures, APartIsChecked)
{
  auto const bytes = random_bytes(400);
  feature_table const table(bytes, {"float32", {10, 10}});
  gpu_features const locked(pin_memory(table), exec);
  auto const ids = on_gpu(std::vector<std::int64_t>{0, 9, 3}, exec);
  buffer<std::byte> out(120, memory_of(exec));
  auto const gathered_in = [&](double part) {
    return message_of<argument_error>([&] {
      locked.gather_unchecked(matrix_of(ids), out.span(), exec, {.share = work_share::cpu, .gpu_part = part});
    });
  };
  EXPECT_EQ(gathered_in(1.5), "gpu_part is 1.5, expected 0 to 1");
  EXPECT_EQ(gathered_in(-0.5), "gpu_part is -0.5, expected 0 to 1");
  EXPECT_EQ(gathered_in(std::numeric_limits<double>::quiet_NaN()), "gpu_part is nan, expected 0 to 1");
}

TEST_F(GpuFeatures, TablesOverTheSameMemoryShareItsLock)
{
  auto const bytes = random_bytes(1000 * 4096);
  feature_table const table(bytes, {"uint8", {1000, 4096}});
  feature_table const part(std::span<std::byte const>(bytes).subspan(40'960, 81'920), {"uint8", {20, 4096}});
  {
    feature_table first = pin_memory(table);
    feature_table const second = pin_memory(table), of_part = pin_memory(part);
    first = {};
    EXPECT_EQ(gpu_features(second, exec).memory(), row_memory::page_locked);
    EXPECT_EQ(gpu_features(of_part, exec).memory(), row_memory::page_locked);
    auto const ids = some_ids(3000, 1000);
    EXPECT_EQ(gathered(gpu_features(second, exec, work_share::gpu), on_gpu(ids, exec)), expected_rows(table, ids));
  }
  EXPECT_EQ(gpu_features(table, exec).memory(), row_memory::pageable);
  feature_table const again = pin_memory(table);
  EXPECT_EQ(gpu_features(again, exec).memory(), row_memory::page_locked);
}

TEST_F(GpuFeatures, IdsOfEveryTypeAndStride)
{
  constexpr std::int64_t num_rows = 777;
  auto const bytes = random_bytes(num_rows * 36);
  feature_table const table(bytes, {"float32", {num_rows, 9}});
  auto const ids = some_ids(5000, num_rows);
  auto const expected = expected_rows(table, ids);
  in_every_way(table, [&](gpu_features const& from, std::string const& how) {
    SCOPED_TRACE(how);
    EXPECT_EQ(gathered(from, on_gpu(std::vector<std::int32_t>(ids.begin(), ids.end()), exec)), expected);
    EXPECT_EQ(gathered(from, on_gpu(std::vector<std::uint32_t>(ids.begin(), ids.end()), exec)), expected);
    EXPECT_EQ(gathered(from, on_gpu(std::vector<std::uint64_t>(ids.begin(), ids.end()), exec)), expected);
    auto const there = on_gpu(ids, exec);
    id_matrix const every_other{there.data(), id_type::int64, 2500, 1, 2, 0};
    buffer<std::byte> out(2500 * 36, memory_of(exec));
    from.gather(every_other, out.span(), exec);
    synchronize(exec);
    std::vector<std::int64_t> taken;
    for (std::size_t i = 0; i < ids.size(); i += 2) { taken.push_back(ids[i]); }
    EXPECT_EQ(copied(out), expected_rows(table, taken));
  });
}

TEST_F(GpuFeatures, RowsWithGapsBetweenThem)
{
  constexpr std::int64_t num_rows = 500;
  auto const bytes = random_bytes(499 * 128 + 100);  // no gap behind the last row
  feature_table const table(bytes, {"float32", {num_rows, 5, 5}, 128});
  auto const ids = some_ids(3000, num_rows);
  auto const there = on_gpu(ids, exec);
  auto const expected = expected_rows(table, ids);
  in_every_way(table, [&](gpu_features const& from, std::string const& how) {
    EXPECT_EQ(gathered(from, there), expected) << how;
  });
  EXPECT_EQ(to_gpu(table, exec).row_stride(), 100);
  EXPECT_EQ(pin_memory(table).row_stride(), 128);
  feature_table const back = to_host(to_gpu(table, exec));
  EXPECT_EQ(expected_rows(back, ids), expected);
}

TEST_F(GpuFeatures, TheFirstIdThatIsNoRowIsNamed)
{
  constexpr std::int64_t num_rows = 5000;
  auto const bytes = random_bytes(num_rows * 24);
  feature_table const table(bytes, {"float32", {num_rows, 6}});
  struct one {
    std::int64_t place, id;
  };
  for (auto const& bad : {std::vector<one>{{17, 5000}},
                          {{17, -1}, {18, 5000}},
                          {{99'999, std::int64_t{1} << 32}},
                          {{0, 5001}, {99'999, -2}},
                          {{60'000, std::numeric_limits<std::int64_t>::min()}, {90'000, 5000}}}) {
    auto ids = some_ids(100'000, num_rows);
    for (auto const& [place, id] : bad) { ids[static_cast<std::size_t>(place)] = id; }
    auto const there = on_gpu(ids, exec);
    buffer<std::byte> out(100'000 * 24, memory_of(exec));
    in_every_way(table, [&](gpu_features const& from, std::string const& how) {
      EXPECT_EQ(message_of<argument_error>([&] { from.gather(matrix_of(there), out.span(), exec); }),
                "ids[" + std::to_string(bad[0].place) + "] is " + std::to_string(bad[0].id) + ", expected 0 to 4999")
          << how;
    });
  }
  auto const small = on_gpu(std::vector<std::int32_t>{3, -7}, exec);
  buffer<std::byte> out(48, memory_of(exec));
  in_every_way(table, [&](gpu_features const& from, std::string const& how) {
    EXPECT_EQ(message_of<argument_error>([&] { from.gather(matrix_of(small), out.span(), exec); }),
              "ids[1] is -7, expected 0 to 4999")
        << how;
  });
}

TEST_F(GpuFeatures, UncheckedIdsReadNothingOutsideTheTable)
{
  auto const bytes = random_bytes(10 * 16);
  gpu_features const from(to_gpu(feature_table(bytes, {"float32", {10, 4}}), exec), exec);
  auto const ids = on_gpu(std::vector<std::int64_t>{9, 10, -1, 0}, exec);
  auto const rows = gathered(from, ids, 0, false);
  EXPECT_TRUE(std::equal(rows.begin(), rows.begin() + 16, bytes.begin() + 9 * 16));
  EXPECT_TRUE(std::all_of(rows.begin() + 16, rows.begin() + 48, [](std::byte b) { return b == std::byte{0}; }));
  EXPECT_TRUE(std::equal(rows.begin() + 48, rows.end(), bytes.begin()));
}

TEST_F(GpuFeatures, ManyGathersFindTheirWayAndStayTheSame)
{
  constexpr std::int64_t num_rows = 200'000;
  auto const bytes = random_bytes(num_rows * 256);
  feature_table const table = pin_memory(feature_table(bytes, {"uint8", {num_rows, 256}}));
  gpu_features const from(table, exec);
  EXPECT_EQ(from.memory(), row_memory::page_locked);
  for (int i = 0; i < 20; ++i) {
    auto const ids = some_ids(100'000 + 1000 * i, num_rows);
    EXPECT_EQ(gathered(from, on_gpu(ids, exec)), expected_rows(table, ids)) << i;
  }
}

TEST_F(GpuFeatures, WhatIsEmptyGivesNothing)
{
  gpu_features const none(feature_table(), exec);
  buffer<std::int64_t> const no_ids(0, memory_of(exec));
  none.gather(matrix_of(no_ids), {}, exec);
  auto const one = on_gpu(std::vector<std::int64_t>{0}, exec);
  EXPECT_EQ(message_of<argument_error>([&] { none.gather(matrix_of(one), {}, exec); }),
            "out has 0 bytes, expected 1 for 1 rows of 1");
  buffer<std::byte> out(1, memory_of(exec));
  EXPECT_EQ(message_of<argument_error>([&] { none.gather(matrix_of(one), out.span(), exec); }),
            "ids[0] is 0, expected none: the table has no rows");
  std::vector<std::byte> const nothing;
  feature_table const empty_rows(nothing, {"float32", {5, 0}});
  gpu_features(empty_rows, exec).gather(matrix_of(one), {}, exec);
  auto const bad = on_gpu(std::vector<std::int64_t>{5}, exec);
  EXPECT_EQ(message_of<argument_error>([&] { gpu_features(empty_rows, exec).gather(matrix_of(bad), {}, exec); }),
            "ids[0] is 5, expected 0 to 4");
}

TEST_F(GpuFeatures, TablesOnAGpuAreNotGatheredByTheCpu)
{
  auto const bytes = random_bytes(64);
  feature_table const there = to_gpu(feature_table(bytes, {"uint8", {4, 16}}), exec);
  EXPECT_EQ(there.device(), 0);
  std::vector<std::int64_t> const ids{1};
  std::vector<std::byte> out(16);
  EXPECT_EQ(message_of<argument_error>([&] { gather(there, std::span<std::int64_t const>(ids), out); }),
            "the table lies on GPU 0, expected host memory");
  EXPECT_EQ(copied(to_host(there).bytes()), bytes);
}

TEST_F(GpuFeatures, LockedPagesAreFreeAgainAfterwards)
{
  auto const bytes = random_bytes(1 << 20);
  feature_table const table(bytes, {"uint8", {1 << 10, 1 << 10}});
  for (int i = 0; i < 3; ++i) {
    feature_table const locked = pin_memory(table);
    EXPECT_EQ(gpu_features(locked, exec).memory(), row_memory::page_locked);
    EXPECT_EQ(locked.data(), table.data());
    EXPECT_EQ(pin_memory(locked).data(), table.data());
  }
  EXPECT_EQ(gpu_features(table, exec).memory(), row_memory::pageable);
}

TEST_F(GpuFeatures, SmallTablesThatShareTheirPagesAreLockedToo)
{
  auto const bytes = random_bytes(256);
  std::span<std::byte const> const all(bytes);
  feature_table const left(all.first(128), {"uint8", {8, 16}});
  feature_table const right(all.subspan(128), {"uint8", {8, 16}});
  gpu_features const first(pin_memory(left), exec);
  gpu_features const second(pin_memory(right), exec);
  auto const ids = on_gpu(std::vector<std::int64_t>{7, 0, 3}, exec);
  EXPECT_EQ(gathered(first, ids), expected_rows(left, {7, 0, 3}));
  EXPECT_EQ(gathered(second, ids), expected_rows(right, {7, 0, 3}));
}

}  // namespace
}  // namespace tendril::test
