// Graphs in safetensors files, Tendril's native container. docs/formats.md has the layout.

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <iterator>
#include <limits>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <tendril/compress.hpp>  // to_string(graph_form)
#include <tendril/error.hpp>

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
constexpr char const* form_key = "form";
constexpr char const* num_vertices_key = "num_vertices";
constexpr char const* num_edges_key = "num_edges";
constexpr char const* blocks_name = "list_blocks";
constexpr char const* wide_name = "wide_lists";
constexpr char const* words_name = "lists";
// Edge arrays of a compressed graph in fewer bits: codes, and in the metadata what they mean.
constexpr char const* weight_codes_name = "weight_codes";
constexpr char const* weight_values_name = "weight_values";
constexpr char const* label_codes_name = "edge_label_codes";
constexpr char const* id_codes_name = "edge_id_codes";
constexpr char const* weight_bits_key = "weight_bits";
constexpr char const* label_bits_key = "edge_label_bits";
constexpr char const* label_bytes_key = "edge_label_bytes";
constexpr char const* id_bits_key = "edge_id_bits";
constexpr char const* least_id_key = "least_edge_id";
constexpr char const* id_step_key = "edge_id_step";
constexpr std::array<char const*, 9> form_keys{form_key,        num_vertices_key, num_edges_key,
                                               weight_bits_key, label_bits_key,   label_bytes_key,
                                               id_bits_key,     least_id_key,     id_step_key};
constexpr std::int64_t block_words = sizeof(list_block) / sizeof(std::uint32_t);
constexpr std::int64_t wide_words = sizeof(wide_list) / sizeof(std::uint32_t);

bool is_reserved(std::string const& key, graph_form form)
{
  return key == format_key || key == version_key || key == symmetric_key || key == edge_label_names_key ||
         key == node_type_names_key ||
         (form != graph_form::csr && std::find(form_keys.begin(), form_keys.end(), key) != form_keys.end());
}

