// One group of mini-batches from seeds to results: memory first, then launches, then, when the stream has been waited
// for, what came out. The launches can be captured in a CUDA graph between the first two: what differs from call to call
// is in a block of words that is copied to the device before them.

#pragma once

#include <span>
#include <vector>

#include "gpu/batches/output.hpp"
#include "gpu/batches/plan.hpp"

namespace tendril::gpu {

class batch_run {
 public:
  /// @param slot  Which of space.host_blocks it uses: each group under way has its own.
  batch_run(batch_plan const& plan, batch_space& space, gpu_exec const& exec, batch_input input, std::size_t slot);

  /// Memory for everything that can be foreseen. @param rounded  Launches fit numbers of seeds up to the next powers of
  /// two. @throws too_many_picks; memory_error.
  void prepare(bool rounded);

  /// Enqueues the call's block and everything up to the report on the stream of `on`. Waits for each fan-out of -1.
  /// @throws too_many_picks where such a one has more; memory_error.
  void enqueue(gpu_exec const& on);

  /// What follows for induced subgraphs; waits twice. Behind enqueue().
  void enqueue_induced();

  /// The batches, once the stream was waited for.
  /// @param first_seed  Place of this group's first seed in the caller's. @throws argument_error for a bad seed;
  ///                    more_than_expected: nothing was added to `out`.
  void finish(hetero_graph const& graph, std::int64_t first_seed, std::vector<minibatch>& out);

  /// The table that the group's launches use. Behind prepare().
  [[nodiscard]] number_table table() const;

  /// Memory of this group's output.
  [[nodiscard]] std::int64_t slab_bytes() const { return slab_.num_bytes(); }
  [[nodiscard]] batch_forecast const& forecast() const { return ahead_; }

  /// Room for the output of one batch. Where later launches take more memory as they go (fan-outs of -1) or outputs are
  /// made larger (bidirectional), as much as there can be.
  [[nodiscard]] static slab_room room_of(batch_plan const& plan, batch_bounds const& bounds,
                                         expected_sizes const& expected);
  [[nodiscard]] static std::vector<size_bound> seed_bounds(batch_input const& input, bool rounded);

 private:
  /// Behind the call's words: the least place of a bad seed; whether the table is full.
  static constexpr std::int64_t status_words = 2;

  void grow(batch_forecast const& by, std::uint32_t keep_from);
  void trace_columns();
  void learn_sizes();
  void prepare_queue(std::int64_t groups);
  [[nodiscard]] bool is_expanded(std::size_t type) const;
  [[nodiscard]] std::vector<queue_seeds> queue_seeds_now() const;
  [[nodiscard]] queue_job queue_now() const;
  void write_block();
  [[nodiscard]] std::size_t launch_of(std::size_t hop, std::size_t t) const { return hop * plan_.edges.size() + t; }
  [[nodiscard]] bool single() const { return input_.num_batches == 1; }
  [[nodiscard]] call_view view() const;
  [[nodiscard]] std::int64_t* column(std::int64_t at) const;
  [[nodiscard]] unsigned int* ticket(std::size_t launch) const;
  [[nodiscard]] batch_space::list& list_of(std::size_t type, std::size_t which) const;

  void number_all_seeds(gpu_exec const& on);
  void list_frontiers(std::size_t hop, gpu_exec const& on);
  void sample(std::size_t hop, std::size_t t, gpu_exec const& on);
  void take_all(std::size_t hop, std::size_t t, number_job& job, expansion& what, gpu_exec const& on);
  void pick(edge_plan const& type, expansion const& what, gpu_exec const& on) const;
  void take_tiles(number_job& job, std::int64_t picks, gpu_exec const& on);
  [[nodiscard]] number_job job_of(std::size_t hop, std::size_t t) const;
  [[nodiscard]] expansion expansion_of(std::size_t hop, std::size_t t, number_job const& job) const;

  struct inner;
  void count_rows(std::size_t t, inner& of) const;
  void count_edges(std::int64_t segments, inner& of) const;
  void write_edges(std::size_t t, inner const& of, std::int64_t const* totals);

  [[nodiscard]] std::int64_t reported(std::int64_t column_offset, std::int64_t batch) const;
  [[nodiscard]] std::int64_t known_at(std::size_t hop, std::size_t type, std::int64_t batch) const;
  [[nodiscard]] minibatch_vertices vertices_of(std::size_t type, std::int64_t batch) const;
  [[nodiscard]] minibatch_edges counts_of(std::size_t t, std::int64_t batch) const;
  [[nodiscard]] minibatch_edges edges_of(std::size_t t, std::int64_t batch) const;
  void refuse_bad_seed(hetero_graph const& graph, std::int64_t first_seed) const;

  batch_plan const& plan_;
  batch_space& space_;
  gpu_exec exec_;
  batch_input input_;
  std::size_t slot_;
  batch_bounds bounds_;
  batch_bounds exact_;  // at the end, of as many seeds as there are
  batch_forecast ahead_;
  count_columns columns_;
  batch_output slab_;
  std::uint32_t first_stamp_ = 0;
  std::int64_t call_words_ = 0;
  std::int64_t expected_ = 0;  ///< Vertices in the table.
  std::int64_t next_tile_ = 0;
  bool late_ = false;  // behind a fan-out of -1: tiles were not foreseen
  // Columns with the number of vertices of each type: before each launch, and at each hop's begin and the end.
  std::vector<std::vector<std::int64_t>> known_, hop_begin_;
  std::vector<minibatch_edges> induced_;  // [batches * edge types]
};

}  // namespace tendril::gpu
