// Walks that go region by region are the walks of one call, to the byte: every application, every form of a graph, in
// memory and mapped, whatever the size of a region. Regions cover the graph, in order, and are as large as was said.

#include <tendril/walk_stream.hpp>

#include <string>

#include <gtest/gtest.h>

#include <tendril/error.hpp>
#include <tendril/io.hpp>

#include "graph/regions.hpp"
#include "support/binary_files.hpp"
#include "support/collected_walks.hpp"
#include "support/graph_forms.hpp"
#include "support/messages.hpp"
#include "support/sanitized.hpp"
#include "support/small_graphs.hpp"

namespace tendril::test {
namespace {

/// The vertices of regions, which must follow each other.
void expect_regions(graph const& g, std::int64_t most_bytes)
{
  graph_regions const regions(g, most_bytes);
  std::int64_t bytes = 0, next = 0;
  for (std::int64_t r = 0; r < regions.size(); ++r) {
    ASSERT_EQ(regions.begin(r), next);
    ASSERT_LT(next, regions.end(r));
    next = regions.end(r);
    for (std::int64_t v = regions.begin(r); v < next; ++v) {
      ASSERT_EQ(regions.region_of(static_cast<vertex_id>(v)), r);
    }
    bool const is_least = next - regions.begin(r) <= list_block::vertices;
    EXPECT_TRUE(is_least || regions.num_bytes(r) <= most_bytes) << regions.num_bytes(r);
    bytes += regions.num_bytes(r);
  }
  EXPECT_EQ(next, g.num_vertices());
  EXPECT_LE(bytes, g.num_bytes());
  EXPECT_GE(bytes, 4 * g.num_edges() / 16);  // neighbours are among them, however well they are compressed
}

TEST(GraphRegions, CoverAGraphOfEveryForm)
{
  for (graph const& g : in_all_forms(make_zoo(5))) {
    for (std::int64_t const bytes : {1, 500, 4000, 1 << 30}) { expect_regions(g, bytes); }
    graph_regions const one(g, std::int64_t{1} << 40);
    EXPECT_EQ(one.size(), 1);
    EXPECT_GT(graph_regions(g, 1).size(), 4);
  }
  EXPECT_EQ(graph_regions(graph(), 100).size(), 0);
}

TEST(CpuRegionWalk, IsOneCallsWalksOfEveryApplication)
{
  graph const g = make_zoo(1);
  auto const starts = starts_everywhere(g, unless_sanitized(9, 1));
  auto const n = static_cast<std::int64_t>(starts.size());
  int number = 0;  // whose parity alternates memory and threads: every pair of choices occurs
  for (graph const& form : in_all_forms(g)) {
    for (auto const& app : all_applications(23)) {
      walk_params by_lists = app.params;
      by_lists.table_bytes = 0;
      walker const without_tables(form, by_lists, n);
      walker const with_tables(form, app.params, std::int64_t{1} << 40U);
      walks const expected = without_tables.run(starts, 0xfffffff0LL);
      std::vector<vertex_id> const vertices = all_of(expected.vertices);
      std::vector<std::int32_t> const lengths = all_of(expected.lengths);
      for (std::int64_t const graph_bytes : {2, 3000, 1 << 20}) {
        bool const in_batches = ++number % 2 == 0;
        collected_walks out;
        auto const report = stream_walks(in_batches ? without_tables : with_tables,
                                         {.num_walks = n,
                                          .first_walk = 0xfffffff0LL,
                                          .starts = starts_from(starts),
                                          .sink = out.sink(),
                                          .batch_bytes = in_batches ? unless_sanitized(20'000, 2'000) : 0,
                                          .graph_bytes = graph_bytes},
                                         {.num_threads = number % 4 < 2 ? 3 : 1});
        ASSERT_EQ(out.vertices, vertices) << app.name << ", " << graph_bytes;
        ASSERT_EQ(out.lengths, lengths) << app.name << ", " << graph_bytes;
        EXPECT_EQ(report.steps, out.num_steps());
      }
    }
  }
}

TEST(CpuRegionWalk, ReadsAMappedFileAgainAndAgain)
{
  scratch_folder const folder;
  std::string const path = folder / "zoo.safetensors";
  graph const g = make_zoo(6);
  write_graph(g, path);
  graph const mapped = read_graph(path);
  std::vector<vertex_id> starts(40'000);
  every_vertex(1000)(0, starts);
  walker const walk(mapped, {.length = 30}, 1);
  walks const expected = walk.run(starts, 0);
  collected_walks out;
  auto const report = stream_walks(walk,
                                   {.num_walks = std::ssize(starts),
                                    .starts = starts_from(starts),
                                    .sink = out.sink(),
                                    .graph_bytes = mapped.num_bytes() / 4},
                                   cpu_exec{});
  EXPECT_EQ(out.vertices, all_of(expected.vertices));
  EXPECT_GT(report.read_bytes, mapped.num_bytes());
}

TEST(CpuRegionWalk, SaysWhatDoesntGoByRegions)
{
  graph const g = make_zoo(3);
  walker const walk(g, {.length = 9}, 1);
  walk_stream_job job{.num_walks = 5, .starts = every_vertex(1), .sink = [](walk_rows const&) {}, .graph_bytes = -1};
  EXPECT_EQ(message_of<argument_error>([&] { (void)stream_walks(walk, job, cpu_exec{}); }),
            "graph_bytes: -1, expected 0 or more");
  job.graph_bytes = 100;
  EXPECT_EQ(message_of<argument_error>([&] { (void)stream_multidim_walks(g, 1, {.length = 9}, job, cpu_exec{}); }),
            "graph_bytes: multi-dimensional walks don't go by regions, expected 0");
  job.sink = {};
  job.ragged_sink = [](ragged_rows const&) {};
  EXPECT_EQ(message_of<argument_error>([&] { (void)stream_walks(walk, job, cpu_exec{}); }),
            "graph_bytes: ragged walks don't go by regions, expected 0");
}

TEST(CpuRegionWalk, GivesWhatAStageThrows)
{
  walker const walk(make_zoo(3), {.length = 9}, 1);
  walk_stream_job const job{.num_walks = 60'000,
                            .starts = every_vertex(1000),
                            .sink = [](walk_rows const&) {},
                            .graph_bytes = 1000,
                            .on_progress =
                                [](progress const& p) {
                                  if (p.done > 100) { throw std::runtime_error("cancelled"); }
                                }};
  EXPECT_EQ(message_of<std::runtime_error>([&] { (void)stream_walks(walk, job, cpu_exec{}); }), "cancelled");
}

}  // namespace
}  // namespace tendril::test
