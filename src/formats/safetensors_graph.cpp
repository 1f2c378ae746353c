// Graphs in safetensors files, Tendril's native container. docs/formats.md has the layout.

#include <algorithm>
#include <cstring>
#include <iterator>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <tendril/compress.hpp>  // to_string(graph_form)
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
constexpr char const* csr_version = "1";
constexpr char const* form_version = "2";  // of files whose neighbours are in another form, which `form_key` names
constexpr char const* form_key = "form";
constexpr char const* records_name = "packed_records";
constexpr char const* words_name = "packed_words";
constexpr std::int64_t record_words = sizeof(packed_record) / sizeof(std::uint32_t);

bool is_reserved(std::string const& key, graph_form form)
{
  return key == format_key || key == version_key || key == symmetric_key || key == edge_label_names_key ||
         key == node_type_names_key || (form != graph_form::csr && key == form_key);
}

/// Refers to the bytes of an array, or copies them if they are not aligned.
template <class T>
shared_array<T> elements_of(array_view const& array, cpu_exec const& exec)
{
  std::size_t const size = array.bytes.size() / sizeof(T);
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
    arrays.indptr = to_edge_ids(path_, expect("indptr"), exec_);
    if (form == graph_form::csr) { arrays.indices = to_vertex_ids(path_, expect("indices"), exec_); }
    if (form == graph_form::packed) { arrays.packed = read_packed(arrays.indptr); }
    std::int64_t const vertices = arrays.indptr.size() - 1;
    std::int64_t const edges = form == graph_form::csr ? arrays.indices.size() : arrays.packed.num_edges;
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
    std::string const version = metadata(version_key);
    if (metadata(format_key) != format_name || version == csr_version) { return graph_form::csr; }
    if (version != form_version) {
      throw format_error(fmt::format("{}: {} version {}, expected {} or {}", path_, format_name, quoted(version),
                                     csr_version, form_version));
    }
    if (metadata(form_key) != to_string(graph_form::packed)) {
      throw format_error(fmt::format("{}: metadata '{}': {}, expected 'packed' in version {}", path_, form_key,
                                     quoted(metadata(form_key)), form_version));
    }
    return graph_form::packed;
  }

  [[nodiscard]] packed_neighbors read_packed(shared_array<edge_id> const& indptr) const
  {
    constexpr char const* parts = "a packed graph's indptr, packed_records and packed_words";
    if (contents_.tensors.contains("indices")) {
      throw format_error(fmt::format("{}: both 'indices' and packed neighbours, expected one of them", path_));
    }
    std::int64_t const vertices = std::max<std::int64_t>(indptr.size() - 1, 0);
    edge_id const edges = indptr.empty() ? 0 : indptr[vertices];
    // Equal neighbours may take no bits at all, but a small file shall not make a graph of any size.
    constexpr edge_id harmless = edge_id{1} << 26U;
    constexpr edge_id most_a_byte = 256;  // as in WebGraph files: 32 a bit
    if (edges < 0 || (edges > harmless && edges / most_a_byte > std::ssize(bytes_))) {
      throw format_error(fmt::format("{}: {} packed neighbours in {} bytes, expected 0 to {} a byte", path_, edges,
                                     bytes_.size(), most_a_byte));
    }
    array_view const records = expect(records_name, parts), words = expect(words_name, parts);
    for (auto const* const array : {&records, &words}) {
      if (array->type != dtype::uint32) {
        throw format_error(fmt::format("{}: array '{}': elements of type {}, expected uint32", path_, array->name,
                                       to_string(array->type)));
      }
    }
    if (records.shape != std::vector<std::int64_t>{vertices, record_words}) {
      throw format_error(fmt::format("{}: array '{}': shape {}, expected ({}, {}): one record a vertex", path_,
                                     records.name, records.shape_text(), vertices, record_words));
    }
    if (words.shape.size() != 1 || words.shape[0] < 1) {
      throw format_error(fmt::format("{}: array '{}': shape {}, expected one dimension and a word or more", path_,
                                     words.name, words.shape_text()));
    }
    return {elements_of<packed_record>(records, exec_), elements_of<std::uint32_t>(words, exec_), edges};
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
    std::int64_t alignment;

    [[nodiscard]] std::int64_t num_bytes() const { return count_elements(spec.shape, spec.type) * size_of(spec.type); }
  };
  std::vector<part> parts;
  auto const add = [&](char const* name, dtype type, std::int64_t size, void const* data) {
    parts.push_back({{name, type, {size}}, data, size_of(type)});
  };
  add("indptr", dtype::int64, vertices + 1, arrays.indptr.empty() ? &no_edges : arrays.indptr.data());
  if (input.form() == graph_form::packed) {
    auto const& [records, words, num_edges] = arrays.packed;
    parts.push_back({{records_name, dtype::uint32, {vertices, record_words}},
                     records.data(),
                     std::int64_t{alignof(packed_record)}});
    add(words_name, dtype::uint32, words.size(), words.data());
  } else {
    add("indices", dtype::uint32, input.num_edges(), arrays.indices.data());
  }
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
  std::stable_sort(parts.begin(), parts.end(), [](part const& a, part const& b) { return a.alignment > b.alignment; });

  std::map<std::string, std::string> metadata = arrays.metadata;
  std::erase_if(metadata, [&](auto const& entry) { return is_reserved(entry.first, input.form()); });
  metadata[format_key] = format_name;
  metadata[version_key] = input.form() == graph_form::csr ? csr_version : form_version;
  if (input.form() != graph_form::csr) { metadata[form_key] = to_string(input.form()); }
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
  for (auto const& p : parts) { total += p.num_bytes(); }

  atomic_file file(path);
  file.write(header.data(), header.size());
  constexpr std::int64_t piece = std::int64_t{64} << 20;  // between two calls of on_progress
  for (auto const& p : parts) {
    std::int64_t const size = p.num_bytes();
    for (std::int64_t at = 0; at < size; at += piece) {
      if (exec.on_progress) { exec.on_progress({"writing", file.size(), total}); }
      file.write(static_cast<std::byte const*>(p.data) + at, static_cast<std::size_t>(std::min(piece, size - at)));
    }
  }
  file.commit();
}

}  // namespace tendril::formats
