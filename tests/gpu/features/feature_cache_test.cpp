// A cache on a GPU has the content and the lists of the CPU's after each batch, and gathers the rows that the table has.

#include <tendril/gpu_feature_cache.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <random>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tendril/gpu.hpp>

#include "gpu/features/matrix_of.hpp"
#include "support/gpu_copies.hpp"
#include "support/gpu_test.hpp"
#include "support/messages.hpp"
#include "support/row_batches.hpp"

namespace tendril::test {
namespace {

constexpr std::int64_t row_words = 5;

std::vector<std::int32_t> numbered_rows(std::int64_t num_rows)
{
  std::vector<std::int32_t> rows(static_cast<std::size_t>(num_rows * row_words));
  for (std::size_t i = 0; i < rows.size(); ++i) { rows[i] = static_cast<std::int32_t>(i * 2654435761U); }
  return rows;
}

class GpuFeatureCache : public gpu_test {
 protected:
  feature_table table_of(std::vector<std::int32_t> const& rows) const
  {
    return {std::as_bytes(std::span(rows)), {"int32", {std::ssize(rows) / row_words, row_words}}};
  }

  cache_step step_of(gpu_cache_step const& from) const
  {
    auto const& count = from.count();
    auto const rows = copied(from.missed());
    auto const kept = copied(from.kept()), slots = copied(from.kept_slots());
    auto const missed = static_cast<std::ptrdiff_t>(count.missed), size = static_cast<std::ptrdiff_t>(count.kept);
    cache_step step;
    step.missed.assign(rows.begin(), rows.begin() + missed);
    step.sources = copied(from.sources());
    if (size > 0) {
      step.kept.assign(kept.begin(), kept.begin() + size);
      step.kept_slots.assign(slots.begin(), slots.begin() + size);
    }
    return step;
  }

  std::vector<std::int32_t> gathered(gpu_cached_features& from, gpu_cache_step const& step) const
  {
    buffer<std::int32_t> out(step.num_ids() * row_words, memory_of(exec));
    from.gather(step, {reinterpret_cast<std::byte*>(out.data()), static_cast<std::size_t>(out.size()) * 4}, exec);
    synchronize(exec);
    return copied(out);
  }

