#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include <tendril/custom_walk.hpp>
#include <tendril/exec.hpp>
#include <tendril/partition.hpp>
#include <tendril/transport.hpp>
#include <tendril/walk.hpp>
#include <tendril/walk_stream.hpp>

// Walks on a graph that no rank holds as a whole. A walker goes to the rank that has its vertex, takes one step there, and
// goes on; the vertices of its walk are sent to the rank that asked for the walk (the technique: KnightKing, SOSP'19). Ranks
// work in supersteps, on two batches in turn: while the walkers of one are on their way, those of the other take a step.

namespace tendril {

namespace engine {
template <class View>
struct dynamic_setup;
struct part_batch;
}  // namespace engine
class csr_view;
class compressed_view;
template <class View>
struct basic_transit_view;

/// A dynamic walk on parts of a graph. part_walk_of makes one of a struct that is compiled with the program
/// (<tendril/engine/walks/parts_cpu.hpp>).
struct part_walk {
  std::string identity;    ///< Of the struct: what ranks compare.
  bool has_bound = false;  ///< Whether it has bound(state).

  template <class View>
  using decider = std::function<void(engine::dynamic_setup<basic_transit_view<View>> const&, bool rejecting,
                                     engine::part_batch const&)>;
  /// Each decides the next step of each walker of a batch, on parts of one form. Thread-safe.
  decider<csr_view> on_csr;
  decider<compressed_view> on_compressed;
};

/// What ranks did, as this rank saw it.
struct sharded_walk_report {
  std::int64_t num_walks = 0;   ///< That this rank asked for.
  std::int64_t steps = 0;       ///< Of those walks; where walks are counted, `steps_here`.
  std::int64_t steps_here = 0;  ///< Taken on this rank, by anyone's walkers.
  std::int64_t supersteps = 0;
  std::int64_t moved = 0;        ///< Walkers that this rank sent to others.
  std::int64_t moved_bytes = 0;  ///< Of these walkers alone.
  std::int64_t questions = 0;    ///< About edges of other ranks' vertices, asked by node2vec.
  std::int64_t sent_bytes = 0;   ///< To other ranks, rows, questions and answers included.
  double waited_seconds = 0;     ///< For messages of others.
  double seconds = 0;
};

/// A planned walk of all ranks. Walks equal those of `walker` on the whole graph, bit for bit, whatever the number of ranks,
/// the parts and the batches: every rank plans by what partition_info tells of the whole graph.
///
/// All that walk_params offers can be sharded. Second-order walks ask the rank of the previous vertex about its edges; walks
/// by types of vertices read types of the whole graph, which each rank has. Tables are built of a rank's own part.
///
/// All members but the destructor are calls of all ranks. Where one rank gives run or stream a wrong argument, it throws
/// argument_error, the others rank_error, and all may go on. Starts of a stream are seen only in its midst: where they are
/// wrong, or a callback throws, all ranks are told at once, and their transport makes no more calls.
class sharded_walker {
 public:
  /// @param part             The rank's: as many parts as ranks, part r with rank r.
  /// @param expected_walks   Of all ranks.
  /// @param ranks            Outlives this object.
  /// @throws argument_error  as walker, or parts that don't fit the ranks; rank_error, also where ranks have other graphs,
  ///                         parameters or versions.
  sharded_walker(graph_part part, walk_params const& params, std::int64_t expected_walks, transport& ranks,
                 cpu_exec const& exec = {});
  /// The same on GPUs: each rank's part is copied to the memory of its GPU, and walkers step there. Up to 32 ranks. Where each rank
  /// has a GPU of its own, records travel by copies from GPU to GPU if all are in one machine and reach each other's memory, else
  /// by NCCL if all find it (libnccl.so.2, or what TENDRIL_NCCL names); otherwise by way of host memory. The plan says which;
  /// TENDRIL_GPU_MESSAGES=peers, nccl or host allows one of the first two ways, or neither.
  /// @throws argument_error  as above, or for more ranks; rank_error; device_error; memory_error.
  sharded_walker(graph_part part, walk_params const& params, std::int64_t expected_walks, transport& ranks,
                 gpu_exec const& exec);

  /// A walk that came as text, by a struct that reads the edges of the walker's own vertex alone: of the state everything but
  /// `previous_edge` and `previous_weight()`, and of `graph` its `num_vertices` and `node_types`. Another struct doesn't compile here.
  /// Walks equal those of custom_walk::run on the whole graph. A walker that moves takes 16 bytes.
  /// @throws argument_error  as custom_walk::run, with the compiler's messages for a struct that reads more; rank_error as above.
  sharded_walker(graph_part part, custom_walk const& walk, dynamic_walk_params const& params, transport& ranks,
                 cpu_exec const& exec = {});
  /// The same by a struct that is compiled with the program, on CPUs.
  /// @throws argument_error  as run_dynamic_walk; rank_error, also where ranks have structs of other names or sizes.
  sharded_walker(graph_part part, part_walk walk, dynamic_walk_params const& params, transport& ranks,
                 cpu_exec const& exec = {});
  /// The same of text on GPUs, by kernels that NVRTC compiles. A walker that moves takes 12 bytes: of starts each rank keeps a copy.
  /// @throws as above; device_error, also without NVRTC; memory_error.
  sharded_walker(graph_part part, custom_walk const& walk, dynamic_walk_params const& params, transport& ranks,
                 gpu_exec const& exec);
  ~sharded_walker();
  sharded_walker(sharded_walker&&) noexcept;
  sharded_walker& operator=(sharded_walker&&) noexcept;

  [[nodiscard]] sampling_plan const& plan() const noexcept;

  /// Each rank asks for walks of its own, from any vertices of the whole graph, as many as it likes.
  /// @param first_walk  The logical id of this rank's first walk.
  /// @throws argument_error naming the first start out of range; rank_error.
  [[nodiscard]] walks run(std::span<vertex_id const> starts, std::int64_t first_walk, cpu_exec const& exec = {});

  /// The same of a walker that was made for a GPU: starts and walks are in its memory. Synchronises.
  [[nodiscard]] walks run(std::span<vertex_id const> starts, std::int64_t first_walk, gpu_exec const& exec);

  /// The same, batch by batch: `job` says what this rank asks for. Of its fields num_walks, first_walk, starts, sink, counts,
  /// batch_bytes and on_progress count. Of batch_bytes 0 means 128 MB, on GPUs twice 256 MB, page-locked; where GPUs count walks,
  /// they mean nothing. The sink is called on the calling thread, by every rank equally often, with no walks where a rank has none
  /// left: it may make calls of all ranks itself. On GPUs `starts` is called on a thread of its own. With `counts`, which all ranks
  /// have then, a rank gets what all walks of all ranks do on the vertices of its part, one element each; a step sends its
  /// walker alone.
  sharded_walk_report stream(walk_stream_job const& job, cpu_exec const& exec = {});

 private:
  struct state;
  static std::unique_ptr<state> dynamic_state(graph_part part, std::function<part_walk(graph_form)> const& walk_of,
                                              dynamic_walk_params const& params, transport& ranks,
                                              cpu_exec const& exec);

  std::unique_ptr<state> state_;
};

}  // namespace tendril
