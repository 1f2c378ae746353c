// Compiled together with the text of an application, in addition to engine/custom_struct.hpp, on the CPU and by NVRTC.
// Host and device.

#pragma once

#include <cstdint>
#include <type_traits>

#include <tendril/application_concept.hpp>
#include <tendril/engine/applications/random_stream.hpp>
#include <tendril/engine/applications/traits.hpp>
#include <tendril/engine/custom_struct.hpp>

namespace tendril::engine {

/// The values that the library asks an application for before it runs it.
struct custom_about {
  application_traits traits;
  std::int32_t num_steps = 0;  ///< The value of steps().
};

/// Replaces a struct that is not an application: the errors of such a struct would hide the decisive message.
struct no_application {
  TENDRIL_HD int steps() const { return 1; }
  TENDRIL_HD std::int64_t sample_size(int) const { return 1; }
  TENDRIL_HD vertex_id next(auto&, transit_list const&, auto const&, int, random_stream&) const { return no_vertex; }
};

/// The compiled application.
template <class A>
using compiled_application = std::conditional_t<sampling_application<A>, A, no_application>;

template <class A>
TENDRIL_HD custom_about about_of(A const& app)
{
  return {traits_of(app), static_cast<std::int32_t>(app.steps())};
}

}  // namespace tendril::engine
