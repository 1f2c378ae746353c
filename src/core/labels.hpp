// Choosing among the edges that carry a label: the candidates are numbered in neighbour order, so that counting
// through the neighbourhood and indexing an adjacency grouped by label pick the same edge.

#pragma once

#include <cstdint>

#include "core/its.hpp"  // no_pick

namespace tendril::core {

/// How many of `size` edges have the label; `label_of(i)` gives edge i's.
template <class LabelOf>
TENDRIL_HD std::uint32_t count_label(std::uint32_t size, LabelOf label_of, label_id label)
{
  std::uint32_t count = 0;
  for (std::uint32_t i = 0; i < size; ++i) { count += label_of(i) == label ? 1U : 0U; }
  return count;
}

/// The index of the edge that has `rank` edges of its label before it; no_pick if there are not so many.
template <class LabelOf>
TENDRIL_HD std::uint32_t select_label(std::uint32_t size, LabelOf label_of, label_id label, std::uint32_t rank)
{
  for (std::uint32_t i = 0; i < size; ++i) {
    if (label_of(i) == label && rank-- == 0) { return i; }
  }
  return no_pick;
}

}  // namespace tendril::core
