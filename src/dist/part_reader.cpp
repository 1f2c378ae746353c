// Reads the files of a cut graph. Every size is compared with graph.json and with the file before anything is allocated.

#include <filesystem>
#include <span>
#include <system_error>

#include <fmt/format.h>

#include <tendril/error.hpp>

#include "base/parallel.hpp"  // parallel_ranges
#include "dist/part_files.hpp"
#include "dist/partition_cut.hpp"  // expect_part
#include "formats/array_view.hpp"
#include "formats/mapped_file.hpp"
#include "formats/readers.hpp"  // changes_something
#include "formats/safetensors.hpp"
#include "formats/text_numbers.hpp"  // quoted
#include "graph/check.hpp"           // expect_sound_rows

namespace tendril {
namespace dist {
namespace {

using formats::array_view;
using formats::quoted;

std::string path_in(std::string const& folder, std::string const& name)
{
  return (std::filesystem::path(folder) / name).string();
}

/// A file of arrays of a cut graph, mapped.
class tensor_file {
 public:
  /// @param metadata  That it must have.
  tensor_file(std::string path, std::map<std::string, std::string> const& metadata, cpu_exec const& exec)
      : path_(std::move(path)), exec_(exec), file_(formats::mapped_file::open(path_))
  {
    if (file_->bytes().empty()) { fail("empty file, expected arrays of a cut graph"); }
    contents_ = formats::parse_safetensors(path_, file_->bytes());
    for (auto const& [key, expected] : metadata) {
      auto const found = contents_.metadata.find(key);
      std::string const text = found == contents_.metadata.end() ? "" : found->second;
      if (text == expected) { continue; }
      if (key == digest_key) {
        fail("a file of another graph: digest {}, expected {} as in {}", quoted(text), expected, info_file);
      }
      fail("{} {}, expected '{}'", key, quoted(text), expected);
    }
  }

  [[nodiscard]] std::string const& path() const { return path_; }

  template <class... Values>
  [[noreturn]] void fail(fmt::format_string<Values...> what, Values&&... values) const
  {
    throw format_error(path_ + ": " + fmt::format(what, std::forward<Values>(values)...));
  }

  [[nodiscard]] shared_array<edge_id> edge_ids(char const* name, bool is_there, std::int64_t size) const
  {
    return read<shared_array<edge_id>>(name, is_there, size, formats::to_edge_ids);
  }
  [[nodiscard]] shared_array<vertex_id> vertex_ids(char const* name, bool is_there, std::int64_t size) const
  {
    return read<shared_array<vertex_id>>(name, is_there, size,
                                         [](auto const&... arguments) { return formats::to_vertex_ids(arguments...); });
  }
  [[nodiscard]] shared_array<float> weights(bool is_there, std::int64_t size) const
  {
    return read<shared_array<float>>(weights_name, is_there, size, formats::to_weights);
  }
  [[nodiscard]] label_array labels(char const* name, int bytes, std::int64_t size) const
  {
    auto out = read<label_array>(name, bytes > 0, size, formats::to_labels);
    if (out.bytes_per_label() != bytes) {
      fail("array '{}': labels of {} bytes, expected {} as in {}", name, out.bytes_per_label(), bytes, info_file);
    }
    return out;
  }

 private:
  template <class Array, class F>
  [[nodiscard]] Array read(char const* name, bool is_there, std::int64_t size, F const& convert) const
  {
    auto const found = contents_.tensors.find(name);
    bool const has = found != contents_.tensors.end();
    if (has != is_there) {
      fail("{} array '{}', expected {} as {} says", has ? "an" : "no", name, is_there ? "one" : "none", info_file);
    }
    if (!has) { return {}; }
    formats::tensor_entry const& tensor = found->second;
    auto const bytes = file_->bytes().subspan(static_cast<std::size_t>(tensor.begin),
                                              static_cast<std::size_t>(tensor.end - tensor.begin));
    array_view const array{name, tensor.type, tensor.shape, bytes, file_};
    if (array.shape != std::vector<std::int64_t>{size}) {
      fail("array '{}': shape {}, expected ({},) as {} says", name, array.shape_text(), size, info_file);
    }
    return convert(path_, array, exec_);
  }

