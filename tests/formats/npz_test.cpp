// Graphs in .npz files: SciPy's and the plain layout, written and read; files that lie are refused in one line.

#include <fmt/format.h>
#include <tendril/file.hpp>
#include <tendril/io.hpp>

#include "formats/npy.hpp"
#include "formats/readers.hpp"
#include "formats/zip.hpp"
#include "support/binary_files.hpp"

namespace tendril {
namespace {

using formats::dtype;
using test::pack_all;

struct member {
  std::string name, contents;
};

std::string npy(dtype type, std::vector<std::int64_t> const& shape, std::string const& data)
{
  return formats::npy_header(type, shape) + data;
}

std::string int64s(std::vector<std::int64_t> const& values)
{
  return npy(dtype::int64, {static_cast<std::int64_t>(values.size())}, pack_all(values));
}

std::string int32s(std::vector<std::int32_t> const& values)
{
  return npy(dtype::int32, {static_cast<std::int64_t>(values.size())}, pack_all(values));
}

std::string float32s(std::vector<float> const& values)
{
  return npy(dtype::float32, {static_cast<std::int64_t>(values.size())}, pack_all(values));
}

std::string text(std::string const& value) { return formats::npy_text_header(value.size()) + value; }

std::string zip(std::vector<member> const& members)
{
  test::scratch_folder const folder;
  atomic_file file(folder / "z.npz");
  formats::zip_writer writer(file);
  for (auto const& [name, contents] : members) {
    writer.begin(name + ".npy");
    writer.write(contents.data(), contents.size());
    writer.end();
  }
  writer.finish();
  file.commit();
  return test::read_bytes(folder / "z.npz");
}

graph read(std::string const& file)
{
  auto const owner = std::make_shared<std::string>(file);
  graph g = formats::read_npz("/nowhere/g.npz", test::as_bytes(*owner), owner, {}, {});
  g.validate();
  return g;
}

std::string refusal(std::string const& file)
{
  std::string const message = test::message_of<format_error>([&] { (void)read(file); });
  std::string const path = "/nowhere/g.npz: ";
  return message.starts_with(path) ? message.substr(path.size()) : message;
}

/// 0 -> 1, 0 -> 2, 2 -> 0 with values 1.5, 2.5 and 3.5, or others.
std::vector<member> scipy(std::string const& format, std::string const& data)
{
  return {{"format", text(format)},
          {"shape", int64s({3, 3})},
          {"indptr", int32s({0, 2, 2, 3})},
          {"indices", int32s({1, 2, 0})},
          {"data", data}};
}

std::vector<member> changed(std::vector<member> members, std::string const& name, std::string const& contents)
{
  for (auto& m : members) {
    if (m.name == name) { m.contents = contents; }
  }
  return members;
}

std::vector<member> const plain = {{"indptr", int64s({0, 2, 2, 3})}, {"indices", int32s({1, 2, 0})}};

std::string const fractions = float32s({1.5, 2.5, 3.5});

// scipy.sparse.save_npz of [[0, 1.5, 0], [0, 0, 0], [2.5, 0, 3]] (SciPy 1.17, float64, compressed), and of its CSC.
std::string const csr_by_scipy = test::from_hex(
    "504b03042d000000080000002100f3a0b2feffffffffffffffff0b001400696e64696365732e6e7079010010008c00000000"
    "0000004a000000000000009bec17ea1b10c9c850c650ad9e925a9c5ca46ea5a06e9369a2aea3a09e965f54529498179f5f94"
    "920a12774bcc294e058a17672416a402f91ac63a9a3a0ab50a14002e46060860026200504b03042d0000000800000021001d"
    "73915affffffffffffffff0a001400696e647074722e6e70790100100090000000000000004c000000000000009bec17ea1b"
    "10c9c850c650ad9e925a9c5ca46ea5a06e9369a2aea3a09e965f54529498179f5f94920a12774bcc294e058a17672416a402"
    "f91a263a9a3a0ab50a14002e062060846266200600504b03042d000000080000002100a3c37497ffffffffffffffff0a0014"
    "00666f726d61742e6e707901001000830000000000000045000000000000009bec17ea1b10c9c850c650ad9e925a9c5ca46e"
    "a5a05e136cacaea3a09e965f54529498179f5f94920a12774bcc294e058a17672416a402f91a9a3a0ab50a1401aee4e22200"
    "504b03042d000000080000002100f1d916a2ffffffffffffffff0900140073686170652e6e70790100100090000000000000"
    "0049000000000000009bec17ea1b10c9c850c650ad9e925a9c5ca46ea5a06e9369a1aea3a09e965f54529498179f5f94920a"
    "12774bcc294e058a17672416a402f91a463a9a3a0ab50a14002e66060880d100504b03042d0000000800000021005ccfa75a"
    "ffffffffffffffff08001400646174612e6e707901001000980000000000000050000000000000009bec17ea1b10c9c850c6"
    "50ad9e925a9c5ca46ea5a06e9366a1aea3a09e965f54529498179f5f94920a12774bcc294e058a17672416a402f91ac63a9a"
    "3a0ab50a14002e0630f8610fa1591c2034870300504b01022d032d000000080000002100f3a0b2fe4a0000008c0000000b00"
    "00000000000000000000800100000000696e64696365732e6e7079504b01022d032d0000000800000021001d73915a4c0000"
    "00900000000a0000000000000000000000800187000000696e647074722e6e7079504b01022d032d000000080000002100a3"
    "c3749745000000830000000a000000000000000000000080010f010000666f726d61742e6e7079504b01022d032d00000008"
    "0000002100f1d916a2490000009000000009000000000000000000000080019001000073686170652e6e7079504b01022d03"
    "2d0000000800000021005ccfa75a5000000098000000080000000000000000000000800114020000646174612e6e7079504b"
    "05060000000005000500160100009e0200000000");

std::string const csc_by_scipy = test::from_hex(
    "504b03042d00000008000000210003722c89ffffffffffffffff0b001400696e64696365732e6e7079010010008c00000000"
    "00000049000000000000009bec17ea1b10c9c850c650ad9e925a9c5ca46ea5a06e9369a2aea3a09e965f54529498179f5f94"
    "920a12774bcc294e058a17672416a402f91ac63a9a3a0ab50a14002e26060800d100504b03042d000000080000002100fe74"
    "1ed4ffffffffffffffff0a001400696e647074722e6e70790100100090000000000000004e000000000000009bec17ea1b10"
    "c9c850c650ad9e925a9c5ca46ea5a06e9369a2aea3a09e965f54529498179f5f94920a12774bcc294e058a17672416a402f9"
    "1a263a9a3a0ab50a14002e0620600462262066066200504b03042d00000008000000210051e3c4fdffffffffffffffff0a00"
    "1400666f726d61742e6e707901001000830000000000000045000000000000009bec17ea1b10c9c850c650ad9e925a9c5ca4"
    "6ea5a05e136cacaea3a09e965f54529498179f5f94920a12774bcc294e058a17672416a402f91a9a3a0ab50a1401aee4e264"
    "00504b03042d000000080000002100f1d916a2ffffffffffffffff0900140073686170652e6e707901001000900000000000"
    "000049000000000000009bec17ea1b10c9c850c650ad9e925a9c5ca46ea5a06e9369a1aea3a09e965f54529498179f5f9492"
    "0a12774bcc294e058a17672416a402f91a463a9a3a0ab50a14002e66060880d100504b03042d0000000800000021002a5901"
    "a6ffffffffffffffff08001400646174612e6e707901001000980000000000000050000000000000009bec17ea1b10c9c850"
    "c650ad9e925a9c5ca46ea5a06e9366a1aea3a09e965f54529498179f5f94920a12774bcc294e058a17672416a402f91ac63a"
    "9a3a0ab50a14002e0630607180d03fec2134870300504b01022d032d00000008000000210003722c89490000008c0000000b"
    "0000000000000000000000800100000000696e64696365732e6e7079504b01022d032d000000080000002100fe741ed44e00"
    "0000900000000a0000000000000000000000800186000000696e647074722e6e7079504b01022d032d000000080000002100"
    "51e3c4fd45000000830000000a0000000000000000000000800110010000666f726d61742e6e7079504b01022d032d000000"
    "080000002100f1d916a2490000009000000009000000000000000000000080019101000073686170652e6e7079504b01022d"
    "032d0000000800000021002a5901a65000000098000000080000000000000000000000800115020000646174612e6e707950"
    "4b05060000000005000500160100009f0200000000");

TEST(Npz, FilesOfSciPyAreRead)
{
  for (std::string const& file : {csr_by_scipy, csc_by_scipy}) {
    graph const g = read(file);
    EXPECT_EQ(test::to_vector(g.arrays().indptr), (std::vector<edge_id>{0, 1, 1, 3}));
    EXPECT_EQ(test::to_vector(g.arrays().indices), (std::vector<vertex_id>{1, 0, 2}));
    EXPECT_EQ(test::to_vector(g.arrays().weights), (std::vector<float>{1.5F, 2.5F, 3}));
  }
}

TEST(Npz, EveryArrayNameAndFlagComesBack)
{
  test::scratch_folder const folder;
  graph const original = test::make_full_graph();
  write_graph(original, folder / "g.npz");
  graph const read_back = read_graph(folder / "g.npz");
  test::expect_same_arrays(read_back, original);
  EXPECT_EQ(read_back.arrays().edge_label_names, original.arrays().edge_label_names);
  EXPECT_EQ(read_back.arrays().node_type_names, original.arrays().node_type_names);
  EXPECT_EQ(read_back.arrays().metadata, original.arrays().metadata);

  write_graph(graph(), folder / "none.npz");
  EXPECT_EQ(read_graph(folder / "none.npz").num_vertices(), 0);
}

TEST(Npz, GraphsWithoutWeightsAreWrittenAsPatterns)
{
  test::scratch_folder const folder;
  graph const original = read(zip(plain));
  write_graph(original, folder / "g.npz");
  graph const read_back = read_graph(folder / "g.npz");
  test::expect_same_arrays(read_back, original);
  EXPECT_FALSE(read_back.has_weights());
}

TEST(Npz, WrittenArraysAreAlignedInTheFile)
{
  test::scratch_folder const folder;
  write_graph(test::make_full_graph(), folder / "g.npz");
  std::string const bytes = test::read_bytes(folder / "g.npz");
  auto const owner =
      std::make_shared<std::vector<std::byte>>(test::as_bytes(bytes).begin(), test::as_bytes(bytes).end());
  graph const g = formats::read_npz("/nowhere/g.npz", *owner, owner, {}, {});
  auto const inside = [&](void const* pointer) {
    return pointer >= owner->data() && pointer < owner->data() + owner->size();
  };
  EXPECT_TRUE(inside(g.csr().indptr));
  EXPECT_TRUE(inside(g.csr().indices));
  EXPECT_TRUE(inside(g.csr().weights));
}

TEST(Npz, FractionsAreWeightsAndOnesOfIntegersAreNot)
{
  EXPECT_EQ(test::to_vector(read(zip(scipy("csr", fractions))).arrays().weights), (std::vector<float>{1.5, 2.5, 3.5}));
  EXPECT_EQ(test::to_vector(read(zip(scipy("csr", int64s({4, 1, 2})))).arrays().weights),
            (std::vector<float>{4, 1, 2}));
  EXPECT_TRUE(read(zip(scipy("csr", float32s({1, 1, 1})))).has_weights());
  EXPECT_FALSE(read(zip(scipy("csr", int32s({1, 1, 1})))).has_weights());
  EXPECT_FALSE(read(zip(scipy("csr", npy(dtype::boolean, {3}, std::string("\1\0\1", 3))))).has_weights());
}

TEST(Npz, ColumnsAreTurnedIntoRows)
{
  graph const g = read(zip(scipy("csc", fractions)));  // entries (1, 0), (2, 0), (0, 2)
  EXPECT_EQ(test::to_vector(g.arrays().indptr), (std::vector<edge_id>{0, 1, 2, 3}));
  EXPECT_EQ(test::to_vector(g.arrays().indices), (std::vector<vertex_id>{2, 0, 0}));
  EXPECT_EQ(test::to_vector(g.arrays().weights), (std::vector<float>{3.5, 1.5, 2.5}));
}

TEST(Npz, NeighboursThatDontAscendAreSortedWithTheirColumns)
{
  auto members = plain;
  members[1].contents = int32s({2, 1, 0});
  members.push_back({"weights", float32s({7, 8, 9})});
  members.push_back({"edge_type", int64s({3, 300, 5})});
  members.push_back({"edge_ids", int64s({70, 80, 90})});
  graph const g = read(zip(members));
  EXPECT_EQ(test::to_vector(g.arrays().indices), (std::vector<vertex_id>{1, 2, 0}));
  EXPECT_EQ(test::to_vector(g.arrays().weights), (std::vector<float>{8, 7, 9}));
  EXPECT_EQ(test::to_vector(g.arrays().edge_labels), (std::vector<int>{300, 3, 5}));
  EXPECT_EQ(test::to_vector(g.arrays().edge_ids), (std::vector<edge_id>{80, 70, 90}));
}

TEST(Npz, AMetaJsonBesideThePlainLayoutGivesNames)
{
  test::scratch_folder const folder;
  auto members = plain;
  members.push_back({"edge_type", npy(dtype::uint8, {3}, std::string("\0\1\1", 3))});
  members.push_back({"node_type", npy(dtype::uint8, {3}, std::string("\0\1\0", 3))});
  std::string const file = folder.write("graph.npz", zip(members));
  folder.write("meta.json", std::string(R"({"name": "tiny", "num_nodes": 3, "num_edges": 3, "symmetric": true,
    "edge_types": ["a", "b"], "node_types": ["c", "d"], "deep": [[[[1]]]]})"));
  graph const g = read_graph(file);
  EXPECT_EQ(g.arrays().metadata, (std::map<std::string, std::string>{{"name", "tiny"}}));
  EXPECT_EQ(g.arrays().edge_label_names, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(g.arrays().node_type_names, (std::vector<std::string>{"c", "d"}));
  EXPECT_FALSE(g.arrays().symmetric);  // 0 -> 1 has no reverse, whatever meta.json says

  folder.write("meta.json", std::string(R"({"name": "other", "num_nodes": 4, "num_edges": 3})"));
  EXPECT_TRUE(read_graph(file).arrays().metadata.empty());
  folder.write("meta.json", std::string("no JSON at all"));
  EXPECT_TRUE(read_graph(file).arrays().metadata.empty());
}

TEST(Npz, MatricesThatAreNoGraphAreRefused)
{
  EXPECT_EQ(refusal(zip(scipy("coo", fractions))), "sparse format 'coo', expected csr or csc");
  EXPECT_EQ(refusal(zip(changed(scipy("csr", fractions), "shape", int64s({3, 4})))),
            "a matrix of shape (3, 4), expected a square one");
  EXPECT_EQ(refusal(zip(changed(scipy("csr", fractions), "shape", int64s({9, 9})))),
            "array 'indptr': 4 elements, expected 10 for 9 rows");
  EXPECT_EQ(refusal(zip(scipy("csr", float32s({1})))), "array 'data': shape (1,), expected (3,) as indices");
  EXPECT_EQ(refusal(zip({{"format", text("csr")}})),
            "no array 'shape', expected SciPy's format, shape, indptr, indices and data");
  EXPECT_EQ(refusal(zip({{"x", int64s({1})}})),
            "no array 'indptr', expected a graph's indptr and indices, or SciPy's sparse matrix");
  EXPECT_EQ(refusal(zip(scipy("csr", float32s({1, -2, 3})))),
            "vertex 0: weight -2 at edge 1, expected a finite number >= 0");
}

TEST(Npz, ArraysOutOfRangeAreRefused)
{
  EXPECT_EQ(refusal(zip(changed(plain, "indices", int32s({1, -2, 0})))),
            "array 'indices': element 1 is -2, expected a vertex in [0, 4294967294]");
  EXPECT_EQ(refusal(zip(changed(plain, "indices", int32s({1, 3, 0})))),
            "vertex 0: neighbour 3 at edge 1, expected an id below 3");
  EXPECT_EQ(refusal(zip(changed(plain, "indices", int32s({3, 1, 0})))), "edge 0: neighbour 3, expected an id below 3");
  EXPECT_EQ(refusal(zip(changed(plain, "indptr", int64s({0, 2, 1, 3})))),
            "vertex 1: its edges end at 1 but begin at 2, expected an indptr that never decreases");
  EXPECT_EQ(refusal(zip(changed(plain, "indptr", int64s({0, 2, 2, 4})))),
            "graph: indptr ends with 4, expected the number of indices, 3");
  EXPECT_EQ(refusal(zip(changed(plain, "indptr", npy(dtype::int64, {2, 2}, pack_all<std::int64_t>({0, 2, 2, 3}))))),
            "array 'indptr': shape (2, 2), expected one dimension");
}

TEST(Npz, HeadersOfArraysThatLieAreRefused)
{
  auto const with = [&](std::string const& indptr) { return refusal(zip(changed(plain, "indptr", indptr))); };
  std::string const good = int64s({0, 2, 2, 3});
  std::string const malformed =
      "array 'indptr': malformed header, expected {'descr': …, 'fortran_order': …, 'shape': …}";
  auto const replaced = [&](std::string const& from, std::string const& to) {
    std::string bad = good;
    return with(bad.replace(bad.find(from), from.size(), to));
  };
  EXPECT_EQ(with("\x93NUMP"), "array 'indptr': not a .npy file");
  EXPECT_EQ(replaced(std::string("NUMPY\x01"), "NUMPY\x09"), "array 'indptr': .npy version 9, expected 1, 2 or 3");
  EXPECT_EQ(with(good.substr(0, 8) + "\xff\xff" + good.substr(10)),
            fmt::format("array 'indptr': header of 65535 bytes, expected at most {}", good.size() - 10));
  EXPECT_EQ(replaced("(4,)", "(5,)"), "array 'indptr': 32 bytes of data, expected 5 elements of 8 bytes in shape (5,)");
  EXPECT_EQ(
      replaced("(4,), }                        ", "(4, 1152921504606846976, 9), } "),
      "array 'indptr': 32 bytes of data, expected countless elements of 8 bytes in shape (4, 1152921504606846976, 9)");
  EXPECT_EQ(replaced("(4,)", "(-4)"), malformed);
  EXPECT_EQ(replaced("'shape'", "'shale'"), malformed);
  EXPECT_EQ(replaced("'shape': (4,), }", "                "), malformed);
  EXPECT_EQ(replaced("<i8", ">i8"), "array 'indptr': elements of type unknown, expected int64");
  EXPECT_EQ(replaced("<i8", "<f8"), "array 'indptr': elements of type float64, expected int64");
  std::string column_major = good;  // means nothing where there is one dimension
  column_major.replace(column_major.find("False"), 5, "True ");
  EXPECT_EQ(read(zip(changed(plain, "indptr", column_major))).num_edges(), 3);
}

TEST(Npz, ZipFilesThatLieAreRefused)
{
  std::string const whole = zip(plain);
  for (std::size_t size = 0; size < whole.size(); ++size) { EXPECT_NE(refusal(whole.substr(0, size)), "") << size; }
  EXPECT_EQ(refusal("PK\3\4 and no more"), "not a zip file: too short for one");
  EXPECT_EQ(refusal(std::string(1000, 'x')), "not a zip file, or cut off: no central directory");

  auto const with = [&](std::string const& file, std::size_t at, std::string const& bytes) {
    std::string bad = file;
    return refusal(bad.replace(at, bytes.size(), bytes));
  };
  std::size_t const data = whole.find("\x93NUMPY"), end = whole.size() - 22;
  EXPECT_EQ(with(whole, data + 20, "?"), "zip entry 'indptr.npy': wrong CRC: the data is damaged");
  EXPECT_EQ(with(whole, end - 20 + 8, test::pack(~std::uint64_t{0})), "zip64 directory out of the file");

  std::size_t const entry = csr_by_scipy.find("PK\1\2");  // that of 'indices'; SciPy deflates all
  EXPECT_EQ(with(csr_by_scipy, entry + 10, test::pack(std::uint16_t{12})),
            "zip entry 'indices.npy': compression method 12, expected 0 (stored) or 8 (deflated)");
  EXPECT_EQ(with(csr_by_scipy, entry + 8, test::pack(std::uint16_t{1})),
            "zip entry 'indices.npy': encrypted, expected plain");
  EXPECT_NE(with(csr_by_scipy, entry + 24, test::pack(std::uint32_t{0xfffffff0})).find("expected at most 1032 times"),
            std::string::npos);
  EXPECT_NE(with(csr_by_scipy, entry + 24, test::pack(std::uint32_t{1})).find("longer than its size says"),
            std::string::npos);
  EXPECT_NE(with(csr_by_scipy, entry + 24, test::pack(std::uint32_t{9999})).find("shorter than its size says"),
            std::string::npos);
  EXPECT_NE(
      with(csr_by_scipy, entry + 42, test::pack(std::uint32_t{7})).find("no header where the central directory says"),
      std::string::npos);
}

TEST(Npz, RealGraphsHaveTheirPublishedSizes)
{
  std::string const aifb = test::shared_data("aifb/graph.npz");
  if (aifb.empty()) { GTEST_SKIP() << "aifb is not here; TENDRIL_SHARED_DATA names the folder of the large data"; }
  graph const g = read_graph(aifb);
  EXPECT_EQ(g.num_vertices(), 8'285);
  EXPECT_EQ(g.num_edges(), 29'043);
  EXPECT_EQ(g.arrays().edge_label_names.size(), 45U);
  EXPECT_EQ(g.arrays().node_type_names, (std::vector<std::string>{"resource", "literal"}));
  EXPECT_TRUE(read_graph(test::shared_data("karate/graph.npz")).arrays().symmetric);
}

}  // namespace
}  // namespace tendril
