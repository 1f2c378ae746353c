// Zip files as NumPy and SciPy write them. Format: PKWARE's APPNOTE.TXT; 4.3.7 local header, 4.3.12 central directory,
// 4.3.14 to 4.3.16 its end, 4.5.3 zip64 sizes.

#include "formats/zip.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <limits>
#include <utility>

#include <fmt/format.h>
#include <zlib.h>

#include <tendril/buffer.hpp>
#include <tendril/error.hpp>

#include "base/checksum.hpp"
#include "base/expects.hpp"  // TENDRIL_EXPECTS
#include "formats/elements.hpp"

namespace tendril::formats {
namespace {

constexpr std::uint32_t local_signature = 0x04034b50, central_signature = 0x02014b50, end_signature = 0x06054b50,
                        end64_signature = 0x06064b50, locator64_signature = 0x07064b50;
constexpr std::size_t local_size = 30, central_size = 46, end_size = 22, end64_size = 56, locator64_size = 20;
constexpr std::uint16_t zip64_field = 1, padding_field = 0xd935, needs_zip64 = 45,
                        first_of_1980 = 0x21;  // the earliest date there is: files don't depend on the clock
constexpr std::uint32_t in_zip64 = 0xffffffff;
constexpr int stored = 0, deflated = 8;

/// No deflate stream unfolds further: 258 bytes out of 2 bits.
constexpr std::uint64_t max_inflation = 1032;

template <class T>
void append(std::string& bytes, T value)
{
  bytes.append(reinterpret_cast<char const*>(&value), sizeof(T));
}

/// Where the central directory is.
struct directory {
  std::uint64_t offset = 0, size = 0, num_entries = 0;
};

directory find_directory(std::string const& path, std::span<std::byte const> bytes)
{
  auto const fail = [&](char const* what) { return format_error(fmt::format("{}: {}", path, what)); };
  if (bytes.size() < end_size) { throw fail("not a zip file: too short for one"); }
  constexpr std::size_t max_comment = 0xffff;
  std::size_t const first = bytes.size() - std::min(bytes.size(), end_size + max_comment);
  std::size_t end = bytes.size() - end_size;
  while (load<std::uint32_t>(bytes, end) != end_signature) {
    if (end-- == first) { throw fail("not a zip file, or cut off: no central directory"); }
  }
  directory found{load<std::uint32_t>(bytes, end + 16), load<std::uint32_t>(bytes, end + 12),
                  load<std::uint16_t>(bytes, end + 10)};
  if (end >= locator64_size && load<std::uint32_t>(bytes, end - locator64_size) == locator64_signature) {
    auto const at = load<std::uint64_t>(bytes, end - locator64_size + 8);
    if (at > end || end - at < end64_size || load<std::uint32_t>(bytes, at) != end64_signature) {
      throw fail("zip64 directory out of the file");
    }
    found = {load<std::uint64_t>(bytes, at + 48), load<std::uint64_t>(bytes, at + 40),
             load<std::uint64_t>(bytes, at + 32)};
  }
  if (found.offset > bytes.size() || found.size > bytes.size() - found.offset) {
    throw fail("central directory out of the file");
  }
  return found;
}

/// Replaces the sizes that an entry keeps in its zip64 field, in the order size, packed size, offset.
bool apply_zip64(std::span<std::byte const> extra, zip_entry& entry)
{
  while (extra.size() >= 4) {
    auto const id = load<std::uint16_t>(extra, 0);
    std::size_t const length = load<std::uint16_t>(extra, 2);
    extra = extra.subspan(4);
    if (length > extra.size()) { return false; }
    if (id == zip64_field) {
      std::size_t at = 0;
      for (std::uint64_t* const value : {&entry.size, &entry.packed_size, &entry.local_header}) {
        if (*value != in_zip64) { continue; }
        if (at + 8 > length) { return false; }
        *value = load<std::uint64_t>(extra, at);
        at += 8;
      }
    }
    extra = extra.subspan(length);
  }
  return true;
}

}  // namespace

zip_reader::zip_reader(std::string path, std::span<std::byte const> bytes, std::shared_ptr<void const> owner)
    : path_(std::move(path)), bytes_(bytes), owner_(std::move(owner))
{
  directory const place = find_directory(path_, bytes_);
  auto rest = bytes_.subspan(place.offset, place.size);
  auto const fail = [&](std::uint64_t entry) {
    return format_error(fmt::format("{}: zip entry {}: malformed, expected {} entries in the central directory", path_,
                                    entry, place.num_entries));
  };
  for (std::uint64_t i = 0; i < place.num_entries; ++i) {
    if (rest.size() < central_size || load<std::uint32_t>(rest, 0) != central_signature) { throw fail(i); }
    std::size_t const name = load<std::uint16_t>(rest, 28), extra = load<std::uint16_t>(rest, 30),
                      comment = load<std::uint16_t>(rest, 32);
    if (rest.size() - central_size < name + extra + comment) { throw fail(i); }
    zip_entry entry;
    entry.encrypted = (load<std::uint16_t>(rest, 8) & 1U) != 0;
    entry.method = load<std::uint16_t>(rest, 10);
    entry.crc = load<std::uint32_t>(rest, 16);
    entry.packed_size = load<std::uint32_t>(rest, 20);
    entry.size = load<std::uint32_t>(rest, 24);
    entry.local_header = load<std::uint32_t>(rest, 42);
    entry.name.assign(reinterpret_cast<char const*>(rest.data()) + central_size, name);
    if (!apply_zip64(rest.subspan(central_size + name, extra), entry)) { throw fail(i); }
    rest = rest.subspan(central_size + name + extra + comment);
    entries_.try_emplace(entry.name, entry);
  }
}

std::span<std::byte const> zip_reader::packed_bytes(zip_entry const& entry) const
{
  auto const fail = [&](char const* what) {
    return format_error(fmt::format("{}: zip entry '{}': {}", path_, entry.name, what));
  };
  if (entry.local_header > bytes_.size() || bytes_.size() - entry.local_header < local_size ||
      load<std::uint32_t>(bytes_, entry.local_header) != local_signature) {
    throw fail("no header where the central directory says");
  }
  std::uint64_t const data = entry.local_header + local_size + load<std::uint16_t>(bytes_, entry.local_header + 26) +
                             load<std::uint16_t>(bytes_, entry.local_header + 28);
  if (data > bytes_.size() || entry.packed_size > bytes_.size() - data) { throw fail("longer than the file"); }
  return bytes_.subspan(data, entry.packed_size);
}

zip_member zip_reader::read(zip_entry const& entry, cpu_exec const& exec) const
{
  auto const fail = [&](std::string const& what) {
    return format_error(fmt::format("{}: zip entry '{}': {}", path_, entry.name, what));
  };
  if (entry.encrypted) { throw fail("encrypted, expected plain"); }
  if (entry.method != stored && entry.method != deflated) {
    throw fail(fmt::format("compression method {}, expected 0 (stored) or 8 (deflated)", entry.method));
  }
  auto const packed = packed_bytes(entry);
  zip_member member{packed, owner_};
  if (entry.method == stored) {
    if (entry.size != packed.size()) {
      throw fail(fmt::format("size {}, expected the {} bytes that are stored", entry.size, packed.size()));
    }
  } else {
    if (entry.size / max_inflation > packed.size()) {
      throw fail(fmt::format("size {}, expected at most {} times the {} bytes that are stored", entry.size,
                             max_inflation, packed.size()));
    }
    auto out = std::make_shared<buffer<std::byte>>(static_cast<std::int64_t>(entry.size), *exec.memory);
    inflate(entry, packed, out->span(), exec);
    member = {std::as_const(*out).span(), out};
  }
  if (base::checksum_after(0, member.bytes.data(), member.bytes.size()) != entry.crc) {
    throw fail("wrong CRC: the data is damaged");
  }
  return member;
}

void zip_reader::inflate(zip_entry const& entry, std::span<std::byte const> packed, std::span<std::byte> out,
                         cpu_exec const& exec) const
{
  auto const fail = [&](char const* what) {
    return format_error(fmt::format("{}: zip entry '{}': {}", path_, entry.name, what));
  };
  z_stream stream{};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) { throw memory_error("zlib: no memory for a stream"); }
  std::unique_ptr<z_stream, int (*)(z_stream*)> const end_later(&stream, inflateEnd);