  std::string path_;
  cpu_exec const& exec_;
  std::shared_ptr<formats::mapped_file const> file_;
  formats::safetensors_contents contents_;
};

/// The rows of one part; `check` reads them.
graph_arrays open_rows(std::string const& folder, partition_info const& info, std::int64_t index, cpu_exec const& exec)
{
  auto const p = static_cast<std::size_t>(index);
  tensor_file const file(path_in(folder, part_file(index, info.num_parts())),
                         {{format_key, part_format},
                          {version_key, format_version},
                          {digest_key, info.digest},
                          {part_key, part_text(index, info.num_parts())}},
                         exec);
  std::int64_t const size = info.bounds[p + 1] - info.bounds[p];
  edge_id const edges = info.part_edges[p];
  graph_arrays rows;
  rows.source = file.path();
  rows.indptr = file.edge_ids(indptr_name, true, size + 1);
  rows.indices = file.vertex_ids(indices_name, true, edges);
  rows.weights = file.weights(info.has_weights, edges);
  rows.edge_labels = file.labels(edge_labels_name, info.bytes_per_edge_label, edges);
  rows.edge_ids = file.edge_ids(edge_ids_name, info.has_edge_ids, edges);
  if (rows.indptr[0] != 0) { file.fail("array 'indptr': starts with {}, expected 0", rows.indptr[0]); }
  if (rows.indptr[size] != edges) {
    file.fail("array 'indptr': ends with {}, expected the number of indices, {}", rows.indptr[size], edges);
  }
  return rows;
}

void check_rows(graph_arrays const& rows, partition_info const& info, std::int64_t index, cpu_exec const& exec)
{
  validation::expect_sound_rows(rows, {info.num_vertices, info.bounds[static_cast<std::size_t>(index)]}, exec);
}

struct vertex_arrays {
  label_array node_types;
  shared_array<vertex_id> original_ids;
};

vertex_arrays read_vertices(std::string const& folder, partition_info const& info, cpu_exec const& exec)
{
  if (!has_vertex_arrays(info)) { return {}; }
  tensor_file const file(path_in(folder, vertices_file),
                         {{format_key, vertices_format}, {version_key, format_version}, {digest_key, info.digest}},
                         exec);
  return {file.labels(node_types_name, info.bytes_per_node_type, info.num_vertices),
          file.vertex_ids(original_ids_name, info.has_original_ids, info.num_vertices)};
}

template <class T>
void copy_behind(shared_array<T> const& from, buffer<T>& to, std::int64_t at, cpu_exec const& exec)
{
  base::parallel_ranges(exec, from.size(), std::int64_t{1} << 20U, [&](std::int64_t begin, std::int64_t end) {
    std::copy(from.data() + begin, from.data() + end, to.data() + at + begin);
  });
}

/// An array of edges of all parts, one behind the other.
template <class T, class ArrayOf>
shared_array<T> joined(std::vector<graph_arrays> const& parts, ArrayOf array_of, cpu_exec const& exec)
{
  std::int64_t size = 0;
  for (auto const& part : parts) { size += array_of(part).size(); }
  buffer<T> out(size, *exec.memory);
  std::int64_t at = 0;
  for (auto const& part : parts) {
    shared_array<T> const from = array_of(part);
    copy_behind(from, out, at, exec);
    at += from.size();
  }
  return out;
}

template <class T>
label_array joined_labels(std::vector<graph_arrays> const& parts, cpu_exec const& exec)
{
  return joined<T>(
      parts,
      [](graph_arrays const& part) {
        label_array const& labels = part.edge_labels;
        return shared_array<T>(
            std::span(static_cast<T const*>(labels.view().data), static_cast<std::size_t>(labels.size())),
            labels.owner());
      },
      exec);
}

shared_array<edge_id> joined_offsets(std::vector<graph_arrays> const& parts, partition_info const& info,
                                     cpu_exec const& exec)
{
  buffer<edge_id> out(info.num_vertices + 1, *exec.memory);
  out[0] = 0;
  edge_id before = 0;
  std::int64_t first = 0;
  for (auto const& part : parts) {
    std::int64_t const size = part.indptr.size() - 1;
    base::parallel_ranges(exec, size, std::int64_t{1} << 20U, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t v = begin + 1; v <= end; ++v) { out[first + v] = before + part.indptr[v]; }
    });
    before += part.indices.size();
    first += size;
  }
  return out;
}

}  // namespace
}  // namespace dist

