// Graphs in safetensors files, Tendril's native container. docs/formats.md has the layout.

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <tendril/error.hpp>
#include <tendril/file.hpp>  // atomic_file

#include "formats/readers.hpp"
#include "formats/safetensors.hpp"
#include "formats/text_numbers.hpp"  // quoted

namespace tendril::formats {
namespace {

constexpr char const* format_key = "format";
constexpr char const* version_key = "version";
constexpr char const* symmetric_key = "symmetric";
constexpr char const* edge_label_names_key = "edge_label_names";
constexpr char const* node_type_names_key = "node_type_names";
constexpr char const* format_name = "tendril-graph";
constexpr char const* format_version = "1";

bool is_reserved(std::string const& key)
{
  return key == format_key || key == version_key || key == symmetric_key || key == edge_label_names_key ||
         key == node_type_names_key;
}

class graph_reader {
 public:
  graph_reader(std::string const& path, std::span<std::byte const> bytes, std::shared_ptr<void const> owner,
               cpu_exec const& exec)
      : path_(path), bytes_(bytes), owner_(std::move(owner)), exec_(exec), contents_(parse_safetensors(path, bytes))
  {
  }

  graph read()
  {
    check_version();
    graph_arrays arrays;
    arrays.indptr = to_edge_ids(path_, expect("indptr"), exec_);
    arrays.indices = to_vertex_ids(path_, expect("indices"), exec_);
    std::int64_t const vertices = arrays.indptr.size() - 1;
    std::int64_t const edges = arrays.indices.size();
    if (auto const weights = find("weights", edges, "an edge")) { arrays.weights = to_weights(path_, *weights, exec_); }
    if (auto const labels = find("edge_labels", edges, "an edge")) {
      arrays.edge_labels = to_labels(path_, *labels, exec_);
    }
    if (auto const types = find("node_types", vertices, "a vertex")) {
      arrays.node_types = to_labels(path_, *types, exec_);
    }
    if (auto const ids = find("edge_ids", edges, "an edge")) { arrays.edge_ids = to_edge_ids(path_, *ids, exec_); }
    if (auto const ids = find("original_ids", vertices, "a vertex")) {
      arrays.original_ids = to_vertex_ids(path_, *ids, exec_);
    }
    arrays.symmetric = metadata(symmetric_key) == "true";
    arrays.source = path_;
    arrays.edge_label_names = names(edge_label_names_key);
    arrays.node_type_names = names(node_type_names_key);
    std::copy_if(contents_.metadata.begin(), contents_.metadata.end(),
                 std::inserter(arrays.metadata, arrays.metadata.end()),
                 [](auto const& entry) { return !is_reserved(entry.first); });
    try {
      return graph(std::move(arrays));
    } catch (argument_error const& error) {
      throw format_error(fmt::format("{}: {}", path_, error.what()));
    }
  }

 private:
  void check_version() const
  {
    std::string const version = metadata(version_key);
    if (metadata(format_key) == format_name && version != format_version) {
      throw format_error(
          fmt::format("{}: {} version {}, expected {}", path_, format_name, quoted(version), format_version));
    }
  }

  [[nodiscard]] std::string metadata(char const* key) const
  {
    auto const it = contents_.metadata.find(key);
    return it == contents_.metadata.end() ? "" : it->second;
  }

  [[nodiscard]] array_view expect(char const* name) const
  {
    auto const it = contents_.tensors.find(name);
    if (it == contents_.tensors.end()) {
      throw format_error(fmt::format("{}: no tensor '{}', expected a graph's indptr and indices", path_, name));
    }
    tensor_entry const& tensor = it->second;
    return {name, tensor.type, tensor.shape,
            bytes_.subspan(static_cast<std::size_t>(tensor.begin), static_cast<std::size_t>(tensor.end - tensor.begin)),
            owner_};
  }

  /// An optional tensor; an empty one counts as missing, as it does in a graph.
  [[nodiscard]] std::optional<array_view> find(char const* name, std::int64_t size, char const* unit) const
  {
    if (!contents_.tensors.contains(name)) { return {}; }
    array_view array = expect(name);
    if (array.shape != std::vector<std::int64_t>{size}) {
      throw format_error(
          fmt::format("{}: array '{}': shape {}, expected ({},): one {}", path_, name, array.shape_text(), size, unit));
    }
    return array;
  }

