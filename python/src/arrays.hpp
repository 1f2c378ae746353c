#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <tendril/buffer.hpp>
#include <tendril/error.hpp>
#include <tendril/graph.hpp>
#include <tendril/types.hpp>

namespace tendril::python {

namespace nb = nanobind;

/// A one-dimensional array of the caller's, in host memory, contiguous, of any type. The Python layer has seen to
/// shape and contiguity; nothing is ever written to it.
using array_in = nb::ndarray<nb::ro, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

/// An array that has left for NumPy.
class array_out : public nb::object {
  NB_OBJECT_DEFAULT(array_out, nb::object, "numpy.typing.NDArray[typing.Any]", nb::ndarray_check)
};

template <class T>
[[nodiscard]] bool holds(array_in const& array)
{
  return array.dtype() == nb::dtype<T>();
}

/// The elements of an array that is known to hold T, kept alive by what is returned.
template <class T, class Stored = T>
[[nodiscard]] shared_array<T> share(array_in const& array)
{
  static_assert(sizeof(T) == sizeof(Stored));
  if (!holds<Stored>(array)) { throw argument_error("an array of another type than the Python layer promised"); }
  // The last owner may be dropped on any thread, with or without the GIL, and after the interpreter is gone.
  std::shared_ptr<void const> owner(new array_in(array), [](array_in* p) {
    nb::detail::cleanup_guard const interpreter;
    if (interpreter) { delete p; }
  });
  std::span<T const> const elements(static_cast<T const*>(array.data()), array.size());
  return shared_array<T>(elements, std::move(owner));
}

/// NumPy's array of T over memory that `owner` keeps alive.
template <class T, class... Options>
[[nodiscard]] array_out make_array(T* data, std::size_t dimensions, std::size_t const* extents,
                                   nb::capsule const& owner)
{
  nb::ndarray<nb::numpy, Options...> const array(data, dimensions, extents, owner, nullptr, nb::dtype<T>(),
                                                 nb::device::cpu::value);
  nb::object made = nb::cast(array, nb::rv_policy::automatic);
  // The binding calls 64-bit integers "long long", which NumPy prints and pickles as a foreign type.
  if constexpr (std::is_same_v<std::remove_const_t<T>, std::int64_t>) { made = made.attr("view")("int64"); }
  return nb::borrow<array_out>(made);
}

/// Hands a buffer's memory to NumPy: the array frees it. As stored, or as another type of the same size.
template <class T, class As = T>
[[nodiscard]] array_out give(buffer<T>&& elements, std::initializer_list<std::int64_t> shape)
{
  static_assert(sizeof(T) == sizeof(As));
  auto owned = std::make_unique<buffer<T>>(std::move(elements));
  T* const data = owned->data();
  nb::capsule const owner(owned.get(), [](void* p) noexcept { delete static_cast<buffer<T>*>(p); });
  (void)owned.release();
  std::size_t extents[4] = {};
  std::size_t dimensions = 0;
  for (std::int64_t const extent : shape) { extents[dimensions++] = static_cast<std::size_t>(extent); }
  return make_array(reinterpret_cast<As*>(data), dimensions, extents, owner);
}

/// A read-only NumPy view of an array that the graph shares; the view keeps the memory alive by itself.
template <class T>
[[nodiscard]] array_out look_at(T const* data, std::int64_t size, std::shared_ptr<void const> const& owner)
{
  using handle = std::shared_ptr<void const>;
  auto owned = std::make_unique<handle>(owner);
  nb::capsule const capsule(owned.get(), [](void* p) noexcept { delete static_cast<handle*>(p); });
  (void)owned.release();
  std::size_t const extent = static_cast<std::size_t>(size);
  return make_array<T const, nb::ro>(data, 1, &extent, capsule);
}

template <class T>
[[nodiscard]] array_out look_at(shared_array<T> const& array)
{
  return look_at(array.data(), array.size(), array.owner());
}

/// Vertex ids of type uint32, int32, int64 or uint64. 32-bit ones are taken as they are, without a copy; 64-bit ones
/// are narrowed in parallel. Holds no GIL.
/// @param what  Names the array in the message.
/// @throws argument_error "what[i] is -3, expected a vertex id in [0, 4294967294]" for the first id out of range.
[[nodiscard]] shared_array<vertex_id> import_ids(array_in const& array, char const* what, int num_threads);

/// Weights of type float32, without a copy.
[[nodiscard]] shared_array<float> import_weights(array_in const* array);

/// Labels of type uint8 or uint16, without a copy.
[[nodiscard]] label_array import_labels(array_in const* array);

/// Ids as int64, `no_vertex` as -1: one parallel pass. Holds no GIL.
void widen(vertex_id const* from, std::int64_t* to, std::int64_t size, int num_threads);

/// Ids for NumPy, as int64 (converted) or, where `as_int32`, as int32 (the same memory).
[[nodiscard]] array_out give_ids(buffer<vertex_id>&& ids, std::initializer_list<std::int64_t> shape, bool as_int32,
                                 int num_threads);

/// @throws argument_error if ids of this graph don't fit int32.
void expect_int32_ids(graph const& graph, bool as_int32);

}  // namespace tendril::python
