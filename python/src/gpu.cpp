// GPUs, arrays that stay in their memory, and ids that come from there.

#include "gpu.hpp"

#include <limits>

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <fmt/format.h>

#include <tendril/checked.hpp>
#include <tendril/gpu.hpp>

#include "arrays.hpp"
#include "bind.hpp"

namespace tendril::python {
namespace {

cuda_stream as_stream(std::uintptr_t handle) { return reinterpret_cast<cuda_stream>(handle); }

id_type id_type_of(std::string const& what, bool is_signed, int bits)
{
  if (bits == 32) { return is_signed ? id_type::int32 : id_type::uint32; }
  if (bits == 64) { return is_signed ? id_type::int64 : id_type::uint64; }
  throw argument_error(fmt::format("{} has elements of {} bits, expected int32 or int64 in GPU memory", what, bits));
}

/// Rows of one element, or of as many as a second dimension has.
id_matrix matrix_of(void const* data, id_type type, std::vector<std::int64_t> const& shape,
                    std::vector<std::int64_t> const& strides)
{
  if (shape.size() == 1) { return {data, type, shape[0], 1, strides[0], 0}; }
  return {data, type, shape[0], shape[1], strides[0], strides[1]};
}

/// Ids in host memory: what isn't uint32 is checked and converted there.
gpu_ids ids_from_host(array_in const& array, std::string const& what, std::int64_t num_rows, std::int64_t num_columns,
                      int num_threads)
{
  nb::gil_scoped_release const no_gil;
  gpu_ids ids;
  ids.what = what;
  ids.host = import_ids(array, what.c_str(), num_threads);
  ids.view = {nullptr, id_type::uint32, num_rows, num_columns, num_columns, 1};
  return ids;
}

/// What a DLPack capsule holds. The Python half has seen that it is a GPU's memory and has one or two dimensions.
gpu_ids ids_from_dlpack(nb::ndarray<nb::ro> const& array, std::string const& what)
{
  auto const code = static_cast<nb::dlpack::dtype_code>(array.dtype().code);
  bool const is_signed = code == nb::dlpack::dtype_code::Int;
  if ((!is_signed && code != nb::dlpack::dtype_code::UInt) || array.dtype().lanes != 1) {
    throw argument_error(fmt::format("{} doesn't hold integers, expected int32 or int64", what));
  }
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> strides;
  for (std::size_t i = 0; i < array.ndim(); ++i) {
    shape.push_back(static_cast<std::int64_t>(array.shape(i)));
    strides.push_back(array.stride(i));
  }
  gpu_ids ids;
  ids.what = what;
  ids.view = matrix_of(array.data(), id_type_of(what, is_signed, array.dtype().bits), shape, strides);
  ids.array = array;
  return ids;
}

/// What a __cuda_array_interface__ tells, strides in elements.
gpu_ids ids_from_pointer(std::uintptr_t pointer, std::string const& what, bool is_signed, int bits,
                         std::vector<std::int64_t> const& shape, std::vector<std::int64_t> const& strides,
                         nb::object owner)
{
  gpu_ids ids;
  ids.what = what;
  ids.view = matrix_of(reinterpret_cast<void const*>(pointer), id_type_of(what, is_signed, bits), shape, strides);
  ids.owner = std::move(owner);
  return ids;
}

gpu_values values_from_host(array_in const& array)
{
  gpu_values values;
  values.data = array.data();
  values.size = static_cast<std::int64_t>(array.size());
  values.host = array;
  return values;
}

/// What a DLPack capsule holds. The Python half has seen that it is a GPU's memory and has one dimension.
gpu_values values_from_dlpack(nb::ndarray<nb::ro> const& array, std::string const& what, bool is_float)
{
  auto const wanted = is_float ? nb::dtype<float>() : nb::dtype<std::int64_t>();
  if (array.dtype() != wanted || (array.shape(0) > 1 && array.stride(0) != 1)) {
    throw argument_error(fmt::format("{} is no contiguous array of {}, as is expected in GPU memory", what,
                                     is_float ? "float32" : "int64"));
  }
  gpu_values values;
  values.data = array.data();
  values.size = static_cast<std::int64_t>(array.shape(0));
  values.array = array;
  return values;
}

/// What a __cuda_array_interface__ tells.
gpu_values values_from_pointer(std::uintptr_t pointer, std::int64_t size, nb::object owner)
{
  gpu_values values;
  values.data = reinterpret_cast<void const*>(pointer);
  values.size = size;
  values.owner = std::move(owner);
  return values;
}

/// A part of an array, whose memory it shares.
gpu_array part(gpu_array const& whole, std::int64_t offset, std::vector<std::int64_t> shape,
               std::vector<std::int64_t> strides)
{
  gpu_array out = whole;
  out.data = static_cast<unsigned char*>(whole.data) + offset * (whole.type.bits / 8);
  out.shape = std::move(shape);
  out.strides = std::move(strides);
  return out;
}

/// The elements of several arrays, one after the other, in new memory, made in the order of `stream`, which waits for them.
/// Doesn't synchronise. @throws argument_error unless there are arrays, all of one type, one dimension and one GPU, each in
/// one piece.
gpu_array concatenate(std::vector<gpu_array const*> const& parts, std::uintptr_t stream)
{
  if (parts.empty()) { throw argument_error("parts has no arrays, expected one or more"); }
  gpu_array const& first = *parts.front();
  std::int64_t size = 0;
  for (gpu_array const* part : parts) {
    bool const dense = part->shape.size() == 1 && (part->shape[0] <= 1 || part->strides[0] == 1);
    if (!dense || part->type != first.type || part->device != first.device) {
      throw argument_error(
          "parts has arrays of several types, dimensions or GPUs, expected dense ones of one dimension");
    }
    size = checked_sum("elements of an array", size, part->shape[0]);
  }
  nb::gil_scoped_release const no_gil;
  gpu_exec const exec = make_gpu_exec(first.device, stream);
  std::int64_t const width = first.type.bits / 8;
  buffer<std::byte> whole(checked_product("bytes of an array", size, width), memory_of(exec));
  std::byte* to = whole.data();
  gpu_event const* last = nullptr;
  for (gpu_array const* part : parts) {
    if (part->ready && part->ready.get() != last) { part->ready->wait_on(exec.stream); }
    last = part->ready.get();
    auto const bytes = static_cast<std::size_t>(part->shape[0] * width);
    copy_on_gpu(part->data, to, bytes, exec);
    to += bytes;
  }
  gpu_array made =
      give_gpu<std::byte, std::uint8_t>(std::move(whole), {size}, exec.device, std::make_shared<gpu_event const>(exec));
  made.type = first.type;
  return made;
}

/// Lets `stream` wait for what `earlier` holds now.
void order_streams(int device, std::uintptr_t earlier, std::uintptr_t stream)
{
  gpu_event(gpu_exec(device, as_stream(earlier))).wait_on(as_stream(stream));
}

/// An object with __dlpack__ and __dlpack_device__ over the array's memory, which it keeps alive.
nb::object exported(nb::handle self)
{
  auto const& array = nb::cast<gpu_array const&>(self);
  std::vector<std::size_t> const extents(array.shape.begin(), array.shape.end());
  nb::ndarray<nb::array_api> const view(array.data, extents.size(), extents.data(), self, array.strides.data(),
                                        array.type, nb::device::cuda::value, array.device);
  return nb::cast(view, nb::rv_policy::automatic);
}

void wait(gpu_array const& array, std::uintptr_t stream) { array.ready->wait_on(as_stream(stream)); }

void synchronize_array(gpu_array const& array)
{
  nb::gil_scoped_release const no_gil;
  array.ready->synchronize();
}

/// Fills `out`, which has the array's elements in the order of memory, and waits for the default stream.
void copy_out(gpu_array const& array, nb::ndarray<nb::ndim<1>, nb::c_contig, nb::device::cpu> const& out)
{
  nb::gil_scoped_release const no_gil;
  array.ready->synchronize();
  copy_to_host(array.data, out.data(), out.nbytes(), gpu_exec(array.device));
}

gpu_starts bring_matrix(gpu_ids const& ids, std::int64_t repeats, std::int64_t num_vertices, gpu_exec const& exec)
{
  id_matrix view = ids.view;
  buffer<vertex_id> uploaded;
  if (!ids.host.empty()) {
    uploaded = copy_to_gpu(ids.host.span(), exec);
    view.data = uploaded.data();
  }
  if (view.num_columns == 1 && repeats != 1) {
    view.num_columns = repeats;
    view.column_stride = 0;
  }
  std::int64_t const size = checked_product("ids", view.num_rows, view.num_columns);
  bool const dense =
      view.num_columns == 1 ? view.row_stride == 1 : view.column_stride == 1 && view.row_stride == view.num_columns;
  // Bits of a negative int32 are those of an id that only a graph of more than 2^31 vertices has.
  bool const fits =
      view.type == id_type::uint32 ||
      (view.type == id_type::int32 && num_vertices <= std::int64_t{std::numeric_limits<std::int32_t>::max()} + 1);
  if (size == 0 || (dense && fits)) {
    std::span<vertex_id const> const there(static_cast<vertex_id const*>(view.data), static_cast<std::size_t>(size));
    return {std::move(uploaded), there};
  }
  buffer<vertex_id> narrow = narrow_ids(view, exec);
  std::span<vertex_id const> const all = narrow.span();
  return {std::move(narrow), all};
}

}  // namespace

gpu_exec make_gpu_exec(int device, std::uintptr_t stream)
{
  return gpu_exec(device, as_stream(stream), &lasting_gpu_memory(device, as_stream(stream)));
}

gpu_exec make_gpu_exec(graph const& graph, std::uintptr_t stream) { return make_gpu_exec(graph.device(), stream); }

gpu_starts bring(gpu_ids const* ids, std::int64_t repeats, graph const& graph, gpu_exec const& exec)
{
  std::int64_t const num_rows = ids == nullptr ? graph.num_vertices() : ids->view.num_rows;
  (void)checked_product("walks from starts", num_rows, repeats);  // before anything is copied
  if (ids == nullptr) {
    buffer<vertex_id> every = every_vertex(graph.num_vertices(), repeats, exec);
    std::span<vertex_id const> const all = every.span();
    return {std::move(every), all};
  }
  return bring_matrix(*ids, repeats, graph.num_vertices(), exec);
}

gpu_starts bring(gpu_ids const& ids, std::int64_t num_vertices, gpu_exec const& exec)
{
  return bring_matrix(ids, 1, num_vertices, exec);
}

void bind_gpu(nb::module_& module)
{
  using namespace nb::literals;  // NOLINT(google-build-using-namespace): the way nanobind names arguments

  nb::class_<gpu_info>(module, "GpuInfo")
      .def_ro("name", &gpu_info::name)
      .def_ro("device", &gpu_info::device)
      .def_prop_ro("compute_capability", [](gpu_info const& i) { return std::pair(i.major, i.minor); })
      .def_ro("num_multiprocessors", &gpu_info::num_multiprocessors)
      .def_ro("l2_bytes", &gpu_info::l2_bytes)
      .def_ro("total_bytes", &gpu_info::total_bytes);
  module.def("num_gpus", &num_gpus);
  module.def("describe_gpu", &describe_gpu, "device"_a);
  module.def("free_gpu_bytes", &free_gpu_bytes, "device"_a);
  module.def(
      "gpu_of", [](std::uintptr_t pointer) { return gpu_of(reinterpret_cast<void const*>(pointer)); }, "pointer"_a);
  module.def("order_streams", &order_streams, "device"_a, "earlier"_a, "stream"_a);

  nb::class_<gpu_stream>(module, "GpuStream")
      .def(nb::init<int>(), "device"_a)
      .def_prop_ro("handle", [](gpu_stream const& stream) { return reinterpret_cast<std::uintptr_t>(stream.get()); });
  nb::class_<gpu_array>(module, "GpuArray")
      .def_prop_ro("pointer", [](gpu_array const& a) { return reinterpret_cast<std::uintptr_t>(a.data); })
      .def_prop_ro("shape", [](gpu_array const& a) { return a.shape; })
      .def_prop_ro("strides", [](gpu_array const& a) { return a.strides; })
      .def_prop_ro("bits", [](gpu_array const& a) { return static_cast<int>(a.type.bits); })
      .def_prop_ro("type_code", [](gpu_array const& a) { return static_cast<int>(a.type.code); })
      .def_ro("device", &gpu_array::device)
      .def("part", &part, "offset"_a, "shape"_a, "strides"_a)
      .def("wait", &wait, "stream"_a)
      .def("synchronize", &synchronize_array)
      .def("export", [](nb::handle_t<gpu_array> self) { return exported(self); })
      .def("copy_out", &copy_out, "out"_a.noconvert());
  module.def("concatenate_gpu", &concatenate, "parts"_a, "stream"_a);

  nb::class_<gpu_ids>(module, "GpuIds")
      .def_static("from_host", &ids_from_host, "array"_a.noconvert(), "what"_a, "num_rows"_a, "num_columns"_a,
                  "num_threads"_a)
      .def_static("from_dlpack", &ids_from_dlpack, "array"_a.noconvert(), "what"_a)
      .def_static("from_pointer", &ids_from_pointer, "pointer"_a, "what"_a, "is_signed"_a, "bits"_a, "shape"_a,
                  "strides"_a, "owner"_a);

  nb::class_<gpu_values>(module, "GpuValues")
      .def_static("from_host", &values_from_host, "array"_a.noconvert())
      .def_static("from_dlpack", &values_from_dlpack, "array"_a.noconvert(), "what"_a, "is_float"_a)
      .def_static("from_pointer", &values_from_pointer, "pointer"_a, "size"_a, "owner"_a);
}

}  // namespace tendril::python
