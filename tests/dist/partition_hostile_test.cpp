// Files of a cut graph that are not what they should be: one line each, whatever the bytes.

#include <tendril/partition.hpp>

#include <filesystem>
#include <limits>
#include <random>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "dist/part_files.hpp"
#include "dist/partition_support.hpp"
#include "formats/safetensors.hpp"

namespace tendril::test {
namespace {

using nlohmann::json;

constexpr char const* first_part = "part-00000-of-00002.safetensors";

/// A full graph cut into two parts, whose files a test damages.
class damaged_parts : public testing::Test {
 protected:
  damaged_parts() { partition_graph(make_full_graph(), cut(), {2, partition_method::range}); }

  [[nodiscard]] std::string cut() const { return folder_ / "cut"; }
  [[nodiscard]] std::string file(std::string const& name) const { return cut() + "/" + name; }

  void write(std::string const& name, std::string const& bytes) const { folder_.write("cut/" + name, bytes); }

  /// What is said of graph.json after `change` of its content.
  template <class F>
  [[nodiscard]] std::string said_of_info(F&& change) const
  {
    std::string const before = read_bytes(file("graph.json"));
    json document = json::parse(before);
    change(document);
    write("graph.json", document.dump());
    std::string const said = message_of<format_error>([&] { (void)read_partition_info(cut()); });
    EXPECT_EQ(message_of<format_error>([&] { (void)read_part(cut(), 0); }), said);
    EXPECT_EQ(message_of<format_error>([&] { (void)read_parts_as_graph(cut()); }), said);
    write("graph.json", before);
    EXPECT_TRUE(said.starts_with(file("graph.json") + ": ")) << said;
    return said.substr(std::min(said.size(), file("graph.json: ").size()));
  }
  [[nodiscard]] std::string said_of(char const* key, json const& value) const
  {
    return said_of_info([&](json& document) { document[key] = value; });
  }

  /// What is said of the first part if element `at` of an array is another.
  template <class T>
  [[nodiscard]] std::string said_of_element(char const* array, std::int64_t at, T value) const
  {
    std::string const before = read_bytes(file(first_part));
    auto const contents = formats::parse_safetensors("part", as_bytes(before));
    std::string bytes = before;
    auto const offset =
        static_cast<std::size_t>(contents.tensors.at(array).begin) + static_cast<std::size_t>(at) * sizeof value;
    std::memcpy(bytes.data() + offset, &value, sizeof value);
    return said_of_part(bytes);
  }

  [[nodiscard]] std::string said_of_part(std::string const& bytes) const
  {
    std::string const before = read_bytes(file(first_part));
    write(first_part, bytes);
    std::string const said = message_of<format_error>([&] { (void)read_part(cut(), 0); });
    EXPECT_EQ(message_of<format_error>([&] { (void)read_parts_as_graph(cut()); }), said);
    write(first_part, before);
    EXPECT_TRUE(said.starts_with(file(first_part) + ": ")) << said;
    return said.substr(std::min(said.size(), file(first_part).size() + 2));
  }

  /// The first part with other arrays and metadata.
  template <class F>
  [[nodiscard]] std::string said_of_tensors(F&& change) const
  {
    graph_part const part = read_part(cut(), 0);
    using formats::dtype;
    using formats::tensor_data;
    std::vector<tensor_data> tensors{tensor_data::array("indptr", dtype::int64, 3, part.rows.indptr.data()),
                                     tensor_data::array("indices", dtype::uint32, 3, part.rows.indices.data()),
                                     tensor_data::array("weights", dtype::float32, 3, part.rows.weights.data()),
                                     tensor_data::array("edge_labels", part.rows.edge_labels),
                                     tensor_data::array("edge_ids", dtype::int64, 3, part.rows.edge_ids.data())};
    std::map<std::string, std::string> metadata{
        {"format", "tendril-graph-part"}, {"version", "1"}, {"digest", part.info.digest}, {"part", "0/2"}};
    change(tensors, metadata);
    formats::write_tensors(folder_ / "other", tensors, metadata, {});
    return said_of_part(read_bytes(folder_ / "other"));
  }

