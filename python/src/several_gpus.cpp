// The parts of a result that several GPUs made, brought together in the memory of one.

#include <cstring>
#include <numeric>

#include <nanobind/stl/vector.h>

#include <fmt/format.h>

#include <tendril/checked.hpp>
#include <tendril/gpu.hpp>
#include <tendril/several_gpus.hpp>

#include "bind.hpp"
#include "gpu.hpp"

namespace tendril::python {
namespace {

std::int64_t product(std::vector<std::int64_t> const& shape, std::size_t begin, std::size_t end)
{
  return std::accumulate(shape.begin() + static_cast<std::ptrdiff_t>(begin),
                         shape.begin() + static_cast<std::ptrdiff_t>(end), std::int64_t{1}, std::multiplies{});
}

bool is_dense(gpu_array const& array)
{
  std::int64_t stride = 1;
  for (std::size_t i = array.shape.size(); i-- > 0;) {
    if (array.shape[i] > 1 && array.strides[i] != stride) { return false; }
    stride *= array.shape[i];
  }
  return true;
}

/// @throws argument_error unless parts are dense, of one type, and alike in all dimensions but `axis`.
void expect_alike(std::vector<gpu_array const*> const& parts, std::size_t axis)
{
  if (parts.empty()) { throw argument_error("parts has no arrays, expected one or more"); }
  for (gpu_array const* part : parts) {
    bool alike = is_dense(*part) && part->type == parts[0]->type && part->shape.size() == parts[0]->shape.size() &&
                 axis < part->shape.size();
    for (std::size_t i = 0; alike && i < part->shape.size(); ++i) {
      alike = i == axis || part->shape[i] == parts[0]->shape[i];
    }
    if (!alike) { throw argument_error("parts has arrays that differ in type or shape, expected parts of one array"); }
  }
}

/// The elements of several arrays, joined along an axis, in new memory of one GPU. They may lie on any GPU, and can be freed
/// when this returns. Synchronises.
gpu_array join(std::vector<gpu_array const*> const& parts, std::size_t axis, int device)
{
  expect_alike(parts, axis);
  std::vector<std::int64_t> shape = parts[0]->shape;
  shape[axis] = 0;
  for (gpu_array const* part : parts) { shape[axis] = checked_sum("a dimension", shape[axis], part->shape[axis]); }
  nb::gil_scoped_release const no_gil;
  gpu_exec const exec = make_gpu_exec(device, 0);
  std::int64_t const width = parts[0]->type.bits / 8;
  std::int64_t const outer = product(shape, 0, axis);
  std::int64_t const row = checked_product("bytes of an array", product(shape, axis, shape.size()), width);
  buffer<std::byte> whole(checked_product("bytes of an array", outer, row), memory_of(exec));
  std::int64_t before = 0;
  for (gpu_array const* part : parts) {
    part->ready->synchronize();
    std::int64_t const bytes =
        checked_product("bytes of a part", product(part->shape, axis, part->shape.size()), width);
    auto const* const from = static_cast<std::byte const*>(part->data);
    for (std::int64_t i = 0; i < outer; ++i) {
      copy_between_gpus(from + i * bytes, part->device, whole.data() + i * row + before,
                        static_cast<std::size_t>(bytes), exec);
    }
    before += bytes;
  }
  synchronize(exec);
  gpu_array made = give_gpu<std::byte, std::uint8_t>(std::move(whole), std::move(shape), device,
                                                     std::make_shared<gpu_event const>(exec));
  made.type = parts[0]->type;
  return made;
}

/// Offsets of several parts, each from 0 on, as those of the whole: the last of a part is the first of the next. Synchronises.
gpu_array join_offsets(std::vector<gpu_array const*> const& parts, int device)
{
  expect_alike(parts, 0);
  if (parts[0]->type != nb::dtype<std::int64_t>() || parts[0]->shape.size() != 1) {
    throw argument_error("parts has arrays of another type, expected int64 offsets");
  }
  nb::gil_scoped_release const no_gil;
  std::vector<std::int64_t> whole{0};
  for (gpu_array const* part : parts) {
    std::vector<std::int64_t> own(static_cast<std::size_t>(part->shape[0]));
    part->ready->synchronize();
    copy_to_host(part->data, own.data(), own.size() * sizeof(std::int64_t), gpu_exec(part->device));
    std::int64_t const base = whole.back();
    for (std::size_t i = 1; i < own.size(); ++i) { whole.push_back(checked_sum("an offset", base, own[i])); }
  }
  gpu_exec const exec = make_gpu_exec(device, 0);
  auto there = copy_to_gpu({reinterpret_cast<vertex_id const*>(whole.data()), 2 * whole.size()}, exec);
  gpu_array made = give_gpu<vertex_id, std::int32_t>(std::move(there), {std::ssize(whole)}, device,
                                                     std::make_shared<gpu_event const>(exec));
  made.type = nb::dtype<std::int64_t>();
  return made;
}

}  // namespace

void bind_several_gpus(nb::module_& module)
{
  using namespace nb::literals;  // NOLINT(google-build-using-namespace): the way nanobind names arguments

  module.def("join", &join, "parts"_a, "axis"_a, "device"_a);
  module.def("join_offsets", &join_offsets, "parts"_a, "device"_a);
}

}  // namespace tendril::python
