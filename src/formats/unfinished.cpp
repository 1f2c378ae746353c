#include "formats/unfinished.hpp"

#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <tendril/error.hpp>
#include <tendril/file.hpp>

namespace tendril {
namespace {

// Names that a signal handler can read: fixed slots, published by an atomic flag.
constexpr int num_slots = 64;
struct unfinished_slot {
  std::atomic<int> state{0};  // 0 free, 1 being filled, 2 holds a name
  std::array<char, 4096> name{};
};
std::array<unfinished_slot, num_slots> unfinished;
std::atomic<unsigned> counter{0};

/// An entry of a folder, as the system lays it out. readdir would allocate memory.
struct entry_head {
  std::uint64_t inode;
  std::int64_t offset;
  std::uint16_t size;  // of the entry, its name included
  std::uint8_t type;
};
constexpr std::size_t name_offset = 19;  // the name follows without padding

}  // namespace

std::string formats::behind_links(std::string const& given)
{
  std::string path = given;
  constexpr int most_links = 40;  // as the system allows
  for (int i = 0; i < most_links; ++i) {
    std::array<char, 4096> link{};
    ssize_t const size = ::readlink(path.c_str(), link.data(), link.size());
    if (size <= 0 || size == std::ssize(link)) { return path; }
    std::string const to(link.data(), static_cast<std::size_t>(size));
    path.resize(to.starts_with('/') ? 0 : path.rfind('/') + 1);
    path += to;
  }
  throw io_error(fmt::format("{}: cannot create: {}", given, std::strerror(ELOOP)));
}

std::string formats::unfinished_name(std::string const& target)
{
  return fmt::format("{}.partial-{}-{}", target, getpid(), counter.fetch_add(1));
}

int formats::remember_unfinished(std::string const& name)
{
  if (name.size() >= unfinished[0].name.size()) { return -1; }
  for (int i = 0; i < num_slots; ++i) {
    int expected = 0;
    auto& slot = unfinished[static_cast<std::size_t>(i)];
    if (slot.state.compare_exchange_strong(expected, 1)) {
      std::memcpy(slot.name.data(), name.c_str(), name.size() + 1);
      slot.state.store(2);
      return i;
    }
  }
  return -1;
}

void formats::forget_unfinished(int slot)
{
  if (slot >= 0) { unfinished[static_cast<std::size_t>(slot)].state.store(0); }
}

void formats::remove_folder(char const* name) noexcept
{
  int const folder = ::open(name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  // Once more from the start after files were removed: a folder that changes may skip some.
  for (bool removed = folder >= 0; removed && ::lseek(folder, 0, SEEK_SET) == 0;) {
    removed = false;
    alignas(entry_head) std::array<char, 4096> entries;
    for (;;) {
      long const size = ::syscall(SYS_getdents64, folder, entries.data(), entries.size());
      if (size <= 0) { break; }
      for (long at = 0; at < size;) {
        entry_head head;
        std::memcpy(&head, entries.data() + at, sizeof head);
        removed |= ::unlinkat(folder, entries.data() + at + name_offset, 0) == 0;  // fails for . and ..
        at += head.size;
      }
    }
  }
  if (folder >= 0) { ::close(folder); }
  ::rmdir(name);
}

void atomic_file::remove_all_unfinished() noexcept
{
  for (auto const& slot : unfinished) {
    if (slot.state.load() == 2 && ::unlink(slot.name.data()) != 0) { formats::remove_folder(slot.name.data()); }
  }
}

}  // namespace tendril
