// A call that ends early, at any report of its progress, leaves what is complete to the next one, which writes the same
// bytes.

#include <tendril/convert.hpp>

#include <filesystem>
#include <random>
#include <string>

#include <fmt/format.h>

#include <tendril/compress.hpp>
#include <tendril/generate.hpp>

#include "formats/webgraph_encoder.hpp"
#include "support/binary_files.hpp"
#include "support/sanitized.hpp"

namespace tendril {
namespace {

struct interruption {};

/// Ends call after call, each some reports later than the one before, until one succeeds.
void expect_resumable(test::scratch_folder const& folder, std::string const& input, convert_options options)
{
  options.memory_bytes = std::int64_t{1} << 20U;
  write_graph(compress(read_graph(input, options.read), *options.form), folder / "whole.safetensors");
  std::string const output = folder / "out.safetensors";
  std::filesystem::remove(output);
  std::int64_t most_resumed = 0;
  int interruptions = 0;
  for (int patience = 3;; patience += patience / 3) {
    int reports = 0;
    cpu_exec exec;
    exec.num_threads = 2;
    exec.on_progress = [&](progress const&) {
      if (++reports > patience) { throw interruption(); }
    };
    try {
      auto const result = convert_graph(input, output, options, exec);
      most_resumed = result.num_resumed_runs;
      break;
    } catch (interruption const&) {
      ++interruptions;
      EXPECT_FALSE(std::filesystem::exists(output));
    }
  }
  EXPECT_GT(interruptions, 2) << input;
  EXPECT_GT(most_resumed, 2) << input;
  EXPECT_TRUE(test::read_bytes(output) == test::read_bytes(folder / "whole.safetensors")) << input;
  EXPECT_FALSE(std::filesystem::exists(output + ".unfinished"));
}

convert_options with_steps(graph_form form)
{
  convert_options options;
  options.form = form;
  options.read.build.symmetrize = true;
  options.read.build.keep_edge_ids = true;
  options.read.build.drop_duplicates = true;
  return options;
}

TEST(ConvertResume, TextGzipAndNativeFiles)
{
  test::scratch_folder const folder;
  rmat_params params;
  params.scale = test::unless_sanitized(13, 12);
  params.edge_factor = 12;
  edge_attributes extra;
  extra.has_weights = true;
  extra.num_labels = 3;
  graph const g = generate_rmat(params, {}, extra);
  for (char const* const name : {"g.txt", "g.txt.gz", "g.safetensors"}) {
    write_graph(g, folder / name);
    expect_resumable(folder, folder / name, with_steps(graph_form::best));
  }
  graph_arrays arrays = g.arrays();
  arrays.edge_labels = {};
  write_graph(graph(arrays), folder / "g.mtx");
  expect_resumable(folder, folder / "g.mtx", with_steps(graph_form::csr));
}

TEST(ConvertResume, EncodingGoesOnWhereItWas)
{
  test::scratch_folder const folder;
  graph const g = generate_rmat({.scale = 14, .edge_factor = 12}, {}, {.has_weights = true, .num_labels = 3});
  for (graph_form const form : {graph_form::csr, graph_form::best}) {
    for (char const* const name : {"g.txt", "g.safetensors"}) {  // the latter is encoded alone, or written as it is
      write_graph(g, folder / name);
      convert_options options = with_steps(form);
      if (form == graph_form::best) { options.read.build = {}; }
      options.memory_bytes = std::int64_t{1} << 20U;
      write_graph(compress(read_graph(folder / name, options.read), form), folder / "whole.safetensors");
      std::int64_t reached = 0, begun = -1;
      int reports = 0;
      cpu_exec exec;
      exec.num_threads = 1;
      exec.on_progress = [&](progress const& report) {
        if (std::string(report.what) != "encoding") { return; }
        if (begun < 0) { begun = report.done; }
        if (++reports < 4) { return; }
        reached = report.done;
        throw interruption();
      };
      for (int part = 0; part < 2; ++part) {
        begun = -1;
        reports = 0;
        std::int64_t const before = reached;
        EXPECT_THROW((void)convert_graph(folder / name, folder / "o.safetensors", options, exec), interruption);
        EXPECT_EQ(begun, before);
        EXPECT_GT(reached, before);
      }
      convert_graph(folder / name, folder / "o.safetensors", options, {});
      EXPECT_TRUE(test::read_bytes(folder / "o.safetensors") == test::read_bytes(folder / "whole.safetensors")) << name;
    }
  }
}

TEST(ConvertResume, WebGraph)
{
  test::scratch_folder const folder;
  std::mt19937 random(3);
  test::adjacency lists(70'000);
  for (std::size_t x = 0; x < lists.size(); ++x) {
    lists[x] = {static_cast<std::uint32_t>(random() % 1000), static_cast<std::uint32_t>(1000 + random() % 60'000),
                69'999};
  }
  auto const encoded = test::webgraph_encoder(lists, {}).encode();
  folder.write("web.properties", encoded.properties);
  expect_resumable(folder, folder.write("web.graph", encoded.graph), with_steps(graph_form::packed));
}

}  // namespace
}  // namespace tendril
