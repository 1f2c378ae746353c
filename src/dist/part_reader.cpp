// Reads the files of a cut graph. Every size is compared with graph.json and with the file before anything is allocated.

#include <filesystem>
#include <optional>
#include <span>
#include <system_error>

#include <fmt/format.h>

#include <tendril/compress.hpp>  // to_string(graph_form)
#include <tendril/error.hpp>

#include "dist/join_rows.hpp"
#include "dist/part_files.hpp"
#include "dist/partition_cut.hpp"  // expect_part
#include "formats/array_view.hpp"
#include "formats/list_tensors.hpp"
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
      : path_(std::move(path)), exec_(exec)
  {
    auto const file = formats::mapped_file::open(path_);
    if (file->bytes().empty()) { fail("empty file, expected arrays of a cut graph"); }
    tensors_.emplace(path_, file->bytes(), file, exec_);
    for (auto const& [key, expected] : metadata) {
      std::string const text = tensors_->metadata(key.c_str());
      if (text == expected) { continue; }
      if (key == digest_key) {
        fail("a file of another graph: digest {}, expected {} as in {}", quoted(text), expected, info_file);
      }
      fail("{} {}, expected '{}'", key, quoted(text), expected);
    }
  }

  [[nodiscard]] std::string const& path() const { return path_; }
  [[nodiscard]] formats::tensor_reader const& tensors() const { return *tensors_; }

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
    bool const has = tensors_->has(name);
    if (has != is_there) {
      fail("{} array '{}', expected {} as {} says", has ? "an" : "no", name, is_there ? "one" : "none", info_file);
    }
    if (!has) { return {}; }
    array_view const array = tensors_->expect(name, info_file);
    if (array.shape != std::vector<std::int64_t>{size}) {
      fail("array '{}': shape {}, expected ({},) as {} says", name, array.shape_text(), size, info_file);
    }
    return convert(path_, array, exec_);
  }

  std::string path_;
  cpu_exec const& exec_;
  std::optional<formats::tensor_reader> tensors_;
};

/// The compressed rows of one part, of shapes that are right.
void open_lists(tensor_file const& file, partition_info const& info, std::int64_t size, edge_id edges,
                graph_arrays& rows)
{
  graph_form const form = formats::read_form(file.tensors(), form_version);
  if (form != info.form) {
    file.fail("form '{}', expected '{}' as in {}", to_string(form), to_string(info.form), info_file);
  }
  compressed_lists& lists = rows.compressed;
  lists = formats::read_lists(file.tensors(), form);
  if (lists.num_vertices != size || lists.num_edges != edges) {
    file.fail("lists of {} vertices and {} edges, expected {} and {} as {} says", lists.num_vertices, lists.num_edges,
              size, edges, info_file);
  }
  rows.narrow = formats::read_narrow(file.tensors(), edges);
  narrow_edges const& narrow = rows.narrow;
  auto const expect = [&](char const* what, packed_array const& codes, bool is_there) {
    if (!codes.empty() && !is_there) { file.fail("codes of {}, expected none as {} says", what, info_file); }
  };
  expect("weights", narrow.weight_codes, info.has_weights);
  expect("edge labels", narrow.labels, info.bytes_per_edge_label > 0);
  expect("edge ids", narrow.ids, info.has_edge_ids);
  if (!narrow.labels.empty() && narrow.bytes_per_label != info.bytes_per_edge_label) {
    file.fail("codes of labels of {} bytes, expected {} as in {}", narrow.bytes_per_label, info.bytes_per_edge_label,
              info_file);
  }
}

/// The rows of one part; `check` reads them.
graph_arrays open_rows(std::string const& folder, partition_info const& info, std::int64_t index, cpu_exec const& exec)
{
  auto const p = static_cast<std::size_t>(index);
  tensor_file const file(path_in(folder, part_file(index, info.num_parts())), part_metadata(info, index), exec);
  std::int64_t const size = info.bounds[p + 1] - info.bounds[p];
  edge_id const edges = info.part_edges[p];
  graph_arrays rows;
  rows.source = file.path();
  bool const is_csr = info.form == graph_form::csr;
  if (!is_csr) {
    open_lists(file, info, size, edges, rows);
    rows.compressed.first_id = static_cast<vertex_id>(info.bounds[p]);
  }
  narrow_edges const& narrow = rows.narrow;
  rows.indptr = file.edge_ids(indptr_name, is_csr, size + 1);
  rows.indices = file.vertex_ids(indices_name, is_csr, edges);
  rows.weights = file.weights(info.has_weights && narrow.weight_codes.empty(), edges);
  rows.edge_labels = file.labels(edge_labels_name, narrow.labels.empty() ? info.bytes_per_edge_label : 0, edges);
  rows.edge_ids = file.edge_ids(edge_ids_name, info.has_edge_ids && narrow.ids.empty(), edges);
  if (!is_csr) {
    try {
      (void)graph(rows);  // compares the shapes of all arrays
    } catch (argument_error const& problem) {
      file.fail("{}", problem.what());
    }
    return rows;
  }
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
  graph_arrays arrays = dist::join_rows(std::move(parts), info, exec);
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
