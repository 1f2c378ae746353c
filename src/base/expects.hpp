#pragma once

#include <fmt/format.h>

#include <tendril/error.hpp>

/// Checks an argument of a public function; the message is a format string and its values, one line.
#define TENDRIL_EXPECTS(condition, ...)                                                \
  do {                                                                                 \
    if (!(condition)) { throw ::tendril::argument_error(::fmt::format(__VA_ARGS__)); } \
  } while (false)
