// What a group of mini-batches is made from and in: its sizes, its block of words, lists and table in the sampler's
// space, and memory of its own for the output.

#pragma once

#include <cstdint>
#include <vector>

#include "gpu/batches/block.hpp"
#include "gpu/batches/output.hpp"
#include "gpu/batches/plan.hpp"
#include "gpu/batches/sizes.hpp"

namespace tendril::gpu {

class run_memory {
 public:
  /// @param slot  Which of space.host_blocks the group uses: each group under way has its own.
  run_memory(batch_plan const& the_plan, batch_space& the_space, gpu_exec const& the_exec, batch_input the_input,
             std::size_t slot);

  /// Finds memory for everything that can be foreseen, and writes the block. @param rounded  Launches fit numbers of
  /// seeds up to the next powers of two. @throws too_many_picks; memory_error.
  void prepare(bool rounded);

  /// Finds memory for what follows a launch that takes all neighbours: the launches up to the next one of that kind, and
  /// a larger output. Enqueues copies of what is kept, and of the block.
  /// @param picks  Of the launch. @throws too_many_picks; memory_error.
  void make_room(std::size_t hop, std::size_t t, size_bound const& picks, gpu_exec const& on);

  /// The table that the group's launches use.
  [[nodiscard]] number_table table() const;

  /// Two lists of each vertex type.
  [[nodiscard]] batch_space::list& list_of(std::size_t type, std::size_t which) const
  {
    return space.lists[2 * type + which];
  }

  [[nodiscard]] bool single() const { return input.num_batches == 1; }

  /// Whether some edge type leads from a vertex type.
  [[nodiscard]] bool is_expanded(std::size_t type) const;

  batch_plan const& plan;
  batch_space& space;
  gpu_exec exec;
  batch_input input;
  run_sizes sizes{};
  call_block block;
  batch_output output;

 private:
  void grow(batch_forecast const& by, std::uint32_t keep_from);
  [[nodiscard]] table_cut cut() const;
  void grow_labor(batch_forecast const& by, bool keep);
  void prepare_queue();
  [[nodiscard]] std::vector<queue_seeds> first_of_queue() const;
  void write_block();

  std::uint32_t first_stamp_ = 0;
};

}  // namespace tendril::gpu
