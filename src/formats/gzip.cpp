#include "formats/gzip.hpp"

#include <algorithm>

#include <fmt/format.h>

#include <tendril/error.hpp>

namespace tendril::formats {
namespace {

constexpr int gzip_window = 15 + 16;  // zlib's largest window, gzip header and trailer
constexpr int write_level = 4;        // three times as fast as 6 on edge lists, and 2 to 5 % larger
constexpr std::size_t out_bytes = std::size_t{1} << 18U;

}  // namespace

bool is_gzip(std::span<std::byte const> bytes) noexcept
{
  return bytes.size() >= 2 && bytes[0] == std::byte{0x1f} && bytes[1] == std::byte{0x8b};
}

gzip_reader::gzip_reader(std::string path, std::span<std::byte const> bytes) : path_(std::move(path)), bytes_(bytes)
{
  if (inflateInit2(&stream_, gzip_window) != Z_OK) {
    throw memory_error(fmt::format("{}: out of memory for inflating", path_));
  }
}

gzip_reader::~gzip_reader() { inflateEnd(&stream_); }

void gzip_reader::fail(char const* what) const
{
  throw format_error(
      fmt::format("{}: gzip data {} at byte {}, expected a complete gzip file", path_, what, fed_ - stream_.avail_in));
}

void gzip_reader::feed()
{
  if (stream_.avail_in > 0) { return; }
  std::size_t const size = std::min<std::size_t>(bytes_.size() - fed_, std::size_t{1} << 30U);
  stream_.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(bytes_.data() + fed_));  // zlib only reads it
  stream_.avail_in = static_cast<uInt>(size);
  fed_ += size;
}

/// After a member: false at the end of the file (zeros that pad it belong to no member).
bool gzip_reader::next_member()
{
  auto rest = bytes_.subspan(fed_ - stream_.avail_in);
  if (std::ranges::all_of(rest, [](std::byte b) { return b == std::byte{0}; })) { return false; }
  if (!is_gzip(rest)) { fail("is followed by something else"); }
  inflateReset(&stream_);
  return true;
}

std::size_t gzip_reader::read(char* out, std::size_t size)
{
  std::size_t done = 0;
  while (done < size && !ended_) {
    feed();
    if (stream_.avail_in == 0) { fail("ends early"); }
    std::size_t const room = std::min<std::size_t>(size - done, std::size_t{1} << 30U);
    stream_.next_out = reinterpret_cast<Bytef*>(out + done);
    stream_.avail_out = static_cast<uInt>(room);
    int const result = inflate(&stream_, Z_NO_FLUSH);
    done += room - stream_.avail_out;
    if (result == Z_STREAM_END) {
      ended_ = !next_member();
    } else if (result == Z_MEM_ERROR) {
      throw memory_error(fmt::format("{}: out of memory for inflating", path_));
    } else if (result != Z_OK && result != Z_BUF_ERROR) {
      fail("is corrupt");
    }
  }
  return done;
}

gzip_writer::gzip_writer(atomic_file& file) : file_(file), out_(std::make_unique<char[]>(out_bytes))
{
  if (deflateInit2(&stream_, write_level, Z_DEFLATED, gzip_window, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
    throw memory_error("out of memory for deflating");
  }
}

gzip_writer::~gzip_writer() { deflateEnd(&stream_); }

void gzip_writer::deflate_all(int flush)
{
  do {
    stream_.next_out = reinterpret_cast<Bytef*>(out_.get());
    stream_.avail_out = static_cast<uInt>(out_bytes);
    deflate(&stream_, flush);
    file_.write(out_.get(), out_bytes - stream_.avail_out);
  } while (stream_.avail_out == 0);
}

void gzip_writer::write(char const* data, std::size_t size)
{
  while (size > 0) {
    std::size_t const part = std::min(size, std::size_t{1} << 30U);
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(data));  // zlib only reads it
    stream_.avail_in = static_cast<uInt>(part);
    deflate_all(Z_NO_FLUSH);
    data += part;
    size -= part;
  }
}

void gzip_writer::finish()
{
  stream_.avail_in = 0;
  deflate_all(Z_FINISH);
}

}  // namespace tendril::formats
