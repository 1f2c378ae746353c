// The neighbours of one vertex of any view, one after the other in memory.

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <tendril/types.hpp>

namespace tendril::place {

/// @param scratch  Holds the result until the next call.
template <class View>
std::span<vertex_id const> list_of(View const& g, std::int64_t v, std::vector<vertex_id>& scratch)
{
  auto const row = g.row(v);
  scratch.resize(row.degree());
  row.copy_to(scratch.data());
  return scratch;
}

}  // namespace tendril::place
