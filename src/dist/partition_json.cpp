// What all ranks know of a cut graph, as JSON. Nothing in a file is believed: each number is compared with what it means.

#include <algorithm>
#include <cmath>
#include <functional>
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

#include <tendril/compress.hpp>  // to_string(graph_form)
#include <tendril/error.hpp>

#include "dist/part_files.hpp"
#include "formats/list_tensors.hpp"
#include "formats/text_numbers.hpp"  // quoted

namespace tendril::dist {
namespace {

using formats::quoted;
using json = nlohmann::ordered_json;

constexpr char const* info_format = "tendril-partition";
constexpr std::int64_t info_version = 1;
constexpr std::int64_t form_info_version = 2;  // of graphs whose parts are compressed

class info_reader {
 public:
  info_reader(std::string const& path, std::string_view text) : path_(path), document_(parse(text)) {}

  [[nodiscard]] partition_info read() const
  {
    if (text_of("format") != info_format) { fail("format {}, expected '{}'", quoted(text_of("format")), info_format); }
    std::int64_t const version = number("version", most_edges);
    if (version != info_version && version != form_info_version) {
      fail("version {}, expected {} or {}", version, info_version, form_info_version);
    }
    partition_info out;
    if (version == form_info_version) { out.form = compressed_form(); }
    out.num_vertices = number("num_vertices", max_num_vertices);
    out.num_edges = number("num_edges", most_edges);
    std::int64_t const num_parts = number("num_parts", max_num_parts);
    if (num_parts < 1) { fail("num_parts: 0, expected a number from 1 to {}", max_num_parts); }
    std::string const method = text_of("method");
    auto const known = find_name<partition_method>(method);
    if (!known) { fail("method {}, expected {}", quoted(method), list_names<partition_method>()); }
    out.method = *known;
    out.bounds = numbers("bounds", num_parts + 1, max_num_vertices);
    expect_bounds(out);
    out.part_edges = numbers("part_edges", num_parts, most_edges);
    expect_edges(out);
    out.crossing_edges = numbers("crossing_edges", num_parts, most_edges);
    for (std::size_t p = 0; p < out.part_edges.size(); ++p) {
      if (out.crossing_edges[p] > out.part_edges[p]) {
        fail("crossing_edges: {} of part {}, expected at most its {} edges", out.crossing_edges[p], p,
             out.part_edges[p]);
      }
    }
    out.symmetric = boolean("symmetric");
    out.has_weights = boolean("weights");
    out.bytes_per_edge_label = static_cast<int>(number("bytes_per_edge_label", 2));
    out.has_edge_ids = boolean("edge_ids");
    out.bytes_per_node_type = static_cast<int>(number("bytes_per_node_type", 2));
    out.has_original_ids = boolean("original_ids");
    out.edge_label_names = texts("edge_label_names");
    out.node_type_names = texts("node_type_names");
    out.edge_labels_in_use = labels("edge_labels_in_use", out.bytes_per_edge_label);
    out.node_types_in_use = labels("node_types_in_use", out.bytes_per_node_type);
    if (out.has_weights) { out.weights = {real("expected_trials"), real("mean_degree"), real("most_trials")}; }
    read_metadata(out);
    out.digest = text_of("digest");
    bool const is_hash = out.digest.size() == 32 && std::ranges::all_of(out.digest, [](char c) {
                           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
                         });
    if (!is_hash) { fail("digest: expected 32 hexadecimal digits"); }
    return out;
  }

 private:
  static constexpr std::int64_t most_edges = std::int64_t{1} << 62U;

  template <class... Values>
  [[noreturn]] void fail(fmt::format_string<Values...> what, Values&&... values) const
  {
    throw format_error(path_ + ": " + fmt::format(what, std::forward<Values>(values)...));
  }

  [[nodiscard]] json parse(std::string_view text) const
  {
    // An object of values and lists of values: nothing nests deeper, so nesting can't use up memory.
    constexpr int most_depth = 2;
    bool too_deep = false;
    auto const keep = [&](int depth, json::parse_event_t event, json const&) {
      bool const opens = event == json::parse_event_t::object_start || event == json::parse_event_t::array_start;
      too_deep = too_deep || (opens && depth >= most_depth);
      return !too_deep;
    };
    json document = json::parse(text, keep, false);
    if (document.is_discarded() || too_deep || !document.is_object()) {
      fail("expected a JSON object as tendril partition writes it");
    }
    return document;
  }

  [[nodiscard]] json const& entry(char const* key) const
  {
    auto const found = document_.find(key);
    if (found == document_.end()) { fail("no entry '{}', expected one", key); }
    return *found;
  }

  [[nodiscard]] std::string text_of(char const* key) const
  {
    json const& value = entry(key);
    if (!value.is_string()) { fail("{}: expected a text", key); }
    return value.get<std::string>();
  }

  [[nodiscard]] graph_form compressed_form() const
  {
    std::string const text = text_of("form");
    auto const form = formats::find_compressed_form(text);
    if (!form) { fail("form {}, expected one of {}", quoted(text), formats::compressed_form_names()); }
    return *form;
  }

  [[nodiscard]] bool boolean(char const* key) const
  {
    json const& value = entry(key);
    if (!value.is_boolean()) { fail("{}: expected true or false", key); }
    return value.get<bool>();
  }

