#include "formats/mapped_file.hpp"

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <tendril/error.hpp>
#include <tendril/file.hpp>

namespace tendril {
namespace formats {
namespace {

// The mappings that a signal handler can look up: fixed slots, published by an atomic flag.
constexpr int num_slots = 64;
struct mapping_slot {
  std::atomic<int> state{0};  // 0 free, 1 being filled, 2 holds a mapping
  std::uintptr_t begin = 0;
  std::size_t size = 0;
  std::array<char, 4096> name{};
};
std::array<mapping_slot, num_slots> mappings;

/// The slot that remembers a mapping; -1 if all are taken or the name is too long.
int remember(std::byte const* data, std::size_t size, std::string const& name)
{
  if (name.size() >= mappings[0].name.size()) { return -1; }
  for (int i = 0; i < num_slots; ++i) {
    auto& slot = mappings[static_cast<std::size_t>(i)];
    int expected = 0;
    if (slot.state.compare_exchange_strong(expected, 1)) {
      slot.begin = reinterpret_cast<std::uintptr_t>(data);
      slot.size = size;
      std::memcpy(slot.name.data(), name.c_str(), name.size() + 1);
      slot.state.store(2);
      return i;
    }
  }
  return -1;
}

void forget(int slot)
{
  if (slot >= 0) { mappings[static_cast<std::size_t>(slot)].state.store(0); }
}

}  // namespace

std::shared_ptr<mapped_file const> mapped_file::open(std::string const& path)
{
  auto const fail = [&](char const* what) {
    return io_error(fmt::format("{}: {}: {}", path, what, std::strerror(errno)));
  };
  int const fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) { throw fail("cannot open"); }
  struct closer {
    int fd;
    ~closer() { ::close(fd); }
  } const close_at_end{fd};

  struct stat info {};
  if (fstat(fd, &info) != 0) { throw fail("cannot stat"); }
  if (S_ISDIR(info.st_mode)) { throw io_error(fmt::format("{}: is a directory, expected a file", path)); }
  if (!S_ISREG(info.st_mode)) { throw io_error(fmt::format("{}: not a regular file", path)); }

  auto file = std::make_shared<mapped_file>(path);
  file->size_ = static_cast<std::size_t>(info.st_size);
  if (file->size_ == 0) { return file; }
  void* const data = mmap(nullptr, file->size_, PROT_READ, MAP_SHARED, fd, 0);
  if (data == MAP_FAILED) { throw fail("cannot map"); }
  file->data_ = static_cast<std::byte const*>(data);
  file->slot_ = remember(file->data_, file->size_, path);
  return file;
}

void mapped_file::release_pages() const noexcept
{
  if (data_ != nullptr) { madvise(const_cast<std::byte*>(data_), size_, MADV_DONTNEED); }
}

mapped_file::~mapped_file()
{
  forget(slot_);
  if (data_ != nullptr) { munmap(const_cast<std::byte*>(data_), size_); }
}

}  // namespace formats

char const* mapped_file_at(void const* address) noexcept
{
  auto const at = reinterpret_cast<std::uintptr_t>(address);
  for (auto const& slot : formats::mappings) {
    if (slot.state.load() == 2 && at >= slot.begin && at - slot.begin < slot.size) { return slot.name.data(); }
  }
  return nullptr;
}

}  // namespace tendril
