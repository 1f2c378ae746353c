// Label-constrained choice, against a list of the matching edges.

#include "core/labels.hpp"

#include <random>

#include "core/random.hpp"
#include "support/statistics.hpp"

namespace tendril {
namespace {

TEST(labels, counting_and_selecting_follow_neighbour_order)
{
  std::mt19937_64 random(1);
  for (std::uint32_t size = 0; size < 100; ++size) {
    std::vector<label_id> labels(size);
    for (auto& label : labels) { label = static_cast<label_id>(random() % 3 == 0 ? 0xffffU : random() % 4); }
    auto const label_of = [&](std::uint32_t i) { return labels[i]; };
    for (label_id const label : {0, 1, 2, 3, 4, 0xffff}) {
      std::vector<std::uint32_t> matching;
      for (std::uint32_t i = 0; i < size; ++i) {
        if (labels[i] == label) { matching.push_back(i); }
      }
      auto const count = static_cast<std::uint32_t>(matching.size());
      ASSERT_EQ(core::count_label(size, label_of, label), count);
      for (std::uint32_t rank = 0; rank < count; ++rank) {
        ASSERT_EQ(core::select_label(size, label_of, label, rank), matching[rank]);
      }
      ASSERT_EQ(core::select_label(size, label_of, label, count), core::no_pick);
      ASSERT_EQ(core::select_label(size, label_of, label, 0xffffffffU), core::no_pick);
    }
  }
}

TEST(labels, a_bounded_rank_chooses_uniformly_among_the_label)
{
  std::vector<label_id> const labels{7, 3, 7, 7, 1, 3, 7};
  auto const label_of = [&](std::uint32_t i) { return labels[i]; };
  rng_key const key = core::make_key(1, core::domain::metapath_walk);
  std::vector<std::int64_t> counts(labels.size(), 0);
  std::uint32_t const size = static_cast<std::uint32_t>(labels.size());
  std::uint32_t const count = core::count_label(size, label_of, 7);
  for (std::uint64_t item = 0; item < 300'000; ++item) {
    std::uint32_t const rank = core::bounded(core::draw_block(key, item, 0, 0).low(), count);
    ++counts[core::select_label(size, label_of, 7, rank)];
  }
  test::expect_distribution(counts, {1, 0, 1, 1, 0, 0, 1});
}

}  // namespace
}  // namespace tendril
