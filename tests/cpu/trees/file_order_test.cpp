// Trees that are made in the order of a file are those of one call, to the byte: every rule, every form of a graph, in
// memory and mapped, whatever the size of a region. Each vertex is visited once, regions in ascending order.

#include "cpu/trees/file_order.hpp"

#include <algorithm>
#include <mutex>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tendril/error.hpp>
#include <tendril/generate.hpp>
#include <tendril/io.hpp>
#include <tendril/sample.hpp>

#include "support/binary_files.hpp"
#include "support/graph_forms.hpp"
#include "support/messages.hpp"
#include "support/small_graphs.hpp"

namespace tendril::test {
namespace {

void expect_same(khop_trees const& got, khop_trees const& expected, std::string const& what)
{
  ASSERT_EQ(got.num_roots, expected.num_roots) << what;
  ASSERT_EQ(got.hops.size(), expected.hops.size()) << what;
  for (std::size_t h = 0; h < got.hops.size(); ++h) {
    EXPECT_TRUE(std::ranges::equal(got.hops[h].vertices, expected.hops[h].vertices)) << what << ", hop " << h;
    EXPECT_TRUE(std::ranges::equal(got.hops[h].edges, expected.hops[h].edges)) << what << ", hop " << h;
    EXPECT_TRUE(std::ranges::equal(got.hops[h].offsets, expected.hops[h].offsets)) << what << ", hop " << h;
  }
}

std::vector<khop_params> all_params()
{
  std::vector<khop_params> out;
  for (auto const& fanouts : {std::vector<std::int64_t>{5, 3}, {40}, {2, -1, 3}, {1, 1, 1, 1}}) {
    for (bool const replace : {false, true}) {
      for (bool const weighted : {false, true}) {
        out.push_back({.fanouts = fanouts, .replace = replace, .weighted = weighted, .seed = 11});
      }
    }
  }
  khop_params alias{.fanouts = {4, 4}, .replace = true, .weighted = true, .rule = sampling_rule::alias};
  out.push_back(alias);
  alias.table_bytes = 0;
  out.push_back(alias);
  return out;
}

TEST(FileOrder, MakesTheTreesOfOneCall)
{
  graph const g = make_zoo(1);
  auto const seeds = starts_everywhere(g, 5);
  for (graph const& form : in_all_forms(g)) {
    int number = 0;
    for (khop_params const& params : all_params()) {
      bool const edges = ++number % 2 == 0;
      khop_trees const expected = khop_sample(form, seeds, params, {}, 77, edges);
      for (std::int64_t const graph_bytes : {2, 3000, 1 << 24}) {
        khop_file_sampler sampler(form, params, graph_bytes);
        for (int const threads : {1, 3}) {
          expect_same(sampler.sample(seeds, {.num_threads = threads}, 77, edges), expected,
                      std::to_string(number) + ", " + std::to_string(graph_bytes));
        }
      }
    }
  }
}

TEST(FileOrder, ReadsAMappedFile)
{
  scratch_folder const folder;
  graph const g = generate_rmat({.scale = 14}, {});
  write_graph(g, folder / "graph.safetensors");
  graph const mapped = read_graph(folder / "graph.safetensors");
  auto const seeds = starts_everywhere(g, 1);
  khop_params const params{.fanouts = {5, 5}};
  khop_file_sampler sampler(mapped, params, mapped.num_bytes() / 4);
  EXPECT_EQ(sampler.read_bytes(), 0);
  expect_same(sampler.sample(seeds), khop_sample(g, seeds, params), "mapped");
  // Each of two hops reads each region once; of each array some pages at its ends more.
  EXPECT_GT(sampler.read_bytes(), mapped.num_bytes());
  EXPECT_LT(sampler.read_bytes(), 3 * mapped.num_bytes());
  std::int64_t const before = sampler.read_bytes();
  khop_trees const few = sampler.sample(std::vector<vertex_id>{3});
  expect_same(few, khop_sample(g, std::vector<vertex_id>{3}, params), "few");
  EXPECT_EQ(sampler.read_bytes(), before) << "a vertex or five don't pay for a region";
}

TEST(FileOrder, VisitsEachVertexOnceRegionByRegion)
{
  graph const g = make_zoo(2);
  std::vector<vertex_id> vertices = starts_everywhere(g, 30);
  std::reverse(vertices.begin(), vertices.end());
  for (std::size_t i = 0; i < vertices.size(); i += 13) { vertices[i] = no_vertex; }
  constexpr std::int64_t graph_bytes = 2000;
  graph_regions const regions(g, graph_bytes / 2);
  ASSERT_GT(regions.size(), 3);
  cpu::file_order order(g, graph_bytes);
  std::vector<int> visits(vertices.size());
  std::int64_t region = 0;
  std::mutex guard;
  order.visit(vertices, {.num_threads = 3}, [&](graph_view const& view, std::span<std::int64_t const> places) {
    EXPECT_EQ(view.num_vertices, g.num_vertices());
    std::lock_guard const lock(guard);
    for (std::int64_t const place : places) {
      auto const i = static_cast<std::size_t>(place);
      ++visits[i];
      if (vertices[i] == no_vertex) { continue; }
      EXPECT_GE(regions.region_of(vertices[i]), region);
      region = std::max(region, regions.region_of(vertices[i]));
    }
  });
  EXPECT_EQ(std::ranges::count(visits, 1), std::ssize(visits));
  order.visit({}, {}, [&](graph_view const&, std::span<std::int64_t const>) { ADD_FAILURE(); });
}

TEST(FileOrder, SaysWhatIsWrong)
{
  graph const g = make_zoo(3);
  EXPECT_EQ(message_of<argument_error>([&] { khop_file_sampler(g, {}, 1); }), "graph_bytes: 1, expected 2 or more");
  EXPECT_EQ(message_of<argument_error>([&] { khop_file_sampler(g, {.fanouts = {0}}, 100); }),
            message_of<argument_error>([&] { (void)khop_sample(g, {}, {.fanouts = {0}}); }));
  khop_file_sampler sampler(g, {}, 100);
  std::vector<vertex_id> const beyond{0, static_cast<vertex_id>(g.num_vertices())};
  EXPECT_EQ(message_of<argument_error>([&] { (void)sampler.sample(beyond); }),
            message_of<argument_error>([&] { (void)khop_sample(g, beyond, {}); }));
  EXPECT_EQ(sampler.sample({}).num_roots, 0);
}

}  // namespace
}  // namespace tendril::test
