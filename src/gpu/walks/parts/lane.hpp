// A batch of walks of all ranks under way, as the GPU of one rank has it: what walkers that keep step and walkers that go alone
// have in common.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include <tendril/buffer.hpp>
#include <tendril/checked.hpp>
#include <tendril/gpu.hpp>  // gpu_memory
#include <tendril/partition.hpp>
#include <tendril/transport.hpp>

#include "gpu/device/side_stream.hpp"
#include "gpu/device/step_event.hpp"
#include "gpu/ranks/messages.hpp"
#include "gpu/walks/counts.hpp"
#include "gpu/walks/job.hpp"
#include "gpu/walks/parts/alone_step.hpp"
#include "gpu/walks/parts/decider.hpp"
#include "gpu/walks/parts/part_step.hpp"
#include "samplers/two_batches.hpp"

namespace tendril::gpu {

/// Enqueues one step by the rule's kernel, in the shape given.
using part_launch = std::function<void(walk_batch const& batch, walk_shape const& shape)>;

/// How the walkers of a walk go: in step, with or without the vertex before, or alone.
enum class walkers_go { in_step, trailing, alone };

/// What a walk is, whoever asks for it.
struct part_terms {
  walkers_go kind = walkers_go::in_step;
  part_launch launch;    ///< Takes steps, unless
  make_decider decider;  ///< these decide them.
  core::walk_ends ends;
  int device = 0;
  std::int32_t length = 0;
  bool may_stop = false, may_restart = false;  ///< By `ends`.
  bool may_die = true;                         ///< Or end by themselves.
  bool repeat_dead_ends = false;
  bool knows_starts = false;  ///< Whether steps read starts, besides restarts.
};

/// What both lanes of a call share.
struct part_setting : part_terms {
  transport& ranks;
  gpu_messages& messages;
  partition_info const& whole;
  samplers::rank_rounds const& rounds;
  vertex_counts* counts;  ///< Of the part's vertices; or null: walks have rows.

  [[nodiscard]] bool keeps_rows() const { return counts == nullptr; }
};

/// What a rank did.
struct part_counts {
  std::int64_t steps = 0, moved = 0, asked = 0;
};

/// Records of one kind that go between ranks.
struct record_kind {
  bool is_walker;  ///< Whether a walk goes on with each.
  std::int64_t record_bytes;
  box_places boxes;
  std::byte* sent;      ///< Records in boxes.
  std::byte* received;  ///< Those that stay lie before the others.

  template <class Record>
  [[nodiscard]] static record_kind of(bool is_walker, rank_boxes<Record> const& boxes, buffer<Record>& received)
  {
    return {is_walker, sizeof(Record), box_places{boxes.room, boxes.own}, reinterpret_cast<std::byte*>(boxes.leaving),
            reinterpret_cast<std::byte*>(received.data())};
  }
};

/// start, then finish and step in turn until nobody is alive. All members but write_rows are calls of all ranks.
class walk_lane {
 public:
  virtual ~walk_lane();
  walk_lane(walk_lane const&) = delete;
  walk_lane& operator=(walk_lane const&) = delete;

  /// @param starts  Of this rank's walks of the round, in memory of the host or of the GPU, where they are after `ready`.
  void start(std::int64_t round, std::span<vertex_id const> starts);
  [[nodiscard]] bool finish();
  void step();

  [[nodiscard]] std::int64_t round() const { return round_; }
  [[nodiscard]] std::int64_t supersteps() const { return supersteps_; }
  /// A guess, where walkers go alone.
  [[nodiscard]] double done_share() const
  {
    return std::min(1.0, static_cast<double>(supersteps_) / static_cast<double>(std::max(setting_.length, 1)));
  }

  /// Enqueues the rows of a batch that has ended, where walks have rows. @param lengths  May be null.
  void write_rows(vertex_id* rows, std::int32_t* lengths);
  [[nodiscard]] std::int64_t num_walks() const { return num_walks_; }
  [[nodiscard]] cuda_stream stream() const { return stream_.get(); }