  constexpr std::size_t piece = std::size_t{16} << 20U;  // zlib counts in 32 bits; also the step of on_progress
  std::size_t fed = 0, made = 0;
  int state = Z_OK;
  while (state == Z_OK) {
    if (stream.avail_in == 0) {
      std::size_t const size = std::min(piece, packed.size() - fed);
      stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(packed.data() + fed));
      stream.avail_in = static_cast<uInt>(size);
      fed += size;
    }
    std::size_t const room = std::min(piece, out.size() - made);
    std::byte nothing{};  // zlib wants a place even where no byte is left to write
    stream.next_out = reinterpret_cast<Bytef*>(room > 0 ? out.data() + made : &nothing);
    stream.avail_out = static_cast<uInt>(room);
    state = ::inflate(&stream, Z_NO_FLUSH);
    made += room - stream.avail_out;
    if (exec.on_progress) {
      exec.on_progress({"reading", static_cast<std::int64_t>(made), static_cast<std::int64_t>(out.size())});
    }
  }
  if (state == Z_BUF_ERROR) { throw fail(made == out.size() ? "longer than its size says" : "cut off"); }
  if (state != Z_STREAM_END) { throw fail("malformed deflate stream"); }
  if (made != out.size()) { throw fail("shorter than its size says"); }
}

