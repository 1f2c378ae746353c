#include "formats/mapped_file.hpp"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <tendril/error.hpp>

#include "base/mapped_ranges.hpp"

namespace tendril::formats {

std::shared_ptr<mapped_file const> mapped_file::open(std::string const& path)
{
  auto const fail = [&](char const* what) {
    return io_error(fmt::format("{}: {}: {}", path, what, std::strerror(errno)));
  };
  auto file = std::make_shared<mapped_file>(path);
  file->fd_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file->fd_ < 0) { throw fail("cannot open"); }

  struct stat info {};
  if (fstat(file->fd_, &info) != 0) { throw fail("cannot stat"); }
  if (S_ISDIR(info.st_mode)) { throw io_error(fmt::format("{}: is a directory, expected a file", path)); }
  if (!S_ISREG(info.st_mode)) { throw io_error(fmt::format("{}: not a regular file", path)); }

  file->size_ = static_cast<std::size_t>(info.st_size);
  if (file->size_ == 0) { return file; }
  void* const data = mmap(nullptr, file->size_, PROT_READ, MAP_SHARED, file->fd_, 0);
  if (data == MAP_FAILED) { throw fail("cannot map"); }
  file->data_ = static_cast<std::byte const*>(data);
  file->slot_ = base::remember_mapping({file->data_, file->size_, file->fd_}, path);
  return file;
}

void mapped_file::release_pages() const noexcept
{
  if (data_ != nullptr) { madvise(const_cast<std::byte*>(data_), size_, MADV_DONTNEED); }
}

mapped_file::~mapped_file()
{
  base::forget_mapping(slot_);
  if (data_ != nullptr) { munmap(const_cast<std::byte*>(data_), size_); }
  if (fd_ >= 0) { ::close(fd_); }
}

}  // namespace tendril::formats
