// A team of several members writes what one thread writes. Threads stand in for the lanes of a warp: what a team does
// together they do by turns of a barrier.

#include <array>
#include <atomic>
#include <barrier>
#include <functional>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <tendril/compress.hpp>

#include "place/block_writer.hpp"
#include "support/any_lists.hpp"
#include "support/same_lists.hpp"

namespace tendril {
namespace {

using namespace place;

constexpr std::uint32_t members = 4;

struct meeting {
  std::barrier<> barrier{members};
  std::array<std::uint64_t, members> numbers{};
};

class thread_team {
 public:
  static constexpr std::uint32_t width = members;

  thread_team(meeting& where, std::uint32_t rank) : where_(&where), rank_(rank) {}

  [[nodiscard]] std::uint32_t rank() const { return rank_; }
  [[nodiscard]] bool leads() const { return rank_ == 0; }
  void wait() const { where_->barrier.arrive_and_wait(); }

  [[nodiscard]] std::uint64_t sum(std::uint64_t own) const { return prefix(own).total; }
  [[nodiscard]] std::int64_t min(std::int64_t own) const
  {
    auto const all = everyone(static_cast<std::uint64_t>(own));
    for (auto const x : all) { own = std::min(own, static_cast<std::int64_t>(x)); }
    return own;
  }
  [[nodiscard]] std::int64_t max(std::int64_t own) const { return -min(-own); }
  [[nodiscard]] part_of_sum prefix(std::uint64_t own) const
  {
    auto const all = everyone(own);
    part_of_sum out{0, 0};
    for (std::uint32_t i = 0; i < members; ++i) {
      out.before += i < rank_ ? all[i] : 0;
      out.total += all[i];
    }
    return out;
  }
  [[nodiscard]] std::uint64_t of_rank(std::uint64_t own, std::uint32_t rank) const { return everyone(own)[rank]; }
  template <class Holds>
  [[nodiscard]] std::uint32_t mask(std::uint32_t size, Holds holds) const
  {
    std::uint32_t own = 0;
    for (std::uint32_t k = rank_; k < size; k += members) { own |= std::uint32_t{holds(k)} << k; }
    return static_cast<std::uint32_t>(sum(own));  // no bit is in two members' numbers
  }
  template <class F>
  void for_each_one(std::uint32_t mask, F f) const
  {
    serial_team().for_each_one(mask, [&](std::uint32_t k, std::uint32_t before) {
      if (k % members == rank_) { f(k, before); }
    });
  }

 private:
  [[nodiscard]] std::array<std::uint64_t, members> everyone(std::uint64_t own) const
  {
    where_->numbers[rank_] = own;
    wait();
    auto const out = where_->numbers;
    wait();
    return out;
  }

  meeting* where_;
  std::uint32_t rank_;
};

class atomic_words {
 public:
  explicit atomic_words(std::uint32_t* words) : words_(words) {}

  void put(std::uint64_t bit, std::uint32_t value, std::uint32_t) const
  {
    std::uint64_t const both = std::uint64_t{value} << (bit & 31U);
    for (std::uint64_t const k : {0U, 1U}) {
      auto const part = static_cast<std::uint32_t>(both >> (32 * k));
      if (part != 0) { std::atomic_ref(words_[(bit >> 5U) + k]).fetch_or(part); }
    }
  }

 private:
  std::uint32_t* words_;
};

void as_a_team(std::function<void(thread_team const&)> const& work)
{
  meeting where;
  std::vector<std::jthread> threads;
  for (std::uint32_t rank = 0; rank < members; ++rank) {
    threads.emplace_back([&, rank] { work(thread_team(where, rank)); });
  }
}

/// The lists of a graph in CSR form, by one team that has all blocks in turn.
compressed_lists lists_by_a_team(graph const& g, compressed_lists const& expected)
{
  listed_rows const rows{g.csr().indices, g.csr().indptr, 0, 0};
  buffer<list_block> blocks(expected.blocks.size());
  buffer<wide_list> wide(expected.wide.size());
  buffer<std::uint32_t> words(expected.words.size());
  std::fill(words.begin(), words.end(), 0U);
  measured_block block{};
  block_layout layout;
  as_a_team([&](thread_team const& team) {
    list_totals at;
    for (std::int64_t b = 0; b < blocks.size(); ++b) {
      std::int64_t const first = b * list_block::vertices;
      measure_block(team, rows, expected.form, g.num_vertices(), first, block);
      if (team.leads()) { layout = block_layout(block); }
      team.wait();
      write_block(team, atomic_words(words.data()), {blocks.data(), wide.data()}, rows, block, layout, first, at);
      at = at + totals_of(layout);
      team.wait();
    }
  });
  compressed_lists out = expected;
  out.blocks = std::move(blocks);
  out.wide = std::move(wide);
  out.words = std::move(words);
  return out;
}

class Team : public testing::TestWithParam<graph_form> {};
INSTANTIATE_TEST_SUITE_P(, Team, testing::ValuesIn(test::compressed_forms),
                         [](auto const& form) { return std::string(to_string(form.param)); });

TEST_P(Team, WritesWhatOneThreadWrites)
{
  std::vector<vertex_id> even(9'000), repeated(9'000);
  for (std::size_t i = 0; i < even.size(); ++i) {
    even[i] = static_cast<vertex_id>(2 * i);
    repeated[i] = static_cast<vertex_id>(i / 3 * 5);
  }
  std::vector<std::vector<vertex_id>> hubs(20'000);
  for (std::size_t v = 100; v < 106; ++v) { hubs[v] = v % 2 == 0 ? even : repeated; }
  for (graph const& g : {test::any_lists(600), test::from_lists(hubs), test::from_lists({{}, {0, 2}, {}, {3}, {}})}) {
    compressed_lists const expected = compress(g, GetParam()).arrays().compressed;
    test::expect_same_lists(lists_by_a_team(g, expected), expected);
  }
}

}  // namespace
}  // namespace tendril
