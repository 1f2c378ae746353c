// The edges between all vertices of induced mini-batches. Every rank is told the vertices of all batches, 8 bytes each, and numbers them
// in a table of its own; it looks up there where the edges lead that the vertices of its part have, and sends those that it
// finds to the rank that asked: 12 bytes an edge, where all edges of the vertices would be many more. CPU twin:
// src/dist/batches/asked_edges.cpp.

#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include <tendril/buffer.hpp>
#include <tendril/gpu.hpp>
#include <tendril/minibatch.hpp>
#include <tendril/transport.hpp>

#include "gpu/batches/expand.hpp"
#include "gpu/batches/induce.hpp"
#include "gpu/batches/parts/found.hpp"
#include "gpu/batches/stamped_table.hpp"
#include "gpu/device/side_stream.hpp"
#include "gpu/ranks/counted_answers.hpp"
#include "gpu/ranks/messages.hpp"
#include "gpu/ranks/slot_exchange.hpp"

namespace tendril::gpu {

/// For each round share, find, and take, one after the other. The first two are calls of all ranks.
class inner_search {
 public:
  /// With the GPU current. All outlive the object.
  /// @param first_edges  [ranks] The first edge of each rank's part.
  inner_search(transport& ranks, gpu_messages& messages, std::span<edge_id const> first_edges,
               slot_exchange const& slots, int device, side_stream const& stream);

  /// Sends this rank's vertices to the others, and numbers those of all ranks.
  /// @param list  Of all batches of this rank, in the memory of the GPU. @param size  Of the list.
  /// @param first_groups  [ranks + 1] The first group of each rank, among those of all ranks.
  /// @throws memory_error, on all ranks, where a table can't number so many.
  void share(vertex_list const& list, std::int64_t size, std::span<std::int64_t const> first_groups);

  /// Finds the edges between the vertices, and brings those of this rank's batches here. Waits.
  /// @param own, asked  The vertices of this rank's part, for its own batches and for those of others, by groups of all ranks.
  /// @param batches  [batches + 1], in host memory: where the vertices of each batch begin in the list. Empty: no batches.
  void find(expansion const& own, expansion const& asked, std::span<std::int64_t const> batches);

  /// Enqueues the writing of what was found. @return the edges of each batch, num_sampled empty.
  [[nodiscard]] std::vector<minibatch_edges> take(std::span<std::int64_t const> batches);

 private:
  /// Vertices of this rank's part.
  struct rows {
    inner_job job;
    buffer<std::int64_t> segments, hits;
  };
  [[nodiscard]] gpu_exec exec() const { return gpu_exec(device_, stream_.get()); }
  [[nodiscard]] memory_resource& memory() const { return gpu_memory(device_, stream_.get()); }
  /// Room for numbers that the host is told.
  [[nodiscard]] std::int64_t* host(std::int64_t size) { return room_in(host_, size, pinned_memory()); }

  /// Enqueues where their rows are cut into segments; how many edges each vertex has, and where they are found.
  [[nodiscard]] rows cut(expansion const& what);
  void count(rows& of, std::int64_t num_segments, std::int64_t* counts);
  void wait(std::string_view what);

  transport& ranks_;
  gpu_messages& messages_;
  std::span<edge_id const> first_edges_;
  slot_exchange const& slots_;
  int device_;
  side_stream const& stream_;
  counted_answers found_;
  step_event reached_;
  stamped_table table_;
  buffer<std::uint32_t> first_stamp_, host_first_stamp_;  // [1]; the latter page-locked
  vertex_list list_;
  buffer<vertex_id> vertices_;    // of other ranks
  buffer<std::uint32_t> groups_;  // likewise
  buffer<std::int64_t> host_;     // page-locked: numbers of segments, then edges of each batch
  buffer<std::int64_t> counts_, places_, asked_counts_, asked_places_, list_counts_, list_places_, totals_;
  buffer<edge_id> edges_, asked_edges_;
  buffer<vertex_id> numbers_, asked_numbers_;
};

}  // namespace tendril::gpu
