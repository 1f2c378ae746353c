// Parts of a job: their ranges, their names, and files of parts that are joined.

#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tendril/error.hpp>
#include <tendril/walk_parts.hpp>
#include <tendril/write_walks.hpp>

namespace tendril::test {
namespace {

constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();

TEST(JobPart, RangesFollowEachOtherAndDifferByOneWalk)
{
  for (std::int64_t const walks : {0, 1, 2, 9, 10, 100}) {
    for (std::int64_t const count : {1, 2, 3, 7, 10, 11}) {
      std::int64_t next = 0;
      for (std::int64_t i = 0; i < count; ++i) {
        auto const range = walks_of({i, count}, walks);
        EXPECT_EQ(range.first, next);
        EXPECT_EQ(range.size, walks / count + (i < walks % count ? 1 : 0));
        next += range.size;
      }
      EXPECT_EQ(next, walks);
    }
  }
}

TEST(JobPart, RangesOfTheLargestNumbers)
{
  EXPECT_EQ(walks_of({most - 1, most}, most).first, most - 1);
  EXPECT_EQ(walks_of({most - 1, most}, most).size, 1);
  EXPECT_EQ(walks_of({most - 1, most}, 5).first, 5);
  EXPECT_EQ(walks_of({1, 2}, most).first, most / 2 + 1);
  EXPECT_THROW((void)walks_of({1, 1}, 5), argument_error);
  EXPECT_THROW((void)walks_of({-1, 2}, 5), argument_error);
}

TEST(JobPart, TextAndBack)
{
  for (std::string const text : {"0/1", "1/3", "9223372036854775806/9223372036854775807"}) {
    EXPECT_EQ(to_string(parse_job_part(text)), text);
  }
  for (char const* const text : {"", "/", "1", "1/", "/3", "-1/3", "3/3", "0/0", "1/0", "a/b", "1/3/3", " 1/3", "1/3 ",
                                 "+1/3", "1/-3", "0/9223372036854775808"}) {
    EXPECT_THROW((void)parse_job_part(text), argument_error) << text;
  }
}

/// Walks [first, first + size) of a job: walk i has i % 4 steps.
void write_rows(std::string const& path, std::int64_t first, std::int64_t size, bool ragged, std::string const& part)
{
  walk_file_info info;
  info.num_walks = size;
  info.length = 3;
  info.num_vertices = 100;
  info.ragged = ragged;
  info.metadata = {{"app", "test"}, {"first_walk", std::to_string(first)}};
  if (!part.empty()) { info.metadata["part"] = part; }
  walk_writer writer(path, info);
  for (std::int64_t i = first; i < first + size; ++i) {
    std::vector<vertex_id> row(4, no_vertex);
    auto const steps = static_cast<std::int32_t>(i % 4);
    for (std::int32_t s = 0; s <= steps; ++s) {
      row[static_cast<std::size_t>(s)] = static_cast<vertex_id>((7 * i + s) % 100);
    }
    writer.append(row, std::span(&steps, 1));
  }
  writer.commit();
}

std::string content(std::string const& path)
{
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(JoinWalks, GivesTheFileOfTheWholeJob)
{
  auto const folder = std::filesystem::path(::testing::TempDir()) / "tendril-join-walks";
  std::filesystem::create_directories(folder);
  struct form {
    std::string extension;
    bool ragged;
  };
  for (auto const& [extension, ragged] :
       {form{".npy", false}, {".safetensors", false}, {".safetensors", true}, {".txt", false}}) {
    auto const path = [&folder, end = extension](std::string const& name) { return (folder / (name + end)).string(); };
    write_rows(path("whole"), 0, 10, ragged, "");
    std::vector<std::string> parts;
    for (std::int64_t i = 0; i < 4; ++i) {
      auto const range = walks_of({i, 4}, 10);
      parts.push_back(path(std::to_string(i)));
      write_rows(parts.back(), range.first, range.size, ragged, to_string(job_part{i, 4}));
    }
    std::vector<std::string> stages;
    cpu_exec exec;
    exec.on_progress = [&](progress const& report) { stages.emplace_back(report.what); };
    auto const joined = join_walks(parts, path("joined"), exec);
    EXPECT_EQ(joined.num_parts, 4);
    EXPECT_EQ(joined.num_walks, 10);
    EXPECT_EQ(content(path("joined")), content(path("whole"))) << extension;
    EXPECT_FALSE(stages.empty());
    if (extension == ".safetensors") {
      parts.pop_back();
      EXPECT_THROW((void)join_walks(parts, path("joined")), format_error);
      EXPECT_EQ(content(path("joined")), content(path("whole"))) << "it stays";
    }
    EXPECT_THROW((void)join_walks({}, path("joined")), argument_error);
  }
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace tendril::test
