#pragma once

#include <string>

#include <tendril/error.hpp>
#include <tendril/transport.hpp>

namespace tendril::test {

/// What ranks say is wrong; "" if nothing is.
template <class Work>
std::string failure_of(int num_ranks, Work work)
{
  try {
    run_ranks(num_ranks, work, transport::seconds(20));
    return {};
  } catch (error const& e) {
    return e.what();
  }
}

}  // namespace tendril::test
