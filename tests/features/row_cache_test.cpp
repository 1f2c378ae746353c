// A cache keeps what its policy says, and its lists of a batch lead to the batch's rows.

#include <tendril/feature_cache.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <sys/resource.h>

#include "support/messages.hpp"
#include "support/row_batches.hpp"
#include "support/sanitized.hpp"

namespace tendril::test {
namespace {

/// Serves all batches of an epoch, each as soon as its window is known. Calls f(number, step, content before).
template <class F>
void serve_all(row_cache& cache, std::vector<row_batch> const& batches, F const& f)
{
  std::size_t seen = 0;
  for (std::size_t b = 0; b < batches.size(); ++b) {
    while (seen < batches.size() && seen < b + static_cast<std::size_t>(cache.params().window)) {
      cache.see(batches[seen++]);
    }
    auto const before = cache.content();
    f(b, cache.serve(), before);
  }
}

std::int64_t hits_of(row_cache_params const& params, std::vector<row_batch> const& batches,
                     std::vector<vertex_id> const& content = {})
{
  row_cache cache(params);
  cache.fill(content);
  std::int64_t hits = 0;
  serve_all(cache, batches, [&](std::size_t, cache_step const& step, auto const&) { hits += step.num_hits(); });
  return hits;
}

std::vector<double> counts_of(std::vector<row_batch> const& batches, std::int64_t num_rows)
{
  std::vector<double> counts(static_cast<std::size_t>(num_rows));
  for (row_batch const& batch : batches) {
    for (vertex_id const row : batch) { ++counts[row]; }
  }
  return counts;
}

/// The most hits of any content that is changed between batches, to rows that the cache had or the batch brought: tries
/// all of them. Rows are bits.
std::int64_t most_hits(std::vector<row_batch> const& batches, std::int64_t num_rows, int num_slots)
{
  std::uint32_t const all = 1U << num_rows;
  std::vector<std::int64_t> best(all, std::numeric_limits<std::int64_t>::min());
  best[0] = 0;
  for (row_batch const& batch : batches) {
    std::uint32_t used = 0;
    for (vertex_id const row : batch) { used |= 1U << row; }
    std::vector<std::int64_t> next(all, std::numeric_limits<std::int64_t>::min());
    for (std::uint32_t had = 0; had < all; ++had) {
      if (best[had] < 0) { continue; }
      std::int64_t const hits = best[had] + std::popcount(had & used);
      std::uint32_t const may = had | used;
      for (std::uint32_t has = may;; has = (has - 1) & may) {
        if (std::popcount(has) <= num_slots) { next[has] = std::max(next[has], hits); }
        if (has == 0) { break; }
      }
    }
    best = std::move(next);
  }
  return *std::ranges::max_element(best);
}

TEST(RowCache, ListsOfAStepLeadToTheRowsOfTheBatch)
{
  for (cache_policy const policy : {cache_policy::fixed, cache_policy::lookahead, cache_policy::lru}) {
    auto const batches = skewed_batches(40, 500, 3000, 11);
    row_cache cache({.num_rows = 3000, .num_slots = 400, .policy = policy, .window = 5});
    if (policy == cache_policy::fixed) { cache.fill(best_rows(counts_of(batches, 3000), 400)); }
    serve_all(cache, batches, [&](std::size_t b, cache_step const& step, std::vector<vertex_id> const& before) {
      row_batch found, missed;
      for (std::uint32_t const source : step.sources) {
        bool const hit = source < before.size();
        found.push_back(hit ? before[source] : step.missed.at(source - before.size()));
        if (!hit) { missed.push_back(found.back()); }
      }
      ASSERT_EQ(found, batches[b]);
      ASSERT_EQ(missed, step.missed);  // in the order of the batch
      ASSERT_TRUE(std::ranges::is_sorted(step.kept));
      for (vertex_id const row : step.missed) { ASSERT_EQ(std::ranges::count(before, row), 0); }
      auto expected = before;
      for (std::size_t i = 0; i < step.kept.size(); ++i) { expected[step.kept_slots[i]] = step.missed[step.kept[i]]; }
      ASSERT_EQ(cache.content(), expected);
      std::multiset<vertex_id> const rows(expected.begin(), expected.end());
      for (vertex_id const row : expected) { ASSERT_TRUE(row == no_vertex || rows.count(row) == 1); }
    });
  }
}

TEST(RowCache, LookaheadOverAllBatchesIsTheBestThatThereIs)
{
  int fewer_at_sight = 0;
  for (unsigned seed = 0; seed < 60; ++seed) {
    auto const batches = skewed_batches(7, 3, 8, seed);
    for (int const slots : {1, 2, 3, 5}) {
      std::int64_t const most = most_hits(batches, 8, slots);
      EXPECT_EQ(hits_of({8, slots, cache_policy::lookahead, 32}, batches), most)
          << "seed " << seed << ", slots " << slots;
      fewer_at_sight += hits_of({8, slots, cache_policy::lookahead, 1}, batches) < most ? 1 : 0;
    }
  }
  EXPECT_GT(fewer_at_sight, 0);  // a cache that knows nothing ahead is not always the best
}

TEST(RowCache, TheFurtherItSeesTheMoreItHits)
{
  auto const batches = skewed_batches(80, 150, 4000, 5);
  std::int64_t before = 0;
  for (int const window : {1, 4, 16, 32}) {
    std::int64_t const hits = hits_of({4000, 1800, cache_policy::lookahead, window}, batches);
    EXPECT_GT(hits, before) << window;
    before = hits;
  }
}

TEST(RowCache, ExactCountsAreTheBestFixedContent)
{
  auto const batches = skewed_batches(20, 30, 40, 2);
  auto const counts = counts_of(batches, 40);
  std::int64_t const exact = hits_of({40, 2, cache_policy::fixed, 1}, batches, best_rows(counts, 2));
  std::int64_t most = 0;
  for (vertex_id a = 0; a < 40; ++a) {
    for (vertex_id b = a + 1; b < 40; ++b) {
      most = std::max(most, hits_of({40, 2, cache_policy::fixed, 1}, batches, {a, b}));
    }
  }
  EXPECT_EQ(exact, most);
}

TEST(RowCache, LruKeepsTheRowsThatWereUsedLast)
{
  row_cache cache({.num_rows = 10, .num_slots = 3, .policy = cache_policy::lru, .window = 1});
  auto const serve = [&](row_batch const& batch) {
    cache.see(batch);
    return cache.serve();
  };
  (void)serve({7, 8});
  EXPECT_EQ(cache.content(), (std::vector<vertex_id>{7, 8, no_vertex}));
  (void)serve({8, 2});
  EXPECT_EQ(cache.content(), (std::vector<vertex_id>{7, 8, 2}));
  (void)serve({5});  // 7 is the oldest
  EXPECT_EQ(cache.content(), (std::vector<vertex_id>{5, 8, 2}));
  EXPECT_EQ(serve({5, 7, 9}).kept, (std::vector<std::uint32_t>{0, 1}));  // 8 and 2 are as old
  EXPECT_EQ(cache.content(), (std::vector<vertex_id>{5, 7, 9}));
  EXPECT_EQ(std::ssize(serve({0, 1, 3, 4}).kept), 3);  // more than the cache holds
}

TEST(RowCache, ScoresDecideBeyondTheWindow)
{
  row_cache cache({.num_rows = 6, .num_slots = 2, .policy = cache_policy::lookahead, .window = 1});
  std::vector<std::uint8_t> const scores{0, 3, 200, 3, 9, 255};
  cache.rank(scores);
  cache.see(row_batch{0, 1, 2});
  (void)cache.serve();
  EXPECT_EQ(cache.content(), (std::vector<vertex_id>{1, 2}));
  cache.see(row_batch{3, 4});
  (void)cache.serve();  // 4 is worth more than 1, and 3 as much
  EXPECT_EQ(cache.content(), (std::vector<vertex_id>{4, 2}));
}

TEST(RowCache, ARowThatABatchHasTwiceComesInOnce)
{
  row_cache cache({.num_rows = 9, .num_slots = 4, .policy = cache_policy::lookahead, .window = 1});
  cache.see(row_batch{5, 1, 5, 5});
  cache_step const step = cache.serve();
  EXPECT_EQ(step.missed, (std::vector<vertex_id>{5, 1, 5, 5}));
  EXPECT_EQ(step.sources, (std::vector<std::uint32_t>{4, 5, 6, 7}));
  EXPECT_EQ(step.kept, (std::vector<std::uint32_t>{0, 1}));
  EXPECT_EQ(cache.content(), (std::vector<vertex_id>{5, 1, no_vertex, no_vertex}));
}

TEST(RowCache, WithoutSlotsOrRowsNothingIsKept)
{
  row_cache none({.num_rows = 5, .num_slots = 0});
  none.see(row_batch{4, 0});
  EXPECT_EQ(none.serve().missed, (std::vector<vertex_id>{4, 0}));
  row_cache cache({.num_rows = 5, .num_slots = 5});
  cache.see({});
  EXPECT_EQ(cache.serve(), cache_step{});
}

TEST(RowCache, FillingForgetsWhatWasKnown)
{
  row_cache cache({.num_rows = 5, .num_slots = 2});
  cache.see(row_batch{1});
  cache.fill(row_batch{3, 4});
  EXPECT_EQ(message_of<argument_error>([&] { (void)cache.serve(); }),
            "no batch is known that was not served, expected one: see it first");
  cache.see(row_batch{3});
  EXPECT_EQ(cache.serve().sources, (std::vector<std::uint32_t>{0}));
}

TEST(RowCache, MistakesAreNamed)
{
  EXPECT_EQ(message_of<argument_error>([] { row_cache({.num_rows = -1}); }), "a cache of -1 rows, expected 0 or more");
  EXPECT_EQ(message_of<argument_error>([] { row_cache({.num_rows = 5, .num_slots = 6}); }),
            "a cache of 6 slots, expected 0 to 5, the number of rows");
  EXPECT_EQ(message_of<argument_error>([] { row_cache({.num_rows = 0xffffffffLL, .num_slots = 0}); }),
            "a cache of 0 slots for 4294967295 rows, expected less than 2^32 - 1 together");
  EXPECT_EQ(message_of<argument_error>([] { row_cache({.num_rows = 5, .num_slots = 1, .window = 33}); }),
            "a window of 33 batches, expected 1 to 32");
  row_cache cache({.num_rows = 5, .num_slots = 2, .window = 1});
  EXPECT_EQ(message_of<argument_error>([&] { cache.see(row_batch{1, 5}); }), "ids[1] is 5, expected 0 to 4");
  EXPECT_EQ(message_of<argument_error>([&] { cache.fill(row_batch{1, 2, 3}); }), "3 rows for a cache of 2 slots");
  EXPECT_EQ(message_of<argument_error>([&] { cache.fill(row_batch{1, 1}); }), "rows[1] is 1, which is there already");
  EXPECT_EQ(message_of<argument_error>([&] { cache.fill(row_batch{7}); }), "rows[0] is 7, expected less than 5");
  EXPECT_EQ(message_of<argument_error>([&] { cache.rank(std::vector<std::uint8_t>(4)); }),
            "4 scores, expected one for each of 5 rows");
  cache.see(row_batch{1});
  EXPECT_EQ(message_of<argument_error>([&] { cache.see(row_batch{1}); }),
            "1 batches are known and not served, expected fewer");
}

/// What the constructor says in a process of its own that gets no more memory than it has.
void make_without_memory(row_cache_params const& params)
{
  rlimit const none{.rlim_cur = 1 << 20, .rlim_max = 1 << 20};
  setrlimit(RLIMIT_AS, &none);
  try {
    row_cache const made(params);
  } catch (memory_error const& e) {
    std::fputs(e.what(), stderr);
    std::_Exit(7);
  } catch (...) {
    std::_Exit(2);
  }
  std::_Exit(1);
}

TEST(RowCacheDeathTest, ListsThatDoNotFitAreOneLine)
{
  if (is_sanitized) { GTEST_SKIP() << "sanitizers need address space"; }
  EXPECT_EXIT(make_without_memory({.num_rows = 5'000'000, .num_slots = 3}), testing::ExitedWithCode(7),
              "^a cache of 3 slots for 5000000 rows: out of memory$");
  EXPECT_EXIT(
      make_without_memory({.num_rows = 4'000'000'000, .num_slots = 3, .policy = cache_policy::fixed}),
      testing::ExitedWithCode(7),
      "^a cache of 3 slots for 4000000000 rows: 14.9 GiB of memory, expected at most the [^\n]* that can be had$");
}

}  // namespace
}  // namespace tendril::test
