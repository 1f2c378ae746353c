// The form of graphs that the short names of samplers' arguments stand for: sample_view is basic_sample_view<named_view>,
// walk_state is basic_walk_state<named_view>, and so on. Includes little, so that a program compiled at run time can
// include it too.

#pragma once

#if defined(TENDRIL_COMPRESSED_UNIT)  // a program compiled at run time for compressed graphs alone
#include <tendril/compressed_view.hpp>
#elif defined(TENDRIL_TRANSIT_UNIT)  // or for the parts of a graph
#include <tendril/transit_view.hpp>
#else
#include <tendril/csr_view.hpp>
#endif

namespace tendril {

#if defined(TENDRIL_COMPRESSED_UNIT)
using named_view = compressed_view;
#elif defined(TENDRIL_TRANSIT_UNIT)
using named_view = transit_view;
#else
using named_view = csr_view;
#endif

}  // namespace tendril