  [[nodiscard]] std::int64_t natural(json const& value, char const* key, std::int64_t most) const
  {
    if (!value.is_number_unsigned() || value.get<std::uint64_t>() > static_cast<std::uint64_t>(most)) {
      fail("{}: expected a number from 0 to {}", key, most);
    }
    return value.get<std::int64_t>();
  }

  [[nodiscard]] std::int64_t number(char const* key, std::int64_t most) const { return natural(entry(key), key, most); }

  [[nodiscard]] double real(char const* key) const
  {
    json const& value = entry(key);
    if (!value.is_number() || !std::isfinite(value.get<double>()) || value.get<double>() < 0) {
      fail("{}: expected a number >= 0", key);
    }
    return value.get<double>();
  }

  [[nodiscard]] json const& list(char const* key) const
  {
    json const& value = entry(key);
    if (!value.is_array()) { fail("{}: expected a list", key); }
    return value;
  }

  [[nodiscard]] std::vector<std::int64_t> numbers(char const* key, std::int64_t size, std::int64_t most) const
  {
    json const& value = list(key);
    if (std::cmp_not_equal(value.size(), size)) { fail("{}: {} numbers, expected {}", key, value.size(), size); }
    std::vector<std::int64_t> out;
    for (json const& each : value) { out.push_back(natural(each, key, most)); }
    return out;
  }

  [[nodiscard]] std::vector<std::string> texts(char const* key) const
  {
    std::vector<std::string> out;
    for (json const& each : list(key)) {
      if (!each.is_string()) { fail("{}: expected a list of texts", key); }
      out.push_back(each.get<std::string>());
    }
    return out;
  }

  [[nodiscard]] std::vector<label_id> labels(char const* key, int bytes) const
  {
    std::int64_t const most = (std::int64_t{1} << (8 * bytes)) - 1;
    std::vector<label_id> out;
    for (json const& each : list(key)) {
      if (bytes == 0) { fail("{}: expected none, as the graph has no labels", key); }
      auto const label = static_cast<label_id>(natural(each, key, most));
      if (!out.empty() && out.back() >= label) {
        fail("{}: {} after {}, expected ascending labels", key, label, out.back());
      }
      out.push_back(label);
    }
    return out;
  }

  void read_metadata(partition_info& out) const
  {
    json const& value = entry("metadata");
    if (!value.is_object()) { fail("metadata: expected an object of texts"); }
    for (auto const& [key, text] : value.items()) {
      if (!text.is_string()) { fail("metadata: expected an object of texts"); }
      out.metadata[key] = text.get<std::string>();
    }
  }

  void expect_bounds(partition_info const& info) const
  {
    auto const& bounds = info.bounds;
    if (bounds.front() != 0) { fail("bounds: the first is {}, expected 0", bounds.front()); }
    auto const descent = std::ranges::adjacent_find(bounds, std::greater());
    if (descent != bounds.end()) { fail("bounds: {} after {}, expected ascending bounds", descent[1], descent[0]); }
    if (bounds.back() != info.num_vertices) {
      fail("bounds: the last is {}, expected the number of vertices, {}", bounds.back(), info.num_vertices);
    }
  }

  void expect_edges(partition_info const& info) const
  {
    edge_id left = info.num_edges;
    for (std::size_t p = 0; p < info.part_edges.size(); ++p) {
      edge_id const edges = info.part_edges[p];
      if (edges > left) { fail("part_edges: more than num_edges, {}, together, expected as many", info.num_edges); }
      if (edges > 0 && info.bounds[p] == info.bounds[p + 1]) {
        fail("part_edges: {} of part {}, which has no vertex, expected 0", edges, p);
      }
      left -= edges;
    }
    if (left > 0) { fail("part_edges: {} fewer than num_edges, {}, together, expected as many", left, info.num_edges); }
  }

  std::string const& path_;
  json document_;
};

}  // namespace

std::string to_json_text(partition_info const& info)
{
  json document{{"format", info_format},
                {"version", info.form == graph_form::csr ? info_version : form_info_version},
                {"num_vertices", info.num_vertices},
                {"num_edges", info.num_edges},
                {"num_parts", info.num_parts()},
                {"method", to_string(info.method)},
                {"digest", info.digest},
                {"symmetric", info.symmetric},
                {"weights", info.has_weights},
                {"bytes_per_edge_label", info.bytes_per_edge_label},
                {"edge_ids", info.has_edge_ids},
                {"bytes_per_node_type", info.bytes_per_node_type},
                {"original_ids", info.has_original_ids}};
  if (info.form != graph_form::csr) { document["form"] = to_string(info.form); }
  if (info.weights) {  // doubles are written with all digits that they need to be read back as they are
    document["expected_trials"] = info.weights->expected_trials;
    document["mean_degree"] = info.weights->mean_degree;
    document["most_trials"] = info.weights->most_trials;
  }
  document["edge_label_names"] = info.edge_label_names;
  document["node_type_names"] = info.node_type_names;
  document["edge_labels_in_use"] = info.edge_labels_in_use;
  document["node_types_in_use"] = info.node_types_in_use;
  document["metadata"] = info.metadata;
  document["bounds"] = info.bounds;
  document["part_edges"] = info.part_edges;
  document["crossing_edges"] = info.crossing_edges;
  return document.dump(1, ' ', false, json::error_handler_t::replace) + '\n';
}

partition_info parse_partition_info(std::string const& path, std::string_view text)
{
  return info_reader(path, text).read();
}

}  // namespace tendril::dist
