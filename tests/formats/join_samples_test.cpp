// Files of parts of a job of samples, joined; and what becomes of damaged ones.

#include <tendril/sample_parts.hpp>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <tendril/array_file.hpp>
#include <tendril/error.hpp>

#include "support/messages.hpp"

namespace tendril::test {
namespace {

std::string bytes_of(std::string const& path)
{
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write_bytes(std::string const& path, std::string const& bytes)
{
  std::ofstream(path, std::ios::binary).write(bytes.data(), std::ssize(bytes));
}

class JoinSamples : public ::testing::TestWithParam<char const*> {
 protected:
  JoinSamples() { std::filesystem::create_directories(folder_); }
  ~JoinSamples() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] std::string path(std::string const& name) const { return (folder_ / (name + GetParam())).string(); }

  /// Samples [first, first + size) of a job of num_samples: sample i has two vertices, i % 3 edges, and shares clusters.
  void write(std::string const& name, std::int64_t first, std::int64_t size, std::string const& part = {}) const
  {
    std::vector<std::int64_t> offsets{0}, edges;
    std::vector<std::int32_t> vertices;
    std::vector<float> weights;
    for (std::int64_t i = first; i < first + size; ++i) {
      vertices.insert(vertices.end(), {static_cast<std::int32_t>(i), static_cast<std::int32_t>(2 * i)});
      for (std::int64_t e = 0; e < i % 3; ++e) {
        edges.push_back(100 * i + e);
        weights.push_back(static_cast<float>(i) / 4);
      }
      offsets.push_back(std::ssize(edges));
    }
    std::vector<std::int64_t> const clusters{7, 7, 8};
    std::map<std::string, std::string> about{{"format", "tendril-samples"},
                                             {"app", "test"},
                                             {"params", R"({"first_sample":)" + std::to_string(first) + "}"},
                                             {"first_sample", std::to_string(first)},
                                             {"num_samples", std::to_string(size)}};
    if (!part.empty()) { about["part"] = part; }
    array_writer writer(path(name),
                        {{"cluster_of", element_type::int64, {3}},
                         {"vertices", element_type::int32, {size, 2}},
                         {"edges", element_type::int64, {std::ssize(edges)}},
                         {"weights", element_type::float32, {std::ssize(weights)}},
                         {"edge_offsets", element_type::int64, {size + 1}}},
                        about);
    writer.append(0, std::span<std::int64_t const>(clusters));
    writer.append(1, std::span<std::int32_t const>(vertices));
    writer.append(2, std::span<std::int64_t const>(edges));
    writer.append(3, std::span<float const>(weights));
    writer.append(4, std::span<std::int64_t const>(offsets));
    writer.commit();
  }

  /// What becomes of the parts "0" and "1": "" if they are joined, else one line.
  [[nodiscard]] std::string outcome() const
  {
    try {
      (void)join_samples(std::vector{path("0"), path("1")}, path("joined"));
      return {};
    } catch (format_error const& refused) {
      return refused.what();
    } catch (io_error const& refused) {
      return refused.what();
    }
  }

 private:
  std::filesystem::path folder_ =
      std::filesystem::path(::testing::TempDir()) / fmt::format("tendril-join-samples-{}{}", getpid(), GetParam());
};

TEST_P(JoinSamples, GivesTheFileOfTheWholeJob)
{
  write("whole", 5, 9);
  std::vector<std::string> parts;
  for (std::int64_t const first : {5, 8, 8, 13}) {
    std::int64_t const size = first == 13 ? 1 : first == 5 ? 3 : parts.size() == 1 ? 0 : 5;
    parts.push_back(path(std::to_string(parts.size())));
    write(std::to_string(parts.size() - 1), first, size, std::to_string(parts.size() - 1) + "/4");
  }
  joined_samples const joined = join_samples(parts, path("joined"));
  EXPECT_EQ(joined.num_parts, 4);
  EXPECT_EQ(joined.num_arrays, 5);
  EXPECT_EQ(bytes_of(path("joined")), bytes_of(path("whole")));
  EXPECT_TRUE(is_sample_file(parts[0]));
  EXPECT_EQ(message_of<argument_error>([&] { (void)join_samples({}, path("joined")); }),
            "join_samples: no part, expected one at least");
}

/// Each byte changed in turn, and each length cut: an error of one line that names the part, or a file.
TEST_P(JoinSamples, DamagedPartsAreRefusedOrJoined)
{
  write("0", 0, 2, "0/2");
  write("1", 2, 3, "1/2");
  ASSERT_EQ(outcome(), "");
  std::string const good = bytes_of(path("1"));
  int refused = 0;
  auto const expect_outcome = [&](std::string const& bytes) {
    write_bytes(path("1"), bytes);
    std::filesystem::remove(path("joined"));
    std::string const line = outcome();
    EXPECT_EQ(line.find('\n'), std::string::npos) << line;
    EXPECT_EQ(std::filesystem::exists(path("joined")), line.empty()) << line;
    EXPECT_TRUE(line.empty() || line.find(path("1")) != std::string::npos) << line;
    refused += line.empty() ? 0 : 1;
  };
  for (std::size_t at = 0; at < good.size(); ++at) {
    for (char const flip : {'\x01', '\x80', '\xff'}) {
      std::string bytes = good;
      bytes[at] = static_cast<char>(bytes[at] ^ flip);
      expect_outcome(bytes);
    }
  }
  EXPECT_GT(refused, std::ssize(good) / 2) << "most bytes matter";
  refused = 0;
  for (std::size_t size = 0; size < good.size(); ++size) { expect_outcome(good.substr(0, size)); }
  EXPECT_EQ(refused, std::ssize(good)) << "no file is shorter";
}

INSTANTIATE_TEST_SUITE_P(Formats, JoinSamples, ::testing::Values(".npz", ".safetensors"),
                         [](auto const& format) { return std::string(format.param).substr(1); });

}  // namespace
}  // namespace tendril::test