  /// Serves the batches on both sides, and compares all that there is.
  void serve_both(row_cache_params const& params, std::vector<row_batch> const& batches, bool page_locked,
                  std::vector<std::uint8_t> const& scores = {})
  {
    SCOPED_TRACE(std::string(to_string(params.policy)) + ", window " + std::to_string(params.window));
    auto const rows = numbered_rows(params.num_rows);
    feature_table const table = page_locked ? pin_memory(table_of(rows)) : table_of(rows);
    row_cache expected(params);
    gpu_row_cache cache(params, exec);
    gpu_cached_features features(gpu_features(table, exec), params.num_slots, exec);
    if (params.policy == cache_policy::fixed) {
      row_batch content;
      for (std::int64_t i = 0; i < params.num_slots; ++i) { content.push_back(static_cast<vertex_id>(2 * i)); }
      expected.fill(content);
      auto const there = on_gpu(content, exec);
      cache.fill(there.span(), exec);
      features.fill(there.span(), exec);
    }
    if (!scores.empty()) {
      expected.rank(scores);
      cache.rank(on_gpu(scores, exec).span(), exec);
    }
    std::deque<buffer<std::int64_t>> known;
    std::size_t seen = 0;
    for (std::size_t b = 0; b < batches.size(); ++b) {
      while (seen < batches.size() && seen < b + static_cast<std::size_t>(params.window)) {
        known.push_back(on_gpu(std::vector<std::int64_t>(batches[seen].begin(), batches[seen].end()), exec));
        expected.see(batches[seen]);
        cache.see(matrix_of(known.back()), exec);
        ++seen;
      }
      gpu_cache_step const step = cache.serve(exec);
      ASSERT_EQ(step_of(step), expected.serve()) << b;
      ASSERT_EQ(copied(cache.content()), expected.content()) << b;
      std::vector<std::int32_t> wanted;
      for (vertex_id const row : batches[b]) {
        auto const first = rows.begin() + static_cast<std::ptrdiff_t>(row * row_words);
        wanted.insert(wanted.end(), first, first + row_words);
      }
      ASSERT_EQ(gathered(features, step), wanted) << b;
    }
  }
};

TEST_F(GpuFeatureCache, IsTheCpusAfterEachBatch)
{
  std::mt19937 random(4);
  for (cache_policy const policy : {cache_policy::fixed, cache_policy::lookahead, cache_policy::lru}) {
    for (int const window : {1, 7, 32}) {
      serve_both({.num_rows = 9000, .num_slots = 1111, .policy = policy, .window = window},
                 skewed_batches(50, 2500, 9000, static_cast<unsigned>(window)), window != 7);
    }
  }
  std::vector<std::uint8_t> scores(9000);
  for (auto& score : scores) { score = static_cast<std::uint8_t>(random()); }
  serve_both({.num_rows = 9000, .num_slots = 4000, .policy = cache_policy::lookahead, .window = 3},
             skewed_batches(30, 1500, 9000, 8), true, scores);
}

TEST_F(GpuFeatureCache, IsTheCpusWhereTheCacheIsLargerThanABlockOfThreads)
{
  serve_both({.num_rows = 300'000, .num_slots = 70'001, .policy = cache_policy::lookahead, .window = 5},
             skewed_batches(9, 90'000, 300'000, 1), true);
}

TEST_F(GpuFeatureCache, SlotsForNothingForAllAndEmptyBatches)
{
  for (cache_policy const policy : {cache_policy::fixed, cache_policy::lookahead, cache_policy::lru}) {
    auto batches = skewed_batches(6, 50, 200, 3);
    batches[2].clear();
    serve_both({.num_rows = 200, .num_slots = 0, .policy = policy, .window = 2}, batches, true);
    serve_both({.num_rows = 200, .num_slots = 1, .policy = policy, .window = 2}, batches, true);
    if (policy != cache_policy::fixed) {
      serve_both({.num_rows = 200, .num_slots = 200, .policy = policy, .window = 2}, batches, true);
    }
  }
}

TEST_F(GpuFeatureCache, RowsThatABatchHasTwice)
{
  for (cache_policy const policy : {cache_policy::lookahead, cache_policy::lru}) {
    auto batches = skewed_batches(20, 400, 900, 9);
    for (auto& batch : batches) { batch.insert(batch.end(), batch.begin(), batch.begin() + std::ssize(batch) / 2); }
    serve_both({.num_rows = 900, .num_slots = 90, .policy = policy, .window = 4}, batches, true);
  }
}

TEST_F(GpuFeatureCache, SeveralTablesShareSteps)
{
  row_cache_params const params{.num_rows = 500, .num_slots = 60, .window = 3};
  auto const a = numbered_rows(500), b = numbered_rows(600);
  gpu_row_cache cache(params, exec);
  gpu_cached_features first(gpu_features(pin_memory(table_of(a)), exec), 60, exec);
  gpu_cached_features second(gpu_features(table_of(b), exec), 60, exec);
  for (row_batch const& batch : skewed_batches(12, 100, 500, 6)) {
    auto const ids = on_gpu(batch, exec);
    cache.see(matrix_of(ids), exec);
    gpu_cache_step const step = cache.serve(exec);
    auto const rows_of_first = gathered(first, step);
    EXPECT_EQ(gathered(second, step), rows_of_first);
  }
}

/// Rows of every width, whoever brings the missed ones, into memory of every alignment: the cached ones and the others are read
/// by one kernel.
TEST_F(GpuFeatureCache, RowsOfEveryWidth)
{
  constexpr std::int64_t num_rows = 700, num_slots = 90;
  for (std::int64_t const width : {1, 2, 3, 4, 8, 16, 48, 400, 1030}) {
    std::vector<std::byte> bytes(static_cast<std::size_t>(num_rows * width));
    for (std::size_t i = 0; i < bytes.size(); ++i) { bytes[i] = static_cast<std::byte>(i * 2654435761U >> 9U); }
    feature_table const table(bytes, {"uint8", {num_rows, width}});
    gpu_row_cache cache({.num_rows = num_rows, .num_slots = num_slots, .window = 1}, exec);
    gpu_cached_features features(gpu_features(pin_memory(table), exec), num_slots, exec);
    std::int64_t offset = 0, hits = 0;
    for (row_batch const& batch : skewed_batches(6, 300, num_rows, 5)) {
      auto const ids = on_gpu(batch, exec);
      cache.see(matrix_of(ids), exec);
      gpu_cache_step const step = cache.serve(exec);
      hits += step.num_ids() - step.count().missed;
      std::int64_t const size = step.num_ids() * width;
      auto const memory = on_gpu(std::vector<std::byte>(static_cast<std::size_t>(size + 16), std::byte{0xa5}), exec);
      std::span<std::byte> const out(const_cast<std::byte*>(memory.data()) + offset, static_cast<std::size_t>(size));
      gather_way const way{.share = offset % 2 == 0 ? work_share::cpu : work_share::gpu, .gpu_part = .5};
      features.gather(step, out, exec, way);
      synchronize(exec);
      auto expected = std::vector<std::byte>(static_cast<std::size_t>(size + 16), std::byte{0xa5});
      auto to = expected.begin() + offset;
      for (vertex_id const row : batch) {
        auto const first = bytes.begin() + static_cast<std::ptrdiff_t>(row * width);
        to = std::copy(first, first + width, to);
      }
      EXPECT_EQ(copied(memory), expected) << width << " bytes, " << offset << " bytes behind an aligned address";
      ++offset;
    }
    EXPECT_GT(hits, 0);
  }
}

TEST_F(GpuFeatureCache, CountsAndTheBestOfThem)
{
  auto const batches = skewed_batches(300, 500, 2000, 12);
  gpu_row_counts counts(2000, exec);
  std::vector<double> expected(2000);
  for (row_batch batch : batches) {
    for (vertex_id const row : batch) { ++expected[row]; }
    batch.push_back(2000);  // is no row
    batch.push_back(no_vertex);
    counts.add(matrix_of(on_gpu(batch, exec)), exec);
  }
  auto const found = copied(counts.counts());
  EXPECT_TRUE(std::ranges::equal(found, expected));
  EXPECT_EQ(copied(counts.best(150, exec)), best_rows(expected, 150));
  auto const scores = copied(counts.scores(exec));
  for (std::size_t row = 0; row < scores.size(); ++row) { ASSERT_EQ(scores[row], std::min(expected[row], 255.0)); }
  EXPECT_GT(*std::ranges::max_element(found), 255U);  // some are more than a score can say
}

TEST_F(GpuFeatureCache, MistakesAreNamed)
{
  auto const rows = numbered_rows(50);
  row_cache_params const params{.num_rows = 50, .num_slots = 10, .window = 2};
  gpu_row_cache cache(params, exec);
  gpu_cached_features features(gpu_features(table_of(rows), exec), 10, exec);
  EXPECT_EQ(message_of<argument_error>([&] { (void)cache.serve(exec); }),
            "no batch is known that was not served, expected one: see it first");
  auto const bad = on_gpu(std::vector<std::int64_t>{3, 49, 50, -1}, exec);
  cache.see(matrix_of(bad), exec);
  gpu_cache_step const wrong = cache.serve(exec);
  EXPECT_EQ(wrong.count().first_bad, 2);
  EXPECT_EQ(wrong.count().missed, 2);
  EXPECT_EQ(message_of<argument_error>([&] { (void)gathered(features, wrong); }),
            "ids[2] of the batch is no row of the table, expected 0 to 49");
  auto const good = on_gpu(std::vector<std::int64_t>{3, 4}, exec);
  cache.fill({}, exec);
  cache.see(matrix_of(good), exec);
  cache.see(matrix_of(good), exec);
  EXPECT_EQ(message_of<argument_error>([&] { cache.see(matrix_of(good), exec); }),
            "2 batches are known and not served, expected fewer");
  gpu_cache_step const first = cache.serve(exec), second = cache.serve(exec);
  EXPECT_EQ(message_of<argument_error>([&] { (void)gathered(features, second); }),
            "step 1 of the cache, expected step 0: each once, in order");
  auto const rows_of_first = gathered(features, first);
  EXPECT_EQ(gathered(features, second), rows_of_first);
  EXPECT_EQ(message_of<argument_error>([&] { (void)gathered(features, second); }),
            "step 1 of the cache, expected step 2: each once, in order");
  EXPECT_EQ(message_of<argument_error>(
                [&] { gpu_cached_features(gpu_features(to_gpu(table_of(rows), exec), exec), 10, exec); }),
            "the table lies in the GPU's memory, expected host memory");
}

TEST_F(GpuFeatureCache, GathersRefuseAnOutThatOverlaps)
{
  auto const rows = numbered_rows(50);
  feature_table const there = to_gpu(table_of(rows), exec);
  gpu_features const features(there, exec);
  auto const ids = on_gpu(std::vector<std::int64_t>{3, 4}, exec);
  auto* const first = const_cast<std::byte*>(there.data());
  EXPECT_EQ(message_of<argument_error>([&] {
              features.gather(matrix_of(ids), {first + 900, 40}, exec);
            }),
            "out overlaps the table, expected memory of its own");
  auto const one = on_gpu(std::vector<std::int64_t>{3}, exec);
  auto* const one_byte = reinterpret_cast<std::byte*>(const_cast<std::int64_t*>(one.data()));
  EXPECT_EQ(message_of<argument_error>([&] {
              features.gather({one.data(), id_type::int64, 1}, {one_byte - 12, 20}, exec);
            }),
            "out overlaps ids, expected memory of its own");
}

}  // namespace
}  // namespace tendril::test
