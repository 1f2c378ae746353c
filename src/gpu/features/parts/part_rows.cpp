// The front of gathers of ranks with GPUs. CPU twin: src/dist/features/.

#include <algorithm>
#include <array>
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
#include "gpu/features/parts/rows_in_reach.hpp"
#include "gpu/features/read_rows.hpp"
#include "gpu/features/row_ids.hpp"
#include "gpu/ranks/messages.hpp"

namespace tendril::gpu {
namespace {

constexpr std::size_t away_bytes = 2 * sizeof(unsigned long long);  // of rows_to_read
constexpr std::int64_t most_rows = std::int64_t{1} << 26U;  // that are asked for together: their slots take memory

class part_rows final : public features::rows_on_gpu_ranks {
 public:
  part_rows(feature_table here, std::vector<std::int64_t> const& bounds, transport& ranks, gpu_exec const& exec)
      : ranks_(ranks), device_(exec.device), bounds_(bounds), here_(std::move(here), exec)
  {
    TENDRIL_EXPECTS(ranks.size() <= most_ranks, "{} ranks with GPUs, expected up to {}", ranks.size(), most_ranks);
    messages_ = connect_gpus(ranks, device_);
    device_guard const guard(device_);
    in_reach_ = rows_in_reach::open(ranks, *messages_, here_.table(), device_);
  }

  features::gather_count gather(id_matrix const& ids, std::span<std::byte> out, gpu_exec const& exec) override
  {
    device_guard const guard(device_);
    row_ids const rows = ranks_.or_refuse([&] {
      expect_device(exec);
      expect_rows(ids, bounds_.back(), exec);
      row_ids made(ids, bounds_.back(), exec);
      if (in_reach_) { TENDRIL_CUDA_TRY(cudaStreamSynchronize(exec.stream)); }  // what others read is there
      return made;
    });
    std::int64_t const most = ranks_.all_reduce("rows of a rank", rows.size(), reduction::max);
    return in_reach_ ? read(rows, out, exec) : exchanged(rows, most, out, exec);
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

  /// Rows that this GPU reads where they lie. @param rows  Of which all ranks know that the others have theirs.
  [[nodiscard]] features::gather_count read(row_ids const& rows, std::span<std::byte> out, gpu_exec const& exec) const
  {
    return ranks_.or_fail([&] {
      buffer<unsigned long long> away(2, memory_of(exec));
      TENDRIL_CUDA_TRY(cudaMemsetAsync(away.data(), 0, away_bytes, exec.stream));
      rows_to_read job{};
      job.ids = rows.data();
      job.size = rows.size();
      job.row_bytes = here_.table().row_bytes();
      job.out = out.data();
      job.num_tables = ranks_.size();
      job.own = ranks_.rank();
      std::ranges::copy(bounds_, job.bounds);
      std::ranges::copy(in_reach_->tables(), job.tables);
      if (copies_) {
        job.tables[job.num_tables] = {copies_->rows.data(), job.row_bytes};
        job.copy_of = copies_->copy_of.data();
      }
      job.away = away.data();
      read_rows(job, exec);
      std::array<unsigned long long, 2> counts{};
      copy_to_host(away.data(), counts.data(), away_bytes, exec);
      (void)ranks_.all_reduce("rows that are read", 0, reduction::max);  // until then all keep theirs as they are
      auto const kept = static_cast<std::int64_t>(counts[1]);
      return features::gather_count{static_cast<std::int64_t>(counts[0]) + kept, kept};
    });
  }

  /// Rows that are asked for, and sent. @param most  Rows of a rank.
  [[nodiscard]] features::gather_count exchanged(row_ids const& rows, std::int64_t most, std::span<std::byte> out,
                                                 gpu_exec const& exec)
  {
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

  transport& ranks_;
  int device_;
  std::vector<std::int64_t> const& bounds_;
  gpu_features here_;
  std::optional<copied_rows> copies_;
  std::shared_ptr<gpu_messages> messages_;
  std::unique_ptr<rows_in_reach> in_reach_;  // null: rows are exchanged
};

}  // namespace
}  // namespace tendril::gpu

std::unique_ptr<tendril::features::rows_on_gpu_ranks> tendril::features::make_rows_on_gpu_ranks(
    feature_table here, std::vector<std::int64_t> const& bounds, transport& ranks, gpu_exec const& exec)
{
  return std::make_unique<gpu::part_rows>(std::move(here), bounds, ranks, exec);
}
