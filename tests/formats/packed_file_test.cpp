// Packed graphs come back from safetensors files as they were, opened without a copy; files that lie are refused in one
// line, when they are opened or when the graph is first used.

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

constexpr char const* packed_metadata = R"({"format":"tendril-graph","version":"2","form":"packed"})";

// Two vertices: the first has the neighbours 0 and 1, in one bit each.
tensor const records{"packed_records", "U32", 2, pack_all<std::uint32_t>({1, 0, 2, 0, 2 << 6, 0, 0, 0}), 4};
tensor const words{"packed_words", "U32", 2, pack_all<std::uint32_t>({2, 0})};
tensor const offsets{"indptr", "I64", 3, pack_all<std::int64_t>({0, 2, 2})};

std::string small() { return file_of({records, offsets, words}, packed_metadata); }

graph read(std::string const& file)
{
  auto const owner = std::make_shared<std::string>(file);
  return formats::read_safetensors("g", test::as_bytes(*owner), owner, {}, {});
}

std::string refusal(std::string const& file)
{
  return test::message_of<format_error>([&] { (void)read(file); });
}

std::string refusal(std::vector<tensor> const& tensors) { return refusal(file_of(tensors, packed_metadata)); }

void expect_same_packed(graph const& a, graph const& b)
{
  test::expect_same_arrays(a, b);
  EXPECT_EQ(a.form(), b.form());
  EXPECT_EQ(test::to_vector(a.arrays().packed.words), test::to_vector(b.arrays().packed.words));
  auto const &left = a.arrays().packed.records, &right = b.arrays().packed.records;
  ASSERT_EQ(left.size(), right.size());
  for (std::int64_t v = 0; v < left.size(); ++v) {
    EXPECT_EQ(left[v].place_and_width, right[v].place_and_width);
    EXPECT_EQ(left[v].degree, right[v].degree);
    EXPECT_EQ(left[v].first, right[v].first);
  }
}

TEST(PackedFile, EveryArrayNameAndFlagComesBack)
{
  test::scratch_folder const folder;
  graph const original = compress(test::make_full_graph(), graph_form::packed);
  write_graph(original, folder / "g.safetensors");
  graph const back = read_graph(folder / "g.safetensors");
  EXPECT_EQ(back.form(), graph_form::packed);
  EXPECT_EQ(back.content(), graph_content::unchecked);
  back.validate();
  expect_same_packed(back, original);
  EXPECT_EQ(back.arrays().edge_label_names, original.arrays().edge_label_names);
  EXPECT_EQ(back.arrays().node_type_names, original.arrays().node_type_names);
  EXPECT_EQ(back.arrays().metadata, original.arrays().metadata);
  test::expect_same_arrays(to_csr(back), test::make_full_graph());
}

TEST(PackedFile, GraphsWithoutEdgesOrVerticesComeBack)
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

TEST(PackedFile, ArraysReferToTheFileAndAreAligned)
{
  test::scratch_folder const folder;
  std::string const path = folder / "g.safetensors";
  write_graph(compress(test::make_full_graph(), graph_form::packed), path);
  std::string const bytes = test::read_bytes(path);
  auto const contents = formats::parse_safetensors("g", test::as_bytes(bytes));
  EXPECT_EQ(contents.tensors.at("packed_records").begin % 16, 0);
  for (auto const& [name, entry] : contents.tensors) {
    EXPECT_EQ(entry.begin % formats::size_of(entry.type), 0) << name;
  }

  graph const g = read_graph(path);
  for (void const* const array :
       {static_cast<void const*>(g.arrays().packed.records.data()), static_cast<void const*>(g.arrays().indptr.data()),
        static_cast<void const*>(g.arrays().packed.words.data()),
        static_cast<void const*>(g.arrays().weights.data())}) {
    ASSERT_NE(mapped_file_at(array), nullptr);
    EXPECT_EQ(std::string(mapped_file_at(array)), path);
  }
}

