// What a text format can hold comes back as it was written; what it cannot hold is refused, and nothing half-written stays.

#include "formats/text_support.hpp"

namespace tendril {
namespace {

using namespace test;

graph make(bool weighted, bool labelled, bool symmetric, std::int64_t num_vertices = 7)
{
  std::vector<vertex_id> const sources{0, 1, 4, 4, 2, 0};
  std::vector<vertex_id> const targets{1, 2, 0, 5, 2, 5};
  std::vector<float> const weights{1, 3, 250, 7, 16777216, 12};
  std::vector<std::uint16_t> const labels{0, 9, 300, 65535, 1, 2};
  coo_view coo{sources, targets};
  if (weighted) { coo.weights = weights; }
  if (labelled) { coo.labels = {labels.data(), 2}; }
  build_options options;
  options.num_vertices = num_vertices;
  options.symmetrize = symmetric;
  return build_graph(coo, options);
}

graph with_fractions(graph const& g)
{
  graph_arrays arrays = g.arrays();
  buffer<float> weights(g.num_edges());
  for (std::int64_t e = 0; e < g.num_edges(); ++e) { weights[e] = 0.1F / static_cast<float>(e + 1); }
  weights[0] = 1.4e-45F;
  weights[1] = 3.4028235e38F;
  arrays.weights = std::move(weights);
  return graph(std::move(arrays));
}

graph there_and_back(graph const& g, std::string const& name)
{
  temporary_folder const folder;
  write_graph(g, folder.file(name));
  return read_graph(folder.file(name));
}

std::string refusal_to_write(graph const& g, std::string const& name)
{
  temporary_folder const folder;
  try {
    write_graph(g, folder.file(name));
    return "written";
  } catch (error const& problem) {
    EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
    return std::string(problem.what()).substr(folder.path().size() + 1);
  }
}

TEST(TextRoundTrip, EdgeLists)
{
  for (std::string const name : {"g.txt", "g.tsv", "g.csv", "g.el", "g.txt.gz", "g.csv.gz"}) {
    for (int kind = 0; kind < 8; ++kind) {
      bool const weighted = (kind & 1) != 0;
      std::int64_t const vertices = (kind & 4) != 0 ? 7 : 6;  // with and without an isolated last vertex
      graph g = make(weighted, (kind & 2) != 0, false, vertices);
      if (weighted) { g = with_fractions(g); }
      graph const back = there_and_back(g, name);
      EXPECT_EQ(back.num_vertices(), vertices) << name << kind;
      EXPECT_EQ(edges_of(back), edges_of(g)) << name << kind;
      EXPECT_EQ(back.has_weights(), g.has_weights());
      EXPECT_EQ(back.arrays().edge_labels.bytes_per_label(), g.arrays().edge_labels.bytes_per_label());
    }
  }
}

TEST(TextRoundTrip, EdgeListsAreWhatOtherToolsRead)
{
  temporary_folder const folder;
  write_graph(make(true, true, false, 6), folder.file("g.csv"));
  EXPECT_TRUE(read_file(folder.file("g.csv")).starts_with("source,target,weight,label\n0,1,1,0\n0,5,12,2\n"));
  write_graph(make(false, false, false), folder.file("g.tsv"));
  EXPECT_TRUE(read_file(folder.file("g.tsv"))
                  .starts_with("# tendril edge list, vertices: 7, columns: source target\n0\t1\n0\t5\n1\t2\n"));
}

TEST(TextRoundTrip, MatrixMarket)
{
  for (std::string const name : {"g.mtx", "g.mtx.gz"}) {
    for (int kind = 0; kind < 4; ++kind) {
      bool const symmetric = (kind & 1) != 0;
      graph g = make((kind & 2) != 0, false, symmetric);
      if ((kind & 2) != 0 && !symmetric) { g = with_fractions(g); }
      graph const back = there_and_back(g, name);
      EXPECT_EQ(back.num_vertices(), 7);
      EXPECT_EQ(edges_of(back), edges_of(g)) << name << kind;
      EXPECT_EQ(back.arrays().symmetric, symmetric);
      EXPECT_EQ(back.has_weights(), g.has_weights());
    }
  }
}

TEST(TextRoundTrip, Metis)
{
  for (std::string const name : {"g.metis", "g.graph"}) {
    for (bool const weighted : {false, true}) {
      graph const g = make(weighted, false, true);
      graph const back = there_and_back(g, name);
      EXPECT_EQ(back.num_vertices(), 7);
      EXPECT_EQ(edges_of(back), edges_of(g)) << name;
      EXPECT_TRUE(back.arrays().symmetric);
    }
  }
}

TEST(TextRoundTrip, GraphsWithoutEdgesOrVertices)
{
  for (std::string const name : {"g.txt", "g.csv", "g.mtx", "g.metis"}) {
    for (std::int64_t const vertices : {0, 3}) {
      build_options options;
      options.num_vertices = vertices;
      options.symmetrize = true;
      graph const back = there_and_back(build_graph(coo_view{}, options), name);
      EXPECT_EQ(back.num_vertices(), vertices) << name;
      EXPECT_EQ(back.num_edges(), 0) << name;
    }
  }
}

TEST(TextRoundTrip, RefusesWhatAFormatCannotHold)
{
  EXPECT_EQ(refusal_to_write(make(false, true, false), "g.mtx"),
            "g.mtx: the graph has edge labels, which a Matrix Market file cannot hold");
  EXPECT_EQ(refusal_to_write(make(false, true, true), "g.metis"),
            "g.metis: the graph has edge labels, which a METIS file cannot hold");
  EXPECT_EQ(refusal_to_write(make(false, false, false), "g.metis"),
            "g.metis: the graph is directed, expected a symmetric one for METIS (symmetrize it)");
  graph_arrays halves = make(false, false, true).arrays();
  buffer<float> weights(static_cast<std::int64_t>(halves.indices.size()));
  std::fill(weights.begin(), weights.end(), 0.5F);
  halves.weights = std::move(weights);
  EXPECT_EQ(refusal_to_write(graph(std::move(halves)), "g.metis"),
            "g.metis: edge 0 has weight 0.5, expected an integer of at least 1, as METIS files hold");
  graph_arrays typed = make(false, false, true).arrays();
  buffer<std::uint8_t> types(7);
  std::fill(types.begin(), types.end(), std::uint8_t{1});
  typed.node_types = shared_array<std::uint8_t>(std::move(types));
  for (std::string const name : {"g.txt", "g.mtx", "g.metis"}) {
    EXPECT_TRUE(refusal_to_write(graph(typed), name).starts_with(name + ": the graph has node types, which a")) << name;
  }
  EXPECT_EQ(refusal_to_write(make(false, false, true), "g.xyz").substr(0, 43),
            "g.xyz: the extension names no format, expec");
  EXPECT_EQ(refusal_to_write(make(false, false, true), "no/such/folder/g.txt"),
            "no/such/folder/g.txt: cannot create: No such file or directory");
}

TEST(TextRoundTrip, FormatCanBeForcedButNotToWebgraph)
{
  temporary_folder const folder;
  write_graph(make(false, false, false), folder.file("g.data"), {.format = graph_format::matrix_market});
  EXPECT_EQ(detect_graph_format(folder.file("g.data")), graph_format::matrix_market);
  EXPECT_THROW(write_graph(make(false, false, false), folder.file("w.graph"), {.format = graph_format::webgraph}),
               argument_error);
}

TEST(TextRoundTrip, ProgressCanCancelAndLeavesNothing)
{
  temporary_folder const folder;
  cpu_exec exec;
  struct cancelled {};
  exec.on_progress = [](progress const&) { throw cancelled{}; };
  for (std::string const name : {"g.txt.gz", "g.mtx", "g.metis"}) {
    EXPECT_THROW(write_graph(make(false, false, true), folder.file(name), {}, exec), cancelled);
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

}  // namespace
}  // namespace tendril
