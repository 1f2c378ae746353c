#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <tendril/batch_numbers.hpp>
#include <tendril/exec.hpp>
#include <tendril/minibatch.hpp>
#include <tendril/partition.hpp>
#include <tendril/rank_service.hpp>
#include <tendril/transport.hpp>

// Mini-batches of a graph that no rank holds as a whole. Each rank makes batches of its own; hop by hop it asks the ranks that
// have the vertices for their edges. A rank's draws for a vertex depend on the batch and the vertex alone, so that a batch is
// the one of minibatch_sampler on the whole graph, bit for bit, whatever the number of ranks.

namespace tendril {

/// What ranks did, as this rank saw it.
struct sharded_minibatch_report {
  std::int64_t num_batches = 0;  ///< That this rank asked for.
  std::int64_t edges = 0;        ///< Picked for these batches, and found between the vertices of induced ones.
  std::int64_t asked = 0;        ///< Vertices whose edges they needed, hop by hop,
  std::int64_t asked_away = 0;   ///< of which other ranks had so many.
  std::int64_t sent_bytes = 0;   ///< To other ranks: questions and answers.
  double waited_seconds = 0;     ///< For messages of others, over a transport; of GPUs for sizes alone.
};

/// Makes batches of one graph in parts with one set of parameters, as minibatch_sampler does of a whole graph. Parts have one
/// type of vertices and no times.
///
/// Over a transport all members but the destructor, params and report are calls of all ranks. Over a rank_service only the
/// constructor is: then ranks may make batches whenever they like, and a rank that makes none answers the others. The rank's part
/// stays until every rank has let its sampler go.
///
/// With a gpu_exec the part is copied to a GPU of the rank, and batches are made there, in calls of all ranks: bit for bit the
/// same. Vertices and picks go from GPU to GPU as walkers do (sharded_walk.hpp).
class sharded_minibatch_sampler {
 public:
  /// @param part             The rank's: as many parts as ranks, part r with rank r.
  /// @param ranks            Outlives this object.
  /// @throws argument_error  as minibatch_sampler, or parts that don't fit the ranks; rank_error, also where ranks have other
  ///                         graphs, parameters or versions.
  sharded_minibatch_sampler(graph_part part, minibatch_params params, transport& ranks, cpu_exec const& exec = {});
  /// @param ranks  Outlives this object; the same errors.
  sharded_minibatch_sampler(graph_part part, minibatch_params params, rank_service& ranks, cpu_exec const& exec = {});
  /// On a GPU. @param ranks  Up to 32; outlives this object.
  /// @throws as above; device_error; memory_error.
  sharded_minibatch_sampler(graph_part part, minibatch_params params, transport& ranks, gpu_exec const& exec);
  ~sharded_minibatch_sampler();
  sharded_minibatch_sampler(sharded_minibatch_sampler&&) noexcept;
  sharded_minibatch_sampler& operator=(sharded_minibatch_sampler&&) noexcept;

  [[nodiscard]] minibatch_params const& params() const noexcept;

  /// Makes the batches of these numbers: each takes the next `batch_size` seeds, the last one may have fewer. Each rank asks for
  /// batches of its own, of any vertices of the whole graph, as many as it likes: ranks may give different batch sizes, and
  /// none at all. Many batches a call let messages travel while others are made.
  /// @throws argument_error naming the first seed out of range, or a batch size < 1; memory_error; rank_error.
  [[nodiscard]] std::vector<minibatch> sample_batches(std::span<vertex_id const> seeds, std::int64_t batch_size,
                                                      batch_numbers numbers = {});

  /// The same on the GPU. @param seeds  In its memory, where the batches are made, too; where they are before what `exec.stream` does
  /// later. Waits. @throws device_error as well.
  [[nodiscard]] std::vector<minibatch> sample_batches(std::span<vertex_id const> seeds, std::int64_t batch_size,
                                                      batch_numbers numbers, gpu_exec const& exec);

  /// Makes batch number `batch`.
  [[nodiscard]] minibatch sample(std::span<vertex_id const> seeds, std::uint64_t batch = 0);

  /// Of all calls so far.
  [[nodiscard]] sharded_minibatch_report const& report() const noexcept;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace tendril
