// The front of gathers of ranks with GPUs. CPU twin: src/dist/features/.

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include <tendril/checked.hpp>
#include <tendril/gpu.hpp>
#include <tendril/gpu_features.hpp>

#include "base/expects.hpp"  // TENDRIL_EXPECTS
#include "features/gpu_ranks.hpp"
#include "gpu/device/check.hpp"
#include "gpu/features/parts/row_gather.hpp"
#include "gpu/features/row_ids.hpp"
#include "gpu/ranks/messages.hpp"

namespace tendril::gpu {
namespace {

constexpr std::int64_t most_rows = std::int64_t{1} << 26U;  // that are asked for together: their slots take memory

class part_rows final : public features::rows_on_gpu_ranks {
 public:
  part_rows(feature_table here, std::vector<std::int64_t> const& bounds, transport& ranks, gpu_exec const& exec)
      : ranks_(ranks), device_(exec.device), bounds_(bounds), here_(std::move(here), exec)
  {
    TENDRIL_EXPECTS(ranks.size() <= most_ranks, "{} ranks with GPUs, expected up to {}", ranks.size(), most_ranks);
    messages_ = connect_gpus(ranks, device_);
  }

  features::gather_count gather(id_matrix const& ids, std::span<std::byte> out, gpu_exec const& exec) override
  {
    device_guard const guard(device_);
    row_ids const rows = ranks_.or_refuse([&] {
      expect_device(exec);
      expect_rows(ids, bounds_.back(), exec);
      return row_ids(ids, bounds_.back(), exec);
    });
    std::int64_t const most = ranks_.all_reduce("rows of a rank", rows.size(), reduction::max);
    features::gather_count count;
    row_setting const setting{ranks_, *messages_, here_, copies_ ? &*copies_ : nullptr, bounds_, device_};
    try {
      row_gather all(setting);
      all.wait_for(exec.stream);
      for (std::int64_t first = 0; first < most; first += most_rows) {
        std::int64_t const begin = std::min(first, rows.size());
        std::int64_t const size = std::min(most_rows, rows.size() - begin);
        all.run(rows.data() + begin, size, out.data() + begin * here_.table().row_bytes(), count);
      }
    } catch (...) {
      messages_->abort();  // or others wait for rows that don't come
      throw;
    }
    return count;
  }

  void keep(std::span<std::int64_t const> ids, gpu_exec const& exec) override
  {
    device_guard const guard(device_);
    std::int64_t const size = std::ssize(ids);
    std::int64_t const bytes = checked_product("bytes of rows", size, here_.table().row_bytes());
    auto [there, made] = ranks_.or_refuse([&] {
      expect_device(exec);
      copies_.reset();  // whose memory the new ones may need
      std::vector<vertex_id> const wanted(ids.begin(), ids.end());
      return std::pair(copy_to_gpu(wanted, exec),
                       copied_rows{buffer<std::byte>(bytes, memory_of(exec)),
                                   buffer<vertex_id>(size == 0 ? 0 : bounds_.back(), memory_of(exec)), size});
    });
    (void)gather({there.data(), id_type::uint32, size}, {made.rows.data(), static_cast<std::size_t>(bytes)}, exec);
    if (size == 0) { return; }
    number_copies(there.data(), size, made.copy_of.data(), made.copy_of.size(), exec);
    TENDRIL_CUDA_TRY(cudaStreamSynchronize(exec.stream));
    copies_ = std::move(made);
  }

 private:
  void expect_device(gpu_exec const& exec) const
  {
    TENDRIL_EXPECTS(exec.device == device_, "sharded_features: made for GPU {}, not for GPU {}", device_, exec.device);
  }

  transport& ranks_;
  int device_;
  std::vector<std::int64_t> const& bounds_;
  gpu_features here_;
  std::optional<copied_rows> copies_;
  std::shared_ptr<gpu_messages> messages_;
};

}  // namespace
}  // namespace tendril::gpu

std::unique_ptr<tendril::features::rows_on_gpu_ranks> tendril::features::make_rows_on_gpu_ranks(
    feature_table here, std::vector<std::int64_t> const& bounds, transport& ranks, gpu_exec const& exec)
{
  return std::make_unique<gpu::part_rows>(std::move(here), bounds, ranks, exec);
}
