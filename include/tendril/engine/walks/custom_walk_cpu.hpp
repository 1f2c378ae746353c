// The functions of a shared library that holds one walk compiled from text for the CPU; the library's side is
// src/cpu/walks/custom_walk.cpp. No exception and no object with a destructor crosses this boundary.

#pragma once

#include <cstdint>

#include <tendril/engine/walks/custom_walk_unit.hpp>
#include <tendril/engine/walks/part_step.hpp>
#include <tendril/engine/walks/walker.hpp>

namespace tendril::engine {

/// Walks [begin, end) of a batch. @return 0, or 1 with the problem in `report`.
/// @param setup  A dynamic_setup with the view that the library was compiled for.
using custom_walk_function = int(void const* walk, void const* setup, int rejecting, dynamic_batch const* batch,
                                 std::int64_t begin, std::int64_t end, dynamic_report* report);

/// Decides the steps of a batch of walkers on a part. @return 0, or 1 with the problem in `report`.
/// @param setup  A dynamic_setup with the transit view that the library was compiled for.
using part_step_function = int(void const* walk, void const* setup, int rejecting, part_batch const* batch,
                               dynamic_report* report);

#ifdef TENDRIL_CUSTOM_UNIT

void throw_problem(dynamic_report const& report, std::int64_t) { throw report; }

#ifdef TENDRIL_TRANSIT_UNIT

template <class W>
int step_custom(void const* walk, void const* setup, int rejecting, part_batch const* batch, dynamic_report* report)
{
  try {
    decide_on_part(*static_cast<W const*>(walk), *static_cast<dynamic_setup<named_view> const*>(setup), rejecting != 0,
                   *batch);
    return 0;
  } catch (dynamic_report const& problem) {
    *report = problem;
    return 1;
  }
}

#else

template <class W>
int walk_custom(void const* walk, void const* setup, int rejecting, dynamic_batch const* batch, std::int64_t begin,
                std::int64_t end, dynamic_report* report)
{
  try {
    auto const& own = *static_cast<dynamic_setup<named_view> const*>(setup);
    dynamic_walker<W, named_view> const walker(*static_cast<W const*>(walk), own, rejecting != 0);
    for (std::int64_t i = begin; i < end; ++i) {
      std::int32_t const steps = walker(batch->first_walk + static_cast<std::uint64_t>(i), batch->starts[i],
                                        batch->vertices + i * batch->walk_stride);
      if (batch->lengths != nullptr) { batch->lengths[i] = steps; }
    }
    return 0;
  } catch (dynamic_report const& problem) {
    *report = problem;
    return 1;
  }
}

#endif
#endif

}  // namespace tendril::engine
