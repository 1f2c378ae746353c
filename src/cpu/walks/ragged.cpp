#include "cpu/walks/ragged.hpp"

#include <algorithm>
#include <optional>

#include <tendril/checked.hpp>

#include "base/parallel.hpp"  // parallel_ranges

namespace tendril::cpu {
namespace {

// Rows that are made together: small enough for caches of servers, large against the start of threads.
constexpr std::int64_t slice_bytes = std::int64_t{1} << 26;
constexpr std::int64_t least_slice_bytes = std::int64_t{1} << 30;  // of least_slice walks, if their rows are so long
constexpr std::int64_t least_slice = 4096;                         // walks that keep threads busy
constexpr std::int64_t grain = 4096;                               // walks that a thread copies at a time

/// What makes a slice: it reports walks of the whole job.
cpu_exec reporting(cpu_exec const& exec, std::int64_t first, std::int64_t num_walks)
{
  cpu_exec out = exec;
  if (exec.on_progress) {
    out.on_progress = [&exec, first, num_walks](progress const& report) {
      exec.on_progress({report.what, first + report.done, num_walks});
    };
  }
  return out;
}

}  // namespace

std::int64_t row_slices::size_for(std::int64_t room)
{
  std::int64_t const row_bytes = 4 * (room + 1);
  return std::max(slice_bytes / row_bytes, std::min(least_slice, least_slice_bytes / row_bytes));
}

bool row_slices::make(row_maker const& maker, samplers::walk_slice const& slice, std::int64_t length,
                      std::int64_t* offsets, std::int64_t begin, cpu_exec const& exec)
{
  std::int64_t const room = checked_product("walks of a slice", slice.size, slice.length + 1);
  if (rows_.size() < room) {
    rows_ = {};
    rows_ = buffer<vertex_id>(room, memory_);
  }
  if (lengths_.size() < slice.size) { lengths_ = buffer<std::int32_t>(slice.size, memory_); }
  maker(slice, rows_.data(), lengths_.data(), exec);

  std::int32_t longest = 0;
  offsets[0] = begin;
  for (std::int64_t i = 0; i < slice.size; ++i) {
    longest = std::max(longest, lengths_[i]);
    offsets[i + 1] = offsets[i] + lengths_[i] + 1;
  }
  return longest < slice.length || slice.length == length;
}

void row_slices::cut(samplers::walk_slice const& slice, std::int64_t const* offsets, vertex_id* out,
                     cpu_exec const& exec) const
{
  std::int64_t const row = slice.length + 1;
  base::parallel_ranges(exec, slice.size, grain, [&](std::int64_t from, std::int64_t to) {
    for (std::int64_t i = from; i < to; ++i) {
      std::copy_n(rows_.data() + i * row, lengths_[i] + 1, out + (offsets[i] - offsets[0]));
    }
  });
}

ragged_walks make_ragged(samplers::ragged_job const& job, row_maker const& make, cpu_exec const& exec)
{
  row_slices slices(*exec.memory);
  auto const make_slice = [&](samplers::walk_slice const& slice, std::int64_t* offsets,
                              std::int64_t begin) -> std::optional<buffer<vertex_id>> {
    auto const walking = reporting(exec, slice.first, job.num_walks);
    if (!slices.make(make, slice, job.length, offsets, begin, walking)) { return std::nullopt; }
    buffer<vertex_id> part(offsets[slice.size] - begin, *exec.memory);
    slices.cut(slice, offsets, part.data(), exec);
    return part;
  };
  auto const copy = [&](vertex_id* to, buffer<vertex_id> const& from) {
    base::parallel_ranges(exec, from.size(), std::int64_t{1} << 20, [&](std::int64_t begin, std::int64_t end) {
      std::copy(from.data() + begin, from.data() + end, to + begin);
    });
  };
  ragged_walks out = samplers::make_ragged(job, *exec.memory, row_slices::size_for, make_slice, copy);
  if (job.num_walks == 0) { out.offsets[0] = 0; }
  return out;
}

}  // namespace tendril::cpu
