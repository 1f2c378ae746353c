// k-hop trees of ranks that each have a part of a graph on a GPU. A hop: slots are sorted by the ranks that have their vertices,
// and go there, 8 bytes each; picks are made there, by the kernels of every other tree, and come back. Slots of this rank's own
// vertices are expanded in place. Of all neighbours the numbers come first. Behind such a hop trees differ in size, so that slots
// whose picks need draws take their places in the trees along, 8 bytes more.

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <tendril/buffer.hpp>
#include <tendril/gpu.hpp>  // gpu_memory
#include <tendril/partition.hpp>
#include <tendril/sample.hpp>
#include <tendril/transport.hpp>

#include "gpu/device/side_stream.hpp"
#include "gpu/device/step_event.hpp"
#include "gpu/ranks/counted_answers.hpp"
#include "gpu/ranks/messages.hpp"
#include "gpu/ranks/slot_exchange.hpp"
#include "gpu/trees/parts/output.hpp"
#include "gpu/trees/planned_hop.hpp"
#include "samplers/two_batches.hpp"

namespace tendril::gpu {

/// What both lanes of a call share.
struct tree_setting {
  transport& ranks;
  gpu_messages& messages;
  graph const& rows;  ///< Of the part, in the memory of the GPU.
  edge_id first_edge;
  partition_info const& whole;
  khop_params const& params;
  sampling_rule rule;
  khop_tables const& tables;
  samplers::rank_rounds const& rounds;
  tree_output& out;  ///< Of this rank.
  int device;
};

/// start, then finish and step in turn until all hops are made. All members are calls of all ranks.
class tree_lane {
 public:
  /// With the GPU current. @throws memory_error; device_error.
  explicit tree_lane(tree_setting const& setting);
  ~tree_lane();
  tree_lane(tree_lane const&) = delete;
  tree_lane& operator=(tree_lane const&) = delete;

  /// @param seeds  Of this rank's trees of the round, in the memory of the GPU, where they are before what is enqueued later.
  void start(std::int64_t round, std::span<vertex_id const> seeds);
  /// Slots of others arrive. @return whether there is another hop.
  [[nodiscard]] bool finish();
  /// Picks, sends children, takes those of others, and sorts the slots of the next hop.
  /// @throws argument_error or memory_error if all neighbours have no room: the call is refused, and no message is under way.
  void step();
  /// Waits for what was enqueued.
  void wait();

  [[nodiscard]] std::int64_t round() const { return round_; }
  [[nodiscard]] std::int64_t supersteps() const { return static_cast<std::int64_t>(hop_); }
  [[nodiscard]] double done_share() const
  {
    return static_cast<double>(hop_) / static_cast<double>(setting_.params.fanouts.size());
  }
  [[nodiscard]] cuda_stream stream() const { return stream_.get(); }

 private:
  [[nodiscard]] int rank() const { return setting_.ranks.rank(); }
  [[nodiscard]] gpu_exec exec() const { return gpu_exec(setting_.device, stream_.get()); }
  [[nodiscard]] memory_resource& memory() const { return gpu_memory(setting_.device, stream()); }
  [[nodiscard]] std::int64_t fanout() const { return setting_.params.fanouts[hop_]; }
  /// Whether draws of this hop need the places of slots in trees that differ in size.
  [[nodiscard]] bool needs_places() const { return parents_.unit_begin != nullptr && fanout() != -1; }
  void sort_parents();
  void add_places(std::vector<parcel>& sent, std::vector<parcel>& received);
  [[nodiscard]] khop_job job_of_hop() const;
  /// Expands slots that rank `of` asks about. @param places  [size], or null where they aren't needed.
  void expand(int of, asked_slot const* slots, tree_place const* places, std::int64_t size, bool in_place,
              vertex_id* vertices, edge_id* edges);
  void take_picks();

  void take_all();
  /// Fills the offsets of the hop. Waits.
  void count_neighbors(tree_hop& hop);
  /// On all ranks, or the call is refused.
  void make_room();
  void exchange_all();

  tree_setting const& setting_;
  side_stream stream_;
  slot_exchange slots_;
  counted_answers counted_;
  std::int64_t round_ = 0;
  std::size_t hop_ = 0;
  hop_slots parents_;
  buffer<std::int64_t> unit_begin_;  // of parents_, behind a hop of all neighbours
  buffer<tree_place> places_, asked_places_;
  buffer<vertex_id> made_vertices_, came_vertices_;
  buffer<edge_id> made_edges_, came_edges_;
  buffer<std::byte> race_scratch_;
  buffer<std::int64_t> begins_, asked_begins_;  // of all neighbours of slots here, and of those that others ask about
  step_event reached_;
};

}  // namespace tendril::gpu
