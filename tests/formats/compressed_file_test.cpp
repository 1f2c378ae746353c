// Compressed graphs come back from safetensors files as they were, opened without a copy; files that lie are refused in one
// line, when they are opened or when the graph is first used.

#include <algorithm>
#include <span>

#include <tendril/compress.hpp>
#include <tendril/file.hpp>  // mapped_file_at
#include <tendril/generate.hpp>
#include <tendril/io.hpp>

#include "formats/readers.hpp"
#include "formats/safetensors.hpp"
#include "formats/tensor_files.hpp"
#include "support/binary_files.hpp"

namespace tendril {
namespace {

using test::file_of;
using test::pack_all;
using test::tensor;

constexpr char const* two_by_two =
    R"({"format":"tendril-graph","version":"4","form":"packed","num_vertices":"2","num_edges":"2"})";

/// One block, whose lists share the header of ids of one bit; its first vertex has 2 edges.
std::vector<std::uint32_t> block_words(std::uint32_t upper_word = (1U << 21U) | (8U << 16U) | (1U << 13U))
{
  std::vector<std::uint32_t> words(16, 0);
  words[1] = upper_word;  // the kind, the bits of a degree and the header
  words[2] = 2;
  words[15] = 2;  // edges before the second half
  return words;
}

// Two vertices: the first has the neighbours 0 and 1, in one bit each.
tensor const blocks{"list_blocks", "U32", 1, pack_all<std::uint32_t>(block_words()), 16};
tensor const wide{"wide_lists", "U32", 0, "", 4};
tensor const lists{"lists", "U32", 17, pack_all<std::uint32_t>({2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0})};

std::string small() { return file_of({blocks, wide, lists}, two_by_two); }

graph read(std::string const& file)
{
  auto const owner = std::make_shared<std::string>(file);
  return formats::read_safetensors("g", test::as_bytes(*owner), owner, {}, {});
}

std::string refusal(std::string const& file)
{
  return test::message_of<format_error>([&] { (void)read(file); });
}

std::string refusal(std::vector<tensor> const& tensors) { return refusal(file_of(tensors, two_by_two)); }

void expect_same_lists(graph const& a, graph const& b)
{
  EXPECT_EQ(a.form(), b.form());
  EXPECT_EQ(a.num_vertices(), b.num_vertices());
  EXPECT_EQ(a.num_edges(), b.num_edges());
  auto const &left = a.arrays().compressed, &right = b.arrays().compressed;
  EXPECT_EQ(test::to_vector(left.words), test::to_vector(right.words));
  ASSERT_EQ(left.blocks.size(), right.blocks.size());
  ASSERT_EQ(left.wide.size(), right.wide.size());
  auto const bytes = [](auto const& array) { return std::as_bytes(std::span(array.data(), array.end())); };
  EXPECT_TRUE(std::ranges::equal(bytes(left.blocks), bytes(right.blocks)));
  EXPECT_TRUE(std::ranges::equal(bytes(left.wide), bytes(right.wide)));
  test::expect_same_arrays(to_csr(a), to_csr(b));
}

TEST(CompressedFile, EveryArrayNameAndFlagComesBack)
{
  test::scratch_folder const folder;
  for (auto const& [form, name] : enum_names<graph_form>) {
    graph const original = compress(test::make_full_graph(), form);
    write_graph(original, folder / "g.safetensors");
    graph const back = read_graph(folder / "g.safetensors");
    EXPECT_EQ(back.form(), form);
    EXPECT_EQ(back.content(), graph_content::unchecked);
    back.validate();
    expect_same_lists(back, original);
    EXPECT_EQ(back.arrays().edge_label_names, original.arrays().edge_label_names);
    EXPECT_EQ(back.arrays().node_type_names, original.arrays().node_type_names);
    EXPECT_EQ(back.arrays().metadata, original.arrays().metadata);
    test::expect_same_arrays(to_csr(back), test::make_full_graph());
  }
}

TEST(CompressedFile, WideEntriesComeBack)
{
  test::scratch_folder const folder;
  graph const star = compress(generate_regular(regular_graph::star, 400'000), graph_form::packed);
  ASSERT_EQ(star.arrays().compressed.wide.size(), 6);  // one a vertex of the half
  write_graph(star, folder / "g.safetensors");
  graph const back = read_graph(folder / "g.safetensors");
  back.validate();
  expect_same_lists(back, star);
}

TEST(CompressedFile, GraphsWithoutEdgesOrVerticesComeBack)
{
  test::scratch_folder const folder;
  graph_arrays lonely;
  lonely.indptr = test::to_array<edge_id>({0, 0, 0});
  for (graph const& g : {graph(), graph(std::move(lonely))}) {
    write_graph(compress(g, graph_form::packed), folder / "g.safetensors");
    graph const back = read_graph(folder / "g.safetensors");
    EXPECT_EQ(back.form(), graph_form::packed);
    EXPECT_EQ(back.num_vertices(), g.num_vertices());
    EXPECT_EQ(back.view().num_edges, 0);
    EXPECT_EQ(to_csr(back).num_vertices(), g.num_vertices());
  }
}

TEST(CompressedFile, ArraysReferToTheFileAndAreAligned)
{
  test::scratch_folder const folder;
  std::string const path = folder / "g.safetensors";
  write_graph(compress(test::make_full_graph(), graph_form::packed), path);
  std::string const bytes = test::read_bytes(path);
  auto const contents = formats::parse_safetensors("g", test::as_bytes(bytes));
  EXPECT_EQ(contents.tensors.at("list_blocks").begin % 64, 0);
  EXPECT_EQ(contents.tensors.at("wide_lists").begin % 16, 0);
  for (auto const& [name, entry] : contents.tensors) {
    EXPECT_EQ(entry.begin % formats::size_of(entry.type), 0) << name;
  }

  graph const g = read_graph(path);
  for (void const* const array : {static_cast<void const*>(g.arrays().compressed.blocks.data()),
                                  static_cast<void const*>(g.arrays().compressed.words.data()),
                                  static_cast<void const*>(g.arrays().weights.data())}) {
    ASSERT_NE(mapped_file_at(array), nullptr);
    EXPECT_EQ(std::string(mapped_file_at(array)), path);
  }
}

TEST(CompressedFile, ArraysThatAreNotAlignedAreCopied)
{
  std::string const aligned = small();
  for (std::size_t const shift : {1, 4, 8}) {
    std::string const shifted = std::string(shift, 'x') + aligned;
    graph const g = formats::read_safetensors("g", test::as_bytes(shifted).subspan(shift), nullptr, {}, {});
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(g.arrays().compressed.blocks.data()) % alignof(list_block), 0U);
    expect_same_lists(g, read(aligned));
  }
}

TEST(CompressedFile, OlderReadersAreToldTheVersion)
{
  test::scratch_folder const folder;
  graph_arrays arrays = test::make_full_graph().arrays();
  arrays.metadata["form"] = "a sonnet";  // a name that compressed graphs use themselves
  graph const g(std::move(arrays));
  auto const metadata_of = [&](graph const& written) {
    write_graph(written, folder / "g.safetensors");
    std::string const bytes = test::read_bytes(folder / "g.safetensors");
    return formats::parse_safetensors("g", test::as_bytes(bytes)).metadata;
  };
  EXPECT_EQ(metadata_of(g).at("version"), "1");
  EXPECT_EQ(metadata_of(g).at("form"), "a sonnet");
  EXPECT_EQ(read_graph(folder / "g.safetensors").arrays().metadata.at("form"), "a sonnet");
  EXPECT_EQ(metadata_of(compress(g, graph_form::packed)).at("version"), "4");
  EXPECT_EQ(metadata_of(compress(g, graph_form::packed)).at("form"), "packed");
  EXPECT_FALSE(read_graph(folder / "g.safetensors").arrays().metadata.contains("form"));
}

TEST(CompressedFile, FormsThatAreUnknownOrMissingAreRefused)
{
  auto const with = [](std::string const& metadata) { return refusal(file_of({blocks, wide, lists}, metadata)); };
  std::string const one_of = "expected one of packed, runs, ef, vbyte, auto in version 4";
  EXPECT_EQ(with(R"({"format":"tendril-graph","version":"4","form":"csr"})"), "g: metadata 'form': 'csr', " + one_of);
  EXPECT_EQ(with(R"({"format":"tendril-graph","version":"4"})"), "g: metadata 'form': '', " + one_of);
  EXPECT_EQ(with(R"({"format":"tendril-graph","version":"2","form":"packed"})"),
            "g: tendril-graph version '2', expected 1 or 4");
  // A file that says nothing is one in CSR form, whatever other tensors it holds.
  EXPECT_EQ(with("{}"), "g: no tensor 'indptr', expected a graph's indptr and indices");
}

TEST(CompressedFile, PartsThatAreMissingOrOfAnotherShapeAreRefused)
{
  std::string const parts = ", expected a compressed graph's list_blocks, wide_lists and lists";
  EXPECT_EQ(refusal({wide, lists}), "g: no tensor 'list_blocks'" + parts);
  EXPECT_EQ(refusal({blocks, lists}), "g: no tensor 'wide_lists'" + parts);
  EXPECT_EQ(refusal({blocks, wide}), "g: no tensor 'lists'" + parts);
  EXPECT_EQ(refusal({blocks, wide, lists, {"indices", "U32", 2, pack_all<std::uint32_t>({0, 1})}}),
            "g: both 'indices' and compressed lists, expected one of them");
  EXPECT_EQ(refusal({{"list_blocks", "U32", 16, blocks.bytes}, wide, lists}),
            "g: array 'list_blocks': shape (16,), expected (1, 16): one block for 11 vertices");
  EXPECT_EQ(refusal({{"list_blocks", "F32", 1, blocks.bytes, 16}, wide, lists}),
            "g: array 'list_blocks': elements of type float32, expected uint32");
  EXPECT_EQ(refusal({blocks, {"wide_lists", "U32", 0, "", 3}, lists}),
            "g: array 'wide_lists': shape (0, 3), expected two dimensions, of 4 words an entry");
  EXPECT_EQ(refusal({blocks, wide, {"lists", "U32", 15, std::string(60, '\0')}}),
            "g: array 'lists': shape (15,), expected one dimension and 16 words or more");
  EXPECT_EQ(refusal({blocks, wide, lists, {"weights", "F32", 1, test::pack(1.0F)}}),
            "g: array 'weights': shape (1,), expected (2,): one an edge");
}

TEST(CompressedFile, CountsThatCannotBeAreRefused)
{
  auto const with = [](std::string const& vertices, std::string const& edges) {
    return refusal(
        file_of({blocks, wide, lists},
                fmt::format(R"({{"format":"tendril-graph","version":"4","form":"packed","num_vertices":"{}",)"
                            R"("num_edges":"{}"}})",
                            vertices, edges)));
  };
  EXPECT_EQ(with("x", "2"), "g: metadata 'num_vertices': 'x', expected a number from 0 to 4294967295");
  EXPECT_EQ(with("-2", "2"), "g: metadata 'num_vertices': '-2', expected a number from 0 to 4294967295");
  EXPECT_EQ(with("2", ""), "g: metadata 'num_edges': '', expected a number from 0 to 9223372036854775807");
  EXPECT_EQ(with("99999", "2"),
            "g: array 'list_blocks': shape (1, 16), expected (9091, 16): one block for 11 vertices");
  EXPECT_NE(with("2", "999999999").find(" bytes, expected at most 8 a byte"), std::string::npos);
}

TEST(CompressedFile, ListsThatLieElsewhereAreFoundAtFirstUse)
{
  std::vector<std::uint32_t> values = block_words();
  values[0] = 68;
  graph const g = read(file_of({{"list_blocks", "U32", 1, pack_all(values), 16}, wide, lists}, two_by_two));
  std::string const expected = "g: vertex 0: its block of the directory has a list at byte 68, expected at most 4";
  EXPECT_EQ(test::message_of<format_error>([&] { (void)g.view(); }), expected);
  EXPECT_EQ(test::message_of<format_error>([&] { (void)to_csr(g); }), expected);
}

/// One flipped bit anywhere, and every length: one line, or a graph that can be read to the end.
TEST(CompressedFile, NoFlippedBitAndNoCutIsHarmful)
{
  std::string const good = small();
  auto const try_it = [](std::string const& file) {
    try {
      graph const g = read(file);
      g.validate();
      graph const plain = to_csr(g);
      EXPECT_NO_THROW(plain.validate());
      return true;
    } catch (error const& e) {
      EXPECT_EQ(std::string(e.what()).find('\n'), std::string::npos) << e.what();
      return false;
    }
  };
  ASSERT_TRUE(try_it(good));
  int refused = 0;
  for (std::size_t bit = 0; bit < 8 * good.size(); ++bit) {
    std::string flipped = good;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
    refused += try_it(flipped) ? 0 : 1;
  }
  EXPECT_GT(refused, 1000);
  for (std::size_t size = 0; size < good.size(); ++size) { EXPECT_FALSE(try_it(good.substr(0, size))) << size; }
}

TEST(CompressedFile, OtherFormatsAreWrittenInTheirOwnForm)
{
  test::scratch_folder const folder;
  graph const g = generate_regular(regular_graph::ring, 100);
  graph const packed = compress(g, graph_form::best);
  for (char const* const name : {"g.txt", "g.mtx", "g.npz", "g.sg", "g.metis"}) {
    write_graph(g, folder / name);
    std::string const expected = test::read_bytes(folder / name);
    write_graph(packed, folder / name);
    EXPECT_EQ(test::read_bytes(folder / name), expected) << name;
  }
}

TEST(CompressedFile, GraphsAreBuiltFromCompressedOnes)
{
  graph const g = generate_rmat({.scale = 8}, {}, {.has_weights = true, .num_labels = 3});
  graph const packed = compress(g, graph_form::best);
  for (build_options const& build : {build_options{.reverse = true}, build_options{.symmetrize = true},
                                     build_options{.drop_duplicates = true, .compact = true}}) {
    graph const built = build_graph(packed, build);
    EXPECT_EQ(built.form(), graph_form::csr);
    test::expect_same_arrays(built, build_graph(g, build));
  }
}

}  // namespace
}  // namespace tendril
