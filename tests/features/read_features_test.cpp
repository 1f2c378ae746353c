// Features come out of .npy and .safetensors files as they are there; files that lie are refused in one line.

#include <tendril/features.hpp>

#include <filesystem>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <tendril/error.hpp>
#include <tendril/file.hpp>  // mapped_file_at

#include "formats/safetensors.hpp"
#include "formats/tensor_files.hpp"
#include "support/binary_files.hpp"

namespace tendril {
namespace {

using test::file_of;
using test::message_of;
using test::npy;
using test::pack_all;

std::vector<float> numbers(std::int64_t count)
{
  std::vector<float> out(static_cast<std::size_t>(count));
  std::iota(out.begin(), out.end(), 0.5F);
  return out;
}

std::vector<float> gathered(feature_table const& table, std::vector<std::int64_t> const& ids)
{
  std::vector<float> out(ids.size() * static_cast<std::size_t>(table.row_bytes()) / sizeof(float));
  gather(table, ids, std::as_writable_bytes(std::span(out)));
  return out;
}

class ReadFeatures : public ::testing::Test {
 protected:
  /// What reading a file says, after the file's name.
  template <class Error = format_error>
  std::string refusal(std::string const& content, std::string const& name = "")
  {
    std::string const path = folder_.write("f", content);
    std::string const message = message_of<Error>([&] { (void)read_features(path, name); });
    EXPECT_TRUE(message.starts_with(path + ": ")) << message;
    return message.substr(std::min(path.size() + 2, message.size()));
  }