bool is_partition(std::string const& path)
{
  std::error_code failure;
  return std::filesystem::is_regular_file(dist::path_in(path, dist::info_file), failure);
}

partition_info read_partition_info(std::string const& folder)
{
  std::string const path = dist::path_in(folder, dist::info_file);
  auto const file = formats::mapped_file::open(path);
  auto const bytes = file->bytes();
  return dist::parse_partition_info(path, {reinterpret_cast<char const*>(bytes.data()), bytes.size()});
}

graph_part read_part(std::string const& folder, std::int64_t index, cpu_exec const& exec)
{
  graph_part out;
  out.info = read_partition_info(folder);
  dist::expect_part(out.info, index);
  out.index = index;
  out.rows = dist::open_rows(folder, out.info, index, exec);
  dist::check_rows(out.rows, out.info, index, exec);
  auto vertices = dist::read_vertices(folder, out.info, exec);
  out.node_types = std::move(vertices.node_types);
  out.original_ids = std::move(vertices.original_ids);
  return out;
}

graph read_parts_as_graph(std::string const& folder, cpu_exec const& exec, build_options const& build)
{
  partition_info const info = read_partition_info(folder);
  std::vector<graph_arrays> parts;
  for (std::int64_t p = 0; p < info.num_parts(); ++p) { parts.push_back(dist::open_rows(folder, info, p, exec)); }
  auto vertices = dist::read_vertices(folder, info, exec);
  for (std::int64_t p = 0; p < info.num_parts(); ++p) {
    if (exec.on_progress) { exec.on_progress({"reading", p, info.num_parts()}); }
    dist::check_rows(parts[static_cast<std::size_t>(p)], info, p, exec);
  }
  graph_arrays arrays;
  arrays.indptr = dist::joined_offsets(parts, info, exec);
  arrays.indices = dist::joined<vertex_id>(
      parts, [](auto const& part) { return part.indices; }, exec);
  if (info.has_weights) {
    arrays.weights = dist::joined<float>(
        parts, [](auto const& part) { return part.weights; }, exec);
  }
  if (info.bytes_per_edge_label == 1) { arrays.edge_labels = dist::joined_labels<std::uint8_t>(parts, exec); }
  if (info.bytes_per_edge_label == 2) { arrays.edge_labels = dist::joined_labels<std::uint16_t>(parts, exec); }
  if (info.has_edge_ids) {
    arrays.edge_ids = dist::joined<edge_id>(
        parts, [](auto const& part) { return part.edge_ids; }, exec);
  }
  arrays.node_types = std::move(vertices.node_types);
  arrays.original_ids = std::move(vertices.original_ids);
  arrays.edge_label_names = info.edge_label_names;
  arrays.node_type_names = info.node_type_names;
  arrays.symmetric = info.symmetric;
  arrays.metadata = info.metadata;
  graph whole(std::move(arrays), graph_content::sound);
  return formats::changes_something(build) ? build_graph(whole, build, exec) : whole;
}

}  // namespace tendril