void zip_writer::begin(std::string name)
{
  zip_entry entry;
  entry.name = std::move(name);
  entry.local_header = static_cast<std::uint64_t>(file_.size());

  constexpr std::size_t zip64_bytes = 20, field_header = 4, alignment = 64;
  std::size_t const unpadded = entry.local_header + local_size + entry.name.size() + zip64_bytes + field_header;
  std::size_t const padding = (alignment - unpadded % alignment) % alignment;
  std::string header;
  append(header, local_signature);
  append(header, needs_zip64);
  header.append(6, '\0');  // flags, method, time
  append(header, first_of_1980);
  append(header, std::uint32_t{0});  // the CRC: `end` fills it in
  append(header, in_zip64);
  append(header, in_zip64);
  append(header, static_cast<std::uint16_t>(entry.name.size()));
  append(header, static_cast<std::uint16_t>(zip64_bytes + field_header + padding));
  header += entry.name;
  append(header, zip64_field);
  append(header, std::uint16_t{16});
  header.append(16, '\0');  // both sizes: `end` fills them in
  append(header, padding_field);
  append(header, static_cast<std::uint16_t>(padding));
  header.append(padding, '\0');
  if (has_begun_) {
    file_.skip(static_cast<std::int64_t>(header.size()));
  } else {
    file_.write(header.data(), header.size());
  }
  entries_.push_back(std::move(entry));
}

void zip_writer::write(void const* data, std::size_t size)
{
  zip_entry& entry = entries_.back();
  entry.crc = base::checksum_after(entry.crc, data, size);
  entry.size += size;
  file_.write(data, size);
}

void zip_writer::end() { complete(entries_.size() - 1); }

std::size_t zip_writer::reserve(std::string name, std::uint64_t size)
{
  begin(std::move(name));
  std::size_t const member = entries_.size() - 1;
  entries_[member].size = size;
  rooms_[member].offset = file_.size();
  file_.skip(static_cast<std::int64_t>(size));
  return member;
}

void zip_writer::fill(std::size_t member, void const* data, std::size_t size)
{
  room& to = rooms_.at(member);
  zip_entry const& entry = entries_[member];
  TENDRIL_EXPECTS(size <= entry.size - to.at, "zip member '{}': more than {} bytes", entry.name, entry.size);
  auto const last = std::find_if(runs_.rbegin(), runs_.rend(), [&](run const& r) { return r.member == member; });
  bool const goes_on = last != runs_.rend() && last->begin + last->size == to.at;
  run& growing = goes_on ? *last : runs_.emplace_back(run{member, to.at, 0, 0});
  growing.crc = base::checksum_after(static_cast<std::uint32_t>(growing.crc), data, size);
  growing.size += size;
  file_.write_at(to.offset + static_cast<std::int64_t>(to.at), data, size);
  to.at += size;
}

