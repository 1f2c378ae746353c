#include "base/file_room.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <tendril/error.hpp>

#include "base/memory_room.hpp"  // bytes_text

namespace tendril::base {
namespace {

constexpr std::int64_t unlimited = std::numeric_limits<std::int64_t>::max();

/// Whether files may take less space than their size: Btrfs, ZFS, F2FS, bcachefs.
bool may_compress(struct statfs const& system)
{
  constexpr std::array<std::uint32_t, 4> kinds{0x9123683EU, 0x2FC12FC1U, 0xF2F52010U, 0xCA451A4EU};
  return std::ranges::find(kinds, static_cast<std::uint32_t>(system.f_type)) != kinds.end();
}

}  // namespace

std::int64_t file_size_limit()
{
  rlimit limit{};
  bool const limited = getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < static_cast<rlim_t>(unlimited);
  return limited ? static_cast<std::int64_t>(limit.rlim_cur) : unlimited;
}

void expect_file_size(std::string const& path, std::int64_t size, std::int64_t limit)
{
  if (size > limit) {
    throw io_error(fmt::format("{}: cannot write: {}, expected at most the {} that 'ulimit -f' allows a file", path,
                               bytes_text(size), bytes_text(limit)));
  }
}

void expect_file_room(std::string const& path, int file, std::int64_t size)
{
  struct statfs system {};
  struct stat info {};
  if (fstatfs(file, &system) != 0 || fstat(file, &info) != 0) { return; }
  if (system.f_blocks == 0 || may_compress(system)) { return; }
  constexpr std::int64_t unit = 512;  // of st_blocks
  std::int64_t const needed = size - std::int64_t{info.st_blocks} * unit;
  auto const blocks = static_cast<std::int64_t>(geteuid() == 0 ? system.f_bfree : system.f_bavail);
  auto const block = static_cast<std::int64_t>(system.f_bsize);
  std::int64_t const room = blocks > unlimited / std::max<std::int64_t>(block, 1) ? unlimited : blocks * block;
  if (needed > room) {
    throw io_error(fmt::format("{}: cannot write: {}, expected at most the {} that are free there", path,
                               bytes_text(needed), bytes_text(room)));
  }
}

}  // namespace tendril::base
