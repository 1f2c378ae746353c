// Philox4x32-10: the published known answers, the vector form, and the scheme of keys and counters above it.

#include "core/philox.hpp"

#include <array>
#include <memory>
#include <random>
#include <set>

#include <gtest/gtest.h>

#include "core/random.hpp"
#include "cpu/picks/philox_lanes.hpp"

namespace tendril {
namespace {

using core::domain;

void expect_words(core::random_block const& block, std::array<std::uint32_t, 4> const& words)
{
  for (int i = 0; i < 4; ++i) { EXPECT_EQ(block.word[i], words[static_cast<std::size_t>(i)]) << "word " << i; }
}

/// The three philox4x32-10 lines of the file of known answers that the Random123 library is distributed with.
TEST(philox, gives_the_published_answers)
{
  expect_words(core::philox4x32_10({{0, 0, 0, 0}}, {0, 0}), {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  constexpr std::uint32_t ones = 0xffffffff;
  expect_words(core::philox4x32_10({{ones, ones, ones, ones}}, {ones, ones}),
               {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  expect_words(core::philox4x32_10({{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}}, {0xa4093822, 0x299f31d0}),
               {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST(philox, halves_of_a_block_are_its_words_in_order)
{
  core::random_block const block{{1, 2, 3, 4}};
  EXPECT_EQ(block.low(), 0x0000000200000001U);
  EXPECT_EQ(block.high(), 0x0000000400000003U);
}

/// The counter is (item lo, item hi, step, draw), and draw i of 64 bits is half i mod 2 of block first + i / 2.
TEST(philox, counters_are_laid_out_as_documented)
{
  rng_key const key{0xa4093822, 0x299f31d0};
  std::uint64_t const item = 0x85a308d3243f6a88U;
  expect_words(core::draw_block(key, item, 0x13198a2e, 0x03707344), {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
  EXPECT_EQ(core::draw_bits(key, item, 0x13198a2e, 0x03707344, 0), 0x94fdccebd16cfe09U);
  EXPECT_EQ(core::draw_bits(key, item, 0x13198a2e, 0x03707344, 1), 0x24126ea15001e420U);
  EXPECT_EQ(core::draw_bits(key, item, 0x13198a2e, 0x03707342, 4), 0x94fdccebd16cfe09U);
  EXPECT_EQ(core::draw_bits(key, item, 0x13198a2e, 0x03707342, 5), 0x24126ea15001e420U);
}

/// Keys of seeds, worked out with an independent implementation of Philox: they are part of the contract.
TEST(philox, keys_of_seeds_never_change)
{
  EXPECT_EQ(core::make_key(0, domain::first_order_walk), (rng_key{0x9b9f0411, 0x42b2859c}));
  EXPECT_EQ(core::make_key(0x0123456789abcdefU, domain::minibatch, 0xfedcba9876543210U),
            (rng_key{0x74738d3f, 0x0b34ca20}));
}

TEST(philox, seeds_domains_and_folds_have_keys_of_their_own)
{
  constexpr std::array domains{domain::first_order_walk,
                               domain::second_order_walk,
                               domain::metapath_walk,
                               domain::walk_end,
                               domain::khop,
                               domain::minibatch,
                               domain::start_vertices,
                               domain::generator_edges,
                               domain::generator_degrees,
                               domain::generator_scramble,
                               domain::generator_weights,
                               domain::generator_labels,
                               domain::generator_node_types,
                               domain::negatives};
  std::set<std::uint32_t> values;
  std::set<std::uint64_t> keys;
  std::size_t num_keys = 0;
  for (domain const which : domains) {
    values.insert(static_cast<std::uint32_t>(which));
    for (std::uint64_t const seed : {0ULL, 1ULL, 2ULL, 1ULL << 32U, (1ULL << 32U) + 1, ~0ULL}) {
      for (std::uint64_t const fold : {0ULL, 1ULL, 2ULL, 1ULL << 32U, ~0ULL}) {
        rng_key const key = core::make_key(seed, which, fold);
        keys.insert(key.lo | (std::uint64_t{key.hi} << 32U));
        ++num_keys;
      }
    }
  }
  EXPECT_EQ(values.size(), domains.size());
  EXPECT_EQ(keys.size(), num_keys);
}

TEST(philox, vectors_draw_what_scalars_draw)
{
  std::mt19937_64 random(3);
  auto const lanes = std::make_unique<cpu::draw_lanes>();
  for (int const count : {1, 2, 7, 8, 9, 63, 255, 256}) {
    for (int repeat = 0; repeat < 20; ++repeat) {
      rng_key const key{static_cast<std::uint32_t>(random()), static_cast<std::uint32_t>(random())};
      for (int i = 0; i < count; ++i) {
        lanes->item[i] = random() >> (random() % 64);
        lanes->step[i] = static_cast<std::uint32_t>(random() >> (random() % 64));
        lanes->draw[i] = static_cast<std::uint32_t>(random() >> (random() % 64));
        lanes->low[i] = lanes->high[i] = 0;
      }
      cpu::philox_lanes(*lanes, 0, count, key);
      for (int i = 0; i < count; ++i) {
        core::random_block const block = core::draw_block(key, lanes->item[i], lanes->step[i], lanes->draw[i]);
        ASSERT_EQ(lanes->low[i], block.low()) << "lane " << i << " of " << count;
        ASSERT_EQ(lanes->high[i], block.high()) << "lane " << i << " of " << count;
      }
    }
  }
}

/// Every bit of a block is balanced, and flipping one bit of counter or key flips half of the block.
TEST(philox, every_input_bit_reaches_every_output_bit)
{
  std::array<std::array<int, 128>, 192> flips{};
  constexpr int num_samples = 1000;
  std::mt19937_64 random(4);
  auto const bit_of = [](core::random_block const& b, int i) { return b.word[i / 32] >> (i % 32U) & 1U; };
  for (int sample = 0; sample < num_samples; ++sample) {
    std::array<std::uint32_t, 6> in{};
    for (auto& word : in) { word = static_cast<std::uint32_t>(random()); }
    auto const draw = [&] { return core::philox4x32_10({{in[0], in[1], in[2], in[3]}}, {in[4], in[5]}); };
    core::random_block const base = draw();
    for (std::size_t flipped = 0; flipped < 192; ++flipped) {
      in[flipped / 32] ^= 1U << (flipped % 32);
      core::random_block const other = draw();
      in[flipped / 32] ^= 1U << (flipped % 32);
      for (int i = 0; i < 128; ++i) {
        flips[flipped][static_cast<std::size_t>(i)] += bit_of(base, i) != bit_of(other, i);
      }
    }
  }
  // 24,576 binomials of 1,000 trials and deviation 15.8: six deviations.
  for (auto const& row : flips) {
    for (int const count : row) { EXPECT_NEAR(count, num_samples / 2, 95); }
  }
}

}  // namespace
}  // namespace tendril
