#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <tendril/buffer.hpp>
#include <tendril/features.hpp>
#include <tendril/gpu.hpp>
#include <tendril/gpu_set.hpp>
#include <tendril/graph.hpp>

namespace tendril {

/// All GPUs of this machine. @throws device_error if there is none, saying why.
[[nodiscard]] gpu_set all_gpus();

/// Copies a graph to the memory of each GPU, all at once. A sample is a function of the graph, the parameters and its id, so
/// GPUs that have a copy each share a job without a word between them: any call with ids (`first_walk`, `first_root`,
/// `first_sample`, the number of a batch) makes its part of the job, and the parts together are what one GPU makes, bit for
/// bit. `deal` hands out the parts; stream_walks (tendril/walk_stream.hpp) does that for walks.
/// @param input  In host memory. @return one graph for each GPU, in the order of the set.
/// @throws as to_gpu; argument_error for no GPU.
[[nodiscard]] std::vector<graph> to_gpus(graph const& input, gpu_set const& devices);

/// The same with a copy of the caller's making, for example place_graph. `copy` is called on several threads at once.
[[nodiscard]] std::vector<graph> to_gpus(graph const& input, gpu_set const& devices,
                                         std::function<graph(graph const& input, gpu_exec const& exec)> const& copy);

/// How memory over several GPUs is cut.
enum class spread_layout {
  stripes,  ///< In stripes of at least 2 MB, in turn on each GPU: whatever is read most is on all of them.
  ranges,   ///< In one range for each GPU, of equal sizes: what lies near each other is on one of them.
};

/// Memory that lies on several GPUs, at addresses that follow each other. Each of these GPUs reads and writes all of it, with
/// any kernel: what lies on another GPU over NVLink, at a part of the rate of its own memory. It is for what one GPU can't
/// hold. Freeing waits for the GPUs. Never destroyed.
/// @throws device_error for GPUs that can't reach each other's memory; argument_error for no GPU. Its allocate() throws
///         memory_error.
[[nodiscard]] memory_resource& spread_gpu_memory(gpu_set const& devices, spread_layout layout = spread_layout::stripes);

/// A graph over the memory of several GPUs, as each of them sees it: edges lie in ranges, one on each GPU, and each GPU has all
/// offsets of a CSR graph.
struct spread_graph {
  gpu_set devices;
  std::vector<graph> each;  ///< In the order of `devices`.
  graph over_all;  ///< On the first GPU. Its tables lie over the memory of all; those of `each` are each GPU's own.
};

/// Lays a graph out over the memory of several GPUs, once, for graphs that one of them can't hold. Every call works on it as on
/// a graph in one GPU's memory, and gives the same samples. Walkers in large numbers move to the GPU that has the edges of
/// their vertex, so that a call on one of the GPUs keeps all of them busy; every other call reads over NVLink what lies
/// elsewhere. Tables of walks lie over all GPUs, those of other calls on each.
/// @param input  In host memory. @return the same arrays as a graph for each GPU, in the order of the set.
/// @throws as to_gpu and spread_gpu_memory.
[[nodiscard]] std::vector<graph> spread_over_gpus(graph const& input, gpu_set const& devices);

/// Rows of features over the memory of several GPUs, and each GPU's own copies of some.
struct spread_rows {
  struct copies {
    buffer<std::byte> rows;     ///< Without gaps.
    buffer<vertex_id> copy_of;  ///< [rows of the table] The number of a row's copy, or no_vertex.
  };

  gpu_set devices;
  std::vector<copies> each;           ///< In the order of `devices`; empty: there are no copies.
  std::shared_ptr<void const> owner;  ///< Of the memory that the rows lie in.
};

/// Lays a table out over the memory of several GPUs, for tables that one of them can't hold: in stripes, so that each row lies on
/// one of them, and rows that are needed often also on all. Each of the GPUs gathers from it as from its own memory, and reads
/// over NVLink what lies on another one and has no copy.
/// @param input  In host memory.
/// @param hot    Rows to copy to each GPU, in any order. A GPU's copies take 4 bytes more for each row of the table.
/// @throws argument_error for a table on a GPU, of 2^32 - 1 rows and more, and for the first of `hot` that is no row:
///         "hot[3] is 9, expected 0 to 4"; as spread_gpu_memory; memory_error; device_error.
[[nodiscard]] feature_table spread_over_gpus(feature_table const& input, gpu_set const& devices,
                                             std::span<std::int64_t const> hot = {});

/// Copies bytes from the memory of one GPU to that of the GPU of `exec`, in the order of its stream: over NVLink or the bus, or,
/// where the GPUs can't reach each other, through host memory, and then synchronously.
/// @param from  In memory of this library, on `from_device`; complete, or ordered before by an event on exec.stream.
/// @throws device_error.
void copy_between_gpus(void const* from, int from_device, void* to, std::size_t bytes, gpu_exec const& exec);

/// Does the items of a job, in pieces, on several workers, each a thread of its own: a worker that is free makes the next
/// piece. The calling thread takes the pieces in order, while later ones are made. `deal` is this with results; users need
/// not call it.
///
/// What `make` or `take` throws ends the job: the pieces at hand are finished, and the first exception comes out. Where the
/// system gives no threads, the calling thread does everything as worker 0.
/// @param make  Called by worker w of num_workers for one piece; of one worker never twice at a time.
/// @param take  Called for every piece in order, after it was made; at most 2 num_workers pieces are made and not taken.
/// @throws argument_error for fewer than one worker, or pieces below 0.
void deal_pieces(int num_workers, std::int64_t num_pieces,
                 std::function<void(int worker, std::int64_t piece)> const& make,
                 std::function<void(std::int64_t piece)> const& take);

/// Makes the samples [0, num_items) of a job on several workers, of which each stands for a GPU (or any other place), in
/// pieces of up to `piece` samples.
/// @param make  make(worker, first, size) makes some samples, and returns them; on the worker's thread.
/// @param take  take(first, size, result) gets what was made, on the calling thread, in the order of the samples.
/// @throws as deal_pieces; argument_error for a piece below 1.
template <class Make, class Take>
void deal(int num_workers, std::int64_t num_items, std::int64_t piece, Make const& make, Take const& take)
{
  using result = decltype(make(0, std::int64_t{}, std::int64_t{}));
  std::int64_t const each = piece > 0 ? piece : 1;
  auto const first_of = [&](std::int64_t p) { return p * each; };
  auto const size_of = [&](std::int64_t p) { return std::min(each, num_items - first_of(p)); };
  std::vector<std::optional<result>> made(static_cast<std::size_t>(num_workers > 0 ? 2 * num_workers : 1));
  auto const place_of = [&](std::int64_t p) -> std::optional<result>& {
    return made[static_cast<std::size_t>(p) % made.size()];
  };
  deal_pieces(
      num_workers, piece > 0 ? num_items / each + (num_items % each > 0 ? 1 : 0) : -1,
      [&](int worker, std::int64_t p) { place_of(p).emplace(make(worker, first_of(p), size_of(p))); },
      [&](std::int64_t p) {
        result taken = std::move(*place_of(p));
        place_of(p).reset();
        take(first_of(p), size_of(p), std::move(taken));
      });
}

}  // namespace tendril
