#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>

#include <tendril/error.hpp>
#include <tendril/graph.hpp>
#include <tendril/io.hpp>

#include "formats/readers.hpp"
#include "support/source_folder.hpp"

namespace tendril::test {

/// A folder that goes away with the test.
class temporary_folder {
 public:
  temporary_folder()
  {
    std::string name = (std::filesystem::temp_directory_path() / "tendril-test-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) { throw std::runtime_error("no temporary folder"); }
    path_ = name;
  }
  temporary_folder(temporary_folder const&) = delete;
  temporary_folder& operator=(temporary_folder const&) = delete;
  ~temporary_folder() { std::filesystem::remove_all(path_); }

  [[nodiscard]] std::string file(std::string const& name) const { return (path_ / name).string(); }
  [[nodiscard]] std::string path() const { return path_.string(); }

  std::string write(std::string const& name, std::string_view content) const
  {
    std::ofstream(file(name), std::ios::binary) << content;
    return file(name);
  }

 private:
  std::filesystem::path path_;
};

inline std::string read_file(std::string const& path)
{
  std::ifstream in(path, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

/// One gzip member.
inline std::string gzipped(std::string_view text)
{
  z_stream stream{};
  deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&stream, text.size()) + 32, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

using text_reader = graph (*)(std::string const&, std::span<std::byte const>, std::shared_ptr<void const>,
                              read_options const&, cpu_exec const&);

/// Runs a reader over `text` as the content of a file called `name`.
inline graph read_text(text_reader reader, std::string_view name, std::string_view text,
                       read_options const& options = {}, int threads = 1)
{
  cpu_exec exec;
  exec.num_threads = threads;
  graph result = reader(std::string(name), std::as_bytes(std::span(text.data(), text.size())), nullptr, options, exec);
  result.validate(exec);
  return result;
}

/// The message that a reader refuses `text` with.
inline std::string refusal(text_reader reader, std::string_view name, std::string_view text,
                           read_options const& options = {}, int threads = 1)
{
  try {
    graph const read = read_text(reader, name, text, options, threads);
    return "accepted: " + std::to_string(read.num_vertices()) + " vertices, " + std::to_string(read.num_edges()) +
           " edges";
  } catch (error const& problem) {
    return problem.what();
  }
}

struct plain_edge {
  std::int64_t source, target;
  float weight = 1;
  int label = 0;

  friend bool operator==(plain_edge const&, plain_edge const&) = default;
  friend void PrintTo(plain_edge const& e, std::ostream* out)
  {
    *out << e.source << "->" << e.target << " w" << e.weight << " l" << e.label;
  }
};

/// All edges, by source and then as stored.
inline std::vector<plain_edge> edges_of(graph const& g)
{
  std::vector<plain_edge> out;
  csr_arrays const view = g.csr();
  for (std::int64_t v = 0; v < view.num_vertices; ++v) {
    for (edge_id e = view.indptr[v]; e < view.indptr[v + 1]; ++e) {
      plain_edge edge{v, view.indices[e]};
      if (view.weights != nullptr) { edge.weight = view.weights[e]; }
      if (!view.edge_labels.empty()) { edge.label = view.edge_labels[e]; }
      out.push_back(edge);
    }
  }
  return out;
}

using edges = std::vector<plain_edge>;

inline std::string fixture(std::string const& name) { return source_folder() + "/data/fixtures/" + name; }

}  // namespace tendril::test
