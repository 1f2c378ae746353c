// The front of reading and writing: which format, and what all formats have in common.

#include <tendril/io.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <new>
#include <optional>

#include <fmt/format.h>
#include <sys/stat.h>

#include <tendril/compress.hpp>  // to_csr
#include <tendril/error.hpp>

#include "base/expects.hpp"  // TENDRIL_EXPECTS
#include "formats/gzip.hpp"
#include "formats/mapped_file.hpp"
#include "formats/readers.hpp"

namespace tendril {
namespace {

struct named_format {
  graph_format format;
  std::string_view name;
};
constexpr std::array<named_format, 16> format_extensions = {{{graph_format::safetensors, ".safetensors"},
                                                             {graph_format::text_edges, ".txt"},
                                                             {graph_format::text_edges, ".tsv"},
                                                             {graph_format::text_edges, ".csv"},
                                                             {graph_format::text_edges, ".el"},
                                                             {graph_format::text_edges, ".wel"},
                                                             {graph_format::text_edges, ".edges"},
                                                             {graph_format::matrix_market, ".mtx"},
                                                             {graph_format::npz, ".npz"},
                                                             {graph_format::gap, ".sg"},
                                                             {graph_format::gap, ".wsg"},
                                                             {graph_format::metis, ".metis"},
                                                             {graph_format::metis, ".graph"},
                                                             {graph_format::coo32, ".coo32"},
                                                             {graph_format::coo64, ".coo64"},
                                                             {graph_format::npy, ".npy"}}};

/// The format that the name says, without looking inside; only text formats may be compressed.
std::optional<graph_format> format_by_extension(std::string_view path)
{
  bool const compressed = path.ends_with(".gz");
  if (compressed) { path.remove_suffix(3); }
  for (auto const& [format, extension] : format_extensions) {
    bool const text =
        format == graph_format::text_edges || format == graph_format::matrix_market || format == graph_format::metis;
    if (path.ends_with(extension) && (text || !compressed)) { return format; }
  }
  return std::nullopt;
}

bool is_text(std::string_view head)
{
  return std::ranges::all_of(head, [](char c) {
    auto const u = static_cast<unsigned char>(c);
    return u >= ' ' || c == '\t' || c == '\n' || c == '\r';
  });
}

bool looks_like_safetensors(std::span<std::byte const> bytes)
{
  std::uint64_t header_bytes = 0;
  if (bytes.size() <= sizeof header_bytes || bytes[sizeof header_bytes] != std::byte{'{'}) { return false; }
  std::memcpy(&header_bytes, bytes.data(), sizeof header_bytes);
  return header_bytes <= bytes.size() - sizeof header_bytes;
}

bool has_properties(std::string const& path)
{
  constexpr std::string_view extension = ".graph";
  if (!path.ends_with(extension)) { return false; }
  std::string const sibling = path.substr(0, path.size() - extension.size()) + ".properties";
  struct stat info {};
  return stat(sibling.c_str(), &info) == 0;
}

graph_format detect(std::string const& path, std::span<std::byte const> bytes)
{
  std::array<char, 4096> buffer{};
  std::string_view head;
  if (formats::is_gzip(bytes)) {
    head = {buffer.data(), formats::gzip_reader(path, bytes).read(buffer.data(), buffer.size())};
  } else {
    head = {reinterpret_cast<char const*>(bytes.data()), std::min(bytes.size(), buffer.size())};
  }
  constexpr std::string_view banner = "%%matrixmarket";
  bool const matrix = head.size() >= banner.size() &&
                      std::ranges::equal(head.substr(0, banner.size()), banner,
                                         [](char a, char b) { return (a >= 'A' && a <= 'Z' ? a + 32 : a) == b; });
  if (matrix) { return graph_format::matrix_market; }
  if (head.starts_with("PK\x03\x04") || head.starts_with("PK\x05\x06")) { return graph_format::npz; }
  if (head.starts_with("\x93NUMPY")) { return graph_format::npy; }
  if (looks_like_safetensors(bytes)) { return graph_format::safetensors; }
  if (has_properties(path)) { return graph_format::webgraph; }
  auto const named = format_by_extension(path);
  if (named == graph_format::metis && !is_text(head)) { return graph_format::webgraph; }
  if (named) { return *named; }
  if (is_text(head)) { return graph_format::text_edges; }
  throw format_error(
      fmt::format("{}: neither content nor extension tells the format, expected a graph as safetensors, "
                  "edge-list, matrix-market, npz, gap, metis, webgraph, coo32, coo64 or npy",
                  path));
}

std::shared_ptr<formats::mapped_file const> open_graph_file(std::string const& path)
{
  auto file = formats::mapped_file::open(path);
  if (file->bytes().empty()) { throw format_error(fmt::format("{}: empty file, expected a graph", path)); }
  return file;
}

/// Validates a CSR that came out of a file, and builds it again if the user wants it otherwise. A mapped graph, which has
/// a source, is left unchecked: its first use checks it.
graph finish_csr(graph stored, std::string const& path, build_options const& build, cpu_exec const& exec)
{
  bool const rebuild = formats::changes_something(build);
  bool const mapped = !stored.arrays().source.empty();
  if (!mapped || rebuild) {
    try {
      stored.validate(exec);
    } catch (format_error const& problem) {
      if (mapped) { throw; }  // it names the file itself
      throw format_error(fmt::format("{}: {}", path, problem.what()));
    }
  }
  if (!rebuild) { return stored; }
  return build_graph(stored, build, exec);
}

graph read_as(graph_format format, std::string const& path, read_options const& options, cpu_exec const& exec,
              std::shared_ptr<formats::mapped_file const> file)
{
  auto const bytes = file->bytes();
  auto const finish = [&](graph stored) { return finish_csr(std::move(stored), path, options.build, exec); };
  switch (format) {
    case graph_format::text_edges: return formats::read_edge_list(path, bytes, std::move(file), options, exec);
    case graph_format::matrix_market: return formats::read_matrix_market(path, bytes, std::move(file), options, exec);
    case graph_format::metis: return formats::read_metis(path, bytes, std::move(file), options, exec);
    case graph_format::npz: return finish(formats::read_npz(path, bytes, std::move(file), options, exec));
    case graph_format::gap: return finish(formats::read_gap(path, bytes, std::move(file), options, exec));
    case graph_format::safetensors:
      return finish(formats::read_safetensors(path, bytes, std::move(file), options, exec));
    case graph_format::webgraph: return finish(formats::read_webgraph(path, bytes, std::move(file), options, exec));
    case graph_format::coo32:
    case graph_format::coo64:
    case graph_format::npy: {
      read_options own = options;
      own.format = format;
      return formats::read_coo(path, bytes, std::move(file), own, exec);
    }
    case graph_format::automatic: break;
  }
  throw argument_error(fmt::format("graph_format: {}, expected one of the formats", static_cast<int>(format)));
}

}  // namespace

bool formats::changes_something(build_options const& build) noexcept
{
  return build.num_vertices >= 0 || build.reverse || build.symmetrize || build.drop_self_loops ||
         build.drop_duplicates || build.compact || build.keep_edge_ids;
}

graph_format detect_graph_format(std::string const& path) { return detect(path, open_graph_file(path)->bytes()); }

graph read_graph(std::string const& path, read_options const& options, cpu_exec const& exec)
{
  auto file = open_graph_file(path);
  auto const format = options.format == graph_format::automatic ? detect(path, file->bytes()) : options.format;
  TENDRIL_EXPECTS(
      options.columns.empty() || format == graph_format::text_edges || format == graph_format::matrix_market,
      "{}: columns are named, but the format is {}, expected edge-list or matrix-market", path, to_string(format));
  try {
    return read_as(format, path, options, exec, std::move(file));
  } catch (std::bad_alloc const&) {
    throw memory_error(fmt::format("{}: out of memory while reading", path));
  }
}

void write_graph(graph const& input, std::string const& path, write_options const& options, cpu_exec const& exec)
{
  auto format = options.format;
  if (format == graph_format::automatic) {
    auto const named = format_by_extension(path);
    TENDRIL_EXPECTS(
        named.has_value(),
        "{}: the extension names no format, expected .safetensors, .txt, .tsv, .csv, .el, .wel, .mtx, .npz, "
        ".sg, .wsg, .metis or .graph",
        path);
    format = *named;
  }
  TENDRIL_EXPECTS(input.device() < 0, "{}: the graph is on GPU {}, expected one in host memory (to_host)", path,
                  input.device());
  if (input.content() != graph_content::valid) { input.validate(exec); }
  if (format == graph_format::safetensors) { return formats::write_safetensors(input, path, exec); }
  graph const plain = to_csr(input, exec);
  switch (format) {
    case graph_format::text_edges: return formats::write_edge_list(plain, path, exec);
    case graph_format::matrix_market: return formats::write_matrix_market(plain, path, exec);
    case graph_format::metis: return formats::write_metis(plain, path, exec);
    case graph_format::npz: return formats::write_npz(plain, path, exec);
    case graph_format::gap: return formats::write_gap(plain, path, exec);
    case graph_format::safetensors:
    case graph_format::webgraph:
    case graph_format::coo32:
    case graph_format::coo64:
    case graph_format::npy:
    case graph_format::automatic: break;
  }
  throw argument_error(
      fmt::format("{}: format {} can be read only, expected another to write", path, to_string(format)));
}

}  // namespace tendril
