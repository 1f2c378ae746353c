#include "base/memory_room.hpp"

#include <algorithm>
#include <fstream>
#include <initializer_list>
#include <limits>

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <tendril/error.hpp>

namespace tendril::base {
namespace {

constexpr std::int64_t no_limit = std::numeric_limits<std::int64_t>::max();

std::int64_t difference(std::int64_t limit, std::int64_t used)
{
  return limit == no_limit ? no_limit : std::max<std::int64_t>(0, limit - used);
}

std::int64_t sum(std::int64_t a, std::int64_t b) { return a > no_limit - b ? no_limit : a + b; }

/// The number in a file, or `otherwise` if it has none ("max") or does not exist.
std::int64_t number_in(std::string const& path, std::int64_t otherwise)
{
  std::int64_t value = 0;
  return std::ifstream(path) >> value ? value : otherwise;
}

/// The numbers of some lines "NAME NUMBER" of a file, added up.
std::int64_t sum_of_lines(std::string const& path, std::initializer_list<std::string_view> names)
{
  std::ifstream file(path);
  std::string name, rest;
  std::int64_t total = 0;
  for (std::int64_t number = 0; file >> name >> number && std::getline(file, rest);) {
    if (std::ranges::find(names, name) != names.end()) { total = sum(total, number); }
  }
  return total;
}

/// One control group: what its folder says.
void take_group(memory_room& room, std::string const& folder, bool version_1)
{
  std::string const memory = folder + (version_1 ? "/memory.limit_in_bytes" : "/memory.max");
  std::int64_t const limit = number_in(memory, no_limit);
  if (limit == no_limit) { return; }
  room.limit = std::min(room.limit, limit);
  // Pages of files count as used, and go where memory is wanted.
  std::int64_t const used =
      number_in(folder + (version_1 ? "/memory.usage_in_bytes" : "/memory.current"), 0) -
      (version_1 ? sum_of_lines(folder + "/memory.stat", {"total_inactive_file", "total_active_file"})
                 : sum_of_lines(folder + "/memory.stat", {"inactive_file", "active_file"}));
  room.free = std::min(room.free, difference(limit, std::max<std::int64_t>(used, 0)));
  if (version_1) {  // here the limit of both together
    std::int64_t const both = number_in(folder + "/memory.memsw.limit_in_bytes", no_limit);
    room.swap = std::min(room.swap, difference(both, limit));
  } else {
    std::int64_t const swap = number_in(folder + "/memory.swap.max", no_limit);
    room.swap = std::min(room.swap, difference(swap, number_in(folder + "/memory.swap.current", 0)));
  }
}

/// f(folder, version_1) for each group that limits this process, and each that it lies in.
template <class F>
void for_each_group(std::string const& root, F&& f)
{
  std::ifstream groups(root + "/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {  // "5:memory:/path", or "0::/path" of version 2
    std::size_t const first = line.find(':');
    std::size_t const second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) { continue; }
    std::string const kind = line.substr(first + 1, second - first - 1);
    if (!kind.empty() && kind != "memory") { continue; }
    for (std::string path = line.substr(second + 1);;) {
      std::string folder = root;
      folder += kind.empty() ? "/sys/fs/cgroup" : "/sys/fs/cgroup/memory";
      folder += path;
      f(folder, !kind.empty());
      std::size_t const end = path.rfind('/');
      if (path.empty() || end == std::string::npos) { break; }
      path.resize(end);
    }
  }
}

/// Bytes that a limit of this process leaves; `field` of /proc/self/statm counts the pages that it limits.
std::int64_t left_of(int resource, int field)
{
  rlimit limit{};
  bool const limited = getrlimit(static_cast<__rlimit_resource_t>(resource), &limit) == 0 &&
                       limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur < static_cast<rlim_t>(no_limit);
  if (!limited) { return no_limit; }
  std::ifstream file("/proc/self/statm");
  std::int64_t pages = 0;
  for (int i = 0; i <= field; ++i) { file >> pages; }
  return difference(static_cast<std::int64_t>(limit.rlim_cur), pages * sysconf(_SC_PAGESIZE));
}

}  // namespace

memory_room read_memory_room(std::string const& root)
{
  constexpr std::int64_t kibi = 1024;
  std::string const machine = root + "/proc/meminfo";
  memory_room room;
  room.limit = kibi * sum_of_lines(machine, {"MemTotal:"});
  room.free = kibi * sum_of_lines(machine, {"MemAvailable:"});
  room.swap = kibi * sum_of_lines(machine, {"SwapFree:"});
  if (room.limit == 0) { room = {no_limit, no_limit, 0}; }  // a system that tells nothing sets no limit
  for_each_group(root, [&](std::string const& folder, bool version_1) { take_group(room, folder, version_1); });
  return room;
}

std::int64_t address_space_left()
{
  constexpr int size_of_all = 0, size_of_data = 5;
  return std::min(left_of(RLIMIT_AS, size_of_all), left_of(RLIMIT_DATA, size_of_data));
}

std::int64_t available_bytes()
{
  memory_room const room = read_memory_room();
  return std::min(sum(room.free, room.swap), address_space_left());
}

std::string bytes_text(std::int64_t bytes)
{
  constexpr std::int64_t kibi = 1024;
  if (bytes < 10 * kibi) { return fmt::format("{} bytes", bytes); }
  auto value = static_cast<double>(bytes);
  char const* unit = "";
  for (char const* const next : {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"}) {
    if (value < static_cast<double>(kibi)) { break; }
    value /= static_cast<double>(kibi);
    unit = next;
  }
  return fmt::format("{:.1f} {}", value, unit);
}

void expect_memory(std::int64_t bytes, std::string_view what)
{
  constexpr std::int64_t small = std::int64_t{64} << 20U;  // not worth the question
  if (bytes < small) { return; }
  std::int64_t const room = available_bytes();
  if (bytes > room) {
    throw memory_error(fmt::format("{}: {} of memory, expected at most the {} that can be had", what, bytes_text(bytes),
                                   bytes_text(room)));
  }
}

}  // namespace tendril::base
