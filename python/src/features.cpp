// Tables of features, and the gather of their rows.

#include <tendril/features.hpp>

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <tendril/checked.hpp>
#include <tendril/error.hpp>

#include "arrays.hpp"
#include "bind.hpp"
#include "exec.hpp"

namespace tendril::python {
namespace {

using table_in = nb::ndarray<nb::ro, nb::device::cpu>;
using rows_out = nb::ndarray<nb::device::cpu>;

/// A table as Python holds it.
struct features {
  feature_table table;
  bool writable = false;  ///< Whether its memory is of no one else.
};

struct known_type {
  char const* name;
  nb::dlpack::dtype_code code;
  int bits;
};

using code = nb::dlpack::dtype_code;
constexpr std::array<known_type, 13> known_types{{{"bool", code::Bool, 8},
                                                  {"int8", code::Int, 8},
                                                  {"int16", code::Int, 16},
                                                  {"int32", code::Int, 32},
                                                  {"int64", code::Int, 64},
                                                  {"uint8", code::UInt, 8},
                                                  {"uint16", code::UInt, 16},
                                                  {"uint32", code::UInt, 32},
                                                  {"uint64", code::UInt, 64},
                                                  {"float16", code::Float, 16},
                                                  {"bfloat16", code::Bfloat, 16},
                                                  {"float32", code::Float, 32},
                                                  {"float64", code::Float, 64}}};

nb::dlpack::dtype type_named(std::string const& name)
{
  for (auto const& one : known_types) {
    if (name == one.name) { return {static_cast<std::uint8_t>(one.code), static_cast<std::uint8_t>(one.bits), 1}; }
  }
  throw argument_error(fmt::format("features of type '{}', expected bool, integers or floats", name));
}

/// The name of an array's type. @throws argument_error for complex numbers, float8, …
std::string name_of(nb::dlpack::dtype type, char const* what)
{
  for (auto const& one : known_types) {
    if (type == nb::dlpack::dtype{static_cast<std::uint8_t>(one.code), static_cast<std::uint8_t>(one.bits), 1}) {
      return one.name;
    }
  }
  throw argument_error(fmt::format(
      "{} has elements of another type, expected bool, integers, float16, bfloat16, float32 or float64", what));
}

template <class Array>
std::vector<std::int64_t> shape_of(Array const& array)
{
  std::vector<std::int64_t> shape(array.ndim());
  for (std::size_t i = 0; i < shape.size(); ++i) { shape[i] = static_cast<std::int64_t>(array.shape(i)); }
  return shape;
}

std::string text_of(std::vector<std::int64_t> const& shape)
{
  std::string text;
  for (std::int64_t const extent : shape) { text += fmt::format("{}{}", text.empty() ? "" : ", ", extent); }
  return fmt::format("({}{})", text, shape.size() == 1 ? "," : "");
}

/// Whether the elements from dimension `first` on follow each other.
template <class Array>
bool is_dense(Array const& array, std::size_t first)
{
  if (array.size() == 0) { return true; }
  std::int64_t step = 1;
  for (std::size_t i = array.ndim(); i > first; --i) {
    auto const extent = static_cast<std::int64_t>(array.shape(i - 1));
    if (extent > 1 && array.stride(i - 1) != step) { return false; }
    step *= extent;
  }
  return true;
}

/// The owner of what an array of Python's holds, which may be dropped on any thread.
template <class Array>
std::shared_ptr<void const> owner_of(Array const& array)
{
  return {new Array(array), [](Array* p) {
            nb::detail::cleanup_guard const interpreter;
            if (interpreter) { delete p; }
          }};
}

features table_of_array(table_in const& array, char const* what, bool mapped)
{
  auto const refuse = [&](char const* why) { throw argument_error(fmt::format("{} has {}", what, why)); };
  if (array.ndim() == 0) { refuse("shape (), expected one dimension or more"); }
  if (!is_dense(array, 1)) {
    refuse(
        "rows that are not contiguous, expected each in one piece: numpy.ascontiguousarray or .contiguous() copies it");
  }
  feature_rows rows{name_of(array.dtype(), what), shape_of(array)};
  auto row_bytes = static_cast<std::int64_t>(array.itemsize());
  for (std::size_t i = 1; i < rows.shape.size(); ++i) {
    row_bytes = checked_product("bytes of a row", row_bytes, rows.shape[i]);
  }
  std::int64_t stride = row_bytes;
  if (rows.shape[0] > 1 && row_bytes > 0) {
    stride = array.stride(0) <= 0 ? 0 : checked_product("bytes between rows", array.stride(0), array.itemsize());
    if (stride < row_bytes) {
      refuse("rows that overlap or run backwards, expected one after the other: copy it first");
    }
  }
  std::int64_t const extent =
      rows.shape[0] == 0
          ? 0
          : checked_sum("bytes of a table", checked_product("bytes of a table", rows.shape[0] - 1, stride), row_bytes);
  std::span<std::byte const> const bytes(static_cast<std::byte const*>(array.data()), static_cast<std::size_t>(extent));
  rows.row_stride = stride;
  return {feature_table(bytes, std::move(rows), owner_of(array), mapped)};
}

/// A table over bytes that no one else uses.
features table_of_bytes(nb::ndarray<std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu> const& array,
                        std::string const& type, std::vector<std::int64_t> shape)
{
  std::span<std::byte const> const bytes(reinterpret_cast<std::byte const*>(array.data()), array.size());
  return {feature_table(bytes, {type, std::move(shape)}, owner_of(array)), true};
}

features read(std::string const& path, std::string const& name)
{
  nb::gil_scoped_release const no_gil;
  return {read_features(path, name)};
}

void take(feature_table const& table, array_in const& ids, std::span<std::byte> out, int num_threads)
{
  cpu_exec const exec = make_exec(num_threads);
  nb::gil_scoped_release const no_gil;
  if (holds<std::int32_t>(ids)) {
    gather(table, std::span(static_cast<std::int32_t const*>(ids.data()), ids.size()), out, exec);
  } else if (holds<std::int64_t>(ids)) {
    gather(table, std::span(static_cast<std::int64_t const*>(ids.data()), ids.size()), out, exec);
  } else {
    throw argument_error("ids of another type than the Python layer promised");
  }
}

void gather_into(features const& from, array_in const& ids, rows_out const& out, int num_threads)
{
  std::vector<std::int64_t> expected = from.table.shape();
  expected[0] = static_cast<std::int64_t>(ids.size());
  if (std::string const type = name_of(out.dtype(), "out"); type != from.table.type()) {
    throw argument_error(fmt::format("out has dtype {}, expected {}", type, from.table.type()));
  }
  if (shape_of(out) != expected) {
    throw argument_error(fmt::format("out has shape {}, expected {}", text_of(shape_of(out)), text_of(expected)));
  }
  if (!is_dense(out, 0)) { throw argument_error("out is not contiguous, expected elements one after the other"); }
  take(from.table, ids, std::span(static_cast<std::byte*>(out.data()), out.nbytes()), num_threads);
}

nb::capsule capsule_of(features const& from)
{
  using handle = std::shared_ptr<void const>;
  auto owned = std::make_unique<handle>(from.table.owner());
  nb::capsule capsule(owned.get(), [](void* p) noexcept { delete static_cast<handle*>(p); });
  (void)owned.release();
  return capsule;
}

/// An object with __dlpack__ over the memory of a table without gaps, which it keeps alive.
template <class... Access>
nb::object exported(features const& from)
{
  std::vector<std::size_t> const extents(from.table.shape().begin(), from.table.shape().end());
  nb::ndarray<nb::array_api, Access...> const view(const_cast<std::byte*>(from.table.data()), extents.size(),
                                                   extents.data(), capsule_of(from), nullptr,
                                                   type_named(from.table.type()), nb::device::cpu::value);
  return nb::cast(view, nb::rv_policy::automatic);
}

/// NumPy's view of the bytes of a table without gaps.
array_out bytes_of(features const& from)
{
  auto const extent = static_cast<std::size_t>(from.table.num_bytes());
  auto* const data = reinterpret_cast<std::uint8_t*>(const_cast<std::byte*>(from.table.data()));
  if (from.writable) { return make_array(data, 1, &extent, capsule_of(from)); }
  return make_array<std::uint8_t const, nb::ro>(data, 1, &extent, capsule_of(from));
}

}  // namespace

void bind_features(nb::module_& module)
{
  using namespace nb::literals;  // NOLINT(google-build-using-namespace): the way nanobind names arguments
  nb::class_<features>(module, "FeatureTable")
      .def_prop_ro("shape", [](features const& f) { return f.table.shape(); })
      .def_prop_ro("dtype", [](features const& f) { return f.table.type(); })
      .def_prop_ro("row_bytes", [](features const& f) { return f.table.row_bytes(); })
      .def_prop_ro("num_bytes", [](features const& f) { return f.table.num_bytes(); })
      .def("bytes", &bytes_of)
      .def("export", [](features const& f) { return f.writable ? exported<>(f) : exported<nb::ro>(f); })
      .def("gather_into", &gather_into, "ids"_a.noconvert(), "out"_a.noconvert(), "num_threads"_a);
  module.def("feature_table", &table_of_array, "array"_a.noconvert(), "what"_a, "mapped"_a);
  module.def("feature_table_of_bytes", &table_of_bytes, "bytes"_a.noconvert(), "type"_a, "shape"_a);
  module.def("read_features", &read, "path"_a, "name"_a);
}

}  // namespace tendril::python
