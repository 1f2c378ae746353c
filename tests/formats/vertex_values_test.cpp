// Numbers for vertices from files: what is read, and the exact messages of what is refused.

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tendril/array_file.hpp>
#include <tendril/error.hpp>
#include <tendril/vertex_values.hpp>

#include "support/messages.hpp"

namespace tendril {
namespace {

class VertexValues : public ::testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] std::string path(std::string const& name) const { return (folder_ / name).string(); }

  /// The file that holds `text`.
  [[nodiscard]] std::string file(std::string const& text) const
  {
    std::ofstream(path("values.txt"), std::ios::binary) << text;
    return path("values.txt");
  }

  /// What reading says, after the file's name.
  static std::string complaint(std::string const& from, std::int64_t num_vertices)
  {
    auto const message = test::message_of<format_error>([&] { (void)read_vertex_values(from, num_vertices); });
    return message.substr(std::min(from.size(), message.size()));
  }

  std::filesystem::path folder_ =
      std::filesystem::path(::testing::TempDir()) /
      ("tendril-values-" + std::string(::testing::UnitTest::GetInstance()->current_test_info()->name()));
};

std::vector<float> vector_of(buffer<float> const& values) { return {values.begin(), values.end()}; }

TEST_F(VertexValues, ReadsText)
{
  EXPECT_EQ(vector_of(read_vertex_values(file("# norms\n0.5\n\n 3 \n1e-3\n"), 3)),
            (std::vector<float>{0.5F, 3, 0.001F}));
  EXPECT_TRUE(read_vertex_values(file(""), 0).empty());
}

TEST_F(VertexValues, ReadsNumpy)
{
  std::vector<float> const floats{0.25F, 0, 7};
  std::vector<std::int64_t> const integers{4, 0, 9};
  for (bool const of_floats : {true, false}) {
    array_writer writer(path("v.npy"), {{"v", of_floats ? element_type::float32 : element_type::int64, {3}}});
    if (of_floats) {
      writer.append(0, floats);
    } else {
      writer.append(0, integers);
    }
    writer.commit();
    EXPECT_EQ(vector_of(read_vertex_values(path("v.npy"), 3)), of_floats ? floats : (std::vector<float>{4, 0, 9}));
  }
}

TEST_F(VertexValues, RefusesWhatIsNoNumberForEachVertex)
{
  EXPECT_EQ(complaint(file("1\nmuch\n"), 2), ":2: 'much', expected one finite number of at least 0");
  EXPECT_EQ(complaint(file("1 2\n"), 2), ":1: '1 2', expected one finite number of at least 0");
  EXPECT_EQ(complaint(file("-1\n"), 1), ":1: '-1', expected one finite number of at least 0");
  EXPECT_EQ(complaint(file("inf\n"), 1), ":1: 'inf', expected one finite number of at least 0");
  EXPECT_EQ(complaint(file(""), 3), ": 0 numbers, expected 3, one a vertex");
  EXPECT_EQ(complaint(file("1\n2\n"), 3), ": 2 numbers, expected 3, one a vertex");
  std::vector<float> const negative{1, -2};
  array_writer writer(path("v.npy"), {{"v", element_type::float32, {2}}});
  writer.append(0, negative);
  writer.commit();
  EXPECT_EQ(complaint(path("v.npy"), 2), ": element 1: -2, expected a finite number of at least 0");
}

}  // namespace
}  // namespace tendril
