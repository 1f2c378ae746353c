// Graphs in .npz files: SciPy's save_npz (CSR and CSC), and Tendril's own layout of plain CSR arrays. docs/formats.md
// names the arrays of each.

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <tendril/checked.hpp>
#include <tendril/error.hpp>

#include "base/parallel.hpp"  // parallel_ranges
#include "formats/mapped_file.hpp"
#include "formats/npy.hpp"
#include "formats/readers.hpp"
#include "formats/stored_csr.hpp"
#include "formats/text_numbers.hpp"  // quoted
#include "formats/zip.hpp"
#include "graph/check.hpp"  // find_asymmetry

namespace tendril::formats {
namespace {

/// What a JSON text beside or inside of the arrays tells: names and flags that arrays can't hold.
struct notes {
  std::vector<std::string> edge_label_names, node_type_names;
  std::map<std::string, std::string> metadata;
  bool symmetric = false;
};

std::vector<std::string> to_strings(nlohmann::json const& list)
{
  std::vector<std::string> strings;
  for (auto const& item : list) {
    if (!item.is_string()) { return {}; }
    strings.push_back(item.get<std::string>());
  }
  return strings;
}

/// Parses JSON, dropping whatever is nested deeper than notes are, so that no text takes more memory than a few times
/// its length. Not an object: a discarded value.
nlohmann::json parse_notes(std::string_view text)
{
  constexpr int deepest = 2;
  auto const keep = [](int depth, nlohmann::json::parse_event_t /*event*/, nlohmann::json const& /*value*/) {
    return depth <= deepest;
  };
  return nlohmann::json::parse(text, keep, false);
}

class npz_reader {
 public:
  npz_reader(std::string const& path, std::span<std::byte const> bytes, std::shared_ptr<void const> owner,
             cpu_exec const& exec)
      : path_(path), exec_(exec), archive_(path, bytes, std::move(owner))
  {
  }

  graph read()
  {
    auto const format = find("format");
    return format ? read_scipy(text_of(*format)) : read_plain();
  }

 private:
  [[nodiscard]] std::optional<array_view> find(char const* name) const
  {
    auto const it = archive_.entries().find(std::string(name) + ".npy");
    if (it == archive_.entries().end()) { return {}; }
    zip_member const member = archive_.read(it->second, exec_);
    return parse_npy(path_, name, member.bytes, member.owner);
  }

  [[nodiscard]] array_view expect(char const* name, char const* layout) const
  {
    auto array = find(name);
    if (!array) { throw format_error(fmt::format("{}: no array '{}', expected {}", path_, name, layout)); }
    return std::move(*array);
  }

  /// A string that NumPy stored as bytes or as UTF-32: its ASCII characters.
  static std::string text_of(array_view const& array)
  {
    std::string text;
    for (std::byte const byte : array.bytes) {
      if (byte != std::byte{0}) { text.push_back(static_cast<char>(byte)); }
    }
    return text;
  }

  graph read_scipy(std::string const& format)
  {
    char const* const layout = "SciPy's format, shape, indptr, indices and data";
    if (format != "csr" && format != "csc") {
      throw format_error(fmt::format("{}: sparse format {}, expected csr or csc", path_, quoted(format)));
    }
    auto const shape = to_edge_ids(path_, expect("shape", layout), exec_);
    if (shape.size() != 2 || shape[0] != shape[1]) {
      throw format_error(
          fmt::format("{}: a matrix of shape ({}), expected a square one", path_, fmt::join(shape.span(), ", ")));
    }
    graph_arrays arrays;
    arrays.indptr = to_edge_ids(path_, expect("indptr", layout), exec_);
    arrays.indices = to_vertex_ids(path_, expect("indices", layout), exec_);
    if (arrays.indptr.size() != shape[0] + 1) {
      throw format_error(fmt::format("{}: array 'indptr': {} elements, expected {} for {} rows", path_,
                                     arrays.indptr.size(), shape[0] + 1, shape[0]));
    }
    array_view const data = expect("data", layout);
    if (data.shape != std::vector{arrays.indices.size()}) {
      throw format_error(fmt::format("{}: array 'data': shape {}, expected ({},) as indices", path_, data.shape_text(),
                                     arrays.indices.size()));
    }
    if (!is_pattern(data)) { arrays.weights = to_weights(path_, data, exec_); }
    add_extras(arrays);
    if (format == "csr") { return finish(std::move(arrays)); }

    build_options transpose;
    transpose.reverse = true;
    graph const by_column = finish(std::move(arrays));
    try {
      by_column.validate(exec_);
    } catch (format_error const& error) {
      throw format_error(fmt::format("{}: {}", path_, error.what()));
    }
    return build_graph(by_column, transpose, exec_);
  }

