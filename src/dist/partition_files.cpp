// A cut graph in a folder: written part by part from the arrays of the graph.

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <vector>

#include <tendril/error.hpp>
#include <tendril/file.hpp>

#include "dist/part_files.hpp"
#include "dist/partition_cut.hpp"
#include "formats/list_tensors.hpp"
#include "formats/safetensors.hpp"  // write_tensors

namespace tendril {
namespace dist {
namespace {

using formats::dtype;
using formats::tensor_data;

/// Reports the files of a folder as one.
class folder_progress {
 public:
  folder_progress(cpu_exec const& exec, std::int64_t total) : exec_(exec), total_(total) {}

  /// For the next file, of about so many bytes.
  [[nodiscard]] cpu_exec next(std::int64_t bytes)
  {
    cpu_exec out = exec_;
    std::int64_t const before = done_;
    done_ += bytes;
    if (exec_.on_progress) {
      out.on_progress = [this, before, bytes](progress const& p) {
        if (std::string_view(p.what) != "writing") {  // what is to be written is being made
          exec_.on_progress(p);
          return;
        }
        double const share = p.total > 0 ? static_cast<double>(p.done) / static_cast<double>(p.total) : 0;
        exec_.on_progress({"writing", before + static_cast<std::int64_t>(share * static_cast<double>(bytes)), total_});
      };
    }
    return out;
  }

 private:
  cpu_exec const& exec_;
  std::int64_t total_, done_ = 0;
};

void write_part(cut_graph const& from, std::int64_t index, std::string const& path, cpu_exec const& exec)
{
  partition_info const& info = from.info;
  graph_arrays const rows = rows_of(from, index, exec);
  auto metadata = part_metadata(info, index);
  std::vector<tensor_data> tensors;
  if (info.form == graph_form::csr) {
    tensors.push_back(tensor_data::array(indptr_name, dtype::int64, rows.indptr.size(), rows.indptr.data()));
    tensors.push_back(tensor_data::array(indices_name, dtype::uint32, rows.indices.size(), rows.indices.data()));
  } else {
    formats::add_lists(rows.compressed, tensors, metadata);
    formats::add_narrow(rows.narrow, tensors, metadata);
  }
  if (info.has_weights && rows.narrow.weight_codes.empty()) {
    tensors.push_back(tensor_data::array(weights_name, dtype::float32, rows.weights.size(), rows.weights.data()));
  }
  if (info.bytes_per_edge_label > 0 && rows.narrow.labels.empty()) {
    tensors.push_back(tensor_data::array(edge_labels_name, rows.edge_labels));
  }
  if (info.has_edge_ids && rows.narrow.ids.empty()) {
    tensors.push_back(tensor_data::array(edge_ids_name, dtype::int64, rows.edge_ids.size(), rows.edge_ids.data()));
  }
  formats::write_tensors(path, std::move(tensors), metadata, exec);
}

void write_vertices(cut_graph const& from, std::string const& path, cpu_exec const& exec)
{
  graph_arrays const& arrays = from.whole.arrays();
  std::vector<tensor_data> tensors;
  if (!arrays.node_types.empty()) { tensors.push_back(tensor_data::array(node_types_name, arrays.node_types)); }
  if (!arrays.original_ids.empty()) {
    tensors.push_back(
        tensor_data::array(original_ids_name, dtype::uint32, arrays.original_ids.size(), arrays.original_ids.data()));
  }
  formats::write_tensors(path, std::move(tensors),
                         {{format_key, vertices_format}, {version_key, format_version}, {digest_key, from.info.digest}},
                         exec);
}

void write_files(cut_graph const& whole, atomic_folder const& out, cpu_exec const& exec)
{
  partition_info const& info = whole.info;
  std::int64_t const vertex_bytes = info.num_vertices * (info.bytes_per_node_type + (info.has_original_ids ? 4 : 0));
  std::int64_t total = vertex_bytes;
  for (std::int64_t p = 0; p < info.num_parts(); ++p) { total += part_bytes(info, p); }
  folder_progress parts(exec, total);
  for (std::int64_t p = 0; p < info.num_parts(); ++p) {
    write_part(whole, p, out / part_file(p, info.num_parts()), parts.next(part_bytes(info, p)));
  }
  if (has_vertex_arrays(info)) { write_vertices(whole, out / vertices_file, parts.next(vertex_bytes)); }
  std::string const text = to_json_text(info);
  atomic_file file(out / info_file);
  file.write(text.data(), text.size());
  file.commit();
}

}  // namespace

std::int64_t part_bytes(partition_info const& info, std::int64_t index)
{
  auto const p = static_cast<std::size_t>(index);
  std::int64_t const an_edge = 4 + (info.has_weights ? 4 : 0) + info.bytes_per_edge_label + (info.has_edge_ids ? 8 : 0);
  return 8 * (info.bounds[p + 1] - info.bounds[p] + 1) + an_edge * info.part_edges[p];
}

}  // namespace dist

std::string part_file(std::int64_t index, std::int64_t num_parts)
{
  return fmt::format("part-{:05}-of-{:05}.safetensors", index, num_parts);
}

partition_info partition_graph(graph const& input, std::string const& folder, partition_params const& params,
                               cpu_exec const& exec)
{
  atomic_folder out(folder);
  dist::cut_graph const whole = dist::cut(input, params, exec);
  try {
    dist::write_files(whole, out, exec);
  } catch (io_error const& problem) {
    std::string message = problem.what();  // names the file where it is now
    std::string const now = out / "";
    if (message.starts_with(now)) { message.replace(0, now.size(), (std::filesystem::path(folder) / "").string()); }
    throw io_error(message);
  }
  out.commit();
  return whole.info;
}

}  // namespace tendril
