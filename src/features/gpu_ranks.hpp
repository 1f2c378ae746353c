// Rows of features of ranks with GPUs: what sharded_features asks of the GPU's room.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <tendril/exec.hpp>
#include <tendril/features.hpp>
#include <tendril/gpu_array.hpp>  // id_matrix
#include <tendril/transport.hpp>

namespace tendril::features {

/// What a call took.
struct gather_count {
  std::int64_t away = 0;  ///< Rows that other ranks have,
  std::int64_t kept = 0;  ///< of which so many have copies here.
};

class rows_on_gpu_ranks {
 public:
  virtual ~rows_on_gpu_ranks() = default;
  /// As sharded_features::gather, `out` being of the right size: a call of all ranks.
  virtual gather_count gather(id_matrix const& ids, std::span<std::byte> out, gpu_exec const& exec) = 0;
  /// Copies rows of other ranks, in the place of earlier copies: a call of all ranks. @param ids  Each once, in host memory.
  virtual void keep(std::span<std::int64_t const> ids, gpu_exec const& exec) = 0;
};

/// A call of all ranks.
/// @param here    This rank's rows, in the memory of the GPU or of the host.
/// @param bounds  As of sharded_features. Outlives the result, as `ranks` does.
/// @throws as sharded_features.
[[nodiscard]] std::unique_ptr<rows_on_gpu_ranks> make_rows_on_gpu_ranks(feature_table here,
                                                                        std::vector<std::int64_t> const& bounds,
                                                                        transport& ranks, gpu_exec const& exec);

}  // namespace tendril::features
