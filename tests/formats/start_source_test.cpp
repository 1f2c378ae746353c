// Sources of starts: walk i starts where a division says, wherever the job is cut.

#include <vector>

#include <gtest/gtest.h>

#include <tendril/error.hpp>
#include <tendril/starts.hpp>

namespace tendril::test {
namespace {

/// Walks [first, first + count) at once.
std::vector<vertex_id> filled(start_source const& source, std::int64_t first, std::int64_t count, std::int64_t set = 1)
{
  std::vector<vertex_id> out(static_cast<std::size_t>(count * set), no_vertex);
  source(first, out);
  return out;
}

std::vector<vertex_id> list(std::int64_t size)
{
  std::vector<vertex_id> out;
  for (std::int64_t i = 0; i < size; ++i) { out.push_back(static_cast<vertex_id>((i * 7919 + 3) % 1000)); }
  return out;
}

TEST(StartSource, FollowsItsDefinitionWhereverTheJobIsCut)
{
  for (std::int64_t const set : {1, 3}) {
    for (std::int64_t const each : {1, 2, 5, 100}) {
      auto const starts = list(17 * set);
      auto const source = starts_from(starts, each, set);
      for (std::int64_t const first : {0L, 1L, each, 3 * each - 1, 16 * each}) {
        std::int64_t const count = 17 * each - first;
        auto const got = filled(source, first, count, set);
        for (std::int64_t i = 0; i < count * set; ++i) {
          std::int64_t const from = (first + i / set) / each * set + i % set;
          ASSERT_EQ(got[static_cast<std::size_t>(i)], starts[static_cast<std::size_t>(from)]) << each << ", " << first;
        }
      }
    }
  }
}

TEST(StartSource, OfEveryVertexCountsUp)
{
  EXPECT_EQ(filled(every_vertex(3), 4, 6), (std::vector<vertex_id>{1, 1, 2, 2, 2, 3}));
  EXPECT_EQ(filled(every_vertex(), 4'000'000'000, 2), (std::vector<vertex_id>{4'000'000'000U, 4'000'000'001U}));
}

TEST(StartSource, RefusesWhatItDoesNotHave)
{
  std::vector<vertex_id> const starts{5, 6};
  EXPECT_THROW((void)filled(starts_from(starts, 2), 3, 2), argument_error);
  EXPECT_EQ(filled(starts_from(starts, 2), 3, 1), (std::vector<vertex_id>{6}));
  EXPECT_THROW((void)starts_from(starts, 0), argument_error);
  EXPECT_THROW((void)starts_from(starts, 1, 0), argument_error);
  EXPECT_THROW((void)every_vertex(-1), argument_error);
}

}  // namespace
}  // namespace tendril::test
