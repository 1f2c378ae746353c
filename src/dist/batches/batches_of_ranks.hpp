// Some batches of this rank in the making: hop by hop the rank that has a vertex is asked for its edges. Executors of one
// machine: src/cpu/batches, src/gpu/batches.

#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <tendril/minibatch.hpp>

#include "cpu/batches/maker.hpp"
#include "dist/exchange.hpp"
#include "dist/shard.hpp"

namespace tendril::dist {

/// What all batches of a rank have in common.
struct batch_setting {
  shard const& here;
  cpu::minibatch_job const& job;
  cpu_exec const& exec;
};

/// What is counted over all batches.
struct batch_counts {
  std::int64_t asked = 0;       ///< Vertices that this rank asked about, its own included.
  std::int64_t asked_away = 0;  ///< Of other ranks.
  std::int64_t edges = 0;
};

/// One batch to make.
struct wanted_batch {
  std::span<vertex_id const> seeds;
  std::uint64_t number;
};

/// Two objects are used in turn, so that messages of one travel while the other works. Where the exchange works in calls of all
/// ranks, every rank calls the members in the same order, maybe with no batches.
class batches_of_ranks {
 public:
  virtual ~batches_of_ranks() = default;

  /// Begins batches, and asks about their first hop.
  virtual void begin(std::span<wanted_batch const> wanted) = 0;
  /// Answers what is this rank's to answer.
  virtual void serve() = 0;
  /// Waits for the answers, and asks about the next hop. @return whether there is one.
  virtual bool take() = 0;
  /// The batches, once there is no hop left.
  [[nodiscard]] virtual std::vector<minibatch> finish() = 0;
};

[[nodiscard]] std::unique_ptr<batches_of_ranks> make_batches_of_ranks(batch_setting const& setting,
                                                                      std::unique_ptr<exchange> ranks,
                                                                      std::shared_ptr<cpu::block_pool> const& pool,
                                                                      batch_counts& counts);

}  // namespace tendril::dist
