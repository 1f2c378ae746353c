// Tables of ranks whose GPUs read each other's memory: those of threads of one process, and those of processes whose memory CUDA lends
// to others.

#pragma once

#include <memory>
#include <span>
#include <vector>

#include <tendril/features.hpp>
#include <tendril/transport.hpp>

#include "gpu/features/read_rows.hpp"
#include "gpu/ranks/messages.hpp"

namespace tendril::gpu {

class rows_in_reach {
 public:
  /// A call of all ranks. Null, on all of them, where one can't read what another has.
  /// @param here  This rank's rows. @param device  Its GPU, which is current.
  /// @throws rank_error; device_error.
  static std::unique_ptr<rows_in_reach> open(transport& ranks, gpu_messages const& messages, feature_table const& here,
                                             int device);

  /// [ranks]
  [[nodiscard]] std::span<reached_rows const> tables() const noexcept { return tables_; }

 private:
  std::vector<reached_rows> tables_;
  std::vector<std::shared_ptr<void const>> owners_;  // of their memory
};

}  // namespace tendril::gpu