TEST(PackedFile, ArraysThatAreNotAlignedAreCopied)
{
  std::string const aligned = small();
  for (std::size_t const shift : {1, 4, 8}) {
    std::string const shifted = std::string(shift, 'x') + aligned;
    graph const g = formats::read_safetensors("g", test::as_bytes(shifted).subspan(shift), nullptr, {}, {});
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(g.arrays().packed.records.data()) % alignof(packed_record), 0U);
    expect_same_packed(g, read(aligned));
  }
}

TEST(PackedFile, OlderReadersAreToldTheVersion)
{
  test::scratch_folder const folder;
  graph_arrays arrays = test::make_full_graph().arrays();
  arrays.metadata["form"] = "a sonnet";  // a name that packed graphs use themselves
  graph const g(std::move(arrays));
  auto const metadata_of = [&](graph const& written) {
    write_graph(written, folder / "g.safetensors");
    std::string const bytes = test::read_bytes(folder / "g.safetensors");
    return formats::parse_safetensors("g", test::as_bytes(bytes)).metadata;
  };
  EXPECT_EQ(metadata_of(g).at("version"), "1");
  EXPECT_EQ(metadata_of(g).at("form"), "a sonnet");
  EXPECT_EQ(read_graph(folder / "g.safetensors").arrays().metadata.at("form"), "a sonnet");
  EXPECT_EQ(metadata_of(compress(g, graph_form::packed)).at("version"), "2");
  EXPECT_EQ(metadata_of(compress(g, graph_form::packed)).at("form"), "packed");
  EXPECT_FALSE(read_graph(folder / "g.safetensors").arrays().metadata.contains("form"));
}

TEST(PackedFile, FormsThatAreUnknownOrMissingAreRefused)
{
  auto const with = [](std::string const& metadata) { return refusal(file_of({records, offsets, words}, metadata)); };
  EXPECT_EQ(with(R"({"format":"tendril-graph","version":"2","form":"csr"})"),
            "g: metadata 'form': 'csr', expected 'packed' in version 2");
  EXPECT_EQ(with(R"({"format":"tendril-graph","version":"2"})"),
            "g: metadata 'form': '', expected 'packed' in version 2");
  EXPECT_EQ(with(R"({"format":"tendril-graph","version":"3","form":"packed"})"),
            "g: tendril-graph version '3', expected 1 or 2");
  // A file that says nothing is one in CSR form, whatever other tensors it holds.
  EXPECT_EQ(with("{}"), "g: no tensor 'indices', expected a graph's indptr and indices");
}

TEST(PackedFile, PartsThatAreMissingOrOfAnotherShapeAreRefused)
{
  std::string const parts = ", expected a packed graph's indptr, packed_records and packed_words";
  EXPECT_EQ(refusal({offsets, words}), "g: no tensor 'packed_records'" + parts);
  EXPECT_EQ(refusal({records, offsets}), "g: no tensor 'packed_words'" + parts);
  EXPECT_EQ(refusal({records, words}), "g: no tensor 'indptr', expected a graph's indptr and indices");
  EXPECT_EQ(refusal({records, offsets, words, {"indices", "U32", 2, pack_all<std::uint32_t>({0, 1})}}),
            "g: both 'indices' and packed neighbours, expected one of them");
  EXPECT_EQ(refusal({{"packed_records", "U32", 8, records.bytes}, offsets, words}),
            "g: array 'packed_records': shape (8,), expected (2, 4): one record a vertex");
  EXPECT_EQ(refusal({{"packed_records", "U32", 1, records.bytes.substr(16), 4}, offsets, words}),
            "g: array 'packed_records': shape (1, 4), expected (2, 4): one record a vertex");
  EXPECT_EQ(refusal({{"packed_records", "F32", 2, records.bytes, 4}, offsets, words}),
            "g: array 'packed_records': elements of type float32, expected uint32");
  EXPECT_EQ(refusal({records, offsets, {"packed_words", "I64", 1, words.bytes}}),
            "g: array 'packed_words': elements of type int64, expected uint32");
  EXPECT_EQ(refusal({records, offsets, {"packed_words", "U32", 0, ""}}),
            "g: array 'packed_words': shape (0,), expected one dimension and a word or more");
  EXPECT_EQ(refusal({records, offsets, {"packed_words", "U32", 1, words.bytes, 2}}),
            "g: array 'packed_words': shape (1, 2), expected one dimension and a word or more");
  EXPECT_EQ(refusal({records, offsets, words, {"weights", "F32", 1, test::pack(1.0F)}}),
            "g: array 'weights': shape (1,), expected (2,): one an edge");
}

