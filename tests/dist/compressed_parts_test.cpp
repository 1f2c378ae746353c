// Parts whose neighbours are compressed: they hold what parts in CSR form hold, take what the whole graph takes, and damaged files are
// told of in one line. That samples don't change stands in the tests of the samplers.

#include <tendril/partition.hpp>

#include <functional>
#include <random>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <tendril/compress.hpp>
#include <tendril/generate.hpp>

#include "dist/partition_support.hpp"
#include "formats/safetensors.hpp"
#include "graph/check.hpp"
#include "support/graph_forms.hpp"

namespace tendril::test {
namespace {

using nlohmann::json;

constexpr std::array compressed_forms{graph_form::packed, graph_form::runs, graph_form::ef, graph_form::vbyte,
                                      graph_form::best};

/// The rows of a part in CSR form. Their neighbours lie beyond them, as those of the part do.
graph_arrays in_csr(graph_part const& part) { return to_csr(graph(part.rows, graph_content::sound)).arrays(); }

void expect_same_rows(graph_arrays const& a, graph_arrays const& b)
{
  EXPECT_EQ(to_vector(a.indptr), to_vector(b.indptr));
  EXPECT_EQ(to_vector(a.indices), to_vector(b.indices));
  EXPECT_EQ(to_vector(a.weights), to_vector(b.weights));
  EXPECT_EQ(to_vector(a.edge_labels), to_vector(b.edge_labels));
  EXPECT_EQ(a.edge_labels.bytes_per_label(), b.edge_labels.bytes_per_label());
  EXPECT_EQ(to_vector(a.edge_ids), to_vector(b.edge_ids));
}

/// To the last bit of every list.
void expect_same_graph(graph const& a, graph const& b)
{
  EXPECT_EQ(a.form(), b.form());
  graph_arrays const &x = a.arrays(), &y = b.arrays();
  auto const bytes = [](auto const& array) {
    return to_vector(shared_array(std::as_bytes(array.span()), array.owner()));
  };
  EXPECT_EQ(bytes(x.compressed.blocks), bytes(y.compressed.blocks));
  EXPECT_EQ(bytes(x.compressed.wide), bytes(y.compressed.wide));
  EXPECT_EQ(to_vector(x.compressed.words), to_vector(y.compressed.words));
  EXPECT_EQ(x.narrow.num_bytes(), y.narrow.num_bytes());
  expect_same_arrays(to_csr(a), to_csr(b));
}

TEST(compressed_parts, hold_the_rows_of_those_in_csr_form)
{
  for (graph const& original : graphs_to_cut()) {
    for (graph const& g : in_all_forms(original)) {
      for (graph_form const form : compressed_forms) {
        for (std::int64_t const n : {std::int64_t{1}, std::int64_t{3}, std::int64_t{7}}) {
          SCOPED_TRACE(fmt::format("{} vertices in form {}, {} parts in form {}", g.num_vertices(), to_string(g.form()),
                                   n, to_string(form)));
          scratch_folder const folder;
          partition_info const info = partition_graph(g, folder / "cut", {.num_parts = n, .form = form});
          EXPECT_EQ(info.form, form);
          EXPECT_EQ(read_partition_info(folder / "cut"), info);
          for (std::int64_t p = 0; p < n; ++p) {
            graph_part const plain = part_of(original, {.num_parts = n}, p);
            graph_part const read = read_part(folder / "cut", p);
            EXPECT_EQ(read.rows.compressed.form, form);
            EXPECT_EQ(read.rows.compressed.first_id, read.first_vertex());
            EXPECT_TRUE(read.rows.indices.empty());
            EXPECT_EQ(read.info.digest, plain.info.digest);
            expect_same_rows(in_csr(read), plain.rows);
            expect_same_rows(in_csr(part_of(g, {.num_parts = n, .form = form}, p)), plain.rows);
          }
          expect_same_graph(read_parts_as_graph(folder / "cut"), compress(original, form));
        }
      }
    }
  }
}

TEST(compressed_parts, have_the_form_of_the_graph_unless_told)
{
  graph const g = make_zoo(2), packed = compress(g, graph_form::packed);
  EXPECT_EQ(part_of(g, {.num_parts = 2}, 0).info.form, graph_form::csr);
  EXPECT_EQ(part_of(packed, {.num_parts = 2}, 0).info.form, graph_form::packed);
  EXPECT_EQ(part_of(packed, {.num_parts = 2, .form = graph_form::csr}, 0).info.form, graph_form::csr);
  EXPECT_EQ(
      message_of<argument_error>([&] { (void)part_of(g, {.num_parts = 2, .form = static_cast<graph_form>(77)}, 0); }),
      "form: 77, expected csr, packed, runs, ef, vbyte or auto");
}

/// Neighbours near their vertex cost as few bits in any part: they count from the vertex' own id, not from its row.
TEST(compressed_parts, take_what_the_whole_graph_takes)
{
  graph const g = generate_web({.num_vertices = 60'000, .edge_factor = 16, .seed = 3}, {});
  for (graph_form const form : compressed_forms) {
    std::int64_t const whole = compress(g, form).arrays().compressed.num_bytes();
    std::int64_t parts = 0;
    for (std::int64_t p = 0; p < 4; ++p) {
      parts += part_of(g, {.num_parts = 4, .form = form}, p).rows.compressed.num_bytes();
    }
    EXPECT_LT(std::abs(parts - whole), 4 * 1024) << to_string(form) << ": " << whole;  // blocks are cut elsewhere
  }
}

/// A full graph cut into two compressed parts, whose files a test damages.
class damaged_compressed_parts : public testing::TestWithParam<graph_form> {
 protected:
  damaged_compressed_parts() { partition_graph(make_full_graph(), cut(), {2, partition_method::range, GetParam()}); }

  [[nodiscard]] std::string cut() const { return folder_ / "cut"; }
  [[nodiscard]] std::string file(std::string const& name) const { return cut() + "/" + name; }
  [[nodiscard]] static std::string part(int p) { return part_file(p, 2); }
  void write(std::string const& name, std::string const& bytes) const { folder_.write("cut/" + name, bytes); }

  /// What is said of a part after `change` of its tensors and metadata.
  [[nodiscard]] std::string said(
      int p, std::function<void(formats::safetensors_contents&, std::string& data)> const& change) const
  {
    std::string const before = read_bytes(file(part(p)));
    auto contents = formats::parse_safetensors("part", as_bytes(before));
    std::string data = before;
    change(contents, data);
    std::vector<formats::tensor_data> tensors;
    for (auto const& [name, tensor] : contents.tensors) {
      tensors.push_back({{name, tensor.type, tensor.shape}, data.data() + tensor.begin, 4});
    }
    formats::write_tensors(file(part(p)), std::move(tensors), contents.metadata, {});
    std::string const out = message_of<format_error>([&] { (void)read_part(cut(), p); });
    EXPECT_EQ(message_of<format_error>([&] { (void)read_parts_as_graph(cut()); }), out);
    write(part(p), before);
    EXPECT_TRUE(out.starts_with(file(part(p)) + ": ")) << out;
    return out.substr(std::min(out.size(), file(part(p)).size() + 2));
  }
  [[nodiscard]] std::string said_of_metadata(std::string const& key, std::string const& value) const
  {
    return said(0, [&](auto& contents, auto&) { contents.metadata[key] = value; });
  }

 private:
  scratch_folder folder_;
};

TEST_P(damaged_compressed_parts, are_told_of_in_a_line)
{
  std::string const own(to_string(GetParam()));
  EXPECT_EQ(said_of_metadata("version", "1"), "version '1', expected '2'");
  EXPECT_EQ(said_of_metadata("form", "csr"),
            "metadata 'form': 'csr', expected one of packed, runs, ef, vbyte, auto in version 2");
  std::string const other = own == "ef" ? "runs" : "ef";
  EXPECT_EQ(said_of_metadata("form", other), fmt::format("form '{}', expected '{}' as in graph.json", other, own));
  EXPECT_EQ(said_of_metadata("num_edges", "2"), "lists of 2 vertices and 2 edges, expected 2 and 3 as graph.json says");
  EXPECT_EQ(said_of_metadata("num_vertices", "x"),
            "metadata 'num_vertices': 'x', expected a number from 0 to 4294967295");
  EXPECT_EQ(said(0, [](auto& contents, auto&) { contents.tensors.erase("lists"); }),
            "no tensor 'lists', expected a compressed graph's list_blocks, wide_lists and lists");
  EXPECT_EQ(said(0, [](auto& contents, auto&) { contents.tensors["indices"] = contents.tensors["lists"]; }),
            "both 'indices' and compressed lists, expected one of them");
  EXPECT_EQ(said(1, [](auto& contents,
                       auto& data) { std::memset(data.data() + contents.tensors["list_blocks"].begin, 0xff, 64); }),
            "vertex 2: its block of the directory is of kind 3, expected at most 2");
}

TEST_P(damaged_compressed_parts, of_another_form_than_graph_json_says_are_refused)
{
  json document = json::parse(read_bytes(file("graph.json")));
  auto const with = [&](char const* key, json const& value) {
    json changed = document;
    changed[key] = value;
    write("graph.json", changed.dump());
    return message_of<format_error>([&] { (void)read_part(cut(), 0); });
  };
  EXPECT_EQ(with("version", 1), file(part(0)) + ": version '2', expected '1'");
  EXPECT_EQ(with("version", 3), file("graph.json") + ": version 3, expected 1 or 2");
  EXPECT_EQ(with("form", "csr"), file("graph.json") + ": form 'csr', expected one of packed, runs, ef, vbyte, auto");
  EXPECT_EQ(with("form", 7), file("graph.json") + ": form: expected a text");
}

TEST_P(damaged_compressed_parts, of_any_bytes_give_a_part_or_one_line)
{
  std::mt19937_64 random(5);
  for (int p = 0; p < 2; ++p) {
    std::string const good = read_bytes(file(part(p)));
    auto const expect_safe = [&](std::string const& bytes) {
      write(part(p), bytes);
      try {
        graph_part const read = read_part(cut(), p);
        for (vertex_id const x : in_csr(read).indices) { EXPECT_LT(x, read.info.num_vertices); }
      } catch (error const& problem) {
        EXPECT_TRUE(std::string_view(problem.what()).starts_with(cut())) << problem.what();
      }
    };
    for (std::size_t size = 0; size < good.size(); size += 11) { expect_safe(good.substr(0, size)); }
    for (int i = 0; i < 1000; ++i) {
      std::string bytes = good;
      bytes[random() % bytes.size()] ^= static_cast<char>(1 + random() % 255);
      expect_safe(bytes);
    }
    write(part(p), good);
  }
  EXPECT_EQ(read_part(cut(), 0).num_vertices(), 2);
}

INSTANTIATE_TEST_SUITE_P(forms, damaged_compressed_parts,
                         testing::Values(graph_form::packed, graph_form::vbyte, graph_form::best),
                         [](auto const& instance) { return std::string(to_string(instance.param)); });

}  // namespace
}  // namespace tendril::test