void zip_writer::seek(std::size_t member, std::uint64_t byte)
{
  zip_entry const& entry = entries_[member];
  TENDRIL_EXPECTS(byte <= entry.size, "zip member '{}': byte {}, expected one of {}", entry.name, byte, entry.size);
  rooms_.at(member).at = byte;
}

std::string zip_writer::filled() const
{
  return {reinterpret_cast<char const*>(runs_.data()), runs_.size() * sizeof(run)};
}

void zip_writer::add_filled(std::string_view by_another)
{
  TENDRIL_EXPECTS(by_another.size() % sizeof(run) == 0,
                  "{} bytes of filled parts of members, expected a multiple of {}", by_another.size(), sizeof(run));
  std::size_t const before = runs_.size();
  runs_.resize(before + by_another.size() / sizeof(run));
  if (!by_another.empty()) { std::memcpy(runs_.data() + before, by_another.data(), by_another.size()); }
}

void zip_writer::complete(std::size_t member)
{
  zip_entry& entry = entries_[member];
  if (rooms_.contains(member)) {
    std::vector<run> of_it;
    std::ranges::copy_if(runs_, std::back_inserter(of_it),
                         [&](run const& r) { return r.member == member && r.size > 0; });
    std::ranges::sort(of_it, {}, &run::begin);
    std::uint64_t end = 0;
    for (run const& r : of_it) {
      TENDRIL_EXPECTS(r.begin == end, "zip member '{}': byte {} was filled {}, expected once", entry.name,
                      std::min(r.begin, end), r.begin < end ? "twice" : "by nobody");
      entry.crc =
          static_cast<std::uint32_t>(crc32_combine(entry.crc, static_cast<uLong>(r.crc), static_cast<z_off_t>(r.size)));
      end += r.size;
    }
    TENDRIL_EXPECTS(end == entry.size, "zip member '{}': byte {} was filled by nobody, expected once", entry.name, end);
  }
  auto const at = static_cast<std::int64_t>(entry.local_header);
  file_.write_at(at + 14, &entry.crc, sizeof(entry.crc));
  std::uint64_t const sizes[] = {entry.size, entry.size};
  file_.write_at(at + static_cast<std::int64_t>(local_size + entry.name.size() + 4), sizes, sizeof(sizes));
}

void zip_writer::finish()
{
  std::string directory;
  for (auto const& entry : entries_) {
    append(directory, central_signature);
    append(directory, needs_zip64);
    append(directory, needs_zip64);
    directory.append(6, '\0');  // flags, method, time
    append(directory, first_of_1980);
    append(directory, entry.crc);
    append(directory, in_zip64);
    append(directory, in_zip64);
    append(directory, static_cast<std::uint16_t>(entry.name.size()));
    append(directory, std::uint16_t{28});
    directory.append(10, '\0');  // comment, disk, attributes
    append(directory, in_zip64);
    directory += entry.name;
    append(directory, zip64_field);
    append(directory, std::uint16_t{24});
    append(directory, entry.size);
    append(directory, entry.size);
    append(directory, entry.local_header);
  }
  auto const offset = static_cast<std::uint64_t>(file_.size());
  std::uint64_t const size = directory.size(), count = entries_.size();

  append(directory, end64_signature);
  append(directory, std::uint64_t{end64_size - 12});
  append(directory, needs_zip64);
  append(directory, needs_zip64);
  directory.append(8, '\0');  // disks
  append(directory, count);
  append(directory, count);
  append(directory, size);
  append(directory, offset);

  append(directory, locator64_signature);
  append(directory, std::uint32_t{0});
  append(directory, offset + size);
  append(directory, std::uint32_t{1});

  append(directory, end_signature);
  directory.append(4, '\0');  // disks
  append(directory, static_cast<std::uint16_t>(count));
  append(directory, static_cast<std::uint16_t>(count));
  append(directory, in_zip64);
  append(directory, in_zip64);
  append(directory, std::uint16_t{0});
  file_.write(directory.data(), directory.size());
}

}  // namespace tendril::formats
