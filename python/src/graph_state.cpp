// What a graph in host memory is made of, as arrays and numbers that Python can pickle, and a graph of those.

#include <bit>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <fmt/format.h>

#include <tendril/compress.hpp>  // names of graph_form
#include <tendril/graph.hpp>

#include "arrays.hpp"
#include "bind.hpp"
#include "names.hpp"

namespace tendril::python {
namespace {

/// Puts the members of a graph into a dict: arrays are views, empty ones are left out.
class state_writer {
 public:
  explicit state_writer(nb::dict& to) : to_(to) {}

  template <class T>
  void array(char const* name, shared_array<T> const& from)
  {
    if (!from.empty()) { to_[name] = look_at(from); }
  }
  /// Entries of a directory, as 32-bit words.
  template <class T>
  void words(char const* name, shared_array<T> const& from)
  {
    static_assert(sizeof(T) % sizeof(std::uint32_t) == 0);
    if (from.empty()) { return; }
    auto const* const data = reinterpret_cast<std::uint32_t const*>(from.data());
    to_[name] = look_at(data, from.size() * static_cast<std::int64_t>(sizeof(T) / sizeof(std::uint32_t)), from.owner());
  }
  void labels(char const* name, label_array const& from)
  {
    label_view const view = from.view();
    if (view.bytes_per_label == 1) {
      to_[name] = look_at(static_cast<std::uint8_t const*>(view.data), from.size(), from.owner());
    } else if (view.bytes_per_label == 2) {
      to_[name] = look_at(static_cast<std::uint16_t const*>(view.data), from.size(), from.owner());
    }
  }
  void packed(std::string const& name, packed_array const& from)
  {
    array((name + "_words").c_str(), from.words);
    value((name + "_width").c_str(), from.width);
    value((name + "_size").c_str(), from.size);
  }
  template <class T>
  void value(char const* name, T const& from)
  {
    to_[name] = from;
  }

 private:
  nb::dict& to_;
};

/// Takes them out again. What is missing or of another type is a format_error.
class state_reader {
 public:
  explicit state_reader(nb::dict const& from) : from_(from) {}

  template <class T>
  void array(char const* name, shared_array<T>& to) const
  {
    if (from_.contains(name)) { to = elements<T>(name); }
  }
  template <class T>
  void words(char const* name, shared_array<T>& to) const
  {
    if (!from_.contains(name)) { return; }
    constexpr auto each = static_cast<std::int64_t>(sizeof(T) / sizeof(std::uint32_t));
    shared_array<std::uint32_t> const given = elements<std::uint32_t>(name);
    if (given.size() % each != 0) { fail(name, "an array of another length"); }
    // A pickled array lies where Python put it; directories are read in larger steps.
    buffer<T> placed(given.size() / each);
    if (given.size() > 0) { std::memcpy(placed.data(), given.data(), static_cast<std::size_t>(given.size()) * 4); }
    to = std::move(placed);
  }
  void labels(char const* name, label_array& to) const
  {
    if (!from_.contains(name)) { return; }
    if (holds<std::uint8_t>(input(name))) {
      to = elements<std::uint8_t>(name);
    } else {
      to = elements<std::uint16_t>(name);
    }
  }
  void packed(std::string const& name, packed_array& to) const
  {
    array((name + "_words").c_str(), to.words);
    value((name + "_width").c_str(), to.width);
    value((name + "_size").c_str(), to.size);
  }
  template <class T>
  void value(char const* name, T& to) const
  {
    if (!from_.contains(name)) { fail(name, "missing"); }
    if (!nb::try_cast<T>(from_[name], to)) { fail(name, "of another type"); }
  }

 private:
  [[noreturn]] static void fail(char const* name, char const* is)
  {
    throw format_error(fmt::format("a pickled graph: '{}' is {}, expected what Graph's own pickles hold", name, is));
  }
  [[nodiscard]] array_in input(char const* name) const
  {
    array_in given;
    if (!nb::try_cast<array_in>(from_[name], given, false)) { fail(name, "no array of one dimension"); }
    return given;
  }
  template <class T>
  [[nodiscard]] shared_array<T> elements(char const* name) const
  {
    array_in const given = input(name);
    if (!holds<T>(given)) { fail(name, "an array of another type"); }
    if (std::bit_cast<std::uintptr_t>(given.data()) % alignof(T) == 0) { return share<T>(given); }
    // Who carries pickles, as Dask does, puts their arrays anywhere.
    buffer<T> placed(static_cast<std::int64_t>(given.size()));
    std::memcpy(placed.data(), given.data(), given.size() * sizeof(T));
    return shared_array<T>(std::move(placed));
  }

  nb::dict const& from_;
};

/// The one list of what a graph is made of, for both ways.
template <class State, class Arrays>
void for_each_part(State const& state, Arrays& a)
{
  auto& s = const_cast<State&>(state);
  s.array("indptr", a.indptr);
  s.array("indices", a.indices);
  s.array("weights", a.weights);
  s.labels("edge_labels", a.edge_labels);
  s.labels("node_types", a.node_types);
  s.array("edge_ids", a.edge_ids);
  s.array("original_ids", a.original_ids);
  s.value("edge_label_names", a.edge_label_names);
  s.value("node_type_names", a.node_type_names);
  s.value("symmetric", a.symmetric);
  s.value("metadata", a.metadata);
  s.words("blocks", a.compressed.blocks);
  s.words("wide", a.compressed.wide);
  s.array("words", a.compressed.words);
  s.value("num_vertices", a.compressed.num_vertices);
  s.value("num_edges", a.compressed.num_edges);
  s.packed("weight_codes", a.narrow.weight_codes);
  s.array("weight_values", a.narrow.weight_values);
  s.packed("label_codes", a.narrow.labels);
  s.value("bytes_per_label", a.narrow.bytes_per_label);
  s.packed("id_codes", a.narrow.ids);
  s.value("least_id", a.narrow.least_id);
  s.value("ids_ascend", a.narrow.ids_ascend);
}

nb::dict state_of(graph const& input)
{
  if (input.device() >= 0) { throw argument_error("graph: it is on a GPU, expected one in host memory"); }
  nb::dict out;
  for_each_part(state_writer(out), input.arrays());
  out["form"] = std::string(to_string(input.form()));
  return out;
}

/// Lengths are checked here, the content where the graph is first used: as of a native file.
graph graph_of(nb::dict const& state)
{
  state_reader const reader(state);
  graph_arrays arrays;
  for_each_part(reader, arrays);
  std::string form;
  reader.value("form", form);
  arrays.compressed.form = parse_option<graph_form>("a pickled graph: form", form);
  if ((arrays.compressed.form == graph_form::csr) != arrays.compressed.words.empty()) {
    throw format_error(
        fmt::format("a pickled graph: its form is '{}', expected compressed lists in any form but 'csr'", form));
  }
  if (arrays.indptr.empty() && arrays.compressed.words.empty()) {
    if (state.contains("indices")) { throw format_error("a pickled graph: no array 'indptr', expected one"); }
    return {};
  }
  return graph(std::move(arrays));
}

}  // namespace

void bind_graph_state(nb::module_& module)
{
  using namespace nb::literals;  // NOLINT(google-build-using-namespace): the way nanobind names arguments
  module.def("graph_state", &state_of, "graph"_a);
  module.def("graph_of_state", &graph_of, "state"_a);
}

}  // namespace tendril::python