 private:
  scratch_folder folder_;
};

TEST_F(damaged_parts, the_description)
{
  EXPECT_EQ(said_of("format", "tendril\ngraph"), "format 'tendril\\x0agraph', expected 'tendril-partition'");
  EXPECT_EQ(said_of("format", 7), "format: expected a text");
  EXPECT_EQ(said_of("version", 3), "version 3, expected 1 or 2");
  EXPECT_EQ(said_of("version", "1"), "version: expected a number from 0 to 4611686018427387904");
  EXPECT_EQ(said_of("num_vertices", -1), "num_vertices: expected a number from 0 to 4294967295");
  EXPECT_EQ(said_of("num_vertices", std::int64_t{1} << 32U), "num_vertices: expected a number from 0 to 4294967295");
  EXPECT_EQ(said_of("num_vertices", 4.0), "num_vertices: expected a number from 0 to 4294967295");
  EXPECT_EQ(said_of("num_edges", json()), "num_edges: expected a number from 0 to 4611686018427387904");
  EXPECT_EQ(said_of("num_parts", 0), "num_parts: 0, expected a number from 1 to 1024");
  EXPECT_EQ(said_of("num_parts", 1025), "num_parts: expected a number from 0 to 1024");
  EXPECT_EQ(said_of("num_parts", 3), "bounds: 3 numbers, expected 4");
  EXPECT_EQ(said_of("method", "luck"), "method 'luck', expected range, degree or metis");
  EXPECT_EQ(said_of("bounds", {1, 2, 4}), "bounds: the first is 1, expected 0");
  EXPECT_EQ(said_of("bounds", {0, 5, 4}), "bounds: 4 after 5, expected ascending bounds");
  EXPECT_EQ(said_of("bounds", {0, 2, 3}), "bounds: the last is 3, expected the number of vertices, 4");
  EXPECT_EQ(said_of("bounds", "0"), "bounds: expected a list");
  EXPECT_EQ(said_of("part_edges", {4, 3}), "part_edges: more than num_edges, 6, together, expected as many");
  EXPECT_EQ(said_of("part_edges", {1, 3}), "part_edges: 2 fewer than num_edges, 6, together, expected as many");
  EXPECT_EQ(said_of("crossing_edges", {4, 0}), "crossing_edges: 4 of part 0, expected at most its 3 edges");
  EXPECT_EQ(said_of("bytes_per_edge_label", 3), "bytes_per_edge_label: expected a number from 0 to 2");
  EXPECT_EQ(said_of("edge_labels_in_use", {0, 2, 2}), "edge_labels_in_use: 2 after 2, expected ascending labels");
  EXPECT_EQ(said_of("node_types_in_use", {0, 256}), "node_types_in_use: expected a number from 0 to 255");
  EXPECT_EQ(said_of("bytes_per_edge_label", 0), "edge_labels_in_use: expected none, as the graph has no labels");
  EXPECT_EQ(said_of("weights", 1), "weights: expected true or false");
  EXPECT_EQ(said_of("mean_degree", -1.5), "mean_degree: expected a number >= 0");
  EXPECT_EQ(said_of("edge_label_names", {1, 2}), "edge_label_names: expected a list of texts");
  EXPECT_EQ(said_of("metadata", {{"name", 3}}), "metadata: expected an object of texts");
  EXPECT_EQ(said_of("digest", "abc"), "digest: expected 32 hexadecimal digits");
  json const good = json::parse(read_bytes(file("graph.json")));
  for (auto const& entry : good.items()) {
    EXPECT_EQ(said_of_info([&](json& document) { document.erase(entry.key()); }),
              fmt::format("no entry '{}', expected one", entry.key()));
  }
}

TEST_F(damaged_parts, a_description_that_is_no_json)
{
  std::string const expected = file("graph.json") + ": expected a JSON object as tendril partition writes it";
  std::string const good = read_bytes(file("graph.json"));
  std::vector<std::string> texts{"", "{", "[]", "7", "{\"metadata\": 1e999}", std::string(1'000'000, '['), "\xff\xfe"};
  for (std::size_t size = 0; size + 2 < good.size(); size += 41) { texts.push_back(good.substr(0, size)); }
  std::string deep = "{\"a\":";
  for (int i = 0; i < 100'000; ++i) { deep += "{\"a\":"; }
  texts.push_back(deep);
  for (std::string const& text : texts) {
    write("graph.json", text);
    EXPECT_EQ(message_of<format_error>([&] { (void)read_partition_info(cut()); }), expected);
  }
}

TEST_F(damaged_parts, the_rows)
{
  // Of part 0, vertices 0 and 1: indptr 0 3 3, indices 0 2 3.
  EXPECT_EQ(said_of_element("indptr", 0, edge_id{1}), "array 'indptr': starts with 1, expected 0");
  EXPECT_EQ(said_of_element("indptr", 2, edge_id{2}), "array 'indptr': ends with 2, expected the number of indices, 3");
  EXPECT_EQ(said_of_element("indptr", 1, edge_id{4}),
            "vertex 1: its edges end at 3 but begin at 4, expected an indptr that never decreases");
  EXPECT_EQ(said_of_element("indptr", 1, edge_id{-1}),
            "vertex 0: its edges end at -1 but begin at 0, expected an indptr that never decreases");
  EXPECT_EQ(said_of_element("indptr", 1, std::numeric_limits<edge_id>::max()),
            "vertex 0: 9223372036854775807 edges, expected at most 4294967295");
  EXPECT_EQ(said_of_element("indices", 2, vertex_id{4}), "vertex 0: neighbour 4 at edge 2, expected an id below 4");
  EXPECT_EQ(said_of_element("indices", 2, no_vertex),
            "vertex 0: neighbour 4294967295 at edge 2, expected an id below 4");
  EXPECT_EQ(said_of_element("indices", 0, vertex_id{3}), "vertex 0: neighbours not ascending at edge 1 (2 after 3)");
  EXPECT_EQ(said_of_element("weights", 1, -1.0F), "vertex 0: weight -1 at edge 1, expected a finite number >= 0");
  EXPECT_EQ(said_of_element("weights", 1, std::numeric_limits<float>::quiet_NaN()),
            "vertex 0: weight nan at edge 1, expected a finite number >= 0");
  EXPECT_EQ(said_of_element("edge_ids", 0, edge_id{-5}), "vertex 0: edge id -5 at edge 0, expected a number >= 0");
}

TEST_F(damaged_parts, rows_of_a_later_part_are_named_by_their_vertex)
{
  std::string const name = "part-00001-of-00002.safetensors";
  std::string bytes = read_bytes(file(name));
  auto const contents = formats::parse_safetensors("part", as_bytes(bytes));
  vertex_id const wrong = 9;
  std::memcpy(bytes.data() + contents.tensors.at("indices").begin + 8, &wrong, sizeof wrong);
  write(name, bytes);
  EXPECT_EQ(message_of<format_error>([&] { (void)read_part(cut(), 1); }),
            file(name) + ": vertex 3: neighbour 9 at edge 2, expected an id below 4");
}

TEST_F(damaged_parts, arrays_and_metadata)
{
  using tensors = std::vector<formats::tensor_data>;
  using metadata = std::map<std::string, std::string>;
  EXPECT_EQ(said_of_tensors([](tensors&, metadata& m) { m["format"] = "tendril-graph"; }),
            "format 'tendril-graph', expected 'tendril-graph-part'");
  EXPECT_EQ(said_of_tensors([](tensors&, metadata& m) { m["version"] = "2"; }), "version '2', expected '1'");
  EXPECT_EQ(said_of_tensors([](tensors&, metadata& m) { m["part"] = "1/2"; }), "part '1/2', expected '0/2'");
  EXPECT_EQ(said_of_tensors([](tensors&, metadata& m) { m.erase("part"); }), "part '', expected '0/2'");
  EXPECT_EQ(said_of_tensors([](tensors&, metadata& m) { m["digest"] = "beef"; }),
            fmt::format("a file of another graph: digest 'beef', expected {} as in graph.json",
                        read_partition_info(cut()).digest));
  EXPECT_EQ(said_of_tensors([](tensors& t, metadata&) { t.erase(t.begin()); }),
            "no array 'indptr', expected one as graph.json says");
  EXPECT_EQ(said_of_tensors([](tensors& t, metadata&) { t.erase(t.begin() + 2); }),
            "no array 'weights', expected one as graph.json says");
  EXPECT_EQ(said_of_tensors([](tensors& t, metadata&) { t[0].spec.shape = {2}; }),
            "array 'indptr': shape (2,), expected (3,) as graph.json says");
  EXPECT_EQ(said_of_tensors([](tensors& t, metadata&) { t[1].spec.shape = {2}; }),
            "array 'indices': shape (2,), expected (3,) as graph.json says");
  EXPECT_EQ(said_of_tensors([](tensors& t, metadata&) { t[3].spec.type = formats::dtype::uint8; }),
            "array 'edge_labels': labels of 1 bytes, expected 2 as in graph.json");
  EXPECT_NE(said_of_tensors([](tensors& t, metadata&) { t[1].spec.type = formats::dtype::float32; }), "");
}

TEST_F(damaged_parts, an_array_that_the_graph_does_not_have)
{
  EXPECT_EQ(message_of<format_error>([&] {
              json document = json::parse(read_bytes(file("graph.json")));
              document["edge_ids"] = false;
              write("graph.json", document.dump());
              (void)read_part(cut(), 0);
            }),
            file(first_part) + ": an array 'edge_ids', expected none as graph.json says");
}

TEST_F(damaged_parts, files_that_are_not_there)
{
  EXPECT_FALSE(is_partition(file("no")));
  EXPECT_EQ(message_of<io_error>([&] { (void)read_partition_info(file("no")); }),
            file("no/graph.json") + ": cannot open: No such file or directory");
  EXPECT_EQ(message_of<argument_error>([&] { (void)read_part(cut(), 2); }), "part 2: expected one from 0 to 1");
  EXPECT_EQ(message_of<argument_error>([&] { (void)read_part(cut(), -1); }), "part -1: expected one from 0 to 1");
  for (std::string const name : {first_part, "vertices.safetensors"}) {
    std::filesystem::rename(file(name), file("elsewhere"));
    std::string const expected = file(name) + ": cannot open: No such file or directory";
    EXPECT_EQ(message_of<io_error>([&] { (void)read_part(cut(), 0); }), expected);
    EXPECT_EQ(message_of<io_error>([&] { (void)read_parts_as_graph(cut()); }), expected);
    std::filesystem::rename(file("elsewhere"), file(name));
  }
}

TEST_F(damaged_parts, parts_of_two_graphs)
{
  scratch_folder const other;
  graph_arrays arrays = make_full_graph().arrays();
  arrays.weights = to_array<float>({0.5F, 1, 2.25F, 0, 1e-30F, 2e30F});
  partition_graph(graph(std::move(arrays)), other / "cut", {2, partition_method::range});
  for (std::string const name : {first_part, "vertices.safetensors"}) {
    std::string const before = read_bytes(file(name));
    write(name, read_bytes(other / ("cut/" + name)));
    std::string const said = message_of<format_error>([&] { (void)read_part(cut(), 0); });
    EXPECT_TRUE(said.starts_with(file(name) + ": a file of another graph: digest '")) << said;
    write(name, before);
  }
}

TEST_F(damaged_parts, any_bytes_give_a_part_or_one_line)
{
  std::mt19937_64 random(5);
  for (std::string const name : {first_part, "vertices.safetensors", "graph.json"}) {
    std::string const good = read_bytes(file(name));
    auto const expect_safe = [&](std::string const& bytes) {
      write(name, bytes);
      try {
        graph_part const part = read_part(cut(), 0);
        for (vertex_id const x : part.rows.indices) { EXPECT_LT(x, part.info.num_vertices); }
      } catch (error const& problem) {
        EXPECT_TRUE(std::string_view(problem.what()).starts_with(cut())) << problem.what();
      }
    };
    for (std::size_t size = 0; size < good.size(); size += 7) { expect_safe(good.substr(0, size)); }
    for (int i = 0; i < 500; ++i) {
      std::string bytes = good;
      bytes[random() % bytes.size()] ^= static_cast<char>(1 + random() % 255);
      expect_safe(bytes);
    }
    write(name, good);
  }
  EXPECT_EQ(read_part(cut(), 0).num_vertices(), 2);
}

}  // namespace
}  // namespace tendril::test
