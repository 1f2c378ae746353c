// Results that threads stage in page-locked memory arrive where they belong, whatever their size and the turns; who fails
// ends all.

#include "gpu/together/staged_results.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>

#include "base/shared_work.hpp"
#include "gpu/together/together.hpp"
#include "support/gpu_copies.hpp"
#include "support/gpu_test.hpp"
#include "support/messages.hpp"

namespace tendril::test {
namespace {

class StagedResults : public gpu_test {
 protected:
  static constexpr std::int64_t item_bytes_of_failure = 1 << 20;

  /// Byte k of item i.
  static std::byte byte_of(std::int64_t item, std::int64_t k)
  {
    return static_cast<std::byte>(static_cast<std::uint64_t>(item * 31 + k) * 0x9e3779b97f4a7c15ULL >> 56U);
  }

  static void write(base::item_range items, std::int64_t item_bytes, std::byte* to)
  {
    for (std::int64_t i = 0; i < items.size; ++i) {
      for (std::int64_t k = 0; k < item_bytes; ++k) { to[i * item_bytes + k] = byte_of(items.first + i, k); }
    }
  }

  /// Makes the items [first, end) of `end` by threads that take `most` items a turn at most.
  std::vector<std::byte> staged(std::int64_t first, std::int64_t end, std::int64_t item_bytes, std::int64_t most,
                                int threads) const
  {
    std::vector<std::byte> const before(static_cast<std::size_t>(end * item_bytes), std::byte{0xa5});
    buffer<std::byte> const out = on_gpu(before, exec);
    synchronize(exec);
    base::item_range const range{first, end - first};
    base::shared_items items(range, {.most = 0}, {.least = std::max<std::int64_t>(1, most / 4), .most = most}, threads);
    gpu::staged_results results(0, range, item_bytes, const_cast<std::byte*>(out.data()));
    base::work_at(
        items, threads, [](base::item_range) { FAIL() << "the front has no items"; },
        [&](int, base::item_range turn) {
          results.make(turn, [&](base::item_range part, std::byte* to) { write(part, item_bytes, to); });
        });
    results.finish();
    return copied(out);
  }
};

TEST_F(StagedResults, ArriveWhereTheyBelong)
{
  struct one {
    std::int64_t first, end, item_bytes, most;
  };
  for (one const& each : {one{0, 1, 1, 1}, one{0, 3'000'000, 1, 4096}, one{5, 100'003, 24, 1000},
                          one{1000, 30'000, 1000, 333}, one{7, 40'000, 3000, 50}, one{0, 9, 5 << 20, 1},
                          one{2, 9, 20 << 20, 3}, one{100, 101, 100, 1}, one{0, 20'000, 4096, 9999}}) {
    for (int const threads : {1, 4}) {
      auto const found = staged(each.first, each.end, each.item_bytes, each.most, threads);
      std::int64_t wrong = 0;
      for (std::int64_t i = 0; i < each.end; ++i) {
        for (std::int64_t k = 0; k < each.item_bytes; ++k) {
          std::byte const expected = i < each.first ? std::byte{0xa5} : byte_of(i, k);
          wrong += found[static_cast<std::size_t>(i * each.item_bytes + k)] == expected ? 0 : 1;
        }
      }
      EXPECT_EQ(wrong, 0) << each.end << " items of " << each.item_bytes << ", " << threads << " threads";
    }
  }
}

/// Call after call without a wait: the memory of the last call is still being copied from when the next one is filled.
TEST_F(StagedResults, CopiesAreLeftToTheStream)
{
  constexpr std::int64_t item_bytes = 1 << 20;
  constexpr std::int64_t num_items = 70;  // more than all pieces hold
  auto const size_of = [](int call) { return call % 3 == 2 ? std::int64_t{2} : num_items; };
  std::vector<buffer<std::byte>> outs;
  for (int call = 0; call < 12; ++call) { outs.emplace_back(size_of(call) * item_bytes, memory_of(exec)); }
  synchronize(exec);
  for (int call = 0; call < 12; ++call) {
    std::int64_t const size = size_of(call);
    gpu::staged_results results(0, {0, size}, item_bytes, outs[static_cast<std::size_t>(call)].data());
    for (std::int64_t item = size; item-- > 0;) {
      results.make({item, 1}, [&](base::item_range part, std::byte* to) {
        std::memset(to, static_cast<int>(7 * call + part.first), static_cast<std::size_t>(item_bytes));
      });
    }
    results.finish(exec.stream);
  }
  for (std::size_t call = 0; call < outs.size(); ++call) {
    std::vector<std::byte> const found = copied(outs[call]);
    std::int64_t wrong = 0;
    for (std::int64_t i = 0; i < std::ssize(found); ++i) {
      auto const expected = static_cast<std::byte>(7 * static_cast<std::int64_t>(call) + i / item_bytes);
      wrong += found[static_cast<std::size_t>(i)] == expected ? 0 : 1;
    }
    EXPECT_EQ(wrong, 0) << "call " << call;
  }
}

/// The others wait for memory whose piece can't be complete without the one that fails.
TEST_F(StagedResults, AFailureEndsThoseWhoWait)
{
  constexpr std::int64_t num_items = 400;
  buffer<std::byte> const out = on_gpu(std::vector<std::byte>(num_items * item_bytes_of_failure), exec);
  synchronize(exec);
  for (int round = 0; round < 10; ++round) {
    gpu::staged_results results(0, {0, num_items}, item_bytes_of_failure, const_cast<std::byte*>(out.data()));
    base::shared_items items({0, num_items}, {.most = 0}, {.least = 1, .most = 1}, 4);
    std::atomic<std::int64_t> made{0};
    auto const make = [&](int, base::item_range turn) {
      results.make(turn, [&](base::item_range part, std::byte*) {
        if (part.first != num_items - 10) {
          ++made;
          return;
        }
        while (made < 60) {}  // all pieces but this one are full: there are four, of 16 items
        throw std::runtime_error("item " + std::to_string(part.first));
      });
    };
    EXPECT_EQ(message_of<std::runtime_error>([&] {
                base::work_at(
                    items, 4, [](base::item_range) {}, make);
              }),
              "item 390");
    EXPECT_LT(made, 64);
  }
}

/// The next call finds the memory of the one before, which may have failed.
TEST_F(StagedResults, FetchedValuesLastAsLongAsTheCall)
{
  std::vector<std::int32_t> values(300'000);
  for (std::size_t i = 0; i < values.size(); ++i) { values[i] = static_cast<std::int32_t>(i * 7); }
  auto const there = on_gpu(values, exec);
  buffer<std::byte> const out = on_gpu(std::vector<std::byte>(values.size() * 4), exec);
  synchronize(exec);
  std::int64_t const size = std::ssize(values);
  gpu::staged_results results(0, {0, size}, 4, const_cast<std::byte*>(out.data()));
  auto const here = results.fetch(there.span());
  for (std::int64_t end = size; end > 0; end -= 1000) {
    results.make({end - 1000, 1000}, [&](base::item_range part, std::byte* to) {
      auto const bytes =
          std::as_bytes(here.subspan(static_cast<std::size_t>(part.first), static_cast<std::size_t>(part.size)));
      std::ranges::copy(bytes, to);
    });
  }
  results.finish();
  auto const expected = std::as_bytes(std::span(values));
  EXPECT_TRUE(std::ranges::equal(copied(out), expected));
}

}  // namespace
}  // namespace tendril::test
