#include <tendril/file.hpp>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <limits>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <tendril/checked.hpp>
#include <tendril/error.hpp>

#include "base/file_room.hpp"

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

int remember(std::string const& name)
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

void forget(int slot)
{
  if (slot >= 0) { unfinished[static_cast<std::size_t>(slot)].state.store(0); }
}

/// The file that a path leads to by symbolic links, which need not exist.
std::string behind_links(std::string const& given)
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

}  // namespace

atomic_file::atomic_file(std::string path)
    : path_(std::move(path)), size_limit_(std::numeric_limits<std::int64_t>::max())
{
  struct stat info {};
  bool const exists = stat(path_.c_str(), &info) == 0;
  if (exists && S_ISDIR(info.st_mode)) {
    throw io_error(fmt::format("{}: is a directory, expected a file name to write", path_));
  }
  int flags = O_WRONLY | O_CLOEXEC;
  bool const in_place = exists && !S_ISREG(info.st_mode);  // a device or a pipe keeps its place
  if (!in_place) {
    size_limit_ = base::file_size_limit();
    target_ = behind_links(path_);
    temporary_ = fmt::format("{}.partial-{}-{}", target_, getpid(), counter.fetch_add(1));
    slot_ = remember(temporary_);
    flags |= O_CREAT | O_EXCL;
  }
  int const fd = ::open(in_place ? path_.c_str() : temporary_.c_str(), flags, 0666);
  if (fd < 0) {
    forget(slot_);
    throw io_error(fmt::format("{}: cannot create: {}", path_, std::strerror(errno)));
  }
  file_ = fdopen(fd, "wb");
  std::setvbuf(file_, nullptr, _IOFBF, std::size_t{1} << 20U);
}

atomic_file::~atomic_file()
{
  if (file_ != nullptr) {
    std::fclose(file_);
    remove_temporary();
  }
}

void atomic_file::remove_temporary() noexcept
{
  if (!temporary_.empty()) { ::unlink(temporary_.c_str()); }
  forget(slot_);
}

void atomic_file::expect_size(std::int64_t size) const
{
  if (temporary_.empty()) { return; }
  base::expect_file_size(path_, size, size_limit_);
  base::expect_file_room(path_, fileno(file_), size);
}

void atomic_file::write(void const* data, std::size_t size)
{
  base::expect_file_size(path_, size_ + static_cast<std::int64_t>(size), size_limit_);
  if (size > 0 && std::fwrite(data, 1, size, file_) != size) {
    throw io_error(fmt::format("{}: cannot write: {}", path_, std::strerror(errno)));
  }
  size_ += static_cast<std::int64_t>(size);
}

void atomic_file::skip(std::int64_t size)
{
  expect_size(checked_sum("bytes of a file", size_, size));
  if (fseeko(file_, size_ + size, SEEK_SET) != 0) {
    if (errno == ESPIPE) {
      throw io_error(fmt::format("{}: a pipe, expected a file: this format is not written from front to back", path_));
    }
    throw io_error(fmt::format("{}: cannot write: {}", path_, std::strerror(errno)));
  }
  size_ += size;
}

void atomic_file::write_at(std::int64_t offset, void const* data, std::size_t size)
{
  // Beside the stream and its buffer: large pieces go to the system as they are, the position stays at the end.
  bool written = std::fflush(file_) == 0;
  auto const* at = static_cast<char const*>(data);
  for (std::size_t left = size; written && left > 0;) {
    ssize_t const count = ::pwrite(fileno(file_), at, left, offset);
    if (count < 0 && errno == EINTR) { continue; }
    written = count > 0;
    if (written) {
      at += count;
      offset += count;
      left -= static_cast<std::size_t>(count);
    }
  }
  if (!written) { throw io_error(fmt::format("{}: cannot write: {}", path_, std::strerror(errno))); }
}

void atomic_file::commit()
{
  bool const flushed = std::fflush(file_) == 0;
  int const error = errno;
  bool const closed = std::fclose(file_) == 0;
  file_ = nullptr;
  bool const written = flushed && closed;
  if (!written || (!temporary_.empty() && std::rename(temporary_.c_str(), target_.c_str()) != 0)) {
    int const reason = flushed ? errno : error;
    remove_temporary();
    throw io_error(fmt::format("{}: cannot write: {}", path_, std::strerror(reason)));
  }
  forget(slot_);
}

void atomic_file::remove_all_unfinished() noexcept
{
  for (auto const& slot : unfinished) {
    if (slot.state.load() == 2) { ::unlink(slot.name.data()); }
  }
}

}  // namespace tendril
