#include "gpu/ranks/shared_pages.hpp"

#include <cstdint>
#include <random>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

namespace tendril::gpu {

shared_pages::shared_pages(int file, std::size_t bytes, std::string name, bool owns_name)
    : bytes_(bytes), name_(std::move(name)), owns_name_(owns_name)
{
  void* const mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  ::close(file);
  data_ = mapped == MAP_FAILED ? nullptr : mapped;
  if (data_ == nullptr) { forget_name(); }
}

shared_pages shared_pages::make(std::size_t bytes)
{
  // Containers of one machine may have processes of equal numbers, and not the same pages: a name that is there by chance
  // would lead to a stranger's.
  std::random_device random;
  constexpr int tries = 16;
  std::string name;
  int file = -1;
  for (int i = 0; i < tries && file < 0; ++i) {
    std::uint64_t const high = random(), low = random();
    name = fmt::format("/tendril-{}-{:016x}", getpid(), high << 32U | low);
    file = shm_open(name.c_str(), O_CREAT | O_EXCL | O_RDWR, S_IRUSR | S_IWUSR);
  }
  if (file < 0) { return {}; }
  // Else a full file system would be felt at the first write.
  if (posix_fallocate(file, 0, static_cast<off_t>(bytes)) != 0) {
    ::close(file);
    shm_unlink(name.c_str());
    return {};
  }
  return {file, bytes, std::move(name), true};
}

shared_pages shared_pages::open(std::string const& name, std::size_t bytes)
{
  int const file = shm_open(name.c_str(), O_RDWR, 0);
  if (file < 0) { return {}; }
  return {file, bytes, name, false};
}

shared_pages::shared_pages(shared_pages&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      bytes_(other.bytes_),
      name_(std::move(other.name_)),
      owns_name_(std::exchange(other.owns_name_, false))
{
}

shared_pages& shared_pages::operator=(shared_pages&& other) noexcept
{
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  std::swap(name_, other.name_);
  std::swap(owns_name_, other.owns_name_);
  return *this;
}

shared_pages::~shared_pages()
{
  forget_name();
  if (data_ != nullptr) { munmap(data_, bytes_); }
}

void shared_pages::forget_name() noexcept
{
  if (std::exchange(owns_name_, false)) { shm_unlink(name_.c_str()); }
}

}  // namespace tendril::gpu
