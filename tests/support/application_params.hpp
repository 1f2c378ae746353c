#pragma once

// Parameters for the applications of tests. Apart from the applications themselves, whose text is also compiled by NVRTC.

#include <tendril/application.hpp>

namespace tendril::test {

/// Parameters for an application of tests.
template <class A>
application_params params_of()
{
  application_params params;
  params.seed = 17;
  if (A{}.steps() == until_done) { params.max_steps = 6; }
  return params;
}

}  // namespace tendril::test
