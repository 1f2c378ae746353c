// Graphs in safetensors files, Tendril's native container. docs/formats.md has the layout.

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <tendril/error.hpp>

#include "formats/list_tensors.hpp"
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
constexpr char const* csr_version = "1";
constexpr char const* form_version = "4";  // of files whose neighbours are in another form, which `form_key` names

bool is_reserved(std::string const& key, graph_form form)
{
  return key == format_key || key == version_key || key == symmetric_key || key == edge_label_names_key ||
         key == node_type_names_key || (form != graph_form::csr && is_list_key(key));
}

class graph_reader {
 public:
  graph_reader(std::string const& path, std::span<std::byte const> bytes, std::shared_ptr<void const> owner,
               cpu_exec const& exec)
      : path_(path), exec_(exec), file_(path, bytes, std::move(owner), exec)
  {
  }

  graph read()
  {
    graph_form const form = form_of_file();
    graph_arrays arrays;
    if (form == graph_form::csr) {
      arrays.indptr = to_edge_ids(path_, expect("indptr"), exec_);
      arrays.indices = to_vertex_ids(path_, expect("indices"), exec_);
    } else {
      arrays.compressed = read_lists(file_, form);
    }
    bool const is_csr = form == graph_form::csr;
    std::int64_t const vertices = is_csr ? arrays.indptr.size() - 1 : arrays.compressed.num_vertices;
    std::int64_t const edges = is_csr ? arrays.indices.size() : arrays.compressed.num_edges;
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
    if (!is_csr) { arrays.narrow = read_narrow(file_, edges); }
    arrays.symmetric = metadata(symmetric_key) == "true";
    arrays.source = path_;
    arrays.edge_label_names = names(edge_label_names_key);
    arrays.node_type_names = names(node_type_names_key);
    std::copy_if(file_.metadata().begin(), file_.metadata().end(),
                 std::inserter(arrays.metadata, arrays.metadata.end()),
                 [form](auto const& entry) { return !is_reserved(entry.first, form); });
    try {
      return graph(std::move(arrays));
    } catch (argument_error const& error) {
      throw format_error(fmt::format("{}: {}", path_, error.what()));
    }
  }

 private:
  [[nodiscard]] graph_form form_of_file() const
  {
    if (metadata(format_key) == part_format) {
      throw format_error(fmt::format("{}: a part of a cut graph, expected the folder that it is in", path_));
    }
    std::string const version = metadata(version_key);
    if (metadata(format_key) != format_name || version == csr_version) { return graph_form::csr; }
    if (version != form_version) {
      throw format_error(fmt::format("{}: {} version {}, expected {} or {}", path_, format_name, quoted(version),
                                     csr_version, form_version));
    }
    return read_form(file_, form_version);
  }

  [[nodiscard]] std::string metadata(char const* key) const { return file_.metadata(key); }

  [[nodiscard]] array_view expect(char const* name) const { return file_.expect(name, "a graph's indptr and indices"); }

  /// An optional tensor; an empty one counts as missing, as it does in a graph.
  [[nodiscard]] std::optional<array_view> find(char const* name, std::int64_t size, char const* unit) const
  {
    if (!file_.has(name)) { return {}; }
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
  cpu_exec const& exec_;
  tensor_reader file_;
};

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

  std::map<std::string, std::string> metadata = arrays.metadata;
  std::erase_if(metadata, [&](auto const& entry) { return is_reserved(entry.first, input.form()); });
  std::vector<tensor_data> parts;
  auto const add = [&](char const* name, dtype type, std::int64_t size, void const* data) {
    parts.push_back(tensor_data::array(name, type, size, data));
  };
  if (input.form() == graph_form::csr) {
    add("indptr", dtype::int64, vertices + 1, arrays.indptr.empty() ? &no_edges : arrays.indptr.data());
    add("indices", dtype::uint32, input.num_edges(), arrays.indices.data());
  } else {
    add_lists(arrays.compressed, parts, metadata);
  }
  add_narrow(arrays.narrow, parts, metadata);
  if (!arrays.edge_ids.empty()) { add("edge_ids", dtype::int64, arrays.edge_ids.size(), arrays.edge_ids.data()); }
  if (!arrays.weights.empty()) { add("weights", dtype::float32, arrays.weights.size(), arrays.weights.data()); }
  if (!arrays.original_ids.empty()) {
    add("original_ids", dtype::uint32, arrays.original_ids.size(), arrays.original_ids.data());
  }
  for (auto const& [name, labels] :
       {std::pair{"edge_labels", &arrays.edge_labels}, std::pair{"node_types", &arrays.node_types}}) {
    if (!labels->empty()) { parts.push_back(tensor_data::array(name, *labels)); }
  }

  metadata[format_key] = format_name;
  metadata[version_key] = input.form() == graph_form::csr ? csr_version : form_version;
  metadata[symmetric_key] = arrays.symmetric ? "true" : "false";
  auto const add_names = [&](char const* key, std::vector<std::string> const& names) {
    using handler = nlohmann::json::error_handler_t;
    if (!names.empty()) { metadata[key] = nlohmann::json(names).dump(-1, ' ', false, handler::replace); }
  };
  add_names(edge_label_names_key, arrays.edge_label_names);
  add_names(node_type_names_key, arrays.node_type_names);

  write_tensors(path, std::move(parts), metadata, exec);
}

}  // namespace tendril::formats
