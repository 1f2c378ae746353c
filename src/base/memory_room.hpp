// How much memory this process can have: the one place that asks the system. Linux gives out more address space than
// there is memory, and ends the process that uses it; so what takes much memory asks here before.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tendril::base {

/// What the system says, in bytes; 2^63 - 1 where it sets no limit.
struct memory_room {
  std::int64_t limit = 0;  ///< That this process may use at most: the machine's memory, or less in a control group.
  std::int64_t free = 0;   ///< That it can still have, page cache that can go included.
  std::int64_t swap = 0;   ///< Swap space that it can have besides.
};

/// Reads the limits of control groups (version 1 and 2) and the state of the machine.
/// @param root  The folder that holds proc/ and sys/: "" for this machine's; tests have their own.
[[nodiscard]] memory_room read_memory_room(std::string const& root = "");

/// Bytes that `ulimit -v` and `ulimit -d` leave to this process; 2^63 - 1 without such a limit.
[[nodiscard]] std::int64_t address_space_left();

/// Bytes that this process can still have: free memory and swap space, within the limits of control groups and `ulimit`.
[[nodiscard]] std::int64_t available_bytes();

/// "17179869184 bytes (16.0 GiB)", for messages.
[[nodiscard]] std::string bytes_text(std::int64_t bytes);

/// Refuses what cannot fit. @param bytes  At least so many will be used: a bound that may overstate refuses what fits.
/// @param what  The beginning of the message: "khop_sample: 8 roots with fanouts 2, 2".
/// @throws memory_error "WHAT: 17179869184 bytes (16.0 GiB) of memory, expected at most 1 GiB, ...".
void expect_memory(std::int64_t bytes, std::string_view what);

}  // namespace tendril::base
