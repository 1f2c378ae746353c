// Arrays of a part that refer to those of the whole graph.

#pragma once

#include <cstdint>
#include <span>

#include <tendril/graph.hpp>

namespace tendril::dist {

/// Elements [first, first + size). They keep the whole array alive.
template <class T>
[[nodiscard]] shared_array<T> slice(shared_array<T> const& from, std::int64_t first, std::int64_t size)
{
  return {from.span().subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(size)), from.owner()};
}

/// The same; of no labels, none.
[[nodiscard]] inline label_array slice(label_array const& from, std::int64_t first, std::int64_t size)
{
  auto const cut = [&]<class T>(T const* labels) {
    return label_array(shared_array<T>(std::span(labels + first, static_cast<std::size_t>(size)), from.owner()));
  };
  if (from.empty()) { return {}; }
  auto const* const data = from.view().data;
  return from.bytes_per_label() == 1 ? cut(static_cast<std::uint8_t const*>(data))
                                     : cut(static_cast<std::uint16_t const*>(data));
}

}  // namespace tendril::dist
