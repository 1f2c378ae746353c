// A sampler that has made a few batches allocates nothing any more; what it takes, it gives back; its table of numbers
// stands any number of batches.

#include <atomic>
#include <vector>

#include <gtest/gtest.h>

#include "cpu/batches/block_pool.hpp"
#include "cpu/batches/local_numbers.hpp"
#include "cpu/batches/minibatch_verifier.hpp"
#include "support/small_hetero.hpp"

namespace tendril::test {
namespace {

/// Counts what is allocated.
class counting_memory final : public memory_resource {
 public:
  void* allocate(std::size_t bytes) override
  {
    ++allocations;
    in_use += static_cast<std::int64_t>(bytes);
    return host_memory().allocate(bytes);
  }
  void deallocate(void* pointer, std::size_t bytes) noexcept override
  {
    in_use -= static_cast<std::int64_t>(bytes);
    host_memory().deallocate(pointer, bytes);
  }

  std::atomic<std::int64_t> allocations{0}, in_use{0};
};

TEST(MinibatchMemory, SteadyWorkAllocatesNothing)
{
  for (bool const disjoint : {false, true}) {
    for (auto const subgraph : {subgraph_type::directional, subgraph_type::induced}) {
      counting_memory memory;
      {
        minibatch_sampler sampler(make_hetero_zoo(1, false),
                                  {.num_neighbors = {4, 3}, .disjoint = disjoint, .subgraph = subgraph},
                                  {.num_threads = 2, .memory = &memory});
        seed_lists const seeds = three_type_seeds();
        for (std::uint64_t b = 0; b < 20; ++b) { (void)sampler.sample(seeds.spans(false), b); }
        std::int64_t const before = memory.allocations;
        EXPECT_GT(before, 0);
        for (std::uint64_t b = 0; b < 20; ++b) { (void)sampler.sample(seeds.spans(false), b); }
        EXPECT_EQ(memory.allocations, before);
        minibatch const kept = sampler.sample(seeds.spans(false), 3);
        EXPECT_GT(memory.in_use, 0);
      }
      EXPECT_EQ(memory.in_use, 0);
    }
  }
}

TEST(MinibatchMemory, BatchesHoldTheirMemoryAndNoMore)
{
  counting_memory memory;
  std::vector<minibatch> kept;
  {
    minibatch_sampler sampler(hetero_graph(make_zoo(1)), {.num_neighbors = {4, 3}},
                              {.num_threads = 2, .memory = &memory});
    kept = sampler.sample_batches(0, std::vector<vertex_id>(500, 3), 10);
  }
  EXPECT_GT(memory.in_use, 0);
  shared_array<edge_id> const last = kept.back().edges[0].edge;
  kept.clear();
  EXPECT_GT(memory.in_use, 0);
  EXPECT_LE(memory.in_use, 2048) << "one small array";
  EXPECT_GT(last.size(), 0);
}

TEST(BlockPool, GivesABlockOfFittingSizeAgain)
{
  counting_memory memory;
  cpu::block_pool pool(memory);
  auto const block = pool.take(100'000);
  EXPECT_GE(block.bytes, 100'000U);
  EXPECT_LE(block.bytes, 112'500U);
  pool.give_back(block);
  auto const same = pool.take(70'000);
  EXPECT_EQ(same.data, block.data);
  auto const other = pool.take(70'000);
  EXPECT_NE(other.data, block.data);
  pool.give_back(same);
  auto const small = pool.take(1000);
  EXPECT_NE(small.data, block.data) << "a block a hundred times as large";
  pool.give_back(small);
  pool.close();
  EXPECT_EQ(memory.in_use, static_cast<std::int64_t>(other.bytes));
  pool.give_back(other);
  EXPECT_EQ(memory.in_use, 0);
}

template <class Key>
void expect_numbers(std::uint32_t first_base, std::uint64_t most, std::uint64_t spread)
{
  cpu::local_numbers<Key> numbers(first_base);
  for (int batch = 0; batch < 40; ++batch) {
    numbers.clear();
    std::vector<Key> wanted;
    for (std::uint64_t i = 0; i < most; ++i) {
      wanted.push_back(static_cast<Key>((i * i * 31 + static_cast<std::uint64_t>(batch)) % (most / 2) * spread));
    }
    std::vector<Key> keys(most + 1);
    std::map<Key, std::int64_t> expected;
    std::vector<std::int64_t> got(most);
    for (std::uint64_t at = 0; at < most; at += most / 4) {  // in parts, as hops come
      numbers.reserve(keys.data(), expected.size() + most / 4);
      numbers.number(wanted.data() + at, static_cast<std::int64_t>(most / 4), got.data() + at, keys.data());
      for (std::uint64_t i = at; i < at + most / 4; ++i) {
        std::int64_t const number = expected.try_emplace(wanted[i], std::ssize(expected)).first->second;
        ASSERT_EQ(got[i], number) << "batch " << batch << ", key " << i;
        ASSERT_EQ(keys[static_cast<std::size_t>(number)], wanted[i]);
      }
    }
    ASSERT_EQ(numbers.size(), expected.size());
    for (auto const& [key, number] : expected) { ASSERT_EQ(numbers.find(key), number); }
    ASSERT_EQ(numbers.find(static_cast<Key>(most * spread)), -1);
    ASSERT_EQ(numbers.find(static_cast<Key>(most * spread + 1)), -1);
  }
}

TEST(LocalNumbers, CountByFirstAppearance)
{
  expect_numbers<std::uint32_t>(1, 400, 1);
  expect_numbers<std::uint32_t>(1, 40'000, 4096);
  expect_numbers<std::uint64_t>(1, 4000, std::uint64_t{1} << 32U);
}

TEST(LocalNumbers, BeginAnewWhenTheirBasesAreUsedUp)
{
  expect_numbers<std::uint32_t>(0xffffffffU - 900, 400, 1);
  expect_numbers<std::uint32_t>(0xffffffffU - 401, 400, 1);
  expect_numbers<std::uint64_t>(0xffffffffU - 5000, 4000, 3);
}

TEST(LocalNumbers, StandKeysThatMeet)
{
  // Multiples of 2^48: their product with an odd constant differs in the upper 16 bits alone.
  expect_numbers<std::uint64_t>(1, 4000, std::uint64_t{1} << 48U);
}

}  // namespace
}  // namespace tendril::test
