// Rows of features on the CPU. The rows are cut into ranges, which threads take one after the other; each range copies
// its ids and checks them first, so that no row is read before its id is known to be good, even while somebody writes to
// the caller's ids.

#include <tendril/features.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <functional>
#include <limits>
#include <mutex>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <tendril/checked.hpp>

#include "base/expects.hpp"
#include "base/parallel.hpp"
#include "features/missing_pages.hpp"

namespace tendril {
namespace {

// Measured for rows of 16 to 4,096 bytes: from 8 rows on, and from a few lines of a row on (the processor then reads
// the rest by itself), more make little difference.
constexpr std::int64_t rows_ahead = 16;
constexpr std::int64_t most_lines_ahead = 16;
constexpr std::uintptr_t line_bytes = 64;

constexpr std::int64_t range_bytes = 1 << 16;  // worth waking a thread
constexpr std::int64_t most_rows = 4096;       // of a range: for rows of a few bytes

// Mapped files: as many reads as a disk can work on, but not more than memory is sure to hold until they are used.
constexpr std::int64_t mapped_range_bytes = 8 << 20;
constexpr std::int64_t most_mapped_rows = 1024;
constexpr std::int64_t rows_of_a_trial = 64;  // asked for before it is decided whether to go on asking

void prefetch_row(std::byte const* row, std::int64_t bytes)
{
  auto const first = reinterpret_cast<std::uintptr_t>(row) / line_bytes;
  auto const last = (reinterpret_cast<std::uintptr_t>(row) + static_cast<std::uintptr_t>(bytes) - 1) / line_bytes;
  auto const lines = std::min<std::int64_t>(static_cast<std::int64_t>(last - first) + 1, most_lines_ahead);
  for (std::int64_t k = 0; k < lines; ++k) { __builtin_prefetch(row + k * static_cast<std::int64_t>(line_bytes)); }
}

/// The number of bytes in a row, where the compiler knows it.
template <std::int64_t Bytes>
using fixed = std::integral_constant<std::int64_t, Bytes>;

/// @param size  Bytes of a row, 1 or more: a fixed<> or an integer.
template <class Id, class Size>
void copy_rows(feature_table const& table, std::span<Id const> ids, std::byte* out, Size size)
{
  std::byte const* const rows = table.data();
  std::int64_t const stride = table.row_stride();
  std::int64_t const count = std::ssize(ids);
  std::int64_t const ahead = std::min(rows_ahead, count);
  for (std::int64_t i = 0; i < ahead; ++i) { prefetch_row(rows + std::int64_t{ids[i]} * stride, size); }
  for (std::int64_t i = 0; i < count; ++i) {
    if (i + rows_ahead < count) { prefetch_row(rows + std::int64_t{ids[i + rows_ahead]} * stride, size); }
    std::memcpy(out + i * size, rows + std::int64_t{ids[i]} * stride, static_cast<std::size_t>(size));
  }
}

/// Sizes that features, labels and weights of one or a few numbers have: a copy of these is two instructions.
template <class Id>
void copy_any_rows(feature_table const& table, std::span<Id const> ids, std::byte* out)
{
  switch (table.row_bytes()) {
    case 0: return;
    case 1: return copy_rows(table, ids, out, fixed<1>{});
    case 2: return copy_rows(table, ids, out, fixed<2>{});
    case 4: return copy_rows(table, ids, out, fixed<4>{});
    case 8: return copy_rows(table, ids, out, fixed<8>{});
    case 16: return copy_rows(table, ids, out, fixed<16>{});
    case 32: return copy_rows(table, ids, out, fixed<32>{});
    case 64: return copy_rows(table, ids, out, fixed<64>{});
    default: return copy_rows(table, ids, out, table.row_bytes());
  }
}

/// The place of the first id that is no row, or the number of ids.
template <class Id>
std::int64_t first_bad(std::span<Id const> ids, std::int64_t num_rows)
{
  auto const is_bad = [rows = static_cast<std::uint64_t>(num_rows)](Id id) {
    return static_cast<std::uint64_t>(std::int64_t{id}) >= rows;
  };
  bool any = false;
  for (Id const id : ids) { any |= is_bad(id); }  // without a branch for each id
  return any ? std::find_if(ids.begin(), ids.end(), is_bad) - ids.begin() : std::ssize(ids);
}

/// Asks for the pages of the rows while some are missing.
template <class Id>
void ask_for_rows(feature_table const& table, std::span<Id const> ids, std::atomic<bool>& misses)
{
  while (!ids.empty() && misses.load(std::memory_order_relaxed)) {
    auto const before = features::disk_reads::so_far();
    std::size_t const count = std::min<std::size_t>(rows_of_a_trial, ids.size());
    for (Id const id : ids.first(count)) {
      features::ask_for_pages(table.data() + std::int64_t{id} * table.row_stride(), table.row_bytes());
    }
    if (!features::disk_reads::so_far().asked_since(before)) { misses.store(false, std::memory_order_relaxed); }
    ids = ids.subspan(count);
  }
}

template <class Id>
void copy_mapped_rows(feature_table const& table, std::span<Id const> ids, std::byte* out, cpu_exec const& exec)
{
  std::atomic<bool>& misses = *table.misses_pages();
  ask_for_rows(table, ids, misses);
  for (std::size_t i = 0; i < ids.size(); i += rows_of_a_trial) {
    base::check_cancel(exec);  // a slow disk takes seconds for a range
    auto const before = features::disk_reads::so_far();
    std::size_t const count = std::min<std::size_t>(rows_of_a_trial, ids.size() - i);
    copy_any_rows(table, ids.subspan(i, count), out + static_cast<std::int64_t>(i) * table.row_bytes());
    if (features::disk_reads::so_far().slept_since(before)) { misses.store(true, std::memory_order_relaxed); }
  }
}

bool overlap(std::span<std::byte const> a, std::span<std::byte const> b)
{
  std::less<> const before;
  return !a.empty() && !b.empty() && before(a.data(), b.data() + b.size()) && before(b.data(), a.data() + a.size());
}

/// An id that is no row, and where it is.
struct bad_id {
  std::int64_t place = 0, id = 0;
};

/// A gather of one table, cut into ranges.
class job {
 public:
  job(gather_request const& request, std::string label) : request_(&request), label_(std::move(label))
  {
    auto const& table = request.table;
    TENDRIL_EXPECTS(table.device() < 0, "{}the table lies on GPU {}, expected host memory", label_, table.device());
    std::int64_t const row_bytes = table.row_bytes();
    std::int64_t const expected = checked_product("bytes of gathered rows", size(), row_bytes);
    TENDRIL_EXPECTS(std::ssize(request.out) == expected, "{}out has {} bytes, expected {} for {} rows of {}", label_,
                    request.out.size(), expected, size(), row_bytes);
    TENDRIL_EXPECTS(!overlap(request.out, table.bytes()), "{}out overlaps the table, expected memory of its own",
                    label_);
    auto const of_ids = std::visit([](auto ids) { return std::as_bytes(ids); }, request.ids);
    TENDRIL_EXPECTS(!overlap(request.out, of_ids), "{}out overlaps ids, expected memory of its own", label_);
    bool const mapped = table.misses_pages() != nullptr;
    rows_of_range_ =
        std::clamp<std::int64_t>((mapped ? mapped_range_bytes : range_bytes) / std::max<std::int64_t>(row_bytes, 1), 1,
                                 mapped ? most_mapped_rows : most_rows);
  }

