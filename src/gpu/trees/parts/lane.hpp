// k-hop trees of ranks that each have a part of a graph on a GPU. A hop: slots are sorted by the ranks that have their vertices,
// and go there, 8 bytes each; picks are made there, by the kernels of every other tree, and come back. Slots of this rank's own
// vertices are expanded in place.

#pragma once

#include <cstdint>
#include <span>

#include <tendril/buffer.hpp>
#include <tendril/partition.hpp>
#include <tendril/sample.hpp>
#include <tendril/transport.hpp>

#include "gpu/device/side_stream.hpp"
#include "gpu/ranks/messages.hpp"
#include "gpu/ranks/slot_exchange.hpp"
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
  khop_trees& out;  ///< Of this rank.
  bool with_edges;
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
  void step();

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
  void sort_parents();
  [[nodiscard]] khop_job job_of_hop() const;
  /// Expands slots that rank `of` asks about.
  void expand(int of, asked_slot const* slots, std::int64_t size, bool in_place, vertex_id* vertices, edge_id* edges);

  tree_setting const& setting_;
  side_stream stream_;
  slot_exchange slots_;
  std::int64_t round_ = 0;
  std::size_t hop_ = 0;
  std::int64_t num_roots_ = 0, a_root_ = 1;  // trees; parents of a tree
  vertex_id const* parents_ = nullptr;
  buffer<vertex_id> made_vertices_, came_vertices_;
  buffer<edge_id> made_edges_, came_edges_;
  buffer<std::byte> race_scratch_;
};

}  // namespace tendril::gpu
