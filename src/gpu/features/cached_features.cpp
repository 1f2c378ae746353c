// Tables in host memory with a cache of rows on a GPU. A gather is three or four copies of rows: hits from the cache and the
// missed rows, which arrive one after the other in the order of their ids, to their places; from these also to the cache.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include <fmt/format.h>

#include <tendril/checked.hpp>
#include <tendril/gpu.hpp>
#include <tendril/gpu_feature_cache.hpp>

#include "base/expects.hpp"
#include "gpu/features/cache_step.hpp"
#include "gpu/features/rows.hpp"

namespace tendril {

std::int64_t gpu_cache_step::num_ids() const noexcept { return state_ == nullptr ? 0 : state_->size; }

gpu_cache_step::counts const& gpu_cache_step::count() const
{
  static counts const none;
  if (state_ == nullptr) { return none; }
  state const& s = *state_;
  if (!s.is_known) {
    s.done->synchronize();
    gpu::made_counts const& made = *s.on_host;
    s.known = {std::max<std::int64_t>(made.missed, 0), std::max<std::int64_t>(made.kept, 0),
               static_cast<std::int64_t>(made.first_bad)};
    s.is_known = true;
  }
  return s.known;
}

std::span<vertex_id const> gpu_cache_step::missed() const noexcept
{
  return state_ == nullptr ? std::span<vertex_id const>() : state_->missed.span();
}

std::span<std::uint32_t const> gpu_cache_step::sources() const noexcept
{
  return state_ == nullptr ? std::span<std::uint32_t const>() : state_->sources.span();
}

std::span<std::uint32_t const> gpu_cache_step::kept() const noexcept
{
  return state_ == nullptr ? std::span<std::uint32_t const>() : state_->kept.span();
}

std::span<std::uint32_t const> gpu_cache_step::kept_slots() const noexcept
{
  return state_ == nullptr ? std::span<std::uint32_t const>() : state_->kept_slots.span();
}

gpu_cached_features::gpu_cached_features(gpu_features table, std::int64_t num_slots, gpu_exec const& exec)
    : table_(std::move(table)), num_slots_(num_slots)
{
  TENDRIL_EXPECTS(table_.memory() != row_memory::gpu, "the table lies in the GPU's memory, expected host memory");
  TENDRIL_EXPECTS(num_slots >= 0, "a cache of {} slots, expected 0 or more", num_slots);
  gpu::device_guard const guard(exec.device);
  slots_ = buffer<std::byte>(checked_product("bytes of a cache", num_slots, table_.table().row_bytes()),
                             lasting_gpu_memory(exec.device, exec.stream));
}

void gpu_cached_features::fill(std::span<vertex_id const> rows, gpu_exec const& exec)
{
  TENDRIL_EXPECTS(std::ssize(rows) <= num_slots_, "{} rows for a cache of {} slots", rows.size(), num_slots_);
  std::int64_t const bytes = std::ssize(rows) * table_.table().row_bytes();
  table_.gather_unchecked({rows.data(), id_type::uint32, std::ssize(rows)},
                          slots_.span().first(static_cast<std::size_t>(bytes)), exec);
}

void gpu_cached_features::gather(gpu_cache_step const& step, std::span<std::byte> out, gpu_exec const& exec,
                                 gather_way way)
{
  std::int64_t const size = step.num_ids();
  std::int64_t const width = table_.table().row_bytes();
  std::int64_t const expected = checked_product("bytes of gathered rows", size, width);
  TENDRIL_EXPECTS(std::ssize(out) == expected, "out has {} bytes, expected {} for {} rows of {}", out.size(), expected,
                  size, width);
  if (step.state_ == nullptr) { return; }
  expect_next(step);
  auto const& count = step.count();
  if (count.first_bad >= 0) {
    throw argument_error(fmt::format("ids[{}] of the batch is no row of the table, expected 0 to {}", count.first_bad,
                                     table_.table().num_rows() - 1));
  }
  ++next_step_;
  if (size == 0 || width == 0) { return; }
  std::int64_t const missed = count.missed;
  buffer<std::byte> memory;
  std::span<std::byte> arrived = out;  // if nothing is in the cache, the missed rows are the batch's
  if (missed < size) {
    memory = buffer<std::byte>(checked_product("bytes of missed rows", missed, width), memory_of(exec));
    arrived = memory.span();
  }
  table_.gather_unchecked({step.missed().data(), id_type::uint32, missed}, arrived, exec, way);
  if (missed < size) {
    gpu::copy_rows({.rows = slots_.data(),
                    .stride = width,
                    .num_rows = num_slots_,
                    .row_bytes = width,
                    .ids = step.sources().data(),
                    .size = size,
                    .out = out.data(),
                    .more = arrived.data()},
                   nullptr, false, exec);
  }
  gpu::copy_rows({.rows = arrived.data(),
                  .stride = width,
                  .num_rows = missed,
                  .row_bytes = width,
                  .ids = step.kept().data(),
                  .places = step.kept_slots().data(),
                  .size = count.kept,
                  .out = slots_.data()},
                 nullptr, false, exec);
}

void gpu_cached_features::expect_next(gpu_cache_step const& step)
{
  if (!step.state_->in_order) { return; }
  if (step.state_->fill != fill_) {  // the bookkeeping began anew, with empty slots
    fill_ = step.state_->fill;
    next_step_ = 0;
  }
  TENDRIL_EXPECTS(step.state_->number == next_step_, "step {} of the cache, expected step {}: each once, in order",
                  step.state_->number, next_step_);
}

}  // namespace tendril