  /// Whether values only say that an entry is there: True, or the integer 1, everywhere. Fractions are weights even if
  /// all are 1.
  [[nodiscard]] bool is_pattern(array_view const& data) const
  {
    switch (data.type) {
      case dtype::boolean: return true;
      case dtype::int8:
      case dtype::uint8:
      case dtype::int16:
      case dtype::uint16:
      case dtype::int32:
      case dtype::uint32:
      case dtype::int64:
      case dtype::uint64: break;
      default: return false;
    }
    auto const weights = to_weights(path_, data, exec_);
    return std::all_of(weights.begin(), weights.end(), [](float weight) { return weight == 1.0F; });
  }

  graph read_plain()
  {
    char const* const layout = "a graph's indptr and indices, or SciPy's sparse matrix";
    graph_arrays arrays;
    arrays.indptr = to_edge_ids(path_, expect("indptr", layout), exec_);
    arrays.indices = to_vertex_ids(path_, expect("indices", layout), exec_);
    if (auto const weights = find("weights")) { arrays.weights = to_weights(path_, *weights, exec_); }
    add_extras(arrays);
    if (auto const beside = read_meta_json(arrays)) { add_notes(arrays, *beside); }
    return finish(std::move(arrays));
  }

  /// The arrays that neither layout has to have.
  void add_extras(graph_arrays& arrays) const
  {
    if (auto const labels = find("edge_type")) { arrays.edge_labels = to_labels(path_, *labels, exec_); }
    if (auto const types = find("node_type")) { arrays.node_types = to_labels(path_, *types, exec_); }
    if (auto const ids = find("edge_ids")) { arrays.edge_ids = to_edge_ids(path_, *ids, exec_); }
    if (auto const ids = find("original_ids")) { arrays.original_ids = to_vertex_ids(path_, *ids, exec_); }
    if (auto const stored = find("tendril_notes")) {
      auto const json = parse_notes(text_of(*stored));
      if (!json.is_object()) {
        throw format_error(fmt::format("{}: array 'tendril_notes': expected a JSON object", path_));
      }
      add_notes(arrays, from_json(json));
    }
  }

  static notes from_json(nlohmann::json const& json)
  {
    notes found;
    auto const member = [&](char const* key) { return json.contains(key) ? json[key] : nlohmann::json(); };
    if (auto const names = member("edge_types"); names.is_array()) { found.edge_label_names = to_strings(names); }
    if (auto const names = member("node_types"); names.is_array()) { found.node_type_names = to_strings(names); }
    if (auto const flag = member("symmetric"); flag.is_boolean()) { found.symmetric = flag.get<bool>(); }
    if (auto const name = member("name"); name.is_string()) { found.metadata["name"] = name.get<std::string>(); }
    if (auto const all = member("metadata"); all.is_object()) {
      for (auto const& [key, value] : all.items()) {
        if (value.is_string()) { found.metadata[key] = value.get<std::string>(); }
      }
    }
    return found;
  }

  static void add_notes(graph_arrays& arrays, notes found)
  {
    arrays.edge_label_names = std::move(found.edge_label_names);
    arrays.node_type_names = std::move(found.node_type_names);
    arrays.metadata = std::move(found.metadata);
    arrays.symmetric = found.symmetric;
  }

  /// A meta.json in the same folder, if it speaks of a graph of this size.
  [[nodiscard]] std::optional<notes> read_meta_json(graph_arrays const& arrays) const
  {
    constexpr std::size_t most_bytes = std::size_t{16} << 20U;
    std::string const path = (std::filesystem::path(path_).parent_path() / "meta.json").string();
    std::error_code none;
    if (!std::filesystem::is_regular_file(path, none)) { return {}; }
    auto const file = mapped_file::open(path);
    if (file->bytes().size() > most_bytes) { return {}; }
    auto const json = parse_notes({reinterpret_cast<char const*>(file->bytes().data()), file->bytes().size()});
    auto const is = [&](char const* key, std::int64_t value) {
      return json.contains(key) && json[key].is_number_integer() && json[key].get<std::int64_t>() == value;
    };
    if (!json.is_object() || !is("num_nodes", arrays.indptr.size() - 1) || !is("num_edges", arrays.indices.size())) {
      return {};
    }
    return from_json(json);
  }

  /// "Symmetric" may have been said of the edges alone; a graph has to mean their weights and labels too.
  graph finish(graph_arrays arrays)
  {
    bool const in_doubt = arrays.symmetric && (!arrays.weights.empty() || !arrays.edge_labels.empty());
    arrays.symmetric = arrays.symmetric && !in_doubt;
    graph result = from_stored_csr(path_, std::move(arrays), exec_);
    if (!in_doubt) { return result; }
    try {
      result.validate(exec_);
    } catch (format_error const& error) {
      throw format_error(fmt::format("{}: {}", path_, error.what()));
    }
    if (validation::find_asymmetry(result, exec_)) { return result; }
    graph_arrays checked = result.arrays();
    checked.symmetric = true;
    return graph(std::move(checked));
  }

  std::string const& path_;
  cpu_exec const& exec_;
  zip_reader archive_;
};

class npz_writer {
 public:
  npz_writer(std::string const& path, cpu_exec const& exec) : file_(path), zip_(file_), exec_(exec) {}

