// A conversion in bounded memory writes the bytes that reading, compressing and writing a whole graph give, whatever the
// memory, the threads and what an earlier call left behind.

#include <tendril/convert.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <tendril/compress.hpp>
#include <tendril/generate.hpp>

#include "formats/webgraph_encoder.hpp"
#include "support/binary_files.hpp"
#include "support/sanitized.hpp"

namespace tendril {
namespace {

using test::read_bytes;

constexpr std::int64_t least_memory = std::int64_t{1} << 20U;
constexpr graph_form all_forms[] = {graph_form::csr, graph_form::packed, graph_form::runs,
                                    graph_form::ef,  graph_form::vbyte,  graph_form::best};

/// The output of the way through memory.
std::string whole(std::string const& input, convert_options const& options, std::string const& output)
{
  graph g = read_graph(input, options.read);
  if (options.form) { g = compress(g, *options.form); }
  write_graph(g, output);
  return read_bytes(output);
}

/// Converts with one thread or three in turn, and compares with the bytes expected; returns how many runs it took.
std::int64_t expect_bytes(std::string const& expected, test::scratch_folder const& folder, std::string const& input,
                          convert_options const& options, std::string const& what)
{
  static bool in_turn = false;
  in_turn = !in_turn;
  cpu_exec exec;
  exec.num_threads = in_turn ? 3 : 1;
  std::string const output = folder / "streamed.safetensors";
  auto const result = convert_graph(input, output, options, exec);
  EXPECT_TRUE(read_bytes(output) == expected) << what << ", " << exec.num_threads << " threads";
  EXPECT_FALSE(std::filesystem::exists(output + ".unfinished"));
  graph const opened = read_graph(output);
  EXPECT_EQ(result.num_vertices, opened.num_vertices());
  EXPECT_EQ(result.num_edges, opened.num_edges());
  return result.num_runs;
}

std::int64_t expect_same_bytes(test::scratch_folder const& folder, std::string const& input,
                               convert_options const& options, std::string const& what)
{
  return expect_bytes(whole(input, options, folder / "whole.safetensors"), folder, input, options, what);
}

/// Edges with a hub, loops, runs of neighbours and many duplicates.
std::string random_edges(std::int64_t size, std::uint32_t vertices, int columns, unsigned seed, int most_label = 2)
{
  std::mt19937 random(seed);
  auto const below = [&](std::uint32_t n) { return static_cast<std::uint32_t>(random() % n); };
  std::string out = "# edges\n";
  for (std::int64_t k = 0; k < size; ++k) {
    std::uint32_t const source = below(5) == 0 ? 7 % vertices : below(vertices);
    std::uint32_t const target = below(9) == 0 ? source : below(1 + below(vertices));
    out += fmt::format("{} {}", source, target);
    if (columns > 2) { out += fmt::format(" {}", static_cast<double>(below(100)) / 8); }
    if (columns > 3) { out += fmt::format(" {}", below(static_cast<std::uint32_t>(most_label) + 1)); }
    out += '\n';
  }
  return out;
}

std::vector<build_options> building_steps()
{
  std::vector<build_options> out(1);
  for (unsigned bits = 1; bits < 64; ++bits) {
    build_options build;
    build.reverse = (bits & 1U) != 0;
    build.symmetrize = (bits & 2U) != 0;
    build.drop_self_loops = (bits & 4U) != 0;
    build.drop_duplicates = (bits & 8U) != 0;
    build.compact = (bits & 16U) != 0;
    build.keep_edge_ids = (bits & 32U) != 0;
    out.push_back(build);
  }
  return out;
}

std::string name_of(build_options const& b)
{
  return fmt::format("reverse {} symmetrize {} loops {} duplicates {} compact {} ids {}", b.reverse, b.symmetrize,
                     b.drop_self_loops, b.drop_duplicates, b.compact, b.keep_edge_ids);
}

TEST(Convert, EdgeListsWithEveryBuildingStep)
{
  test::scratch_folder const folder;
  std::vector<std::string> inputs;
  std::int64_t const size = test::unless_sanitized(60'000, 30'000);
  for (int const columns : {2, 3, 4}) {
    inputs.push_back(folder.write(fmt::format("{}.txt", columns), random_edges(size, 3'000, columns, 1)));
  }
  std::size_t i = 0;
  for (build_options const& build : building_steps()) {
    convert_options options;
    options.memory_bytes = least_memory;
    options.read.build = build;
    options.form = all_forms[i % std::size(all_forms)];
    std::string const& input = inputs[i++ % 5 % inputs.size()];
    EXPECT_GT(expect_same_bytes(folder, input, options, input + ": " + name_of(build)), test::unless_sanitized(4, 2));
  }
}

TEST(Convert, BinaryPairs)
{
  test::scratch_folder const folder;
  constexpr std::int64_t size = 120'000;
  std::mt19937 random(9);
  std::vector<std::uint32_t> pairs(2 * size);
  for (auto& id : pairs) { id = static_cast<std::uint32_t>(random() % (1 + random() % 9'000)); }
  std::vector<std::int64_t> ends(2 * size);  // all sources, all targets
  for (std::size_t i = 0; i < size; ++i) {
    ends[i] = pairs[2 * i];
    ends[size + i] = pairs[2 * i + 1];
  }
  std::vector<std::string> const inputs{
      folder.write("g.coo32", test::pack_all(pairs)),
      folder.write("g.coo64", test::pack_all(std::vector<std::uint64_t>(pairs.begin(), pairs.end()))),
      folder.write("rows.npy", test::npy("<i8", "(2, 120000)", test::pack_all(ends))),
      folder.write("columns.npy", test::npy("<u4", "(120000, 2)", test::pack_all(pairs)))};
  for (bool const symmetrize : {false, true}) {
    convert_options options;
    options.memory_bytes = least_memory;
    options.form = graph_form::best;
    options.read.build.symmetrize = symmetrize;
    options.read.build.keep_edge_ids = symmetrize;
    std::string first;
    for (std::string const& input : inputs) {
      EXPECT_GT(expect_same_bytes(folder, input, options, input), 4);
      std::string const bytes = read_bytes(folder / "streamed.safetensors");
      if (first.empty()) { first = bytes; }
      EXPECT_TRUE(bytes == first) << input << " holds the same edges";
    }
  }
}

TEST(Convert, EveryFormAndMemory)
{
  test::scratch_folder const folder;
  std::string const input = folder.write(
      "edges.txt", random_edges(test::unless_sanitized(200'000, 50'000), test::unless_sanitized(40'000, 10'000), 2, 2));
  for (graph_form const form : all_forms) {
    convert_options options;
    options.read.build.symmetrize = true;
    options.form = form;
    std::string const expected = whole(input, options, folder / "whole.safetensors");
    for (std::int64_t const mega : {1, 3, 20, 1000}) {
      options.memory_bytes = mega << 20U;
      expect_bytes(expected, folder, input, options, fmt::format("{} in {} MB", to_string(form), mega));
    }
  }
}

TEST(Convert, GzipWideLabelsNamedColumnsAndSparseIds)
{
  test::scratch_folder const folder;
  convert_options options;
  options.memory_bytes = least_memory;
  options.form = graph_form::best;
  std::string const wide = folder.write("wide.txt", random_edges(30'000, 500, 4, 3, 1000));
  expect_same_bytes(folder, wide, options, "wide labels");
  options.read.build.drop_duplicates = true;
  expect_same_bytes(folder, wide, options, "wide labels without duplicates");
  options.read.columns = {"target", "source", "-", "label"};
  expect_same_bytes(folder, wide, options, "named columns");
  options.read.columns = {};

  std::mt19937 random(4);
  std::string sparse;
  for (int k = 0; k < 30'000; ++k) { sparse += fmt::format("{},{}\n", random() % 4'000'000'000U, random() % 1000); }
  options.read.build.compact = true;
  options.memory_bytes = std::int64_t{2} << 30U;  // of which a bitmap takes most
  expect_same_bytes(folder, folder.write("sparse.csv", sparse), options, "sparse ids");
  options.memory_bytes = least_memory;
  {
    std::string const message = test::message_of<argument_error>(
        [&] { convert_graph(folder / "sparse.csv", folder / "out.safetensors", options); });
    EXPECT_TRUE(message.starts_with("compact: ids up to ")) << message;
  }

  options = {};
  options.memory_bytes = least_memory;
  std::string const edges = random_edges(50'000, 900, 3, 5);
  write_graph(read_graph(folder.write("plain.txt", edges)), folder / "written.txt.gz");
  expect_same_bytes(folder, folder / "written.txt.gz", options, "gzip");
}

TEST(Convert, MatrixMarketAndEmptyGraphs)
{
  test::scratch_folder const folder;
  convert_options options;
  options.memory_bytes = least_memory;
  for (graph_form const form : all_forms) {
    options.form = form;
    std::string const matrix = "%%MatrixMarket matrix coordinate real symmetric\n5 5 4\n1 1 1\n3 2 2\n5 1 3.5\n5 4 0\n";
    expect_same_bytes(folder, folder.write("m.mtx", matrix), options, "matrix");
    expect_same_bytes(folder, folder.write("empty.txt", std::string("# nothing\n")), options, "empty");
    expect_same_bytes(
        folder, folder.write("own.txt", std::string("# tendril edge list, vertices: 36, columns: source target\n")),
        options, "no edges");
    expect_same_bytes(folder, folder.write("loops.txt", std::string("3 3 1 5\n2 2 1 5\n")),
                      {{graph_format::automatic, {.drop_self_loops = true}, {}}, form, least_memory}, "loops alone");
    expect_same_bytes(folder, folder.write("24.txt", std::string("0 23\n11 12\n")), options, "two whole blocks");
  }
}

std::string stored_name(graph_form form) { return std::string(to_string(form)) + ".safetensors"; }

TEST(Convert, NativeFiles)
{
  test::scratch_folder const folder;
  edge_attributes extra;
  extra.has_weights = true;
  extra.num_labels = 300;
  rmat_params params;
  params.scale = test::unless_sanitized(12, 10);
  build_options build;
  build.symmetrize = true;
  graph const g = generate_rmat(params, build, extra);
  graph_arrays arrays = g.arrays();
  arrays.metadata["origin"] = "a test";
  arrays.edge_label_names = {"a", "b"};
  graph const named(std::move(arrays));
  constexpr graph_form stored_forms[] = {graph_form::csr, graph_form::packed, graph_form::best};
  for (graph_form const from : stored_forms) { write_graph(compress(named, from), folder / stored_name(from)); }
  std::size_t i = 0;
  for (build_options const& steps : building_steps()) {
    convert_options options;
    options.memory_bytes = least_memory;
    options.read.build = steps;
    if (i > 0) { options.form = all_forms[i % std::size(all_forms)]; }
    std::string const from = stored_name(stored_forms[i++ % 5 % std::size(stored_forms)]);
    expect_same_bytes(folder, folder / from, options, fmt::format("{}, {}", from, name_of(steps)));
  }
  for (graph_form const from : stored_forms) {
    std::string const input = folder / stored_name(from);
    for (graph_form const form : all_forms) {
      convert_options options;
      options.memory_bytes = least_memory;
      options.form = form;
      EXPECT_EQ(expect_same_bytes(folder, input, options, fmt::format("{} to {}", to_string(from), to_string(form))),
                0);
    }
  }
}

test::adjacency make_web(std::size_t num_vertices, unsigned seed)
{
  std::mt19937 random(seed);
  auto const below = [&](std::size_t n) { return static_cast<std::uint32_t>(random() % n); };
  test::adjacency lists(num_vertices);
  for (std::size_t x = 0; x < num_vertices; ++x) {
    std::vector<std::uint32_t> list;
    if (x > 3 && below(3) != 0) { list = lists[x - 1 - below(3)]; }
    for (std::uint32_t i = below(12); i > 0; --i) { list.push_back(below(num_vertices)); }
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
    if (list.size() < 40) { lists[x] = list; }
  }
  return lists;
}

TEST(Convert, WebGraph)
{
  test::scratch_folder const folder;
  auto const encoded = test::webgraph_encoder(make_web(20'000, 1), {}).encode();
  std::string const input = folder.write("web.graph", encoded.graph);
  folder.write("web.properties", encoded.properties);
  for (build_options const& build : {build_options{}, build_options{.reverse = true}, build_options{.symmetrize = true},
                                     build_options{.drop_self_loops = true, .compact = true}}) {
    convert_options options;
    options.memory_bytes = least_memory;
    options.form = graph_form::best;
    options.read.build = build;
    EXPECT_GT(expect_same_bytes(folder, input, options, name_of(build)), 2);
  }
}

}  // namespace
}  // namespace tendril
