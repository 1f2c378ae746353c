#pragma once

// What calls throw.

#include <string>

#include <gtest/gtest.h>

#include <tendril/error.hpp>

namespace tendril::test {

/// The message, of one line, of the Error that `call` throws; a failure of the test if it throws none.
template <class Error, class F>
std::string message_of(F&& call)
{
  try {
    call();
  } catch (Error const& error) {
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return {};
}

}  // namespace tendril::test
