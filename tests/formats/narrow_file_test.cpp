// Weights, labels and edge ids of compressed graphs that are in fewer bits come back from files without a copy; files that
// lie are refused in one line, when they are opened or when the graph is first used.

#include <tendril/compress.hpp>
#include <tendril/generate.hpp>
#include <tendril/io.hpp>

#include "formats/readers.hpp"
#include "formats/safetensors.hpp"
#include "formats/tensor_files.hpp"
#include "support/binary_files.hpp"
#include "support/graph_forms.hpp"

namespace tendril {
namespace {

using test::file_of;
using test::pack_all;
using test::tensor;

/// A ring of 50,000 vertices that has two weights, five labels, and ids that are positions.
graph ring()
{
  graph_arrays arrays = generate_regular(regular_graph::ring, 50'000, 1).arrays();
  auto const edges = static_cast<std::size_t>(arrays.indices.size());
  std::vector<float> weights(edges);
  std::vector<std::uint16_t> labels(edges);
  std::vector<edge_id> ids(edges);
  for (std::size_t e = 0; e < edges; ++e) {
    weights[e] = e % 3 == 0 ? 0.25F : 7.0F;
    labels[e] = static_cast<std::uint16_t>(e % 5);
    ids[e] = static_cast<edge_id>(e);
  }
  arrays.weights = test::to_array(weights);
  arrays.edge_labels = test::to_array(labels);
  arrays.edge_ids = test::to_array(ids);
  arrays.symmetric = false;
  return graph(std::move(arrays));
}

TEST(NarrowFile, ComesBackMapped)
{
  test::scratch_folder const folder;
  std::string const path = folder / "g.safetensors";
  graph const g = ring();
  graph const small = compress(g, graph_form::packed);
  write_graph(small, path);
  graph const back = read_graph(path);
  narrow_edges const &a = back.arrays().narrow, &b = small.arrays().narrow;
  EXPECT_EQ(a.weight_codes.width, 1U);
  EXPECT_EQ(a.labels.width, 3U);
  EXPECT_EQ(a.bytes_per_label, 2);
  EXPECT_EQ(a.ids.width, 0U);
  EXPECT_TRUE(a.ids_ascend);
  EXPECT_EQ(test::to_vector(a.weight_codes.words), test::to_vector(b.weight_codes.words));
  EXPECT_EQ(test::to_vector(a.weight_values), test::to_vector(b.weight_values));
  EXPECT_EQ(test::to_vector(a.labels.words), test::to_vector(b.labels.words));
  test::expect_same_arrays(to_csr(back), g);
  EXPECT_EQ(back.arrays().metadata.size(), g.arrays().metadata.size()) << "the reader's own entries are none";
  std::string const first = test::read_bytes(path);
  write_graph(back, path);
  EXPECT_TRUE(test::read_bytes(path) == first);
}

TEST(NarrowFile, EveryWidthAndEmptyGraphs)
{
  test::scratch_folder const folder;
  std::string const path = folder / "g.safetensors";
  for (graph const& g : {graph(), test::make_full_graph(), ring()}) {
    for (graph_form const form : {graph_form::packed, graph_form::best}) {
      graph const small = test::with_narrow_edges(compress(g, form));
      write_graph(small, path);
      if (g.num_vertices() > 0) { test::expect_same_arrays(to_csr(read_graph(path)), g); }
    }
  }
}

// Two vertices: the first has the neighbours 0 and 1, in one bit each.
std::vector<std::uint32_t> block_words()
{
  std::vector<std::uint32_t> words(16, 0);
  words[1] = (1U << 21U) | (8U << 16U) | (1U << 13U);  // the kind, the bits of a degree and the header
  words[2] = 2;
  words[15] = 2;  // edges before the second half
  return words;
}
tensor const blocks{"list_blocks", "U32", 1, pack_all<std::uint32_t>(block_words()), 16};
tensor const wide{"wide_lists", "U32", 0, "", 4};
tensor const lists{"lists", "U32", 17, pack_all<std::uint32_t>({2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0})};

tensor words(char const* name, std::vector<std::uint32_t> const& values)
{
  return {name, "U32", std::ssize(values), pack_all<std::uint32_t>(values)};
}
tensor floats(std::vector<float> const& values)
{
  return {"weight_values", "F32", std::ssize(values), pack_all<float>(values)};
}

graph read(std::vector<tensor> more, std::string const& metadata)
{
  std::vector<tensor> tensors{blocks, wide, lists};
  tensors.insert(tensors.end(), more.begin(), more.end());
  auto const owner = std::make_shared<std::string>(
      file_of(tensors, R"({"format":"tendril-graph","version":"4","form":"packed","num_vertices":"2","num_edges":"2")" +
                           metadata + "}"));
  return formats::read_safetensors("g", test::as_bytes(*owner), owner, {}, {});
}

std::string refusal(std::vector<tensor> more, std::string const& metadata)
{
  return test::message_of<format_error>([&] { (void)read(more, metadata).view(); });
}

TEST(NarrowFile, LiesAreRefused)
{
  std::string const two_bits = R"(,"weight_bits":"2")";
  tensor const codes = words("weight_codes", {0b0110, 0});
  EXPECT_EQ(edge_weights(read({codes, floats({1, 2, 3})}, two_bits))[0], 3);
  EXPECT_EQ(refusal({codes, floats({1, 2})}, two_bits), "g: weight 2 of the dictionary at edge 0, expected one of 2");
  EXPECT_EQ(refusal({codes, floats({1, 2, -3})}, two_bits),
            "g: weight -3 in the dictionary at 2, expected a finite number >= 0");
  EXPECT_EQ(refusal({codes}, two_bits), "g: no tensor 'weight_values', expected the values of weight_codes");
  EXPECT_EQ(refusal({codes, floats({})}, two_bits), "g: graph: codes of weights without values, expected at least one");
  EXPECT_EQ(refusal({codes, floats({1})}, ""), "g: metadata 'weight_bits': '', expected a number from 0 to 16");
  EXPECT_EQ(refusal({codes, floats({1})}, R"(,"weight_bits":"17")"),
            "g: metadata 'weight_bits': '17', expected a number from 0 to 16");
  EXPECT_EQ(refusal({words("weight_codes", {1}), floats({1, 2})}, two_bits),
            "g: array 'weight_codes': shape (1,), expected (2,): 2 bits for each of 2 edges");
  EXPECT_EQ(refusal({{"weight_codes", "F32", 2, pack_all<float>({1, 2})}, floats({1})}, two_bits),
            "g: array 'weight_codes': elements of type float32, expected uint32");
  EXPECT_EQ(refusal({codes, floats({1, 2, 3}), {"weights", "F32", 2, pack_all<float>({1, 2})}}, two_bits),
            "g: graph: weights both as an array and in fewer bits, expected one of them");
  tensor const labels = words("edge_label_codes", {7, 0});
  EXPECT_EQ(refusal({labels}, R"(,"edge_label_bits":"0","edge_label_bytes":"1")"),
            "g: graph: edge_labels of 0 bits, expected 1 to 8");
  EXPECT_EQ(refusal({labels}, R"(,"edge_label_bits":"9","edge_label_bytes":"1")"),
            "g: graph: edge_labels of 9 bits, expected 1 to 8");
  EXPECT_EQ(refusal({labels}, R"(,"edge_label_bits":"3","edge_label_bytes":"0")"),
            "g: graph: edge labels of 0 bytes, expected 1 or 2");
  tensor const ids = words("edge_id_codes", {7, 0});
  EXPECT_EQ(edge_ids(read({ids}, R"(,"edge_id_bits":"2","least_edge_id":"40","edge_id_step":"1")"))[1], 42);
  EXPECT_EQ(refusal({ids}, R"(,"edge_id_bits":"2","least_edge_id":"-1","edge_id_step":"1")"),
            "g: metadata 'least_edge_id': '-1', expected a number from 0 to 4611686018427387903");
  EXPECT_EQ(refusal({ids}, R"(,"edge_id_bits":"63","least_edge_id":"1","edge_id_step":"1")"),
            "g: metadata 'edge_id_bits': '63', expected a number from 0 to 62");
}

}  // namespace
}  // namespace tendril
