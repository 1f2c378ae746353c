// The form of graphs that the short names of samplers' arguments stand for: sample_view is basic_sample_view<named_view>,
// walk_state is basic_walk_state<named_view>, and so on. Includes little, so that a program compiled at run time can
// include it too.

#pragma once

#if defined(TENDRIL_TRANSIT_UNIT)  // a program compiled at run time for the parts of a graph alone
#include <tendril/transit_view.hpp>
#elif defined(TENDRIL_COMPRESSED_UNIT)  // or for compressed graphs; both: for compressed parts
#include <tendril/compressed_view.hpp>
#else
#include <tendril/csr_view.hpp>
#endif

namespace tendril {

#if defined(TENDRIL_TRANSIT_UNIT) && defined(TENDRIL_COMPRESSED_UNIT)
using named_view = basic_transit_view<compressed_view>;
#elif defined(TENDRIL_TRANSIT_UNIT)
using named_view = transit_view;
#elif defined(TENDRIL_COMPRESSED_UNIT)
using named_view = compressed_view;
#else
using named_view = csr_view;
#endif

}  // namespace tendril