 protected:
  /// With the GPU current. @param num_kinds  Of records. @throws memory_error; device_error.
  walk_lane(part_setting const& setting, part_counts& counts, int num_kinds);

  /// Enqueues a step, between clear_counts and tell_counts.
  virtual void launch(bool begins) = 0;
  /// After the step. @throws argument_error for what was wrong in it.
  virtual void check_step() {}
  /// Enqueues the writing of vertices that came last into their columns.
  virtual void deliver_rest() = 0;
  /// What travels: the first kind may stay, too.
  [[nodiscard]] virtual std::vector<record_kind> kinds() = 0;

  [[nodiscard]] part_ranks describe(bool begins);
  /// Where steps count; nowhere where walks have rows.
  [[nodiscard]] vertex_counters counters() const;
  void clear_counts();
  /// Enqueues that the host is told what a step has counted.
  void tell_counts();
  /// What a rule's kernel is told of this rank's starts, and how it is launched.
  [[nodiscard]] walk_batch starts_batch() const;
  [[nodiscard]] walk_shape shape() const;
  [[nodiscard]] vertex_id const* starts() const { return starts_.data(); }
  /// [walks of a batch] 1 for this rank's walks that have ended where no edge led on; null where nobody asks.
  [[nodiscard]] std::uint8_t* dead_ends() { return dead_.data(); }
  /// Waits for the stream: before buffers that others read go.
  void settle() { stream_.settle(); }

  [[nodiscard]] int num_ranks() const { return setting_.ranks.size(); }
  [[nodiscard]] int rank() const { return setting_.ranks.rank(); }
  [[nodiscard]] part_setting const& setting() const { return setting_; }
  /// Walks of all ranks in a batch, at most: as many records of walkers there may be.
  [[nodiscard]] std::int64_t all_walks() const;
  [[nodiscard]] memory_resource& memory() { return gpu_memory(setting_.device, stream()); }
  /// Records of a kind that are here.
  [[nodiscard]] std::int64_t num_here(int kind) const { return num_here_[static_cast<std::size_t>(kind)]; }
  /// What a step counts.
  template <class Tally>
  [[nodiscard]] step_count<Tally>* counts()
  {
    return reinterpret_cast<step_count<Tally>*>(tallies_.data());
  }
  /// Room for the boxes of a kind of records.
  template <class Record>
  [[nodiscard]] buffer<Record> room_for_boxes()
  {
    return buffer<Record>(checked_product("records of a step", box_places::rooms(num_ranks()), all_walks()), memory());
  }
  template <class Record>
  [[nodiscard]] rank_boxes<Record> boxes_in(buffer<Record>& leaving, Record* staying)
  {
    return {{all_walks(), rank()}, staying, leaving.data()};
  }

 private:
  void share_starts();
  [[nodiscard]] unsigned sent(std::size_t kind, int to) const
  {
    return count_[static_cast<std::int64_t>(kind) * most_ranks + to];
  }

  part_setting const& setting_;
  part_counts& counts_;
  std::int64_t num_kinds_;
  side_stream stream_;
  step_event counted_;
  buffer<vertex_id> starts_, all_starts_, columns_;
  buffer<std::uint8_t> dead_;
  buffer<unsigned> tallies_;  // in the GPU's memory
  buffer<unsigned> count_;    // what the host is told, page-locked
  std::vector<std::int64_t> num_here_;
  std::int64_t num_walks_ = 0, round_ = 0, supersteps_ = 0;
};

/// GPU memory that the rows and starts of a walk of each rank take. @param keeps_rows  Or walks are counted.
[[nodiscard]] inline std::int64_t row_bytes_each(std::int64_t length, std::int64_t num_ranks, bool keeps_rows)
{
  return (keeps_rows ? 4 * (length + 1) : 0) + 4 + 4 * num_ranks;
}

}  // namespace tendril::gpu
