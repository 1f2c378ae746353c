// Graphs come back from safetensors files as they were, opened without a copy; files that lie are refused in one line.

#include <nlohmann/json.hpp>

#include <fmt/format.h>
#include <tendril/io.hpp>

#include "formats/readers.hpp"
#include "formats/safetensors.hpp"
#include "formats/tensor_files.hpp"
#include "support/binary_files.hpp"

namespace tendril {
namespace {

using formats::dtype;
using formats::tensor_spec;
using test::file_of;
using test::pack;
using test::pack_all;
using test::tensor;

std::vector<tensor> const small = {{"indptr", "I64", 3, pack_all<std::int64_t>({0, 2, 3})},
                                   {"indices", "U32", 3, pack_all<std::uint32_t>({0, 1, 1})}};

std::vector<tensor> small_and(tensor const& more)
{
  std::vector<tensor> all = small;
  all.push_back(more);
  return all;
}

graph read(std::string const& file)
{
  auto const owner = std::make_shared<std::string>(file);
  return formats::read_safetensors("g", test::as_bytes(*owner), owner, {}, {});
}

std::string refusal(std::string const& file)
{
  return test::message_of<format_error>([&] { (void)read(file); });
}

TEST(Safetensors, EveryArrayNameAndFlagComesBack)
{
  test::scratch_folder const folder;
  graph const original = test::make_full_graph();
  write_graph(original, folder / "g.safetensors");
  graph const read_back = read_graph(folder / "g.safetensors");
  read_back.validate();
  test::expect_same_arrays(read_back, original);
  EXPECT_EQ(read_back.arrays().edge_label_names, original.arrays().edge_label_names);
  EXPECT_EQ(read_back.arrays().node_type_names, original.arrays().node_type_names);
  EXPECT_EQ(read_back.arrays().metadata, original.arrays().metadata);
  EXPECT_FALSE(read_back.arrays().symmetric);

  graph_arrays loop;
  loop.indptr = test::to_array<edge_id>({0, 1});
  loop.indices = test::to_array<vertex_id>({0});
  loop.symmetric = true;
  write_graph(graph(std::move(loop)), folder / "loop.safetensors");
  EXPECT_TRUE(read_graph(folder / "loop.safetensors").arrays().symmetric);
}

TEST(Safetensors, GraphsWithoutEdgesOrVerticesComeBack)
{
  test::scratch_folder const folder;
  write_graph(graph(), folder / "none.safetensors");
  EXPECT_EQ(read_graph(folder / "none.safetensors").num_vertices(), 0);
  graph_arrays arrays;
  arrays.indptr = test::to_array<edge_id>({0, 0, 0});
  write_graph(graph(std::move(arrays)), folder / "lonely.safetensors");
  EXPECT_EQ(read_graph(folder / "lonely.safetensors").num_vertices(), 2);
}

TEST(Safetensors, ArraysReferToTheFileAndAreAligned)
{
  test::scratch_folder const folder;
  write_graph(test::make_full_graph(), folder / "g.safetensors");
  std::string const bytes = test::read_bytes(folder / "g.safetensors");
  auto const contents = formats::parse_safetensors("g", test::as_bytes(bytes));
  std::int64_t first = contents.tensors.at("indptr").begin, total = first;
  for (auto const& [name, tensor] : contents.tensors) {
    EXPECT_EQ(tensor.begin % formats::size_of(tensor.type), 0) << name;
    total += tensor.end - tensor.begin;
    first = std::min(first, tensor.begin);
  }
  EXPECT_EQ(first % 64, 0);
  EXPECT_EQ(total, static_cast<std::int64_t>(bytes.size()));  // the format allows no gaps

  auto const owner =
      std::make_shared<std::vector<std::byte>>(test::as_bytes(bytes).begin(), test::as_bytes(bytes).end());
  auto const inside = [&](void const* pointer) {
    return pointer >= owner->data() && pointer < owner->data() + owner->size();
  };
  graph const g = formats::read_safetensors("g", *owner, owner, {}, {});
  EXPECT_TRUE(inside(g.csr().indptr));
  EXPECT_TRUE(inside(g.csr().indices));
  EXPECT_TRUE(inside(g.csr().weights));
  EXPECT_TRUE(inside(g.csr().edge_labels.data));
  EXPECT_TRUE(inside(g.csr().node_types.data));
}

TEST(Safetensors, ArraysThatAreNotAlignedAreCopied)
{
  std::string const aligned = file_of(small);
  std::string const shifted = "x" + aligned;
  graph const g = formats::read_safetensors("g", test::as_bytes(shifted).subspan(1), nullptr, {}, {});
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(g.csr().indptr) % alignof(edge_id), 0U);
  test::expect_same_arrays(g, read(aligned));
}

TEST(Safetensors, OtherIntegerAndFloatTypesAreConverted)
{
  graph const expected = read(file_of(small));
  auto const with_indices = [&](std::string const& type, std::string const& bytes) {
    return read(file_of({small[0], {"indices", type, 3, bytes}}));
  };
  test::expect_same_arrays(with_indices("I32", pack_all<std::int32_t>({0, 1, 1})), expected);
  test::expect_same_arrays(with_indices("I64", pack_all<std::int64_t>({0, 1, 1})), expected);
  graph const weighted = read(file_of(small_and({"weights", "F64", 3, pack_all<double>({1, 0.5, 1e300})})));
  EXPECT_EQ(test::to_vector(weighted.arrays().weights)[1], 0.5F);
  EXPECT_THROW(weighted.validate(), format_error);  // 1e300 is no float32
}

TEST(Safetensors, HeadersThatLieAreRefused)
{
  EXPECT_EQ(refusal("short"), "g: 5 bytes, expected a safetensors header of 8 and more");
  for (std::uint64_t const length :
       {~std::uint64_t{0}, ~std::uint64_t{0} - 7, std::uint64_t{1} << 63, std::uint64_t{3}}) {
    EXPECT_EQ(refusal(pack(length) + "{}"), fmt::format("g: header of {} bytes, expected at most 2", length));
  }
  std::string const expected = ", expected {\"name\": {\"dtype\", \"shape\", \"data_offsets\"}, …}";
  EXPECT_EQ(refusal(file_of("{]")), "g: header: not JSON at byte 10" + expected);
  EXPECT_EQ(refusal(file_of("[1]")), "g: header: a list at ''" + expected);
  EXPECT_EQ(refusal(file_of("{\"a\": 1}")), "g: header: a number at 'a'" + expected);
  EXPECT_EQ(refusal(file_of("{\"a\": {\"shape\": [[1]]}}")), "g: header: a list at 'shape'" + expected);
  EXPECT_EQ(refusal(file_of("{\"a\": {\"shape\": [-1]}}")), "g: header: a negative number at 'shape'" + expected);
  EXPECT_EQ(refusal(file_of("{\"a\": {\"shape\": [1.5]}}")),
            "g: header: a fraction or huge number at 'shape'" + expected);
  EXPECT_EQ(refusal(file_of("{\"a\": {\"shape\": [9223372036854775807]}}")),
            "g: header: a number above 2^62 at 'shape'" + expected);
  EXPECT_EQ(refusal(file_of("{\"a\": {\"b\": {}}}")), "g: header: an object at 'b'" + expected);
  EXPECT_EQ(refusal(file_of("{\"a\": {}}")),
            "g: header: tensor 'a' lacks its dtype, shape or data_offsets [begin, end]" + expected);
  std::string const entry = R"("a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]})";
  EXPECT_EQ(refusal(file_of("{" + entry + "," + entry + "}")), "g: header: tensor 'a' is there twice" + expected);
  EXPECT_EQ(refusal(file_of("{" + std::string(100'000, '['))), "g: header: not JSON at byte 10" + expected);
  EXPECT_EQ(refusal(file_of("{\"a\":" + std::string(100'000, '['))), "g: header: a list at 'a'" + expected);
}

TEST(Safetensors, TensorsThatDontFitTheFileAreRefused)
{
  auto const entry = [](char const* shape, char const* offsets) {
    return file_of(fmt::format(R"({{"a":{{"dtype":"U32","shape":{},"data_offsets":{}}}}})", shape, offsets),
                   "12345678");
  };
  EXPECT_EQ(refusal(entry("[4]", "[0,16]")),
            "g: tensor 'a': data_offsets [0, 16], expected both in [0, 8] and ascending");
  EXPECT_EQ(refusal(entry("[1]", "[8,4]")),
            "g: tensor 'a': data_offsets [8, 4], expected both in [0, 8] and ascending");
  EXPECT_EQ(refusal(entry("[1]", "[0,8]")),
            "g: tensor 'a': 8 bytes of data, expected 1 elements of 4 bytes in shape (1,)");
  EXPECT_EQ(
      refusal(entry("[2147483648,2147483648,4]", "[0,8]")),
      "g: tensor 'a': 8 bytes of data, expected countless elements of 4 bytes in shape (2147483648, 2147483648, 4)");
  EXPECT_EQ(refusal(file_of(R"({"a":{"dtype":"U8","shape":[6],"data_offsets":[0,6]},)"
                            R"("b":{"dtype":"U8","shape":[3],"data_offsets":[5,8]}})",
                            "12345678")),
            "g: tensors 'a' and 'b' overlap, expected each in bytes of its own");
}

TEST(Safetensors, TensorsThatAreNoGraphAreRefused)
{
  EXPECT_EQ(refusal(file_of({small[0]})), "g: no tensor 'indices', expected a graph's indptr and indices");
  EXPECT_EQ(refusal(file_of({small[1]})), "g: no tensor 'indptr', expected a graph's indptr and indices");
  EXPECT_EQ(refusal(file_of({{"indptr", "F32", 1, pack(1.0F)}, small[1]})),
            "g: array 'indptr': elements of type float32, expected int64");
  EXPECT_EQ(refusal(file_of({small[0], {"indices", "F64", 0, ""}})),
            "g: array 'indices': elements of type float64, expected uint32, int32 or int64");
  EXPECT_EQ(refusal(file_of({small[0], {"indices", "I32", 3, pack_all<std::int32_t>({0, 1, -3})}})),
            "g: array 'indices': element 2 is -3, expected a vertex in [0, 4294967294]");
  EXPECT_EQ(refusal(file_of({small[0], {"indices", "I64", 3, pack_all<std::int64_t>({0, 0xffffffff, 1})}})),
            "g: array 'indices': element 1 is 4294967295, expected a vertex in [0, 4294967294]");
  EXPECT_EQ(refusal(file_of({{"indptr", "I64", 0, ""}, small[1]})),
            "g: graph: indptr is empty, expected num_vertices + 1 offsets");
  EXPECT_EQ(refusal(file_of({{"indptr", "I64", 2, pack_all<std::int64_t>({1, 3})}, small[1]})),
            "g: graph: indptr starts with 1, expected 0");
  EXPECT_EQ(refusal(file_of({{"indptr", "I64", 2, pack_all<std::int64_t>({0, 4})}, small[1]})),
            "g: graph: indptr ends with 4, expected the number of indices, 3");
  EXPECT_EQ(refusal(file_of(small_and({"weights", "F32", 2, pack(1.0F, 2.0F)}))),
            "g: array 'weights': shape (2,), expected (3,): one an edge");
  EXPECT_EQ(refusal(file_of(small_and({"node_types", "I64", 2, pack_all<std::int64_t>({0, 65'536})}))),
            "g: array 'node_types': element 1 is 65536, expected a label in [0, 65535]");
}

TEST(Safetensors, MetadataOfAnotherVersionOrShapeIsRefused)
{
  EXPECT_EQ(refusal(file_of(small, R"({"format":"tendril-graph","version":"5"})")),
            "g: tendril-graph version '5', expected 1 or 4");
  std::string const expected = "g: metadata 'edge_label_names': expected a JSON list of strings";
  for (char const* const names : {"[1]", "[[\\\"a\\\"]]", "{}", "nonsense", "\\\"a\\\"", "[{\\\"a\\\": 1}]"}) {
    EXPECT_EQ(refusal(file_of(small, fmt::format(R"({{"edge_label_names":"{}"}})", names))), expected) << names;
  }
}

TEST(Safetensors, OffsetsThatDecreaseAreFoundByValidate)
{
  graph const g = read(file_of({{"indptr", "I64", 4, pack_all<std::int64_t>({0, 3, 1, 3})}, small[1]}));
  EXPECT_NE(test::message_of<format_error>([&] { g.validate(); }).find("indptr"), std::string::npos);
}

TEST(Safetensors, TypesThatTheFormatDoesNotHaveAreNotWritten)
{
  std::vector<tensor_spec> const unknown = {{"a", dtype::other, {1}}}, negative = {{"a", dtype::uint8, {-1}}};
  EXPECT_THROW((void)formats::safetensors_header(unknown, {}), argument_error);
  EXPECT_THROW((void)formats::safetensors_header(negative, {}), argument_error);
}

}  // namespace
}  // namespace tendril
