#include "formats/list_tensors.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <limits>

#include <fmt/format.h>

#include <tendril/compress.hpp>  // to_string(graph_form)
#include <tendril/error.hpp>

#include "formats/text_numbers.hpp"  // quoted

namespace tendril::formats {
namespace {

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
constexpr std::array<char const*, 9> list_keys{form_key,        num_vertices_key, num_edges_key,
                                               weight_bits_key, label_bits_key,   label_bytes_key,
                                               id_bits_key,     least_id_key,     id_step_key};
constexpr std::int64_t block_words = sizeof(list_block) / sizeof(std::uint32_t);
constexpr std::int64_t wide_words = sizeof(wide_list) / sizeof(std::uint32_t);

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

void expect_type(tensor_reader const& file, array_view const& array, dtype type)
{
  if (array.type == type) { return; }
  throw format_error(fmt::format("{}: array '{}': elements of type {}, expected {}", file.path(), array.name,
                                 to_string(array.type), to_string(type)));
}

/// The codes of one edge array, if the file has them.
packed_array read_codes(tensor_reader const& file, char const* name, char const* bits_key, edge_id edges,
                        std::int64_t most)
{
  if (!file.has(name)) { return {}; }
  array_view const words = file.expect(name, "codes");
  expect_type(file, words, dtype::uint32);
  auto const width = static_cast<std::uint32_t>(file.number(bits_key, most));
  // The number of edges is bounded by the bytes of the file: this does not overflow.
  std::int64_t const size = packed_numbers::num_words(edges, width);
  if (words.shape != std::vector<std::int64_t>{size}) {
    throw format_error(fmt::format("{}: array '{}': shape {}, expected ({},): {} bits for each of {} edges",
                                   file.path(), name, words.shape_text(), size, width, edges));
  }
  return {elements_of<std::uint32_t>(words, file.exec()), edges, width};
}

}  // namespace

std::string tensor_reader::metadata(char const* key) const
{
  auto const it = contents_.metadata.find(key);
  return it == contents_.metadata.end() ? "" : it->second;
}

std::int64_t tensor_reader::number(char const* key, std::int64_t most) const
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

array_view tensor_reader::expect(char const* name, char const* parts) const
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

bool is_list_key(std::string const& key)
{
  return std::find(list_keys.begin(), list_keys.end(), key) != list_keys.end();
}

std::optional<graph_form> find_compressed_form(std::string_view name)
{
  auto const form = find_name<graph_form>(name);
  return form == graph_form::csr ? std::nullopt : form;
}

std::string compressed_form_names()
{
  std::string out;
  for (auto const& [form, name] : enum_names<graph_form>) {
    if (form != graph_form::csr) { out += fmt::format("{}{}", out.empty() ? "" : ", ", name); }
  }
  return out;
}

graph_form read_form(tensor_reader const& file, std::string const& version)
{
  std::string const text = file.metadata(form_key);
  if (auto const form = find_compressed_form(text)) { return *form; }
  throw format_error(fmt::format("{}: metadata '{}': {}, expected one of {} in version {}", file.path(), form_key,
                                 quoted(text), compressed_form_names(), version));
}

compressed_lists read_lists(tensor_reader const& file, graph_form form)
{
  constexpr char const* parts = "a compressed graph's list_blocks, wide_lists and lists";
  std::string const& path = file.path();
  for (char const* const name : {"indptr", "indices"}) {
    if (file.has(name)) {
      throw format_error(fmt::format("{}: both '{}' and compressed lists, expected one of them", path, name));
    }
  }
  std::int64_t const vertices = file.number(num_vertices_key, max_num_vertices);
  edge_id const edges = file.number(num_edges_key, std::numeric_limits<edge_id>::max());
  array_view const blocks = file.expect(blocks_name, parts), wide = file.expect(wide_name, parts),
                   words = file.expect(words_name, parts);
  for (auto const* const array : {&blocks, &wide, &words}) { expect_type(file, *array, dtype::uint32); }
  std::int64_t const num_blocks = vertices / list_block::vertices + 1;
  if (blocks.shape != std::vector<std::int64_t>{num_blocks, block_words}) {
    throw format_error(fmt::format("{}: array '{}': shape {}, expected ({}, {}): one block for {} vertices", path,
                                   blocks.name, blocks.shape_text(), num_blocks, block_words, list_block::vertices));
  }
  if (wide.shape.size() != 2 || wide.shape[1] != wide_words) {
    throw format_error(fmt::format("{}: array '{}': shape {}, expected two dimensions, of {} words an entry", path,
                                   wide.name, wide.shape_text(), wide_words));
  }
  if (words.shape.size() != 1 || words.shape[0] < list_codes::words_beyond) {
    throw format_error(fmt::format("{}: array '{}': shape {}, expected one dimension and {} words or more", path,
                                   words.name, words.shape_text(), list_codes::words_beyond));
  }
  // No code takes less than a bit an edge.
  if (edges / 8 > file.num_bytes()) {
    throw format_error(
        fmt::format("{}: {} edges in {} bytes, expected at most 8 a byte", path, edges, file.num_bytes()));
  }
  compressed_lists out;
  out.blocks = elements_of<list_block>(blocks, file.exec());
  out.wide = elements_of<wide_list>(wide, file.exec());
  out.words = elements_of<std::uint32_t>(words, file.exec());
  out.num_vertices = vertices;
  out.num_edges = edges;
  out.form = form;
  return out;
}

narrow_edges read_narrow(tensor_reader const& file, edge_id edges)
{
  narrow_edges out;
  out.weight_codes = read_codes(file, weight_codes_name, weight_bits_key, edges, 16);
  if (!out.weight_codes.empty()) {
    array_view const values = file.expect(weight_values_name, "the values of weight_codes");
    expect_type(file, values, dtype::float32);
    out.weight_values = elements_of<float>(values, file.exec());
  }
  out.labels = read_codes(file, label_codes_name, label_bits_key, edges, 16);
  if (!out.labels.empty()) { out.bytes_per_label = static_cast<int>(file.number(label_bytes_key, 2)); }
  out.ids = read_codes(file, id_codes_name, id_bits_key, edges, 62);
  if (!out.ids.empty()) {
    out.least_id = file.number(least_id_key, (std::int64_t{1} << 62U) - 1);
    out.ids_ascend = file.number(id_step_key, 1) == 1;
  }
  return out;
}

void add_lists(compressed_lists const& lists, std::vector<tensor_data>& tensors,
               std::map<std::string, std::string>& metadata)
{
  auto const add_entries = [&](char const* name, std::int64_t size, std::int64_t words, void const* data) {
    tensors.push_back({{name, dtype::uint32, {size, words}}, data, 4 * words});
  };
  add_entries(blocks_name, lists.blocks.size(), block_words, lists.blocks.data());
  add_entries(wide_name, lists.wide.size(), wide_words, lists.wide.data());
  tensors.push_back(tensor_data::array(words_name, dtype::uint32, lists.words.size(), lists.words.data()));
  metadata[form_key] = to_string(lists.form);
  metadata[num_vertices_key] = std::to_string(lists.num_vertices);
  metadata[num_edges_key] = std::to_string(lists.num_edges);
}

void add_narrow(narrow_edges const& narrow, std::vector<tensor_data>& tensors,
                std::map<std::string, std::string>& metadata)
{
  auto const add = [&](char const* name, dtype type, std::int64_t size, void const* data) {
    tensors.push_back(tensor_data::array(name, type, size, data));
  };
  auto const add_codes = [&](char const* name, packed_array const& codes) {
    if (!codes.empty()) { add(name, dtype::uint32, codes.words.size(), codes.words.data()); }
  };
  add_codes(weight_codes_name, narrow.weight_codes);
  if (!narrow.weight_codes.empty()) {
    add(weight_values_name, dtype::float32, narrow.weight_values.size(), narrow.weight_values.data());
    metadata[weight_bits_key] = std::to_string(narrow.weight_codes.width);
  }
  add_codes(label_codes_name, narrow.labels);
  if (!narrow.labels.empty()) {
    metadata[label_bits_key] = std::to_string(narrow.labels.width);
    metadata[label_bytes_key] = std::to_string(narrow.bytes_per_label);
  }
  add_codes(id_codes_name, narrow.ids);
  if (!narrow.ids.empty()) {
    metadata[id_bits_key] = std::to_string(narrow.ids.width);
    metadata[least_id_key] = std::to_string(narrow.least_id);
    metadata[id_step_key] = narrow.ids_ascend ? "1" : "0";
  }
}

}  // namespace tendril::formats
