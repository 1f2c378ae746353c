#include "arrays.hpp"

#include <atomic>
#include <limits>

#include <fmt/format.h>

#include <tendril/vertex_ids.hpp>

#include "exec.hpp"  // for_each_element

namespace tendril::python {
namespace {

/// The first position whose value is no vertex id, or `size`.
template <class T>
std::int64_t first_bad_id(T const* ids, std::int64_t size, int num_threads)
{
  std::atomic<std::int64_t> bad = size;
  for_each_element(size, num_threads, [&](std::int64_t i) {
    if (is_vertex_id(ids[i])) { return; }
    std::int64_t first = bad;
    while (i < first && !bad.compare_exchange_weak(first, i)) {}
  });
  return bad;
}

template <class T>
void expect_ids(T const* ids, std::int64_t size, char const* what, int num_threads)
{
  std::int64_t const bad = first_bad_id(ids, size, num_threads);
  if (bad < size) {
    throw argument_error(
        fmt::format("{}[{}] is {}, expected a vertex id in [0, {}]", what, bad, ids[bad], no_vertex - 1));
  }
}

template <class T>
shared_array<vertex_id> narrow(T const* ids, std::int64_t size, char const* what, int num_threads)
{
  expect_ids(ids, size, what, num_threads);
  buffer<vertex_id> out(size);
  for_each_element(size, num_threads, [&](std::int64_t i) { out[i] = static_cast<vertex_id>(ids[i]); });
  return out;
}

}  // namespace

shared_array<vertex_id> import_ids(array_in const& array, char const* what, int num_threads)
{
  auto const size = static_cast<std::int64_t>(array.size());
  void const* const data = array.data();
  if (holds<std::int64_t>(array)) { return narrow(static_cast<std::int64_t const*>(data), size, what, num_threads); }
  if (holds<std::uint64_t>(array)) { return narrow(static_cast<std::uint64_t const*>(data), size, what, num_threads); }
  if (holds<std::int32_t>(array)) {
    expect_ids(static_cast<std::int32_t const*>(data), size, what, num_threads);
    return share<vertex_id, std::int32_t>(array);  // without a sign, both types have the same bits
  }
  return share<vertex_id>(array);  // the library checks uint32 ids itself
}

shared_array<float> import_weights(array_in const* array)
{
  return array == nullptr ? shared_array<float>() : share<float>(*array);
}

label_array import_labels(array_in const* array)
{
  if (array == nullptr) { return {}; }
  if (holds<std::uint8_t>(*array)) { return share<std::uint8_t>(*array); }
  return share<std::uint16_t>(*array);
}

void widen(vertex_id const* from, std::int64_t* to, std::int64_t size, int num_threads)
{
  for_each_element(size, num_threads,
                   [&](std::int64_t i) { to[i] = from[i] == no_vertex ? -1 : std::int64_t{from[i]}; });
}

array_out give_ids(buffer<vertex_id>&& ids, std::initializer_list<std::int64_t> shape, bool as_int32, int num_threads)
{
  if (as_int32) { return give<vertex_id, std::int32_t>(std::move(ids), shape); }
  buffer<std::int64_t> wide(ids.size());
  {
    nb::gil_scoped_release const no_gil;
    widen(ids.data(), wide.data(), ids.size(), num_threads);
  }
  return give(std::move(wide), shape);
}

void expect_int32_ids(graph const& graph, bool as_int32)
{
  constexpr std::int64_t most = std::int64_t{std::numeric_limits<std::int32_t>::max()} + 1;
  if (as_int32 && graph.num_vertices() > most) {
    throw argument_error(fmt::format("dtype is int32, but the graph has {} vertices, expected at most {}: use int64",
                                     graph.num_vertices(), most));
  }
}

}  // namespace tendril::python
