// Arrays and walks written in pieces: what is refused, and that what is refused leaves nothing behind.

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <tendril/array_file.hpp>
#include <tendril/error.hpp>
#include <tendril/write_walks.hpp>

#include "formats/mapped_file.hpp"
#include "formats/npy.hpp"
#include "formats/safetensors.hpp"
#include "formats/zip.hpp"
#include "support/messages.hpp"

namespace tendril {
namespace {

class ArrayWriter : public ::testing::Test {
 protected:
  void SetUp() override
  {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] std::string path(std::string const& name) const { return (folder_ / name).string(); }

  [[nodiscard]] std::int64_t num_files() const
  {
    return std::distance(std::filesystem::directory_iterator(folder_), std::filesystem::directory_iterator());
  }

  std::filesystem::path folder_ =
      std::filesystem::path(::testing::TempDir()) /
      ("tendril-" + std::string(::testing::UnitTest::GetInstance()->current_test_info()->name()));
};

TEST_F(ArrayWriter, FillsArraysInAnyInterleaving)
{
  std::vector<vertex_id> const ids{7, no_vertex, 3};
  std::vector<std::int64_t> const numbers{-1, std::int64_t{1} << 40, 5, 6};
  array_writer writer(path("a.npz"), {{"ids", element_type::int32, {3, 2}}, {"numbers", element_type::int64, {4}}});
  writer.append(0, ids);
  writer.append(1, std::span(numbers).first(1));
  writer.append(0, ids);
  writer.append(1, std::span(numbers).subspan(1));
  EXPECT_EQ(num_files(), 1);  // under another name
  EXPECT_FALSE(std::filesystem::exists(path("a.npz")));
  writer.commit();

  auto const file = formats::mapped_file::open(path("a.npz"));
  formats::zip_reader const zip(path("a.npz"), file->bytes(), file);
  ASSERT_EQ(zip.entries().size(), 2U);
  auto const read = [&](std::string const& name) {
    auto const member = zip.read(zip.entries().at(name), {});  // checks the CRC
    return formats::parse_npy(path("a.npz"), name, member.bytes, member.owner);
  };
  auto const first = read("ids.npy");
  EXPECT_EQ(first.shape, (std::vector<std::int64_t>{3, 2}));
  std::vector<std::int32_t> stored(6);
  ASSERT_EQ(first.bytes.size(), sizeof(std::int32_t) * stored.size());
  std::memcpy(stored.data(), first.bytes.data(), first.bytes.size());
  EXPECT_EQ(stored, (std::vector<std::int32_t>{7, -1, 3, 7, -1, 3}));
  auto const second = read("numbers.npy");
  std::vector<std::int64_t> wide(4);
  ASSERT_EQ(second.bytes.size(), sizeof(std::int64_t) * wide.size());
  std::memcpy(wide.data(), second.bytes.data(), second.bytes.size());
  EXPECT_EQ(wide, numbers);
}

TEST_F(ArrayWriter, NothingMayBeAppendedAnywhere)
{
  std::vector<std::int64_t> const numbers{1, 2, 3};
  array_writer writer(path("a.npz"), {{"a", element_type::int64, {3}}, {"none", element_type::int64, {0}}});
  writer.append(1, std::span<std::int64_t const>());
  for (std::int64_t const& one : numbers) {
    writer.append(0, std::span<std::int64_t const>());  // whose pointer is null
    writer.append(0, std::span(&one, 1));
  }
  writer.append(0, std::span<std::int64_t const>());
  writer.commit();
  auto const file = formats::mapped_file::open(path("a.npz"));
  formats::zip_reader const zip(path("a.npz"), file->bytes(), file);
  for (auto const& [name, entry] : zip.entries()) {
    auto const member = zip.read(entry, {});  // checks the CRC
    auto const array = formats::parse_npy(path("a.npz"), name, member.bytes, member.owner);
    EXPECT_EQ(array.bytes.size(), name == "a.npy" ? 24U : 0U);
  }
}

TEST_F(ArrayWriter, HoldsFloats)
{
  std::vector<float> const floats{0.5F, -2, 1e-30F};
  array_writer writer(path("a.npy"), {{"x", element_type::float32, {2, 3}}});
  writer.append(0, floats);
  writer.append(0, floats);
  writer.commit();
  auto const file = formats::mapped_file::open(path("a.npy"));
  auto const array = formats::parse_npy(path("a.npy"), "x", file->bytes(), file);
  EXPECT_EQ(array.type, formats::dtype::float32);
  EXPECT_EQ(array.shape, (std::vector<std::int64_t>{2, 3}));
  ASSERT_EQ(array.bytes.size(), 2 * floats.size() * sizeof(float));
  EXPECT_EQ(std::memcmp(array.bytes.data() + 12, floats.data(), 12), 0);
}

TEST_F(ArrayWriter, LetsOneArrayGrow)
{
  std::vector<std::int32_t> const flags{1, 0, 1};
  for (std::int64_t const pieces : {0, 1, 1000}) {
    array_writer writer(path("g.safetensors"),
                        {{"flags", element_type::int32, {3}}, {"ids", element_type::int64, {grows}}},
                        {{"key", "value"}});
    for (std::int64_t i = 0; i < pieces; ++i) { writer.append(1, std::vector<std::int64_t>{i, -i}); }
    writer.append(0, flags);
    EXPECT_FALSE(std::filesystem::exists(path("g.safetensors")));
    writer.commit();
    auto const file = formats::mapped_file::open(path("g.safetensors"));
    auto const contents = formats::parse_safetensors("g", file->bytes());
    EXPECT_EQ(contents.metadata.at("key"), "value");
    auto const& ids = contents.tensors.at("ids");
    EXPECT_EQ(ids.shape, (std::vector<std::int64_t>{2 * pieces}));
    EXPECT_EQ(contents.tensors.at("flags").end, ids.begin);
    EXPECT_EQ(ids.end, static_cast<std::int64_t>(file->bytes().size()));
    for (std::int64_t i = 0; i < pieces; ++i) {
      std::array<std::int64_t, 2> pair{};
      std::memcpy(pair.data(), file->bytes().data() + ids.begin + 16 * i, sizeof pair);
      ASSERT_EQ(pair, (std::array{i, -i}));
    }
    std::filesystem::remove(path("g.safetensors"));
  }
  array_spec const growing{"ids", element_type::int64, {grows}};
  EXPECT_EQ(test::message_of<argument_error>([&] { array_writer(path("a.npy"), {growing}); }),
            path("a.npy") + ": an array whose size is not known, expected .safetensors");
  EXPECT_EQ(test::message_of<argument_error>([&] {
              array_writer(path("a.npz"), {{"x", element_type::int64, {2}}, growing});
            }),
            path("a.npz") + ": an array whose size is not known, expected .safetensors");
  EXPECT_EQ(test::message_of<argument_error>([&] {
              array_writer(path("a.safetensors"), {growing, growing});
            }),
            path("a.safetensors") + ": two arrays whose size is not known, expected one");
  EXPECT_EQ(num_files(), 0);
}

TEST_F(ArrayWriter, SeveralProcessesWriteTheFileOfOne)
{
  std::vector<std::int64_t> numbers(1000);
  for (std::size_t i = 0; i < numbers.size(); ++i) { numbers[i] = static_cast<std::int64_t>(i * i); }
  auto const part = [&](std::size_t first, std::size_t size) {
    return std::span(std::as_const(numbers)).subspan(first, size);
  };
  for (char const* const extension : {".npz", ".safetensors"}) {
    std::vector<array_spec> const arrays{{"a", element_type::int64, {1000}}, {"b", element_type::int64, {10, 2}}};
    array_writer alone(path(std::string("alone") + extension), arrays);
    alone.append(0, part(0, 1000));
    alone.append(1, part(0, 20));
    alone.commit();

    std::string const name = path(std::string("shared") + extension);
    array_writer first(name, arrays, {}, "");
    array_writer second(name, arrays, {}, first.unfinished_name());
    for (std::size_t at = 0; at < 1000; at += 200) {  // in turn, the later one first
      for (auto* const writer : {&second, &first}) {
        std::size_t const mine = at + (writer == &first ? 0 : 100);
        writer->seek(0, static_cast<std::int64_t>(mine));
        writer->append(0, part(mine, 60));
        writer->append(0, part(mine + 60, 40));
      }
    }
    first.append(1, part(0, 0));
    second.append(1, part(0, 20));
    second.commit();
    EXPECT_FALSE(std::filesystem::exists(name));
    first.add_written(second.written());
    first.commit();
    auto const expected = formats::mapped_file::open(path(std::string("alone") + extension));
    auto const made = formats::mapped_file::open(name);
    EXPECT_TRUE(std::ranges::equal(made->bytes(), expected->bytes())) << extension;
  }
}

TEST_F(ArrayWriter, AnArrayThatGrowsMayBeShared)
{
  std::vector<std::int64_t> const numbers{3, 1, 4, 1, 5, 9, 2};
  std::vector<array_spec> const arrays{{"ids", element_type::int64, {grows}}, {"flags", element_type::int32, {2}}};
  array_writer alone(path("alone.safetensors"), arrays, {{"key", "value"}});
  alone.append(0, numbers);
  alone.append(1, std::vector<std::int32_t>{1, 0});
  alone.commit();

  std::string const name = path("shared.safetensors");
  array_writer first(name, arrays, {{"key", "value"}}, "");
  array_writer second(name, arrays, {{"key", "value"}}, first.unfinished_name());
  for (auto* const writer : {&first, &second}) { writer->set_size(0, 7); }
  second.seek(0, 3);
  second.append(0, std::span(numbers).subspan(3));
  EXPECT_EQ(test::message_of<argument_error>([&] { second.append(0, std::span(numbers).first(1)); }),
            name + ": array 'ids': more than 7 elements");
  first.append(0, std::span(numbers).first(3));
  first.append(1, std::vector<std::int32_t>{1, 0});
  second.commit();
  first.commit();
  auto const expected = formats::mapped_file::open(path("alone.safetensors"));
  EXPECT_TRUE(std::ranges::equal(formats::mapped_file::open(name)->bytes(), expected->bytes()));

  std::string const known = ": array 'ids': its size is known, or told by what is appended";
  std::string const unset = ": array 'ids': several processes write it, expected set_size";
  {
    array_writer begins(name, arrays, {}, "");
    array_writer joins(name, arrays, {}, begins.unfinished_name());
    EXPECT_EQ(test::message_of<argument_error>([&] { joins.commit(); }), name + unset);
    EXPECT_EQ(test::message_of<argument_error>([&] { begins.commit(); }), name + unset);
  }
  EXPECT_TRUE(std::ranges::equal(formats::mapped_file::open(name)->bytes(), expected->bytes())) << "it stays";

  array_writer third(name, arrays, {}, "");
  EXPECT_EQ(test::message_of<argument_error>([&] { third.set_size(0, -1); }),
            name + ": array 'ids': -1 elements, expected 0 to 2^59 - 1");
  third.set_size(0, 5);
  EXPECT_EQ(test::message_of<argument_error>([&] { third.set_size(0, 6); }), name + known);
  EXPECT_EQ(test::message_of<argument_error>([&] { array_writer(path("a.safetensors"), arrays).set_size(0, 2); }),
            path("a.safetensors") + known);
}

TEST_F(ArrayWriter, KnowsWhatNobodyWroteIntoASharedNpz)
{
  std::vector<std::int64_t> const numbers(10);
  auto const written = [&](std::int64_t begin, std::size_t size) {
    std::string const name = path("shared.npz");
    array_writer first(name, {{"a", element_type::int64, {10}}}, {}, "");
    array_writer second(name, {{"a", element_type::int64, {10}}}, {}, first.unfinished_name());
    first.append(0, std::span(numbers).first(4));
    second.seek(0, begin);
    second.append(0, std::span(numbers).first(size));
    second.commit();
    first.add_written(second.written());
    first.commit();
  };
  std::size_t const header = formats::npy_header(formats::dtype::int64, std::vector<std::int64_t>{10}).size();
  auto const complaint = [&](std::size_t element, char const* what) {
    return "zip member 'a.npy': byte " + std::to_string(header + 8 * element) + " was filled " + what +
           ", expected once";
  };
  EXPECT_EQ(test::message_of<argument_error>([&] { written(5, 5); }), complaint(4, "by nobody"));
  EXPECT_EQ(test::message_of<argument_error>([&] { written(4, 5); }), complaint(9, "by nobody"));
  EXPECT_EQ(test::message_of<argument_error>([&] { written(3, 7); }), complaint(3, "twice"));
  EXPECT_EQ(num_files(), 0);
  written(4, 6);
  EXPECT_EQ(num_files(), 1);
}

TEST_F(ArrayWriter, RefusesWhatDoesNotFit)
{
  std::vector<std::int64_t> const numbers{1, 2, 3};
  std::vector<float> const floats{1, 2, 3};
  EXPECT_EQ(test::message_of<argument_error>([&] {
              array_writer(path("a.npy"), {{"x", element_type::float32, {3}}}).append(0, numbers);
            }),
            path("a.npy") + ": array 'x': integers, expected float32");
  EXPECT_EQ(test::message_of<argument_error>([&] {
              array_writer(path("a.npy"), {{"x", element_type::int32, {3}}}).append(0, floats);
            }),
            path("a.npy") + ": array 'x': floats, expected int32");
  EXPECT_EQ(test::message_of<argument_error>([&] {
              array_writer(path("a.dat"), {{"x", element_type::int64, {3}}});
            }),
            path("a.dat") + ": unknown extension, expected .npy, .npz or .safetensors");
  EXPECT_EQ(test::message_of<argument_error>([&] {
              array_writer(path("a.npy"), {{"x", element_type::int64, {3}}, {"y", element_type::int64, {3}}});
            }),
            path("a.npy") + ": 2 arrays, expected 1, or .npz or .safetensors");
  EXPECT_EQ(test::message_of<argument_error>([&] {
              array_writer(path("a.npy"), {{"x", element_type::int64, {-3}}});
            }),
            path("a.npy") + ": array 'x': its shape is negative or too large");
  EXPECT_EQ(test::message_of<argument_error>([&] {
              array_writer(path("a.npy"), {{"x", element_type::int64, {std::int64_t{1} << 40, std::int64_t{1} << 40}}});
            }),
            path("a.npy") + ": array 'x': its shape is negative or too large");
  EXPECT_EQ(test::message_of<argument_error>([&] {
              array_writer(path("a.npy"), {{"x", element_type::int64, {2}}}).append(0, numbers);
            }),
            path("a.npy") + ": array 'x': more than 2 elements");
  EXPECT_EQ(test::message_of<argument_error>([&] {
              array_writer(path("a.npy"), {{"x", element_type::int32, {3}}}).append(0, numbers);
            }),
            path("a.npy") + ": array 'x': int64 elements, expected int32");
  EXPECT_EQ(test::message_of<argument_error>([&] {
              array_writer writer(path("a.npy"), {{"x", element_type::int64, {4}}});
              writer.append(0, numbers);
              writer.commit();
            }),
            path("a.npy") + ": array 'x': 3 elements, expected 4");
  EXPECT_EQ(num_files(), 0);
}

TEST_F(ArrayWriter, WalksHaveToBeAsMany)
{
  walk_file_info info;
  info.num_walks = 2;
  info.length = 1;
  info.num_vertices = std::int64_t{1} << 31;
  std::vector<vertex_id> const vertices{0, 0x7fffffffU};
  std::vector<std::int32_t> const lengths{1};
  EXPECT_EQ(test::message_of<argument_error>([&] {
              walk_writer writer(path("w.txt"), info);
              writer.append(vertices, lengths);
              writer.commit();
            }),
            path("w.txt") + ": 1 walks, expected 2");
  EXPECT_EQ(test::message_of<argument_error>([&] {
              walk_writer writer(path("w.txt"), info);
              for (int i = 0; i < 3; ++i) { writer.append(vertices, lengths); }
            }),
            path("w.txt") + ": more than 2 walks");
  EXPECT_EQ(test::message_of<argument_error>([&] { walk_writer(path("w.txt"), info).append(vertices, {}); }),
            path("w.txt") + ": 2 vertices for 0 walks, expected 0");
  ++info.num_vertices;
  info.type = element_type::int32;
  EXPECT_EQ(test::message_of<argument_error>([&] { walk_writer(path("w.npy"), info); }),
            path("w.npy") + ": int32 can't hold 2147483649 vertices, expected int64");
  EXPECT_EQ(num_files(), 0);
}

TEST_F(ArrayWriter, RaggedWalksAreCutAtTheirLengths)
{
  walk_file_info info;
  info.num_walks = 4;
  info.length = 2;
  info.num_vertices = 100;
  info.ragged = true;
  std::vector<vertex_id> const vertices{1, 2, 3, 4, 77, 77, 5, 6, no_vertex};  // nothing behind an end is looked at
  walk_writer writer(path("w.safetensors"), info);
  writer.append(vertices, std::vector<std::int32_t>{2, 0, 1});
  // The last one without the end of its row.
  writer.append(std::vector<std::int64_t>{0, 2}, std::span(vertices).first(2));
  writer.commit();
  auto const file = formats::mapped_file::open(path("w.safetensors"));
  auto const contents = formats::parse_safetensors("w", file->bytes());
  auto const read = [&]<class T>(std::string const& name, T) {
    auto const& tensor = contents.tensors.at(name);
    std::vector<T> out(static_cast<std::size_t>(tensor.end - tensor.begin) / sizeof(T));
    std::memcpy(out.data(), file->bytes().data() + tensor.begin, out.size() * sizeof(T));
    return out;
  };
  EXPECT_EQ(read("offsets", std::int64_t{}), (std::vector<std::int64_t>{0, 3, 4, 6, 8}));
  EXPECT_EQ(read("vertices", std::int32_t{}), (std::vector<std::int32_t>{1, 2, 3, 4, 5, 6, 1, 2}));
  EXPECT_EQ(contents.tensors.size(), 2U);
  std::filesystem::remove(path("w.safetensors"));
  EXPECT_EQ(test::message_of<argument_error>([&] {
              walk_writer(path("w.safetensors"), info).append(vertices, std::vector<std::int32_t>{2, 3, 1});
            }),
            path("w.safetensors") + ": a walk of 3 steps, expected 0 to 2");
  auto const refused = [&](std::vector<std::int64_t> const& offsets) {
    return test::message_of<argument_error>(
        [&] { walk_writer(path("w.safetensors"), info).append(offsets, std::span(vertices).first(4)); });
  };
  EXPECT_EQ(refused({0, 4}), path("w.safetensors") + ": a walk of 3 steps, expected 0 to 2");
  EXPECT_EQ(refused({0, 3, 3, 4}), path("w.safetensors") + ": a walk of -1 steps, expected 0 to 2");
  for (auto const& offsets : {std::vector<std::int64_t>{}, {0}, {1, 4}, {0, 3}, {0, 2, 5}}) {
    EXPECT_EQ(refused(offsets),
              path("w.safetensors") + ": 4 vertices of ragged walks, expected offsets from 0 to as many");
  }
  EXPECT_EQ(refused({0, 1, 2, 2, 3, 4}), path("w.safetensors") + ": more than 4 walks");
  info.ragged = false;
  EXPECT_EQ(refused({0, 2, 4}), path("w.safetensors") + ": ragged walks, expected rows");
  info.ragged = true;
  for (char const* const name : {"w.npy", "w.txt"}) {
    EXPECT_EQ(test::message_of<argument_error>([&] { walk_writer(path(name), info); }),
              path(name) + ": ragged walks are two arrays, expected .safetensors");
  }
  EXPECT_EQ(num_files(), 0);
}

TEST_F(ArrayWriter, TextHoldsTheLargestIds)
{
  walk_file_info info;
  info.num_walks = 3;
  info.length = 2;
  info.num_vertices = max_num_vertices;
  walk_writer writer(path("w.txt"), info);
  std::vector<vertex_id> const vertices{no_vertex - 1, 0, 9, 10, 99, 100, 12345, no_vertex, no_vertex};
  writer.append(vertices, std::vector<std::int32_t>{2, 2, 0});
  writer.commit();
  auto const file = formats::mapped_file::open(path("w.txt"));
  auto const bytes = file->bytes();
  EXPECT_EQ(std::string(reinterpret_cast<char const*>(bytes.data()), bytes.size()),
            "4294967294 0 9\n10 99 100\n12345\n");
}

}  // namespace
}  // namespace tendril