  [[nodiscard]] std::vector<std::string> names(char const* key) const
  {
    std::string const text = metadata(key);
    if (text.empty()) { return {}; }
    bool nested = false;  // dropped at once, so that nesting can't use up memory
    auto const keep_flat = [&](int depth, nlohmann::json::parse_event_t event, nlohmann::json const& /*value*/) {
      bool const keep = depth == 0 || event == nlohmann::json::parse_event_t::value;
      nested = nested || !keep;
      return keep;
    };
    auto const list = nlohmann::json::parse(text, keep_flat, false);
    bool const good = !nested && list.is_array() &&
                      std::all_of(list.begin(), list.end(), [](auto const& item) { return item.is_string(); });
    if (!good) { throw format_error(fmt::format("{}: metadata '{}': expected a JSON list of strings", path_, key)); }
    return list.get<std::vector<std::string>>();
  }

  std::string const& path_;
  std::span<std::byte const> bytes_;
  std::shared_ptr<void const> owner_;
  cpu_exec const& exec_;
  safetensors_contents contents_;
};

dtype label_type(label_array const& labels) { return labels.bytes_per_label() == 1 ? dtype::uint8 : dtype::uint16; }

}  // namespace

graph read_safetensors(std::string const& path, std::span<std::byte const> bytes, std::shared_ptr<void const> owner,
                       read_options const& /*options*/, cpu_exec const& exec)
{
  return graph_reader(path, bytes, std::move(owner), exec).read();
}

void write_safetensors(graph const& input, std::string const& path, cpu_exec const& exec)
{
  graph_arrays const& arrays = input.arrays();
  std::int64_t const vertices = input.num_vertices();
  static constexpr edge_id no_edges = 0;  // the indptr of a graph without vertices

  struct part {
    tensor_spec spec;
    void const* data;
  };
  std::vector<part> parts;
  auto const add = [&](char const* name, dtype type, std::int64_t size, void const* data) {
    parts.push_back({{name, type, {size}}, data});
  };
  add("indptr", dtype::int64, vertices + 1, arrays.indptr.empty() ? &no_edges : arrays.indptr.data());
  add("indices", dtype::uint32, input.num_edges(), arrays.indices.data());
  if (!arrays.edge_ids.empty()) { add("edge_ids", dtype::int64, arrays.edge_ids.size(), arrays.edge_ids.data()); }
  if (!arrays.weights.empty()) { add("weights", dtype::float32, arrays.weights.size(), arrays.weights.data()); }
  if (!arrays.original_ids.empty()) {
    add("original_ids", dtype::uint32, arrays.original_ids.size(), arrays.original_ids.data());
  }
  for (auto const& [name, labels] :
       {std::pair{"edge_labels", &arrays.edge_labels}, std::pair{"node_types", &arrays.node_types}}) {
    if (!labels->empty()) { add(name, label_type(*labels), labels->size(), labels->view().data); }
  }
  // Large elements first, since nothing may lie between tensors: so each is aligned.
  std::stable_sort(parts.begin(), parts.end(),
                   [](part const& a, part const& b) { return size_of(a.spec.type) > size_of(b.spec.type); });

  std::map<std::string, std::string> metadata = arrays.metadata;
  std::erase_if(metadata, [](auto const& entry) { return is_reserved(entry.first); });
  metadata[format_key] = format_name;
  metadata[version_key] = format_version;
  metadata[symmetric_key] = arrays.symmetric ? "true" : "false";
  auto const add_names = [&](char const* key, std::vector<std::string> const& names) {
    using handler = nlohmann::json::error_handler_t;
    if (!names.empty()) { metadata[key] = nlohmann::json(names).dump(-1, ' ', false, handler::replace); }
  };
  add_names(edge_label_names_key, arrays.edge_label_names);
  add_names(node_type_names_key, arrays.node_type_names);

  std::vector<tensor_spec> specs;
  std::transform(parts.begin(), parts.end(), std::back_inserter(specs), [](part const& p) { return p.spec; });
  std::string const header = safetensors_header(specs, metadata);
  std::int64_t total = static_cast<std::int64_t>(header.size());
  for (auto const& spec : specs) { total += spec.shape[0] * size_of(spec.type); }

  atomic_file file(path);
  file.write(header.data(), header.size());
  constexpr std::int64_t piece = std::int64_t{64} << 20;  // between two calls of on_progress
  for (auto const& [spec, data] : parts) {
    std::int64_t const size = spec.shape[0] * size_of(spec.type);
    for (std::int64_t at = 0; at < size; at += piece) {
      if (exec.on_progress) { exec.on_progress({"writing", file.size(), total}); }
      file.write(static_cast<std::byte const*>(data) + at, static_cast<std::size_t>(std::min(piece, size - at)));
    }
  }
  file.commit();
}

}  // namespace tendril::formats