TEST(PackedFile, CountsThatCannotBeAreRefused)
{
  auto const ends_with = [](std::int64_t last) {
    return refusal({records, {"indptr", "I64", 3, pack_all<std::int64_t>({0, 2, last})}, words});
  };
  std::size_t const size = small().size();
  EXPECT_EQ(ends_with(-1), fmt::format("g: -1 packed neighbours in {} bytes, expected 0 to 256 a byte", size));
  EXPECT_EQ(ends_with(std::int64_t{1} << 40),
            fmt::format("g: 1099511627776 packed neighbours in {} bytes, expected 0 to 256 a byte", size));
  EXPECT_EQ(refusal({records, {"indptr", "I64", 3, pack_all<std::int64_t>({1, 2, 2})}, words}),
            "g: graph: indptr starts with 1, expected 0");
  EXPECT_EQ(refusal({{"packed_records", "U32", 0, "", 4}, {"indptr", "I64", 0, ""}, words}),
            "g: graph: indptr is empty, expected num_vertices + 1 offsets");
}

TEST(PackedFile, RecordsThatPointElsewhereAreFoundAtFirstUse)
{
  std::vector<std::uint32_t> values = {1, 0, 2, 0, 2 << 6, 0, 0, 0};
  values[1] = 0x80000000U;  // the upper half of the first place
  graph const g = read(file_of({{"packed_records", "U32", 2, pack_all(values), 4}, offsets, words}, packed_metadata));
  EXPECT_EQ(test::message_of<format_error>([&] { (void)g.view(); }),
            "g: vertex 0: packed neighbours end at bit 144115188075855874, expected a bit below 32");
  EXPECT_EQ(test::message_of<format_error>([&] { (void)to_csr(g); }),
            "g: vertex 0: packed neighbours end at bit 144115188075855874, expected a bit below 32");
}

/// One flipped bit anywhere, and every length: one line, or a graph that can be read to the end.
TEST(PackedFile, NoFlippedBitAndNoCutIsHarmful)
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

TEST(PackedFile, OtherFormatsAreWrittenInTheirOwnForm)
{
  test::scratch_folder const folder;
  graph const g = generate_regular(regular_graph::ring, 100);
  graph const packed = compress(g, graph_form::packed);
  for (char const* const name : {"g.txt", "g.mtx", "g.npz", "g.sg", "g.metis"}) {
    write_graph(g, folder / name);
    std::string const expected = test::read_bytes(folder / name);
    write_graph(packed, folder / name);
    EXPECT_EQ(test::read_bytes(folder / name), expected) << name;
  }
}

TEST(PackedFile, GraphsAreBuiltFromPackedOnes)
{
  graph const g = generate_rmat({.scale = 8}, {}, {.has_weights = true, .num_labels = 3});
  graph const packed = compress(g, graph_form::packed);
  for (build_options const& build : {build_options{.reverse = true}, build_options{.symmetrize = true},
                                     build_options{.drop_duplicates = true, .compact = true}}) {
    graph const built = build_graph(packed, build);
    EXPECT_EQ(built.form(), graph_form::csr);
    test::expect_same_arrays(built, build_graph(g, build));
  }
}

}  // namespace
}  // namespace tendril
