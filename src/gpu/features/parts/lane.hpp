// Rows of features of ranks: slots of `out` go to the ranks that have their rows, 8 bytes each; rows are gathered there, and come
// back.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <tendril/buffer.hpp>
#include <tendril/gpu_features.hpp>
#include <tendril/transport.hpp>

#include "features/gpu_ranks.hpp"  // gather_count
#include "gpu/device/side_stream.hpp"
#include "gpu/features/rows.hpp"
#include "gpu/ranks/messages.hpp"
#include "gpu/ranks/slot_exchange.hpp"
#include "samplers/two_batches.hpp"

namespace tendril::gpu {

/// Rows of other ranks in the memory of this rank's GPU.
struct copied_rows {
  buffer<std::byte> rows;
  buffer<vertex_id> copy_of;  ///< As of slot_sort.
  std::int64_t size;
};

/// What both lanes of a call share.
struct row_setting {
  transport& ranks;
  gpu_messages& messages;
  gpu_features const& here;
  copied_rows const* copies;  ///< Or null.
  std::span<std::int64_t const> bounds;
  samplers::rank_rounds const& rounds;
  vertex_id const* ids;
  std::byte* out;
  int device;
};

/// start, then finish and step in turn. All members are calls of all ranks.
class row_lane {
 public:
  /// With the GPU current. @throws memory_error; device_error.
  row_lane(row_setting const& setting, features::gather_count& count);
  ~row_lane();
  row_lane(row_lane const&) = delete;
  row_lane& operator=(row_lane const&) = delete;

  void start(std::int64_t round);
  [[nodiscard]] bool finish();
  void step();

  [[nodiscard]] std::int64_t round() const { return round_; }
  [[nodiscard]] std::int64_t supersteps() const { return 1; }
  [[nodiscard]] double done_share() const { return is_done_ ? 1 : 0; }
  [[nodiscard]] cuda_stream stream() const { return stream_.get(); }

 private:
  [[nodiscard]] gpu_exec exec() const { return gpu_exec(setting_.device, stream_.get()); }
  [[nodiscard]] buffer<vertex_id> column(std::uint32_t const* first, std::int64_t size) const;
  [[nodiscard]] row_copies in_order(std::byte const* rows) const;
  /// Enqueues the gather of rows that slots ask for.
  void gather(asked_slot const* slots, std::int64_t size, std::byte* out) const;
  /// Enqueues the way of rows to their slots.
  void place(row_copies job, asked_slot const* slots, std::int64_t size) const;
  /// Of this rank's own rows. @param room  For as many.
  void place_own(std::byte* room) const;

  row_setting const& setting_;
  features::gather_count& count_;
  side_stream stream_;
  slot_exchange slots_;
  std::int64_t round_ = 0;
  bool is_done_ = false;
  buffer<std::byte> made_, came_;
};

}  // namespace tendril::gpu