  [[nodiscard]] std::int64_t size() const
  {
    return std::visit([](auto ids) { return std::ssize(ids); }, request_->ids);
  }
  [[nodiscard]] std::int64_t num_ranges() const { return (size() + rows_of_range_ - 1) / rows_of_range_; }

  /// Gathers range number `range`, unless one of its ids is bad. @return the first of these.
  [[nodiscard]] std::optional<bad_id> take(std::int64_t range, cpu_exec const& exec) const
  {
    return std::visit([&](auto ids) { return take_ids(ids, range * rows_of_range_, exec); }, request_->ids);
  }

  [[noreturn]] void refuse(bad_id const& bad) const
  {
    std::int64_t const num_rows = request_->table.num_rows();
    throw argument_error(
        fmt::format("{}ids[{}] is {}, expected {}", label_, bad.place, bad.id,
                    num_rows == 0 ? "none: the table has no rows" : fmt::format("0 to {}", num_rows - 1)));
  }

 private:
  template <class Id>
  std::optional<bad_id> take_ids(std::span<Id const> all, std::int64_t begin, cpu_exec const& exec) const
  {
    auto const& table = request_->table;
    std::int64_t const count = std::min(rows_of_range_, std::ssize(all) - begin);
    std::array<Id, most_rows> copied;  // NOLINT(cppcoreguidelines-pro-type-member-init)
    std::copy_n(all.begin() + begin, count, copied.begin());
    std::span<Id const> const ids = std::span(copied).first(static_cast<std::size_t>(count));
    std::int64_t const bad = first_bad(ids, table.num_rows());
    if (bad < count) { return bad_id{begin + bad, std::int64_t{ids[static_cast<std::size_t>(bad)]}}; }
    std::byte* const out = request_->out.data() + begin * table.row_bytes();
    if (table.misses_pages() != nullptr && table.row_bytes() > 0) {
      copy_mapped_rows(table, ids, out, exec);
    } else {
      copy_any_rows(table, ids, out);
    }
    return std::nullopt;
  }