/// Refers to the bytes of an array, or copies them if they are not aligned.
template <class T>
shared_array<T> elements_of(array_view const& array, cpu_exec const& exec)
{
  std::size_t const size = array.bytes.size() / sizeof(T);
  if (size == 0) { return {}; }
  if (reinterpret_cast<std::uintptr_t>(array.bytes.data()) % alignof(T) == 0) {
    return {std::span(reinterpret_cast<T const*>(array.bytes.data()), size), array.owner};
  }
  buffer<T> copy(static_cast<std::int64_t>(size), *exec.memory);
  std::memcpy(static_cast<void*>(copy.data()), array.bytes.data(), size * sizeof(T));
  return copy;
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
    graph_form const form = read_form();
    graph_arrays arrays;
    if (form == graph_form::csr) {
      arrays.indptr = to_edge_ids(path_, expect("indptr"), exec_);
      arrays.indices = to_vertex_ids(path_, expect("indices"), exec_);
    } else {
      arrays.compressed = read_lists(form);
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
    if (!is_csr) { arrays.narrow = read_narrow(edges); }
    arrays.symmetric = metadata(symmetric_key) == "true";
    arrays.source = path_;
    arrays.edge_label_names = names(edge_label_names_key);
    arrays.node_type_names = names(node_type_names_key);
    std::copy_if(contents_.metadata.begin(), contents_.metadata.end(),
                 std::inserter(arrays.metadata, arrays.metadata.end()),
                 [form](auto const& entry) { return !is_reserved(entry.first, form); });
    try {
      return graph(std::move(arrays));
    } catch (argument_error const& error) {
      throw format_error(fmt::format("{}: {}", path_, error.what()));
    }
  }

 private:
  [[nodiscard]] graph_form read_form() const
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
    std::vector<std::string_view> names;
    for (auto const& [form, name] : enum_names<graph_form>) {
      if (form == graph_form::csr) { continue; }
      if (metadata(form_key) == name) { return form; }
      names.push_back(name);
    }
    throw format_error(fmt::format("{}: metadata '{}': {}, expected one of {} in version {}", path_, form_key,
                                   quoted(metadata(form_key)), fmt::join(names, ", "), form_version));
  }

  /// A number of the metadata in [0, most].
  [[nodiscard]] std::int64_t number(char const* key, std::int64_t most) const
  {
    std::string const text = metadata(key);
    std::int64_t value = 0;
    auto const [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (problem != std::errc() || end != text.data() + text.size() || value < 0 || value > most) {
      throw format_error(
          fmt::format("{}: metadata '{}': {}, expected a number from 0 to {}", path_, key, quoted(text), most));
    }
    return value;
  }

  [[nodiscard]] compressed_lists read_lists(graph_form form) const
  {
    constexpr char const* parts = "a compressed graph's list_blocks, wide_lists and lists";
    for (char const* const name : {"indptr", "indices"}) {
      if (contents_.tensors.contains(name)) {
        throw format_error(fmt::format("{}: both '{}' and compressed lists, expected one of them", path_, name));
      }
    }
    std::int64_t const vertices = number(num_vertices_key, max_num_vertices);
    edge_id const edges = number(num_edges_key, std::numeric_limits<edge_id>::max());
    array_view const blocks = expect(blocks_name, parts), wide = expect(wide_name, parts),
                     words = expect(words_name, parts);
    for (auto const* const array : {&blocks, &wide, &words}) { expect_type(*array, dtype::uint32); }
    std::int64_t const num_blocks = vertices / list_block::vertices + 1;
    if (blocks.shape != std::vector<std::int64_t>{num_blocks, block_words}) {
      throw format_error(fmt::format("{}: array '{}': shape {}, expected ({}, {}): one block for {} vertices", path_,
                                     blocks.name, blocks.shape_text(), num_blocks, block_words, list_block::vertices));
    }
    if (wide.shape.size() != 2 || wide.shape[1] != wide_words) {
      throw format_error(fmt::format("{}: array '{}': shape {}, expected two dimensions, of {} words an entry", path_,
                                     wide.name, wide.shape_text(), wide_words));
    }
    if (words.shape.size() != 1 || words.shape[0] < list_codes::words_beyond) {
      throw format_error(fmt::format("{}: array '{}': shape {}, expected one dimension and {} words or more", path_,
                                     words.name, words.shape_text(), list_codes::words_beyond));
    }
    // No code takes less than a bit an edge.
    if (edges / 8 > std::ssize(bytes_)) {
      throw format_error(
          fmt::format("{}: {} edges in {} bytes, expected at most 8 a byte", path_, edges, bytes_.size()));
    }
    return {elements_of<list_block>(blocks, exec_),
            elements_of<wide_list>(wide, exec_),
            elements_of<std::uint32_t>(words, exec_),
            vertices,
            edges,
            form};
  }

  /// The codes of one edge array, if the file has them.
  [[nodiscard]] packed_array read_codes(char const* name, char const* bits_key, edge_id edges, std::int64_t most) const
  {
    if (!contents_.tensors.contains(name)) { return {}; }
    array_view const words = expect(name);
    expect_type(words, dtype::uint32);
    auto const width = static_cast<std::uint32_t>(number(bits_key, most));
    // The number of edges is bounded by the bytes of the file: this does not overflow.
    std::int64_t const size = packed_numbers::num_words(edges, width);
    if (words.shape != std::vector<std::int64_t>{size}) {
      throw format_error(fmt::format("{}: array '{}': shape {}, expected ({},): {} bits for each of {} edges", path_,
                                     name, words.shape_text(), size, width, edges));
    }
    return {elements_of<std::uint32_t>(words, exec_), edges, width};
  }

  [[nodiscard]] narrow_edges read_narrow(edge_id edges) const
  {
    narrow_edges out;
    out.weight_codes = read_codes(weight_codes_name, weight_bits_key, edges, 16);
    if (!out.weight_codes.empty()) {
      array_view const values = expect(weight_values_name, "the values of weight_codes");
      expect_type(values, dtype::float32);
      out.weight_values = elements_of<float>(values, exec_);
    }
    out.labels = read_codes(label_codes_name, label_bits_key, edges, 16);
    if (!out.labels.empty()) { out.bytes_per_label = static_cast<int>(number(label_bytes_key, 2)); }
    out.ids = read_codes(id_codes_name, id_bits_key, edges, 62);
    if (!out.ids.empty()) {
      out.least_id = number(least_id_key, (std::int64_t{1} << 62U) - 1);
      out.ids_ascend = number(id_step_key, 1) == 1;
    }
    return out;
  }

  void expect_type(array_view const& array, dtype type) const
  {
    if (array.type == type) { return; }
    throw format_error(fmt::format("{}: array '{}': elements of type {}, expected {}", path_, array.name,
                                   to_string(array.type), to_string(type)));
  }

  [[nodiscard]] std::string metadata(char const* key) const
  {
    auto const it = contents_.metadata.find(key);
    return it == contents_.metadata.end() ? "" : it->second;
  }

  [[nodiscard]] array_view expect(char const* name, char const* parts = "a graph's indptr and indices") const
  {
    auto const it = contents_.tensors.find(name);
    if (it == contents_.tensors.end()) {
      throw format_error(fmt::format("{}: no tensor '{}', expected {}", path_, name, parts));
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

  std::vector<tensor_data> parts;
  auto const add = [&](char const* name, dtype type, std::int64_t size, void const* data) {
    parts.push_back(tensor_data::array(name, type, size, data));
  };
  if (input.form() == graph_form::csr) {
    add("indptr", dtype::int64, vertices + 1, arrays.indptr.empty() ? &no_edges : arrays.indptr.data());
    add("indices", dtype::uint32, input.num_edges(), arrays.indices.data());
  } else {
    auto const& lists = arrays.compressed;
    auto const add_entries = [&](char const* name, std::int64_t size, std::int64_t words, void const* data) {
      parts.push_back({{name, dtype::uint32, {size, words}}, data, 4 * words});
    };
    add_entries(blocks_name, lists.blocks.size(), block_words, lists.blocks.data());
    add_entries(wide_name, lists.wide.size(), wide_words, lists.wide.data());
    add(words_name, dtype::uint32, lists.words.size(), lists.words.data());
  }
  narrow_edges const& narrow = arrays.narrow;
  auto const add_codes = [&](char const* name, packed_array const& codes) {
    if (!codes.empty()) { add(name, dtype::uint32, codes.words.size(), codes.words.data()); }
  };
  add_codes(weight_codes_name, narrow.weight_codes);
  if (!narrow.weight_codes.empty()) {
    add(weight_values_name, dtype::float32, narrow.weight_values.size(), narrow.weight_values.data());
  }
  add_codes(label_codes_name, narrow.labels);
  add_codes(id_codes_name, narrow.ids);
  if (!arrays.edge_ids.empty()) { add("edge_ids", dtype::int64, arrays.edge_ids.size(), arrays.edge_ids.data()); }
  if (!arrays.weights.empty()) { add("weights", dtype::float32, arrays.weights.size(), arrays.weights.data()); }
  if (!arrays.original_ids.empty()) {
    add("original_ids", dtype::uint32, arrays.original_ids.size(), arrays.original_ids.data());
  }
  for (auto const& [name, labels] :
       {std::pair{"edge_labels", &arrays.edge_labels}, std::pair{"node_types", &arrays.node_types}}) {
    if (!labels->empty()) { parts.push_back(tensor_data::array(name, *labels)); }
  }

  std::map<std::string, std::string> metadata = arrays.metadata;
  std::erase_if(metadata, [&](auto const& entry) { return is_reserved(entry.first, input.form()); });
  metadata[format_key] = format_name;
  metadata[version_key] = input.form() == graph_form::csr ? csr_version : form_version;
  if (input.form() != graph_form::csr) {
    metadata[form_key] = to_string(input.form());
    metadata[num_vertices_key] = std::to_string(vertices);
    metadata[num_edges_key] = std::to_string(input.num_edges());
  }
  if (!narrow.weight_codes.empty()) { metadata[weight_bits_key] = std::to_string(narrow.weight_codes.width); }
  if (!narrow.labels.empty()) {
    metadata[label_bits_key] = std::to_string(narrow.labels.width);
    metadata[label_bytes_key] = std::to_string(narrow.bytes_per_label);
  }
  if (!narrow.ids.empty()) {
    metadata[id_bits_key] = std::to_string(narrow.ids.width);
    metadata[least_id_key] = std::to_string(narrow.least_id);
    metadata[id_step_key] = narrow.ids_ascend ? "1" : "0";
  }
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
