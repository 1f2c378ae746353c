// Tables of features, and the gather of their rows.

#include <tendril/features.hpp>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <tendril/checked.hpp>
#include <tendril/error.hpp>
#include <tendril/file.hpp>  // foreign_mapping
#include <tendril/gpu_features.hpp>
#include <tendril/several_gpus.hpp>

#include "arrays.hpp"
#include "bind.hpp"
#include "exec.hpp"
#include "features.hpp"
#include "gpu.hpp"
#include "names.hpp"

namespace tendril::python {
namespace {

// In host memory; that of CUDA, page-locked, is another device to DLPack.
using table_in = nb::ndarray<nb::ro>;
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

/// The span of bytes and the rows of an array in any memory.
template <class Array>
std::pair<std::span<std::byte const>, feature_rows> rows_of(Array const& array, char const* what)
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
  return {bytes, std::move(rows)};
}

/// @throws a TypeError for memory of a GPU.
template <class Array>
void expect_on_host(Array const& array)
{
  constexpr int cuda_host = 3;  // DLPack's kDLCUDAHost
  if (array.device_type() != nb::device::cpu::value && array.device_type() != cuda_host) {
    throw nb::type_error("memory of a GPU, expected host memory");
  }
}

/// The owner of an array in a file that Python has mapped.
struct mapped_owner {
  std::shared_ptr<void const> array;
  foreign_mapping file;
};

/// @param file  The name of the file that the array's memory is mapped from, if it is.
features table_of_array(table_in const& array, char const* what, std::optional<std::string> const& file)
{
  expect_on_host(array);
  auto [bytes, rows] = rows_of(array, what);
  auto owner = owner_of(array);
  if (!file) { return {feature_table(bytes, std::move(rows), std::move(owner))}; }
  std::shared_ptr<void const> const mapped(new mapped_owner{std::move(owner), {bytes, *file}});
  return {feature_table(bytes, std::move(rows), mapped, true)};
}

/// A table over memory of a GPU, as the Python half has seen.
features table_on_gpu(nb::ndarray<nb::ro> const& array, char const* what)
{
  auto [bytes, rows] = rows_of(array, what);
  return {feature_table::on_gpu(array.device_id(), bytes, std::move(rows), owner_of(array))};
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

gather_request request_for(feature_table const& table, array_in const& ids, std::span<std::byte> out)
{
  if (holds<std::int32_t>(ids)) {
    return {table, std::span(static_cast<std::int32_t const*>(ids.data()), ids.size()), out};
  }
  if (holds<std::int64_t>(ids)) {
    return {table, std::span(static_cast<std::int64_t const*>(ids.data()), ids.size()), out};
  }
  throw argument_error("ids of another type than the Python layer promised");
}

void take(feature_table const& table, array_in const& ids, std::span<std::byte> out, int num_threads)
{
  auto const one = request_for(table, ids, out);
  cpu_exec const exec = make_exec(num_threads);
  nb::gil_scoped_release const no_gil;
  std::visit([&](auto of) { gather(one.table, of, one.out, exec); }, one.ids);
}

/// The bytes of an array that takes `count` rows. @throws argument_error for another type, shape or layout.
template <class Array>
std::span<std::byte> bytes_for_rows(feature_table const& table, std::size_t count, Array const& out)
{
  std::vector<std::int64_t> expected = table.shape();
  expected[0] = static_cast<std::int64_t>(count);
  if (std::string const type = name_of(out.dtype(), "out"); type != table.type()) {
    throw argument_error(fmt::format("out has dtype {}, expected {}", type, table.type()));
  }
  if (shape_of(out) != expected) {
    throw argument_error(fmt::format("out has shape {}, expected {}", text_of(shape_of(out)), text_of(expected)));
  }
  if (!is_dense(out, 0)) { throw argument_error("out is not contiguous, expected elements one after the other"); }
  return {static_cast<std::byte*>(out.data()), out.nbytes()};
}

void gather_into(features const& from, array_in const& ids, rows_out const& out, int num_threads)
{
  take(from.table, ids, host_bytes_for_rows(from.table, ids.size(), out), num_threads);
}

/// Of each table its own ids, in one go.
void gather_tables(std::vector<features const*> const& from, std::vector<array_in> const& ids,
                   std::vector<rows_out> const& outs, int num_threads)
{
  if (ids.size() != from.size() || outs.size() != from.size()) {
    throw argument_error(fmt::format("{} tables, {} arrays of ids and {} of rows, expected as many of each",
                                     from.size(), ids.size(), outs.size()));
  }
  std::vector<gather_request> requests;
  requests.reserve(from.size());
  for (std::size_t i = 0; i < from.size(); ++i) {
    auto const& table = from[i]->table;
    requests.push_back(request_for(table, ids[i], host_bytes_for_rows(table, ids[i].size(), outs[i])));
  }
  cpu_exec const exec = make_exec(num_threads);
  nb::gil_scoped_release const no_gil;
  gather(requests, exec);
}

gpu_exec exec_on(int device, std::uintptr_t stream) { return gpu_exec(device, reinterpret_cast<cuda_stream>(stream)); }

features copy_to(features const& from, int device, std::uintptr_t stream)
{
  nb::gil_scoped_release const no_gil;
  return {to_gpu(from.table, make_gpu_exec(device, stream))};
}

features copy_to_lend(features const& from, int device)
{
  nb::gil_scoped_release const no_gil;
  return {to_gpu(from.table, gpu_exec(device, nullptr, &lendable_gpu_memory(device)))};
}

features spread(features const& from, std::vector<int> const& devices, array_in const& hot)
{
  shared_array<std::int64_t> const rows = share<std::int64_t>(hot);
  nb::gil_scoped_release const no_gil;
  return {spread_over_gpus(to_host(from.table), gpu_set(devices), rows.span())};
}

/// The GPUs that read a table as their own memory.
std::vector<int> gpus_of(features const& from)
{
  if (from.table.spread() != nullptr) {
    gpu_set const& all = from.table.spread()->devices;
    return {all.begin(), all.end()};
  }
  return from.table.device() < 0 ? std::vector<int>() : std::vector{from.table.device()};
}

features copy_to_memory(features const& from)
{
  nb::gil_scoped_release const no_gil;
  return {to_host(from.table), from.table.device() >= 0};
}

features pin(features const& from, int num_threads)
{
  cpu_exec const exec = make_exec(num_threads);
  nb::gil_scoped_release const no_gil;
  return {pin_memory(from.table, exec)};
}

gpu_features on_gpu(features const& from, int device, std::string const& share)
{
  nb::gil_scoped_release const no_gil;
  return {from.table, gpu_exec(device), parse_option<work_share>("share", share)};
}

char const* memory_name(gpu_features const& from)
{
  switch (from.memory()) {
    case row_memory::gpu: return "gpu";
    case row_memory::page_locked: return "page-locked";
    case row_memory::pageable: break;
  }
  return "pageable";
}

void gather_on_gpu(gpu_features const& from, id_matrix const& ids, std::span<std::byte> out, gpu_exec const& exec,
                   bool check, gather_way const& way)
{
  check ? from.gather(ids, out, exec) : from.gather_unchecked(ids, out, exec, way);
}

/// Gathers by ids of the caller's, wherever they lie. Needs no GIL.
/// @param way  Of rows of page-locked memory, if the ids are not checked.
void gather_ids(gpu_features const& from, gpu_ids const& ids, std::span<std::byte> out, gpu_exec const& exec,
                bool check, gather_way const& way = {})
{
  if (ids.view.data != nullptr) { return gather_on_gpu(from, ids.view, out, exec, check, way); }
  gpu_starts const there = bring(ids, from.table().num_rows(), exec);
  id_matrix const view{there.ids.data(), id_type::uint32, std::ssize(there.ids)};
  gather_on_gpu(from, view, out, exec, check, way);
}

gpu_array gather_new(gpu_features const& from, gpu_ids const& ids, std::uintptr_t stream, bool check,
                     std::string const& share, int num_threads, double gpu_part, gather_meter* meter)
{
  nb::gil_scoped_release const no_gil;
  gpu_exec const exec = exec_on(from.device(), stream);
  return new_rows(from.table(), ids.view.num_rows, exec, [&](std::span<std::byte> rows) {
    gather_ids(from, ids, rows, exec, check, way_of(share, num_threads, gpu_part, meter));
  });
}

void gather_to(gpu_features const& from, gpu_ids const& ids, nb::ndarray<> const& out, std::uintptr_t stream,
               bool check)
{
  auto const bytes = bytes_for_rows(from.table(), static_cast<std::size_t>(ids.view.num_rows), out);
  nb::gil_scoped_release const no_gil;
  gather_ids(from, ids, bytes, exec_on(from.device(), stream), check);
}

/// Rows of several tables by the same ids: [count] int64 at an address of the GPU's, to [count] rows each at others. For
/// callers who know their arrays.
/// @param shares  Of each table: who gathers its rows, if they are page-locked.
void gather_rows_at(std::vector<gpu_features const*> const& from, std::uintptr_t ids, std::int64_t count,
                    std::vector<std::uintptr_t> const& outs, std::uintptr_t stream,
                    std::vector<std::string> const& shares, int num_threads, double gpu_part, gather_meter* meter)
{
  if (outs.size() != from.size() || shares.size() != from.size()) {
    throw argument_error(fmt::format("{} tables, {} addresses and {} shares, expected as many of each", from.size(),
                                     outs.size(), shares.size()));
  }
  nb::gil_scoped_release const no_gil;
  if (from.empty()) { return; }
  gpu_exec const exec = exec_on(from[0]->device(), stream);
  auto const narrow = narrow_ids({reinterpret_cast<void const*>(ids), id_type::int64, count}, exec);  // once for all
  for (std::size_t i = 0; i < from.size(); ++i) {
    auto const bytes = static_cast<std::size_t>(count * from[i]->table().row_bytes());
    from[i]->gather_unchecked({narrow.data(), id_type::uint32, count}, {reinterpret_cast<std::byte*>(outs[i]), bytes},
                              exec, way_of(shares[i], num_threads, gpu_part, meter));
  }
}

/// Nanoseconds of the CPU, and the rows that it gathered, and the GPU.
std::tuple<std::int64_t, std::int64_t, std::int64_t> reading_of(gather_meter& meter)
{
  auto const done = meter.take();
  return {done.of_cpu.count(), done.by_cpu, done.by_gpu};
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
  bool const on_gpu = from.table.device() >= 0;
  nb::ndarray<nb::array_api, Access...> const view(
      const_cast<std::byte*>(from.table.data()), extents.size(), extents.data(), capsule_of(from), nullptr,
      type_named(from.table.type()), on_gpu ? nb::device::cuda::value : nb::device::cpu::value,
      on_gpu ? from.table.device() : 0);
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

std::span<std::byte> host_bytes_for_rows(feature_table const& table, std::size_t count, rows_out const& out)
{
  expect_on_host(out);
  return bytes_for_rows(table, count, out);
}

gather_way way_of(std::string const& share, int num_threads, double gpu_part, gather_meter* meter)
{
  return {parse_option<work_share>("share", share), num_threads, gpu_part, meter};
}

gpu_array new_rows(feature_table const& table, std::int64_t count, gpu_exec const& exec,
                   std::function<void(std::span<std::byte>)> const& fill)
{
  std::vector<std::int64_t> shape = table.shape();
  shape[0] = count;
  buffer<std::byte> rows(checked_product("bytes of gathered rows", count, table.row_bytes()),
                         lasting_gpu_memory(exec.device, exec.stream));
  fill(rows.span());
  gpu_array made = give_gpu<std::byte, std::uint8_t>(std::move(rows), std::move(shape), exec.device,
                                                     std::make_shared<gpu_event const>(exec));
  made.type = type_named(table.type());
  return made;
}

void bind_features(nb::module_& module)
{
  using namespace nb::literals;  // NOLINT(google-build-using-namespace): the way nanobind names arguments
  nb::class_<features>(module, "FeatureTable")
      .def_prop_ro("shape", [](features const& f) { return f.table.shape(); })
      .def_prop_ro("dtype", [](features const& f) { return f.table.type(); })
      .def_prop_ro("row_bytes", [](features const& f) { return f.table.row_bytes(); })
      .def_prop_ro("num_bytes", [](features const& f) { return f.table.num_bytes(); })
      .def_prop_ro("device", [](features const& f) { return f.table.device(); })
      .def_prop_ro("gpus", &gpus_of)
      .def_prop_ro("pointer", [](features const& f) { return reinterpret_cast<std::uintptr_t>(f.table.data()); })
      .def("to_gpu", &copy_to, "device"_a, "stream"_a)
      .def("to_lend", &copy_to_lend, "device"_a)
      .def("spread", &spread, "devices"_a, "hot"_a.noconvert())
      .def("to_host", &copy_to_memory)
      .def("pin_memory", &pin, "num_threads"_a)
      .def("on_gpu", &on_gpu, "device"_a, "share"_a)
      .def("bytes", &bytes_of)
      .def("export", [](features const& f) { return f.writable ? exported<>(f) : exported<nb::ro>(f); })
      .def("gather_into", &gather_into, "ids"_a.noconvert(), "out"_a.noconvert(), "num_threads"_a);
  module.def("feature_table", &table_of_array, "array"_a.noconvert(), "what"_a, "file"_a = nb::none());
  module.def("gather_tables", &gather_tables, "tables"_a, "ids"_a, "outs"_a, "num_threads"_a);
  module.def("feature_table_on_gpu", &table_on_gpu, "array"_a.noconvert(), "what"_a);
  module.def("feature_table_of_bytes", &table_of_bytes, "bytes"_a.noconvert(), "type"_a, "shape"_a);
  module.def("read_features", &read, "path"_a, "name"_a);
  nb::class_<gather_meter>(module, "GatherMeter").def(nb::init<>()).def("take", &reading_of);
  nb::class_<gpu_features>(module, "GpuFeatures")
      .def_prop_ro("memory", &memory_name)
      .def_prop_ro("device", &gpu_features::device)
      .def("gather_new", &gather_new, "ids"_a, "stream"_a, "check"_a, "share"_a, "num_threads"_a, "gpu_part"_a,
           "meter"_a.none())
      .def("gather_to", &gather_to, "ids"_a, "out"_a.noconvert(), "stream"_a, "check"_a);
  module.def("gather_rows_at", &gather_rows_at, "tables"_a, "ids"_a, "count"_a, "outs"_a, "stream"_a, "shares"_a,
             "num_threads"_a, "gpu_part"_a, "meter"_a.none());
}

}  // namespace tendril::python
