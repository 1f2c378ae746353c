// The form of graphs that the short names of samplers' arguments stand for: sample_view is basic_sample_view<named_view>,
// walk_state is basic_walk_state<named_view>, and so on. Includes little, so that a program compiled at run time can
// include it too.

#pragma once

#ifdef TENDRIL_PACKED_UNIT  // a program compiled at run time for packed graphs alone
#include <tendril/packed_view.hpp>
#else
#include <tendril/csr_view.hpp>
#endif

namespace tendril {

#ifdef TENDRIL_PACKED_UNIT
using named_view = packed_view;
#else
using named_view = csr_view;
#endif

}  // namespace tendril