  test::scratch_folder folder_;
};

std::string npy_of_version(char version, std::string const& header, std::string const& data)
{
  std::string const length = test::pack(static_cast<std::uint32_t>(header.size()));
  return "\x93NUMPY" + std::string{version, 0} + length + header + data;
}

TEST_F(ReadFeatures, MapsNumpyFiles)
{
  auto const values = numbers(12);
  std::string const header = "{'descr': '<f4', 'fortran_order': False, 'shape': (4, 3), }\n";
  for (auto const& content : {npy("<f4", "(4, 3)", pack_all(values)), npy_of_version(2, header, pack_all(values)),
                              npy_of_version(3, header, pack_all(values))}) {
    std::string const path = folder_.write("f.npy", content);
    feature_table const table = read_features(path);
    EXPECT_EQ(table.type(), "float32");
    EXPECT_EQ(table.shape(), (std::vector<std::int64_t>{4, 3}));
    EXPECT_STREQ(mapped_file_at(table.data()), path.c_str());
    EXPECT_EQ(gathered(table, {3, 0, 3}), (std::vector<float>{9.5, 10.5, 11.5, 0.5, 1.5, 2.5, 9.5, 10.5, 11.5}));
    EXPECT_EQ(message_of<argument_error>([&] { (void)gathered(table, {1, 4}); }), "ids[1] is 4, expected 0 to 3");
  }
}

TEST_F(ReadFeatures, MapsTensors)
{
  std::string const rows = pack_all(numbers(6)), mask(3, '\1');
  std::string const one = folder_.write("one.safetensors", file_of({{"x", "F32", 2, rows, 3}}));
  EXPECT_EQ(gathered(read_features(one), {1}), (std::vector<float>{3.5, 4.5, 5.5}));
  EXPECT_EQ(read_features(one, "x").shape(), (std::vector<std::int64_t>{2, 3}));

  // The tensor behind the mask is not aligned.
  std::string const two =
      folder_.write("two.safetensors", file_of({{"mask", "BOOL", 3, mask}, {"x", "F32", 2, rows, 3}}));
  EXPECT_EQ(gathered(read_features(two, "x"), {1, 0}), (std::vector<float>{3.5, 4.5, 5.5, 0.5, 1.5, 2.5}));
  EXPECT_EQ(read_features(two, "mask").type(), "bool");
  EXPECT_EQ(read_features(folder_.write("b", file_of({{"b", "BF16", 3, std::string(6, '\0')}}))).type(), "bfloat16");
  EXPECT_EQ(read_features(folder_.write("e", file_of({{"e", "F64", 0, ""}}))).num_rows(), 0);
}

TEST_F(ReadFeatures, AFileIsLargerThanARangeOfRows)
{
  constexpr std::int64_t num_rows = 9000, width = 700;
  auto const values = numbers(num_rows * width);
  std::string const path =
      folder_.write("f.npy", npy("<f4", fmt::format("({}, {})", num_rows, width), pack_all(values)));
  feature_table const table = read_features(path);
  std::vector<std::int32_t> ids(20'000);
  for (std::size_t i = 0; i < ids.size(); ++i) { ids[i] = static_cast<std::int32_t>(i * 7919 % num_rows); }
  for (int const threads : {1, 3}) {
    cpu_exec exec;
    exec.num_threads = threads;
    std::vector<float> out(ids.size() * width);
    gather(table, ids, std::as_writable_bytes(std::span(out)), exec);
    bool same = true;
    for (std::size_t i = 0; i < ids.size(); ++i) {
      same =
          same && std::equal(out.begin() + i * width, out.begin() + (i + 1) * width, values.begin() + ids[i] * width);
    }
    EXPECT_TRUE(same);
  }
  EXPECT_FALSE(table.misses_pages()->load());  // what was just written is in memory
}

TEST_F(ReadFeatures, RefusesOtherNumpyFiles)
{
  std::string const eight(8, '\0');
  EXPECT_EQ(refusal(""), "empty file, expected features");
  EXPECT_EQ(refusal("1 2 3\n"), "neither a .npy nor a .safetensors, expected one of these");
  std::string const other =
      "array 'features': elements of another type, expected bool, integers or floats, little-endian, of at most 8 "
      "bytes";
  EXPECT_EQ(refusal(npy(">f4", "(2,)", eight)), other);
  EXPECT_EQ(refusal(npy("|O", "(1,)", eight)), other);
  EXPECT_EQ(refusal(npy("<c8", "(1,)", eight)), other);
  EXPECT_EQ(refusal(npy("|S8", "(1,)", eight)), other);
  std::string const record = "{'descr': [('a', '<f4'), ('b', '<f4')], 'fortran_order': False, 'shape': (1,), }";
  EXPECT_EQ(refusal(npy_of_version(2, record, eight)), other);
  EXPECT_EQ(refusal(npy_of_version(2, "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 1), }", eight)),
            "array 'features': in column-major order, expected row-major");
  EXPECT_EQ(refusal(npy_of_version(4, record, eight)), "array 'features': .npy version 4, expected 1, 2 or 3");
  EXPECT_EQ(refusal(npy("<f8", "()", eight)), "array 'features': no dimensions, expected rows");
  EXPECT_EQ(refusal(npy("<f4", "(3,)", eight)),
            "array 'features': 8 bytes of data, expected 3 elements of 4 bytes in shape (3,)");
  EXPECT_EQ(
      refusal(npy("<f4", "(4611686018427387904, 4)", eight)),
      "array 'features': 8 bytes of data, expected countless elements of 4 bytes in shape (4611686018427387904, 4)");
  EXPECT_EQ(refusal(npy("<f4", "(0, 4611686018427387904, 4)", "")),
            "array 'features': rows of countless elements in shape (0, 4611686018427387904, 4)");
  EXPECT_EQ(refusal(npy("<f4", "(-2,)", eight)).substr(0, 34), "array 'features': malformed header");
  EXPECT_EQ(refusal<argument_error>(npy("<f4", "(2,)", eight), "x"), "name 'x', expected none: a .npy holds one array");
}

TEST_F(ReadFeatures, RefusesOtherTensors)
{
  std::vector<test::tensor> many;
  for (int i = 0; i < 11; ++i) { many.push_back({fmt::format("t{:02}", i), "I8", 1, "x"}); }
  EXPECT_EQ(refusal<argument_error>(file_of({many[0], many[1]})), "2 tensors, expected the name of one: 't00', 't01'");
  EXPECT_EQ(refusal<argument_error>(file_of(many)),
            "11 tensors, expected the name of one: 't00', 't01', 't02', 't03', 't04', 't05', 't06', 't07' and 3 more");
  EXPECT_EQ(refusal<argument_error>(file_of({many[0]}), "x"), "no tensor 'x', expected 't00'");
  EXPECT_EQ(refusal(file_of(std::vector<test::tensor>{})), "no tensor, expected one");
  EXPECT_EQ(
      refusal(file_of({{"x", "F8_E4M3", 1, "x"}})),
      "array 'x': elements of another type, expected bool, integers or floats, little-endian, of at most 8 bytes");
  EXPECT_EQ(refusal(file_of(R"({"x":{"dtype":"F32","shape":[],"data_offsets":[0,4]}})", "1234")),
            "array 'x': no dimensions, expected rows");
  EXPECT_EQ(refusal(file_of(R"({"x":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", "1234")),
            "tensor 'x': data_offsets [0, 8], expected both in [0, 4] and ascending");
  EXPECT_EQ(refusal(file_of(R"({"x":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}})", "1234")).substr(0, 8),
            "header: ");
  EXPECT_EQ(refusal(file_of("{not json", "1234")).substr(0, 8), "header: ");
  EXPECT_EQ(refusal("\xff\xff\xff\xff\xff\xff\xff\xff{}").substr(0, 10), "header of ");
}

TEST_F(ReadFeatures, RefusesWhatIsNoFile)
{
  EXPECT_NE(message_of<io_error>([&] { (void)read_features(folder_ / "none.npy"); }).find("cannot open"),
            std::string::npos);
  EXPECT_NE(message_of<io_error>([&] { (void)read_features(folder_ / ""); }).find("is a directory"), std::string::npos);
}

/// Every truncation of a file, and every byte of it as it isn't, is either a table that can be gathered from or one line.
TEST_F(ReadFeatures, NoDamageGoesFurtherThanOneLine)
{
  std::string const rows = pack_all(numbers(6));
  std::vector<std::string> const files = {npy("<f4", "(2, 3)", rows),
                                          file_of({{"mask", "BOOL", 3, "\1\1\1"}, {"x", "F32", 2, rows, 3}})};
  for (auto const& whole : files) {
    std::string const name = whole[0] == '\x93' ? "" : "x";
    int accepted = 0, refused = 0;
    auto const read = [&](std::string const& content) {
      std::filesystem::remove(folder_ / "f");  // some file systems wait for the disk where a file is overwritten
      std::string const path = folder_.write("f", content);
      try {
        feature_table const table = read_features(path, name);
        ++accepted;
        ASSERT_LE(table.num_bytes(), std::ssize(content));
        if (table.num_rows() == 0) { return; }
        std::vector<std::byte> out(static_cast<std::size_t>(2 * table.row_bytes()));
        gather(table, std::vector<std::int64_t>{table.num_rows() - 1, 0}, out);
      } catch (error const& e) {
        ++refused;
        EXPECT_EQ(std::string(e.what()).find('\n'), std::string::npos) << e.what();
      }
    };
    for (std::size_t size = 0; size < whole.size(); ++size) { read(whole.substr(0, size)); }
    EXPECT_EQ(accepted, 0);
    EXPECT_EQ(refused, static_cast<int>(whole.size()));
    std::string damaged = whole;
    for (std::size_t i = 0; i + rows.size() < whole.size(); ++i) {
      for (char const byte : std::string_view("\0\1\n \",-09[{\x7f\x80\xff", 14)) {
        damaged[i] = byte;
        read(damaged);
      }
      for (int const bit : {1, 2, 4, 8, 16, 32, 64, 128}) {
        damaged[i] = static_cast<char>(whole[i] ^ bit);
        read(damaged);
      }
      damaged[i] = whole[i];
    }
    EXPECT_GT(accepted, 0);
    EXPECT_GT(refused, 1000);
  }
}

}  // namespace
}  // namespace tendril
