// What vertices carry, for vertices that are numbered anew.

#pragma once

#include <cstdint>
#include <span>

#include <tendril/buffer.hpp>
#include <tendril/exec.hpp>
#include <tendril/graph.hpp>  // label_array

#include "base/parallel.hpp"  // parallel_ranges

namespace tendril::build {

/// Element ids[v] of `from` for each v, or zero past its end; without ids element v.
template <class T>
buffer<T> gather(T const* from, std::int64_t from_size, std::span<vertex_id const> ids, std::int64_t size,
                 cpu_exec const& exec)
{
  buffer<T> out(size, *exec.memory);
  base::parallel_ranges(exec, size, std::int64_t{1} << 16U, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t v = begin; v < end; ++v) {
      std::int64_t const at = ids.empty() ? v : std::int64_t{ids[static_cast<std::size_t>(v)]};
      out[v] = at < from_size ? from[at] : T{};
    }
  });
  return out;
}

inline label_array gather_labels(label_array const& from, std::span<vertex_id const> ids, std::int64_t size,
                                 cpu_exec const& exec)
{
  auto const view = from.view();
  if (from.empty() || (ids.empty() && size == from.size())) { return from; }
  if (view.bytes_per_label == 1) {
    return shared_array(gather(static_cast<std::uint8_t const*>(view.data), from.size(), ids, size, exec));
  }
  return shared_array(gather(static_cast<std::uint16_t const*>(view.data), from.size(), ids, size, exec));
}

}  // namespace tendril::build
