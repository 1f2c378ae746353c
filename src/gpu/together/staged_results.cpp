#include "gpu/together/staged_results.hpp"

#include <algorithm>
#include <bit>

#include <tendril/checked.hpp>

#include "gpu/device/check.hpp"
#include "gpu/together/idle_pool.hpp"

namespace tendril::gpu {
namespace {

constexpr std::int64_t least_piece = std::int64_t{1} << 20U;
constexpr std::int64_t most_piece = std::int64_t{16} << 20U;
constexpr std::int64_t pieces_of_a_job = 8;                  // at least, so that copies begin early
constexpr std::size_t kept_bytes = std::size_t{256} << 20U;  // between calls: all pieces, and 2^25 ids

/// Items of a piece.
std::int64_t piece_size(std::int64_t num_items, std::int64_t item_bytes)
{
  std::int64_t const all = checked_product("bytes of results", num_items, item_bytes);
  return std::max<std::int64_t>(1, std::clamp(all / pieces_of_a_job, least_piece, most_piece) / item_bytes);
}

/// Of the last two calls, whose copies may be under way, the one whose are not; or memory of its own for the second call.
std::unique_ptr<staging> take_staging(int device)
{
  auto& idle = idle_pool<staging>::instance();
  auto last = idle.take(device);
  if (last == nullptr) { return std::make_unique<staging>(); }
  if (!last->is_busy()) { return last; }
  auto before = idle.take(device);
  idle.give_back(device, std::move(last));
  if (before == nullptr) { return std::make_unique<staging>(); }
  before->copies.wait();
  return before;
}

}  // namespace

staging::staging()
{
  for (auto& each : copied) { TENDRIL_CUDA_TRY(cudaEventCreateWithFlags(&each, cudaEventDisableTiming)); }
  TENDRIL_CUDA_TRY(cudaEventCreateWithFlags(&all_copied, cudaEventDisableTiming));
}

staging::~staging()
{
  for (auto const each : copied) {
    if (each != nullptr) { (void)cudaEventDestroy(each); }
  }
  if (all_copied != nullptr) { (void)cudaEventDestroy(all_copied); }
}

bool staging::is_busy() const
{
  cudaError_t const state = cudaEventQuery(all_copied);
  if (state == cudaErrorNotReady) {
    (void)cudaGetLastError();  // it is no error, but noted as one
    return true;
  }
  TENDRIL_CUDA_TRY(state);
  return false;
}

staged_results::staged_results(int device, base::item_range items, std::int64_t item_bytes, std::byte* out)
    : device_(device),
      end_(items.first + items.size),
      item_bytes_(item_bytes),
      piece_items_(piece_size(items.size, item_bytes)),
      out_(out)
{
  device_guard const guard(device_);
  memory_ = take_staging(device_);
  memory_->memory.reset();
  std::int64_t const num_pieces = std::min((items.size + piece_items_ - 1) / piece_items_, std::ssize(places_));
  std::int64_t const piece_bytes = checked_product("bytes of staged results", piece_items_, item_bytes_);
  std::int64_t const bytes = checked_product("bytes of staged results", num_pieces, piece_bytes);
  pieces_ = static_cast<std::byte*>(room_for(static_cast<std::size_t>(bytes)));
  for (std::size_t i = 0; i < places_.size(); ++i) { places_[i].piece = static_cast<std::int64_t>(i); }
}

staged_results::~staged_results()
{
  if (!is_left_to_reader_) {
    memory_->copies.settle();
    memory_->memory.shrink(kept_bytes);
  }
  idle_pool<staging>::instance().give_back(device_, std::move(memory_));
}

/// Sizes that differ a little from call to call take the same room.
void* staged_results::room_for(std::size_t bytes) { return memory_->memory.allocate(std::bit_ceil(bytes)); }

std::byte* staged_results::memory_of(std::int64_t piece)
{
  return pieces_ + piece % std::ssize(places_) * piece_items_ * item_bytes_;
}

void staged_results::make(base::item_range turn, writer const& write)
{
  try {
    while (!turn.empty()) {
      std::int64_t const turn_end = turn.first + turn.size;
      std::int64_t const piece = (end_ - turn_end) / piece_items_;
      std::int64_t const first = std::max(turn.first, first_item_of(piece));
      if (!open(piece)) { return; }
      base::item_range const part{first, turn_end - first};
      write(part, memory_of(piece) + (first - first_item_of(piece)) * item_bytes_);
      close(piece, part.size);
      turn.size -= part.size;
    }
  } catch (...) {
    give_up();
    throw;
  }
}

bool staged_results::open(std::int64_t piece)
{
  place& at = place_of(piece);
  std::unique_lock lock(at.mutex);
  auto const is_free = [&] { return at.is_sent && at.piece == piece - std::ssize(places_); };
  at.changed.wait(lock, [&] { return failed_ || at.piece == piece || is_free(); });
  if (failed_) { return false; }
  if (at.piece == piece) { return true; }
  TENDRIL_CUDA_TRY(cudaEventSynchronize(memory_->copied[static_cast<std::size_t>(&at - places_.data())]));
  at.piece = piece;
  at.made = 0;
  at.is_sent = false;
  at.changed.notify_all();
  return true;
}

void staged_results::close(std::int64_t piece, std::int64_t num_items)
{
  place& at = place_of(piece);
  std::lock_guard const lock(at.mutex);
  at.made += num_items;
  if (at.made < piece_items_) { return; }
  send(at);
  at.is_sent = true;
  at.changed.notify_all();
}

void staged_results::send(place const& from)
{
  // The piece' last items, since turns go down without gaps.
  std::int64_t const skipped = piece_items_ - from.made;
  auto const offset = [&](std::int64_t items) { return items * item_bytes_; };
  device_guard const guard(device_);
  memory_->copies.copy(out_ + offset(first_item_of(from.piece) + skipped), memory_of(from.piece) + offset(skipped),
                       offset(from.made), cudaMemcpyHostToDevice);
  TENDRIL_CUDA_TRY(
      cudaEventRecord(memory_->copied[static_cast<std::size_t>(&from - places_.data())], memory_->copies.get()));
}

void staged_results::give_up() noexcept
{
  failed_ = true;
  for (place& each : places_) {
    std::lock_guard const lock(each.mutex);
    each.changed.notify_all();
  }
}

void staged_results::send_rest()
{
  for (place const& each : places_) {
    if (each.made > 0 && !each.is_sent) { send(each); }
  }
}

void staged_results::finish()
{
  device_guard const guard(device_);
  send_rest();
  memory_->copies.wait();
}

void staged_results::finish(cudaStream_t reader)
{
  if (!memory_->memory.fits(kept_bytes)) { return finish(); }  // or the next call would find too much of it
  device_guard const guard(device_);
  send_rest();
  TENDRIL_CUDA_TRY(cudaEventRecord(memory_->all_copied, memory_->copies.get()));
  TENDRIL_CUDA_TRY(cudaStreamWaitEvent(reader, memory_->all_copied));
  is_left_to_reader_ = true;
}

}  // namespace tendril::gpu
