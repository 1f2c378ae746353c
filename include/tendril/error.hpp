#pragma once

#include <stdexcept>
#include <string>

namespace tendril {

/// Base class of all exceptions that the library throws on purpose. `what()` is one line: what is wrong, where, which
/// value, what was expected. The library never prints and never aborts.
class error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// An invalid argument: out of range, missing, or contradictory. The CLI exits with 2.
class argument_error : public error {
 public:
  using error::error;
};

/// A file or an array with malformed content: "file:line: what, expected what". The CLI exits with 1.
class format_error : public error {
 public:
  using error::error;
};

/// A file that could not be opened, read, mapped, written or renamed. The CLI exits with 1.
class io_error : public error {
 public:
  using error::error;
};

/// Memory that is not available; the message says how much was requested and for what. The CLI exits with 1.
class memory_error : public error {
 public:
  using error::error;
};

/// A GPU that is missing or unusable, or a CUDA call that failed. The CLI exits with 1.
class device_error : public error {
 public:
  using error::error;
};

}  // namespace tendril
