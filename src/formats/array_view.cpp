#include "formats/array_view.hpp"
#include "formats/elements.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <tendril/error.hpp>

#include "base/parallel.hpp"  // parallel_ranges

namespace tendril::formats {
namespace {

struct dtype_info {
  std::string_view name;
  std::int64_t size;
};

constexpr std::array<dtype_info, 14> dtypes{{{"bool", 1},
                                             {"uint8", 1},
                                             {"int8", 1},
                                             {"uint16", 2},
                                             {"int16", 2},
                                             {"uint32", 4},
                                             {"int32", 4},
                                             {"uint64", 8},
                                             {"int64", 8},
                                             {"float16", 2},
                                             {"bfloat16", 2},
                                             {"float32", 4},
                                             {"float64", 8},
                                             {"unknown", 0}}};

[[noreturn]] void fail(std::string const& path, array_view const& array, std::string const& what)
{
  throw format_error(fmt::format("{}: array '{}': {}", path, array.name, what));
}

void expect_flat(std::string const& path, array_view const& array)
{
  if (array.shape.size() != 1) {
    fail(path, array, fmt::format("shape {}, expected one dimension", array.shape_text()));
  }
}

[[noreturn]] void fail_type(std::string const& path, array_view const& array, char const* expected)
{
  fail(path, array, fmt::format("elements of type {}, expected {}", to_string(array.type), expected));
}

/// Element i, wherever it is aligned.
template <class T>
T element(array_view const& array, std::int64_t i)
{
  T value;
  std::memcpy(&value, array.bytes.data() + static_cast<std::size_t>(i) * sizeof(T), sizeof(T));
  return value;
}

bool is_aligned(array_view const& array, std::size_t alignment)
{
  return reinterpret_cast<std::uintptr_t>(array.bytes.data()) % alignment == 0;
}

/// Refers to elements that are To, or that differ from To only in sign and have been checked.
template <class To>
shared_array<To> alias(array_view const& array)
{
  return {std::span(reinterpret_cast<To const*>(array.bytes.data()), static_cast<std::size_t>(array.shape[0])),
          array.owner};
}

/// The first element for which `good` doesn't hold, or -1.
template <class T, class F>
std::int64_t find_bad(array_view const& array, F&& good, cpu_exec const& exec)
{
  std::atomic<std::int64_t> first{std::numeric_limits<std::int64_t>::max()};
  base::parallel_ranges(exec, array.shape[0], elements_a_range, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      if (good(element<T>(array, i))) { continue; }
      for (std::int64_t seen = first.load(); i < seen && !first.compare_exchange_weak(seen, i);) {}
      return;
    }
  });
  return first.load() == std::numeric_limits<std::int64_t>::max() ? -1 : first.load();
}

/// Elements of type From as To: checked against [0, last] unless From is To, and copied only if they have to be.
template <class To, class From>
shared_array<To> convert(std::string const& path, array_view const& array, std::int64_t last, char const* what,
                         cpu_exec const& exec)
{
  if constexpr (!std::is_same_v<To, From>) {
    auto const in_range = [last](From value) { return !std::cmp_less(value, 0) && !std::cmp_greater(value, last); };
    if (std::int64_t const bad = find_bad<From>(array, in_range, exec); bad >= 0) {
      fail(path, array,
           fmt::format("element {} is {}, expected {} in [0, {}]", bad, element<From>(array, bad), what, last));
    }
  }
  if (sizeof(From) == sizeof(To) && is_aligned(array, alignof(To))) { return alias<To>(array); }

  std::int64_t const size = array.shape[0];
  buffer<To> copy(size, *exec.memory);
  base::parallel_ranges(exec, size, elements_a_range, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) { copy[i] = static_cast<To>(element<From>(array, i)); }
  });
  return copy;
}

template <class From>
shared_array<float> convert_weights(array_view const& array, cpu_exec const& exec)
{
  if (std::is_same_v<From, float> && is_aligned(array, alignof(float))) { return alias<float>(array); }
  std::int64_t const size = array.shape[0];
  buffer<float> copy(size, *exec.memory);
  base::parallel_ranges(exec, size, elements_a_range, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      From const value = element<From>(array, i);
      // Out of the range of float is undefined for the conversion, and infinite for whoever checks the weights.
      copy[i] = std::is_same_v<From, double> && std::abs(static_cast<double>(value)) > std::numeric_limits<float>::max()
                    ? std::numeric_limits<float>::infinity()
                    : static_cast<float>(value);
    }
  });
  return copy;
}

