// Parts of a job: their ranges, their names, and files of parts that are joined.

#include <cstdint>
#include <cstring>
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

#include "support/messages.hpp"

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

/// Files of parts, whose walks several writers copy to their places in one file.
class RaggedWalks : public ::testing::Test {
 protected:
  RaggedWalks() { std::filesystem::create_directories(folder_); }
  ~RaggedWalks() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] std::string path(std::string const& name) const { return (folder_ / (name + ".safetensors")).string(); }

  static walk_file_info info_of(std::int64_t num_walks, element_type type)
  {
    walk_file_info info;
    info.num_walks = num_walks;
    info.length = 3;
    info.num_vertices = 100;
    info.type = type;
    info.ragged = true;
    return info;
  }

  /// Walks [first, first + size), where walk i has i % 4 steps.
  static void append(walk_writer& writer, std::int64_t first, std::int64_t size)
  {
    std::vector<std::int64_t> offsets{0};
    std::vector<vertex_id> vertices;
    for (std::int64_t i = first; i < first + size; ++i) {
      for (std::int64_t s = 0; s <= i % 4; ++s) { vertices.push_back(static_cast<vertex_id>((7 * i + s) % 100)); }
      offsets.push_back(std::ssize(vertices));
    }
    writer.append(offsets, vertices);
  }

  void write(std::string const& name, std::int64_t first, std::int64_t size, element_type type) const
  {
    walk_writer writer(path(name), info_of(size, type));
    append(writer, first, size);
    writer.commit();
  }

  static std::int64_t vertices_before(std::int64_t walk)
  {
    std::int64_t sum = 0;
    for (std::int64_t i = 0; i < walk; ++i) { sum += i % 4 + 1; }
    return sum;
  }

 private:
  std::filesystem::path folder_ = std::filesystem::path(::testing::TempDir()) / "tendril-ragged-walks";
};

TEST_F(RaggedWalks, PartsFindTheirPlacesInOneFile)
{
  constexpr std::int64_t num_walks = 11;
  for (element_type const type : {element_type::int32, element_type::int64}) {
    write("whole", 0, num_walks, type);
    for (std::int64_t const count : {1, 3, 20}) {
      std::vector<walk_writer> writers;
      for (std::int64_t k = 0; k < count; ++k) {
        walk_range const range = walks_of({k, count}, num_walks);
        write("part", range.first, range.size, type);
        shared_walks const here{range.first, range.size, k == 0 ? "" : writers.front().unfinished_name(),
                                vertices_before(range.first), vertices_before(num_walks)};
        writers.emplace_back(path("shared"), info_of(num_walks, type), here);
        append_ragged_walks(path("part"), writers.back());
      }
      for (auto writer = writers.rbegin(); writer != writers.rend(); ++writer) { writer->commit(); }
      EXPECT_EQ(content(path("shared")), content(path("whole"))) << count;
    }
  }
}

TEST_F(RaggedWalks, WhatIsDamagedIsRefused)
{
  write("part", 0, 5, element_type::int32);
  std::string const good = content(path("part"));
  std::size_t const offsets = good.size() - 4 * static_cast<std::size_t>(vertices_before(5)) - 8 * 6;
  auto const told_of = [&](std::size_t which, std::int64_t offset) {
    std::string bad = good;
    std::memcpy(bad.data() + offsets + 8 * which, &offset, sizeof offset);
    std::ofstream(path("bad"), std::ios::binary) << bad;
    walk_writer writer(path("out"), info_of(5, element_type::int32));
    return message_of<format_error>([&] { append_ragged_walks(path("bad"), writer); });
  };
  EXPECT_EQ(told_of(0, 1), path("bad") + ": offset 0 is 1, expected 0");
  EXPECT_EQ(told_of(1, 0), path("bad") + ": offset 1 is 0, expected 1 to 11");
  EXPECT_EQ(told_of(2, std::int64_t{1} << 60), path("bad") + ": offset 2 is 1152921504606846976, expected 2 to 11");
  EXPECT_EQ(told_of(5, 10), path("bad") + ": offset 5 is 10, expected 11 to 11");
  EXPECT_EQ(told_of(4, 11), path("bad") + ": offset 5 is 11, expected 12 to 11");

  write("wide", 0, 5, element_type::int64);
  std::string wide = content(path("wide"));
  for (std::int64_t const vertex : {std::int64_t{-1}, std::int64_t{0xffffffff}, std::int64_t{1} << 40}) {
    std::memcpy(wide.data() + wide.size() - 16, &vertex, sizeof vertex);  // the last but one of 11
    std::ofstream(path("bad"), std::ios::binary) << wide;
    walk_writer to(path("out"), info_of(5, element_type::int64));
    EXPECT_EQ(message_of<format_error>([&] { append_ragged_walks(path("bad"), to); }),
              path("bad") + ": vertices[9] is " + std::to_string(vertex) + ", expected 0 to 4294967294");
  }

  write_rows(path("rows"), 0, 5, false, "");
  walk_writer writer(path("out"), info_of(5, element_type::int32));
  EXPECT_EQ(message_of<argument_error>([&] { append_ragged_walks(path("rows"), writer); }),
            path("rows") + ": rows, expected ragged walks");
  shared_walks const outside{0, 5, "", 12, 11};
  EXPECT_EQ(message_of<argument_error>([&] { walk_writer(path("out"), info_of(5, element_type::int32), outside); }),
            path("out") + ": vertices from 12 on, expected some of 11");
}

}  // namespace
}  // namespace tendril::test