  gather_request const* request_;
  std::string label_;  // begins messages
  std::int64_t rows_of_range_ = 1;
};

/// The first range with a bad id, and that id. Thread-safe.
class first_of_ranges {
 public:
  [[nodiscard]] bool is_before(std::int64_t range) const { return range_.load(std::memory_order_relaxed) < range; }
  void note(std::int64_t range, bad_id const& bad)
  {
    std::lock_guard const lock(mutex_);
    if (is_before(range)) { return; }
    range_.store(range, std::memory_order_relaxed);
    bad_ = bad;
  }
  [[nodiscard]] bool found() const { return range_ != none; }
  [[nodiscard]] std::int64_t range() const { return range_; }
  [[nodiscard]] bad_id const& bad() const { return bad_; }

 private:
  static constexpr std::int64_t none = std::numeric_limits<std::int64_t>::max();
  std::atomic<std::int64_t> range_{none};
  bad_id bad_;
  std::mutex mutex_;
};

/// The jobs' ranges one after another, on the threads of `exec`.
void run(std::vector<job> const& jobs, cpu_exec const& exec)
{
  std::vector<std::int64_t> first_range;
  std::int64_t num_ranges = 0;
  for (auto const& one : jobs) {
    first_range.push_back(num_ranges);
    num_ranges = checked_sum("ranges of gathered rows", num_ranges, one.num_ranges());
  }
  auto const job_of = [&](std::int64_t range) {
    return static_cast<std::size_t>(std::upper_bound(first_range.begin(), first_range.end(), range) -
                                    first_range.begin() - 1);
  };
  // Ranges begin in order: all before the first one that is known to be bad are checked, whatever the threads.
  first_of_ranges bad;
  base::parallel_ranges(exec, num_ranges, 1, [&](std::int64_t range, std::int64_t) {
    if (bad.is_before(range)) { return; }
    std::size_t const which = job_of(range);
    if (auto const found = jobs[which].take(range - first_range[which], exec)) { bad.note(range, *found); }
  });
  if (bad.found()) { jobs[job_of(bad.range())].refuse(bad.bad()); }
}

void gather_one(gather_request const& request, cpu_exec const& exec) { run({job(request, "")}, exec); }

}  // namespace

void gather(feature_table const& table, std::span<std::int32_t const> ids, std::span<std::byte> out,
            cpu_exec const& exec)
{
  gather_one({table, ids, out}, exec);
}

void gather(feature_table const& table, std::span<std::int64_t const> ids, std::span<std::byte> out,
            cpu_exec const& exec)
{
  gather_one({table, ids, out}, exec);
}

void gather(std::span<gather_request const> requests, cpu_exec const& exec)
{
  std::vector<job> jobs;
  jobs.reserve(requests.size());
  for (std::size_t i = 0; i < requests.size(); ++i) { jobs.emplace_back(requests[i], fmt::format("request {}: ", i)); }
  run(jobs, exec);
}

}  // namespace tendril
