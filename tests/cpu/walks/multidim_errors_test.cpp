// Bad input to multi-dimensional walks gives one clear line, and so does cancelling them.

#include <stdexcept>

#include <gtest/gtest.h>

#include <tendril/error.hpp>
#include <tendril/multidim.hpp>

#include "support/messages.hpp"
#include "support/small_graphs.hpp"

namespace tendril::test {
namespace {

std::string error(std::vector<vertex_id> const& roots, std::int64_t num_roots, multidim_params const& params = {},
                  std::int64_t first_walk = 0)
{
  graph const g = make_graph(3, {{0, 1}, {1, 2}, {2, 0}});
  return message_of<argument_error>([&] { (void)multidim_walk(g, roots, num_roots, params, cpu_exec{}, first_walk); });
}

TEST(MultidimErrors, NameTheArgumentItsValueAndWhatWasExpected)
{
  EXPECT_EQ(error({0}, 0), "num_roots: 0, expected 1 to 65535 roots a sample");
  EXPECT_EQ(error({0}, -1), "num_roots: -1, expected 1 to 65535 roots a sample");
  EXPECT_EQ(error({0}, 65536), "num_roots: 65536, expected 1 to 65535 roots a sample");
  EXPECT_EQ(error({0, 1, 2}, 2), "roots: 3 vertices, expected a multiple of num_roots, 2");
  EXPECT_EQ(error({0, 1, 2, 3}, 2), "root 3: vertex 3 is out of range, the graph has 3 vertices");
  EXPECT_EQ(error({no_vertex}, 1), "root 0: vertex 4294967295 is out of range, the graph has 3 vertices");
  EXPECT_EQ(error({0}, 1, {.length = 0}), "length: 0, expected 1 to 2147483646 steps");
  EXPECT_EQ(error({0}, 1, {.length = 0x7fffffff}), "length: 2147483647, expected 1 to 2147483646 steps");
  EXPECT_EQ(error({0}, 1, {}, -1), "first_walk: -1, expected 0 or more");
}

TEST(MultidimErrors, AnEmptyGraphHasNoRoots)
{
  EXPECT_EQ(message_of<argument_error>([] { (void)multidim_walk(graph(), std::vector<vertex_id>{0}, 1, {}); }),
            "root 0: vertex 0 is out of range, the graph has 0 vertices");
}

TEST(MultidimErrors, AThrowingProgressReportEndsTheCall)
{
  graph const g = make_graph(3, {{0, 1}, {1, 2}, {2, 0}});
  std::vector<vertex_id> const roots(30'000, 0);
  int reports = 0;
  cpu_exec exec{.num_threads = 2};
  exec.on_progress = [&](progress const& report) {
    EXPECT_EQ(report.total, 10'000);
    if (++reports == 3) { throw std::runtime_error("enough"); }
  };
  EXPECT_THROW((void)multidim_walk(g, roots, 3, {}, exec), std::runtime_error);
  EXPECT_EQ(reports, 3);
}

}  // namespace
}  // namespace tendril::test
