#pragma once

// What the tests of binary readers and writers share.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <tendril/compress.hpp>  // edge_weights, ...
#include <tendril/graph.hpp>

#include "support/messages.hpp"
#include "support/source_folder.hpp"
#include "support/to_array.hpp"

namespace tendril::test {

/// A folder of the running test's own, removed with it.
class scratch_folder {
 public:
  scratch_folder()
  {
    std::string pattern = (std::filesystem::temp_directory_path() / "tendril-XXXXXX").string();
    path_ = mkdtemp(pattern.data());
  }
  scratch_folder(scratch_folder const&) = delete;
  scratch_folder& operator=(scratch_folder const&) = delete;
  ~scratch_folder() { std::filesystem::remove_all(path_); }

  [[nodiscard]] std::string operator/(std::string const& name) const { return (path_ / name).string(); }

  template <class Bytes>
  std::string write(std::string const& name, Bytes const& bytes) const
  {
    std::ofstream(path_ / name, std::ios::binary)
        .write(reinterpret_cast<char const*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    return *this / name;
  }

 private:
  std::filesystem::path path_;
};

inline std::string read_bytes(std::string const& path)
{
  std::ostringstream bytes;
  bytes << std::ifstream(path, std::ios::binary).rdbuf();
  return std::move(bytes).str();
}

inline std::span<std::byte const> as_bytes(std::string_view text) { return std::as_bytes(std::span(text)); }

/// The little-endian bytes of numbers, one after the other.
template <class... Numbers>
std::string pack(Numbers... numbers)
{
  std::string bytes;
  (bytes.append(reinterpret_cast<char const*>(&numbers), sizeof(numbers)), ...);
  return bytes;
}

/// A .npy file. @param type  As NumPy describes it: "<i8". @param shape  "(2, 3)".
inline std::string npy(std::string const& type, std::string const& shape, std::string const& data)
{
  std::string header = "{'descr': '" + type + "', 'fortran_order': False, 'shape': " + shape + ", }";
  header.resize(118 - 1, ' ');
  return "\x93NUMPY" + std::string{1, 0, 118, 0} + header + '\n' + data;
}

/// The bytes that pairs of hexadecimal digits stand for.
inline std::string from_hex(std::string_view digits)
{
  std::string bytes;
  for (; digits.size() >= 2; digits.remove_prefix(2)) {
    bytes.push_back(static_cast<char>(std::stoi(std::string(digits.substr(0, 2)), nullptr, 16)));
  }
  return bytes;
}

template <class T>
std::string pack_all(std::vector<T> const& numbers)
{
  return {reinterpret_cast<char const*>(numbers.data()), numbers.size() * sizeof(T)};
}

template <class T>
std::vector<T> to_vector(shared_array<T> const& array)
{
  return {array.begin(), array.end()};
}

inline std::vector<int> to_vector(label_array const& labels)
{
  std::vector<int> values;
  for (std::int64_t i = 0; i < labels.size(); ++i) { values.push_back(labels.view()[i]); }
  return values;
}

/// Expects equal structure and equal columns; not equal names and metadata.
inline void expect_same_arrays(graph const& a, graph const& b)
{
  EXPECT_EQ(to_vector(a.arrays().indptr), to_vector(b.arrays().indptr));
  EXPECT_EQ(to_vector(a.arrays().indices), to_vector(b.arrays().indices));
  EXPECT_EQ(to_vector(edge_weights(a)), to_vector(edge_weights(b)));
  EXPECT_EQ(to_vector(edge_labels(a)), to_vector(edge_labels(b)));
  EXPECT_EQ(a.bytes_per_edge_label(), b.bytes_per_edge_label());
  EXPECT_EQ(to_vector(a.arrays().node_types), to_vector(b.arrays().node_types));
  EXPECT_EQ(to_vector(edge_ids(a)), to_vector(edge_ids(b)));
  EXPECT_EQ(to_vector(a.arrays().original_ids), to_vector(b.arrays().original_ids));
}

/// A small graph with every kind of array that there is.
inline graph make_full_graph()
{
  graph_arrays arrays;
  arrays.indptr = to_array<edge_id>({0, 3, 3, 5, 6});
  arrays.indices = to_array<vertex_id>({0, 2, 3, 1, 3, 0});
  arrays.weights = to_array<float>({0.5F, 1, 2.25F, 0, 1e-30F, 3e30F});
  arrays.edge_labels = to_array<std::uint16_t>({0, 1, 0, 700, 2, 1});
  arrays.node_types = to_array<std::uint8_t>({0, 1, 1, 0});
  arrays.edge_ids = to_array<edge_id>({5, 4, 3, 2, 1, 0});
  arrays.original_ids = to_array<vertex_id>({10, 20, 30, 4'000'000'000U});
  arrays.edge_label_names = {"cites", "\"quoted\" → naïve"};
  arrays.node_type_names = {"paper", "author"};
  arrays.metadata = {{"name", "full"}, {"origin", "a test"}};
  return graph(std::move(arrays));
}

/// The project's large data, which is not part of the repository; empty where it is not there.
inline std::string shared_data(std::string const& name)
{
  char const* const folder = std::getenv("TENDRIL_SHARED_DATA");
  auto const path = (folder != nullptr ? std::filesystem::path(folder)
                                       : std::filesystem::path(source_folder()) / ".." / "shared" / "data") /
                    name;
  return std::filesystem::exists(path) ? path.string() : std::string();
}

}  // namespace tendril::test
