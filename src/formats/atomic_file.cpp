#include <tendril/file.hpp>

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
#include "formats/unfinished.hpp"

namespace tendril {

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
    target_ = formats::behind_links(path_);
    temporary_ = formats::unfinished_name(target_);
    slot_ = formats::remember_unfinished(temporary_);
    flags |= O_CREAT | O_EXCL;
  }
  int const fd = ::open(in_place ? path_.c_str() : temporary_.c_str(), flags, 0666);
  if (fd < 0) {
    formats::forget_unfinished(slot_);
    throw io_error(fmt::format("{}: cannot create: {}", path_, std::strerror(errno)));
  }
  file_ = fdopen(fd, "wb");
  std::setvbuf(file_, nullptr, _IOFBF, std::size_t{1} << 20U);
}

atomic_file::atomic_file(std::string path, std::string const& unfinished)
    : path_(std::move(path)), size_limit_(base::file_size_limit())
{
  int const fd = ::open(unfinished.c_str(), O_WRONLY | O_CLOEXEC);
  if (fd < 0) {
    throw io_error(fmt::format("{}: cannot open {}, which another process has begun: {}", path_, unfinished,
                               std::strerror(errno)));
  }
  file_ = fdopen(fd, "wb");
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
  formats::forget_unfinished(slot_);
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
  formats::forget_unfinished(slot_);
}

}  // namespace tendril
