// Rows of features of ranks: slots of `out` go to the ranks that have their rows, 8 bytes each; rows are gathered there, and come
// back in pieces: while one piece is on its way, the next one is gathered, and the one before is put into its slots.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include <tendril/buffer.hpp>
#include <tendril/gpu_features.hpp>
#include <tendril/transport.hpp>

#include "features/gpu_ranks.hpp"  // gather_count
#include "gpu/device/side_stream.hpp"
#include "gpu/features/rows.hpp"
#include "gpu/ranks/messages.hpp"
#include "gpu/ranks/slot_exchange.hpp"

namespace tendril::gpu {

/// Rows of other ranks in the memory of this rank's GPU.
struct copied_rows {
  buffer<std::byte> rows;
  buffer<vertex_id> copy_of;  ///< As of slot_sort.
  std::int64_t size;
};

/// What all calls have in common.
struct row_setting {
  transport& ranks;
  gpu_messages& messages;
  gpu_features const& here;
  copied_rows const* copies;  ///< Or null.
  std::span<std::int64_t const> bounds;
  int device;
};

class row_gather {
 public:
  /// With the GPU current. @throws device_error; memory_error.
  explicit row_gather(row_setting const& setting);
  ~row_gather();
  row_gather(row_gather const&) = delete;
  row_gather& operator=(row_gather const&) = delete;

  /// What this enqueues comes after what is enqueued on `stream`.
  void wait_for(cuda_stream stream);

  /// Gathers rows into `out`; a call of all ranks. Afterwards everything is done.
  /// @param ids  [size], fewer than 2^31, in the memory of the GPU.
  void run(vertex_id const* ids, std::int64_t size, std::byte* out, features::gather_count& count);

 private:
  using range = slot_exchange::range;
  /// What pieces in turn are made in.
  struct lane {
    side_stream stream;
    buffer<std::byte> made, came;
  };

  [[nodiscard]] std::int64_t width() const { return setting_.here.table().row_bytes(); }
  [[nodiscard]] gpu_exec on(side_stream const& stream) const { return gpu_exec(setting_.device, stream.get()); }
  /// A part of what is cut into pieces.
  [[nodiscard]] range part(range all, std::int64_t piece) const;
  [[nodiscard]] lane& lane_of(std::int64_t piece) { return lanes_[static_cast<std::size_t>(piece % 2)]; }
  [[nodiscard]] buffer<vertex_id> column(std::uint32_t const* first, std::int64_t size, gpu_exec const& exec) const;
  /// Rows one after another.
  [[nodiscard]] row_copies in_order(std::byte const* rows) const;
  /// Enqueues the gather of rows that slots ask for.
  void gather(asked_slot const* slots, std::int64_t size, std::byte* out, gpu_exec const& exec) const;
  /// Enqueues the way of rows to their slots.
  void place(row_copies job, asked_slot const* slots, std::int64_t size, gpu_exec const& exec) const;
  /// Of all ranks, so many that their memory is bounded.
  void agree_on_pieces();
  /// Enqueues a piece of what others ask for; the way of what has come to its slots; this rank's own rows; the copies.
  void make(std::int64_t piece);
  void place_piece(std::int64_t piece);
  void place_own();
  void place_copies() const;
  /// Calls f(rows, bytes before them) for what others have of a piece.
  template <class F>
  void for_each_part_of(std::int64_t piece, F f) const;
  /// The other ranks' rows of a piece come. @param work  As of gpu_messages.
  void exchange(std::int64_t piece, std::function<void()> const& work);

  row_setting const& setting_;
  side_stream stream_;  // of slots, and of this rank's own rows
  slot_exchange slots_;
  std::array<lane, 2> lanes_;
  buffer<std::byte> own_;
  std::int64_t num_pieces_ = 1;
  std::byte* out_ = nullptr;
};

}  // namespace tendril::gpu
