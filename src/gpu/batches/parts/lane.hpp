// Mini-batches of ranks that each have a part of a graph on a GPU. A hop: the vertices of all frontiers are sorted by the ranks that
// have them; rows and groups go there, 8 bytes a vertex; picks are made there, by the kernels of every other mini-batch, and come
// back, 12 bytes each. Numbers and edges are this rank's, as on one GPU. Induced batches have one turn more (inner_search.hpp).

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <tendril/buffer.hpp>
#include <tendril/minibatch.hpp>
#include <tendril/partition.hpp>
#include <tendril/sharded_minibatch.hpp>
#include <tendril/transport.hpp>

#include "gpu/batches/launches.hpp"
#include "gpu/batches/memory.hpp"
#include "gpu/batches/parts/asked.hpp"
#include "gpu/batches/parts/inner_search.hpp"
#include "gpu/device/side_stream.hpp"
#include "gpu/device/step_event.hpp"
#include "gpu/ranks/counted_answers.hpp"
#include "gpu/ranks/messages.hpp"
#include "gpu/ranks/slot_exchange.hpp"
#include "samplers/two_batches.hpp"

namespace tendril::gpu {

/// What all calls have in common.
struct batch_setting {
  transport& ranks;
  gpu_messages& messages;
  batch_plan const& plan;
  partition_info const& whole;
  vertex_id first_vertex;            ///< Of this rank's part,
  std::vector<edge_id> first_edges;  ///< and the first edge of each rank's.
  int device;
};

/// One call.
struct batches_of_call {
  samplers::rank_rounds const& rounds;
  std::vector<asking_batches> const& of_ranks;  ///< All batches of each rank, in the order of their numbers.
  std::span<vertex_id const> seeds;             ///< Of this rank, in the memory of the GPU.
  sharded_minibatch_report& report;
};

/// start, then finish and step in turn until all hops are made. All members but take are calls of all ranks.
class batch_lane {
 public:
  /// With the GPU current. @throws memory_error; device_error.
  explicit batch_lane(batch_setting const& setting);
  ~batch_lane();
  batch_lane(batch_lane const&) = delete;
  batch_lane& operator=(batch_lane const&) = delete;

  void start(batches_of_call const& call, std::int64_t round);
  /// Vertices of others arrive. @return whether there is another hop.
  [[nodiscard]] bool finish();
  /// Picks, sends picks, takes those of others, and sorts the vertices of the next hop.
  void step();

  /// Adds the batches to `out`, in memory of `exec`. Waits for them.
  void take(std::vector<minibatch>& out, gpu_exec const& exec);

  /// Waits, and lets go what only this call needed.
  void end_call();

  [[nodiscard]] std::int64_t round() const { return round_; }
  [[nodiscard]] std::int64_t supersteps() const { return static_cast<std::int64_t>(hop_); }
  [[nodiscard]] double done_share() const
  {
    return static_cast<double>(hop_) / static_cast<double>(std::max<std::size_t>(num_turns(), 1));
  }
  [[nodiscard]] cuda_stream stream() const { return stream_.get(); }

 private:
  /// Vertices whose picks are counted before they are made: all neighbours, or those by LABOR.
  struct counted_hop {
    expansion what;
    labor_job how;  ///< Of all neighbours counts and offsets alone.
  };

  /// A group of batches of this rank.
  struct group {
    group(batch_plan const& plan, batch_space& space, gpu_exec const& exec, batch_input input)
        : memory(plan, space, exec, std::move(input), 0), launches(memory)
    {
    }
    run_memory memory;
    run_launches launches;
  };

  [[nodiscard]] int rank() const { return setting_.ranks.rank(); }
  [[nodiscard]] gpu_exec exec() const { return gpu_exec(setting_.device, stream_.get()); }
  [[nodiscard]] memory_resource& memory() const { return gpu_memory(setting_.device, stream()); }
  [[nodiscard]] std::int64_t fanout() const { return plan_.edges[0].fanouts[hop_]; }
  /// Whether the edges between all vertices are sought, behind the hops.
  [[nodiscard]] bool seeks_inner() const { return hop_ == plan_.num_hops; }
  [[nodiscard]] std::size_t num_turns() const { return plan_.num_hops + (inner_ ? 1 : 0); }
  /// Where the vertices of this rank's batches begin among those that are asked about.
  [[nodiscard]] std::span<std::int64_t const> batch_begins() const;
  /// The batches of a rank in this round.
  [[nodiscard]] asking_batches batches_of(int of) const;
  void make_groups();
  void begin_hop();
  /// Some vertices of this rank: for its own batches, or for others.
  [[nodiscard]] expansion expand_own() const;
  [[nodiscard]] expansion expand_asked() const;
  [[nodiscard]] expansion expand(vertex_id const* rows, std::uint32_t const* groups, std::int64_t const* size,
                                 std::int64_t most) const;
  void pick(expansion const& what);
  /// Tells kernels how many vertices there are to expand.
  void send_sizes();
  /// Picks, and takes those of others.
  void exchange_picks();
  void take_picks();
  /// The same of counted picks, whose numbers go first.
  void exchange_counted();
  [[nodiscard]] counted_hop count(expansion const& what, batch_space::labor_space& space, std::int64_t* counts,
                                  std::int64_t* offsets, float* weights);
  /// Waits. @return of this rank's batches.
  [[nodiscard]] size_bound exchange_counts(counted_hop const& for_others, counted_hop const& here);
  void pick_counted(counted_hop const& hop, std::int64_t num_picks);
  void take_counted(size_bound const& picks);

  batch_setting const& setting_;
  batch_plan const& plan_;
  side_stream stream_;
  slot_exchange slots_;
  counted_answers counted_;
  std::optional<inner_search> inner_;  // of induced batches
  batch_space space_;
  std::optional<batches_of_call> call_;
  std::optional<group> group_;
  std::int64_t round_ = 0;
  std::size_t hop_ = 0;
  vertex_list from_;  // vertices of this rank's batches that are asked about
  std::vector<minibatch_edges> induced_;
  step_event done_;

  std::vector<std::int64_t> first_groups_;  // [ranks + 1] of each rank, in groups_
  buffer<batch_group> groups_;
  buffer<std::int64_t> begins_;      // page-locked: where each batch's vertices begin in the frontier, and their number
  buffer<std::int64_t> host_sizes_;  // page-locked: vertices that this rank has of its own batches, and of others
  buffer<std::int64_t> sizes_;
  buffer<vertex_id> rows_, asked_rows_;
  buffer<std::uint32_t> groups_of_, asked_groups_of_;
  buffer<edge_id> edges_, asked_edges_;
  buffer<vertex_id> neighbors_, asked_neighbors_;
  buffer<std::byte> race_;
  buffer<std::int64_t> counts_, offsets_, asked_counts_, asked_offsets_;  // of counted picks
  buffer<float> weights_, asked_weights_;                                 // of their edges, by vertex
  batch_space::labor_space asked_labor_;
  buffer<std::int64_t> host_picks_;  // [2], page-locked: of all batches, and of one at most
};

}  // namespace tendril::gpu
