#include "graph/file_window.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <future>
#include <string>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <tendril/error.hpp>
#include <tendril/file.hpp>

#include "base/mapped_ranges.hpp"
#include "base/thread_limit.hpp"  // aside

namespace tendril {
namespace {

constexpr std::int64_t huge_page = std::int64_t{2} << 20;
constexpr std::int64_t piece_bytes = 2 * huge_page;  // of one read: two of them keep a disk busy
constexpr int reads_at_a_time = 2;

std::int64_t page_bytes()
{
  static std::int64_t const bytes = sysconf(_SC_PAGESIZE);
  return bytes;
}

std::int64_t round_down(std::int64_t n, std::int64_t to) { return n / to * to; }
std::int64_t round_up(std::int64_t n, std::int64_t to) { return round_down(n + to - 1, to); }

/// Bytes that were read; up to the end of the file, or the piece.
std::int64_t read_from(int file, file_piece const& piece)
{
  auto const size = std::ssize(piece.to);
  std::int64_t done = 0;
  while (done < piece.least) {
    auto const got = pread(file, piece.to.data() + done, static_cast<std::size_t>(size - done), piece.offset + done);
    if (got < 0 && errno == EINTR) { continue; }
    if (got < 0) { return got; }
    if (got == 0) { break; }
    done += got;
  }
  return done;
}

void read_piece(file_piece const& piece)
{
  std::int64_t done = -1;
  if (piece.file_around_cache >= 0) { done = read_from(piece.file_around_cache, piece); }
  if (done < 0) {  // a system of files that opens with O_DIRECT, but doesn't read so
    done = read_from(piece.file, piece);
    posix_fadvise(piece.file, piece.offset, std::ssize(piece.to), POSIX_FADV_DONTNEED);
  }
  if (done < 0) { throw io_error(fmt::format("{}: cannot read: {}", piece.name, std::strerror(errno))); }
  if (done < piece.least) { throw io_error(fmt::format("{}: the file was truncated while it was read", piece.name)); }
}

/// As mmap. @param file  -1: memory of zeros.
std::span<std::byte> map(void* at, std::int64_t size, int protection, int flags, int file = -1, std::int64_t offset = 0)
{
  int const kind = file < 0 ? MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE : MAP_SHARED;
  void* const mapped = mmap(at, static_cast<std::size_t>(size), protection, kind | flags, file, offset);
  if (mapped == MAP_FAILED) {
    throw memory_error(fmt::format("cannot map {} bytes for a region of the graph: {}", size, std::strerror(errno)));
  }
  return {static_cast<std::byte*>(mapped), static_cast<std::size_t>(size)};
}

/// Maps a part of a file in place of what was there. A page that is missing there comes without those around it.
void map_file(std::span<std::byte> pages, int file, std::int64_t offset)
{
  (void)map(pages.data(), std::ssize(pages), PROT_READ, MAP_FIXED, file, offset);
  madvise(pages.data(), pages.size(), MADV_RANDOM);
}

void unmap(std::span<std::byte> pages)
{
  if (!pages.empty()) { munmap(pages.data(), pages.size()); }
}

}  // namespace

void read_pieces(std::vector<file_piece> const& pieces)
{
  std::atomic<std::size_t> next{0};
  auto const read_some = [&] {
    for (std::size_t i = next++; i < pieces.size(); i = next++) { read_piece(pieces[i]); }
  };
  std::array<std::future<void>, reads_at_a_time - 1> others;  // wait, if this one throws
  if (pieces.size() > 1) {
    for (auto& other : others) { other = std::async(base::aside, read_some); }
  }
  read_some();
  for (auto& other : others) {
    if (other.valid()) { other.get(); }
  }
}

file_window::file_window(std::span<std::byte const> array) : data_(array.data()), size_(std::ssize(array))
{
  auto const file = array.empty() ? std::nullopt : base::mapping_at(array.data());
  if (!file) { return; }
  std::int64_t const offset = array.data() - file->begin;
  first_offset_ = round_down(offset, page_bytes());
  std::int64_t const bytes = round_up(offset + size_, page_bytes()) - first_offset_;

  // Pages of the file and of the window are as far from a huge page's begin.
  auto const all = map(nullptr, bytes + 2 * huge_page, PROT_NONE, 0);
  auto const begin = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(all.data()));
  std::int64_t const before = round_up(begin, huge_page) - begin + first_offset_ % huge_page;
  unmap(all.first(static_cast<std::size_t>(before)));
  unmap(all.subspan(static_cast<std::size_t>(before + bytes)));
  pages_ = all.subspan(static_cast<std::size_t>(before), static_cast<std::size_t>(bytes));
  map_file(pages_, file->file, first_offset_);
  data_ = pages_.data() + (offset - first_offset_);

  file_size_ = static_cast<std::int64_t>(file->size);
  file_ = file->file;
  file_around_cache_ = open(fmt::format("/proc/self/fd/{}", file_).c_str(), O_RDONLY | O_CLOEXEC | O_DIRECT);
  name_ = mapped_file_at(array.data());
  mapping_ = base::remember_mapping({pages_.data(), pages_.size(), file_}, name_);
}

file_window::file_window(file_window&& other) noexcept { *this = std::move(other); }

file_window& file_window::operator=(file_window&& other) noexcept
{
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  std::swap(pages_, other.pages_);
  std::swap(in_memory_, other.in_memory_);
  std::swap(first_offset_, other.first_offset_);
  std::swap(file_size_, other.file_size_);
  std::swap(file_, other.file_);
  std::swap(file_around_cache_, other.file_around_cache_);
  std::swap(name_, other.name_);
  std::swap(mapping_, other.mapping_);
  return *this;
}

file_window::~file_window()
{
  base::forget_mapping(mapping_);
  unmap(pages_);
  if (file_around_cache_ >= 0) { close(file_around_cache_); }
}

void file_window::give_back()
{
  if (in_memory_.empty()) { return; }
  map_file(in_memory_, file_, first_offset_ + (in_memory_.data() - pages_.data()));
  in_memory_ = {};
}

void file_window::make_room(byte_range range, std::vector<file_piece>& pieces)
{
  give_back();
  if (pages_.empty() || range.empty()) { return; }
  std::int64_t const before = data_ - pages_.data();
  std::int64_t const begin = round_down(before + range.begin, page_bytes());
  std::int64_t const end = round_up(before + range.end, page_bytes());
  in_memory_ = map(pages_.data() + begin, end - begin, PROT_READ | PROT_WRITE, MAP_FIXED);
  madvise(in_memory_.data(), in_memory_.size(), MADV_HUGEPAGE);  // where that isn't known, pages are small
  for (std::int64_t at = begin; at < end;) {
    std::int64_t const offset = first_offset_ + at;
    std::int64_t const size = std::min(round_down(offset, piece_bytes) + piece_bytes - offset, end - at);
    pieces.push_back({file_, file_around_cache_, offset,
                      pages_.subspan(static_cast<std::size_t>(at), static_cast<std::size_t>(size)),
                      std::min(size, file_size_ - offset), name_});
    at += size;
  }
}

void file_window::ask_for(byte_range range) const
{
  if (pages_.empty() || range.empty()) { return; }
  std::int64_t const before = data_ - pages_.data();
  std::int64_t const begin = round_down(before + range.begin, page_bytes());
  std::int64_t const end = round_up(before + range.end, page_bytes());
  madvise(pages_.data() + begin, static_cast<std::size_t>(end - begin), MADV_WILLNEED);
}

}  // namespace tendril