constexpr std::int64_t last_edge = std::int64_t{1} << 62;
constexpr std::int64_t last_vertex = max_num_vertices - 1;
constexpr std::int64_t last_label = 0xffff;

}  // namespace

std::int64_t size_of(dtype type) noexcept { return dtypes[static_cast<std::size_t>(type)].size; }

std::string_view to_string(dtype type) noexcept { return dtypes[static_cast<std::size_t>(type)].name; }

std::int64_t count_elements(std::span<std::int64_t const> shape, dtype type) noexcept
{
  std::int64_t const most = (std::int64_t{1} << 62) / std::max<std::int64_t>(size_of(type), 1);
  if (std::any_of(shape.begin(), shape.end(), [](std::int64_t extent) { return extent < 0; })) { return -1; }
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) { return 0; }
  std::int64_t count = 1;
  for (std::int64_t const extent : shape) {
    if (extent > most / count) { return -1; }
    count *= extent;
  }
  return count;
}

std::string array_view::shape_text() const
{
  return shape.size() == 1 ? fmt::format("({},)", shape[0]) : fmt::format("({})", fmt::join(shape, ", "));
}

shared_array<edge_id> to_edge_ids(std::string const& path, array_view const& array, cpu_exec const& exec)
{
  expect_flat(path, array);
  char const* const what = "an offset";
  switch (array.type) {
    case dtype::int64: return convert<edge_id, std::int64_t>(path, array, last_edge, what, exec);
    case dtype::uint64: return convert<edge_id, std::uint64_t>(path, array, last_edge, what, exec);
    case dtype::int32: return convert<edge_id, std::int32_t>(path, array, last_edge, what, exec);
    case dtype::uint32: return convert<edge_id, std::uint32_t>(path, array, last_edge, what, exec);
    default: fail_type(path, array, "int64");
  }
}

shared_array<vertex_id> to_vertex_ids(std::string const& path, array_view const& array, cpu_exec const& exec,
                                      char const* what)
{
  expect_flat(path, array);
  switch (array.type) {
    case dtype::uint32: return convert<vertex_id, std::uint32_t>(path, array, last_vertex, what, exec);
    case dtype::int32: return convert<vertex_id, std::int32_t>(path, array, last_vertex, what, exec);
    case dtype::int64: return convert<vertex_id, std::int64_t>(path, array, last_vertex, what, exec);
    case dtype::uint64: return convert<vertex_id, std::uint64_t>(path, array, last_vertex, what, exec);
    default: fail_type(path, array, "uint32, int32 or int64");
  }
}

shared_array<float> to_weights(std::string const& path, array_view const& array, cpu_exec const& exec)
{
  expect_flat(path, array);
  switch (array.type) {
    case dtype::float32: return convert_weights<float>(array, exec);
    case dtype::float64: return convert_weights<double>(array, exec);
    case dtype::int8: return convert_weights<std::int8_t>(array, exec);
    case dtype::uint8: return convert_weights<std::uint8_t>(array, exec);
    case dtype::int16: return convert_weights<std::int16_t>(array, exec);
    case dtype::uint16: return convert_weights<std::uint16_t>(array, exec);
    case dtype::int32: return convert_weights<std::int32_t>(array, exec);
    case dtype::uint32: return convert_weights<std::uint32_t>(array, exec);
    case dtype::int64: return convert_weights<std::int64_t>(array, exec);
    case dtype::uint64: return convert_weights<std::uint64_t>(array, exec);
    default: fail_type(path, array, "float32 or another number");
  }
}

label_array to_labels(std::string const& path, array_view const& array, cpu_exec const& exec)
{
  expect_flat(path, array);
  char const* const what = "a label";
  switch (array.type) {
    case dtype::boolean:
    case dtype::uint8: return convert<std::uint8_t, std::uint8_t>(path, array, 0xff, what, exec);
    case dtype::int8: return convert<std::uint8_t, std::int8_t>(path, array, 0xff, what, exec);
    case dtype::uint16: return convert<std::uint16_t, std::uint16_t>(path, array, last_label, what, exec);
    case dtype::int16: return convert<std::uint16_t, std::int16_t>(path, array, last_label, what, exec);
    case dtype::int32: return convert<std::uint16_t, std::int32_t>(path, array, last_label, what, exec);
    case dtype::uint32: return convert<std::uint16_t, std::uint32_t>(path, array, last_label, what, exec);
    case dtype::int64: return convert<std::uint16_t, std::int64_t>(path, array, last_label, what, exec);
    case dtype::uint64: return convert<std::uint16_t, std::uint64_t>(path, array, last_label, what, exec);
    default: fail_type(path, array, "uint8 or uint16");
  }
}

}  // namespace tendril::formats
