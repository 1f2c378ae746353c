// A region in memory of its own is the file's: every row of the graph is right there, in the region and outside of it, in
// every form, whichever region was there before. A file that became shorter is an error, not a signal.

#include "graph/region_memory.hpp"

#include <filesystem>
#include <vector>

#include <gtest/gtest.h>

#include <tendril/error.hpp>
#include <tendril/generate.hpp>
#include <tendril/io.hpp>
#include <tendril/mapped_graph.hpp>

#include "support/binary_files.hpp"
#include "support/graph_forms.hpp"
#include "support/messages.hpp"

namespace tendril::test {
namespace {

/// Of some hundred pages.
graph some_graph() { return generate_rmat({.scale = 12}, {}, {.has_weights = true, .num_labels = 300}); }

/// The neighbours, weights and labels of some vertices.
std::vector<double> rows_of(graph_view const& g, std::int64_t begin, std::int64_t end)
{
  std::vector<double> out;
  g.visit([&](auto const& view) {
    for (std::int64_t v = begin; v < end; ++v) {
      auto const row = view.row(v);
      out.push_back(row.degree());
      for (std::uint32_t i = 0; i < row.degree(); ++i) {
        out.insert(out.end(), {double(row.neighbor(i)), double(row.weight(i)), double(row.label(i))});
      }
    }
  });
  return out;
}

TEST(RegionMemory, HasTheRowsOfTheFile)
{
  scratch_folder const folder;
  for (graph const& form : in_all_forms(some_graph())) {
    write_graph(form, folder / "g.safetensors");
    graph const mapped = read_graph(folder / "g.safetensors");
    auto const expected = rows_of(form.view(), 0, form.num_vertices());
    graph_regions const regions(mapped, mapped.num_bytes() / 7);
    ASSERT_GT(regions.size(), 3);
    region_memory memory(regions);
    for (std::int64_t const region : {std::int64_t{2}, std::int64_t{0}, regions.size() - 1, std::int64_t{2}}) {
      memory.ask_for(std::vector<vertex_id>{0, 1, 1, static_cast<vertex_id>(mapped.num_vertices() - 1)});
      EXPECT_GE(memory.read(region), regions.num_bytes(region));
      EXPECT_EQ(memory.read(region), 0) << "it is there already";
      ASSERT_EQ(rows_of(memory.view(), regions.begin(region), regions.end(region)),
                rows_of(form.view(), regions.begin(region), regions.end(region)));
      ASSERT_EQ(rows_of(memory.view(), 0, mapped.num_vertices()), expected);
    }
  }
}

TEST(RegionMemory, UsesArraysInMemoryWhereTheyAre)
{
  graph const g = some_graph();
  graph_regions const regions(g, 100'000);
  region_memory memory(regions);
  EXPECT_EQ(memory.read(1), 0);
  EXPECT_TRUE(memory.has(1));
  EXPECT_EQ(rows_of(memory.view(), 0, g.num_vertices()), rows_of(g.view(), 0, g.num_vertices()));
}

TEST(MappedGraph, IsTheSameWhereReadsAreRandom)
{
  scratch_folder const folder;
  write_graph(some_graph(), folder / "g.safetensors");
  graph const mapped = read_graph(folder / "g.safetensors");
  auto const expected = rows_of(mapped.view(), 0, mapped.num_vertices());
  for (graph const& g : {mapped, some_graph(), graph()}) {
    expect_random_reads(g);
    expect_random_reads_if_large(g);
  }
  EXPECT_EQ(rows_of(mapped.view(), 0, mapped.num_vertices()), expected);
}

TEST(MappedGraph, MemoryHasALimit)
{
  EXPECT_GT(memory_limit(), std::int64_t{1} << 24U);
  EXPECT_LT(memory_limit(), std::int64_t{1} << 50U);
}

TEST(RegionMemory, SaysThatTheFileBecameShorter)
{
  scratch_folder const folder;
  std::string const path = folder / "g.safetensors";
  write_graph(some_graph(), path);
  graph const mapped = read_graph(path);
  graph_regions const regions(mapped, mapped.num_bytes() / 7);
  region_memory memory(regions);
  std::filesystem::resize_file(path, 4096);
  EXPECT_EQ(message_of<io_error>([&] { memory.read(regions.size() - 1); }),
            path + ": the file was truncated while it was read");
  EXPECT_FALSE(memory.has(regions.size() - 1));
}

}  // namespace
}  // namespace tendril::test