  void write(graph const& input)
  {
    graph_arrays const& arrays = input.arrays();
    std::int64_t const vertices = input.num_vertices();
    std::int64_t const edges = input.num_edges();
    static constexpr edge_id no_edges = 0;  // the indptr of a graph without vertices

    constexpr std::int64_t bytes_an_id = 4;  // at least
    file_.expect_size(checked_sum("bytes of a file", checked_product("offsets", vertices + 1, sizeof(edge_id)),
                                  checked_product("neighbours", edges, bytes_an_id)));
    write_text("format", "csr");
    std::int64_t const shape[] = {vertices, vertices};
    write_array("shape", dtype::int64, 2, shape);
    write_array("indptr", dtype::int64, vertices + 1, arrays.indptr.empty() ? &no_edges : arrays.indptr.data());
    write_vertices("indices", arrays.indices, vertices);
    if (arrays.weights.empty()) {
      write_ones("data", edges);
    } else {
      write_array("data", dtype::float32, edges, arrays.weights.data());
    }
    write_labels("edge_type", arrays.edge_labels);
    write_labels("node_type", arrays.node_types);
    if (!arrays.edge_ids.empty()) { write_array("edge_ids", dtype::int64, edges, arrays.edge_ids.data()); }
    if (!arrays.original_ids.empty()) { write_vertices("original_ids", arrays.original_ids, max_num_vertices); }
    nlohmann::json const json = {{"edge_types", arrays.edge_label_names},
                                 {"node_types", arrays.node_type_names},
                                 {"symmetric", arrays.symmetric},
                                 {"metadata", arrays.metadata}};
    write_text("tendril_notes", json.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace));
    zip_.finish();
    file_.commit();
  }

 private:
  void begin(char const* name, dtype type, std::int64_t size)
  {
    zip_.begin(std::string(name) + ".npy");
    std::string const header = npy_header(type, std::span(&size, 1));
    zip_.write(header.data(), header.size());
  }

  void write_array(char const* name, dtype type, std::int64_t size, void const* data)
  {
    begin(name, type, size);
    constexpr std::int64_t piece = std::int64_t{64} << 20;  // between two calls of on_progress
    std::int64_t const num_bytes = size * size_of(type);
    for (std::int64_t at = 0; at < num_bytes; at += piece) {
      if (exec_.on_progress) { exec_.on_progress({"writing", at, num_bytes}); }
      zip_.write(static_cast<std::byte const*>(data) + at, static_cast<std::size_t>(std::min(piece, num_bytes - at)));
    }
    zip_.end();
  }

  /// Signed, since SciPy's indices are: int32 where all ids below `bound` fit, else int64.
  void write_vertices(char const* name, shared_array<vertex_id> const& ids, std::int64_t bound)
  {
    if (bound <= std::int64_t{1} << 31) { return write_array(name, dtype::int32, ids.size(), ids.data()); }
    begin(name, dtype::int64, ids.size());
    std::vector<std::int64_t> wide;
    write_pieces(ids.size(), [&](std::int64_t begin, std::int64_t end) {
      wide.assign(ids.begin() + begin, ids.begin() + end);
      zip_.write(wide.data(), wide.size() * sizeof(std::int64_t));
    });
  }

  void write_ones(char const* name, std::int64_t size)
  {
    begin(name, dtype::boolean, size);
    std::string const ones(static_cast<std::size_t>(std::min(size, piece_size)), '\x01');
    write_pieces(size, [&](std::int64_t from, std::int64_t to) {
      zip_.write(ones.data(), static_cast<std::size_t>(to - from));
    });
  }

  template <class F>
  void write_pieces(std::int64_t size, F&& write_piece)
  {
    for (std::int64_t at = 0; at < size; at += piece_size) { write_piece(at, std::min(at + piece_size, size)); }
    zip_.end();
  }

  void write_labels(char const* name, label_array const& labels)
  {
    if (labels.empty()) { return; }
    dtype const type = labels.bytes_per_label() == 1 ? dtype::uint8 : dtype::uint16;
    write_array(name, type, labels.size(), labels.view().data);
  }

  /// One NumPy string of bytes.
  void write_text(char const* name, std::string const& text)
  {
    zip_.begin(std::string(name) + ".npy");
    std::string const header = npy_text_header(text.size());
    zip_.write(header.data(), header.size());
    zip_.write(text.data(), text.size());
    zip_.end();
  }

  static constexpr std::int64_t piece_size = std::int64_t{1} << 20;

  atomic_file file_;
  zip_writer zip_;
  cpu_exec const& exec_;
};

}  // namespace

graph read_npz(std::string const& path, std::span<std::byte const> bytes, std::shared_ptr<void const> owner,
               read_options const& /*options*/, cpu_exec const& exec)
{
  return npz_reader(path, bytes, std::move(owner), exec).read();
}

void write_npz(graph const& input, std::string const& path, cpu_exec const& exec)
{
  npz_writer(path, exec).write(input);
}

}  // namespace tendril::formats
