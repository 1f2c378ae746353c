#include "gpu/features/spread_rows.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <tendril/checked.hpp>
#include <tendril/gpu.hpp>
#include <tendril/gpu_array.hpp>  // copy_to_gpu, lasting_gpu_memory
#include <tendril/gpu_features.hpp>
#include <tendril/several_gpus.hpp>

#include "base/expects.hpp"  // TENDRIL_EXPECTS
#include "gpu/device/check.hpp"
#include "gpu/features/read_rows.hpp"
#include "gpu/features/rows.hpp"

namespace tendril {
namespace {

feature_rows without_gaps(feature_table const& table) { return {table.type(), table.shape()}; }

/// Rows to copy, in ascending order, each once.
std::vector<vertex_id> hot_rows(std::span<std::int64_t const> hot, feature_table const& table)
{
  for (std::size_t i = 0; i < hot.size(); ++i) {
    TENDRIL_EXPECTS(hot[i] >= 0 && hot[i] < table.num_rows(), "hot[{}] is {}, expected 0 to {}", i, hot[i],
                    table.num_rows() - 1);
  }
  std::vector<vertex_id> rows(hot.begin(), hot.end());
  std::ranges::sort(rows);
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  return rows;
}

spread_rows::copies copies_on(int device, feature_table const& all, std::vector<vertex_id> const& rows)
{
  gpu_exec const exec(device);
  gpu::device_guard const guard(device);
  memory_resource& memory = lasting_gpu_memory(device);
  spread_rows::copies made{
      buffer<std::byte>(checked_product("bytes of copies", std::ssize(rows), all.row_bytes()), memory),
      buffer<vertex_id>(all.num_rows(), memory)};
  auto const ids = copy_to_gpu(rows, exec);
  gpu_features(all, exec).gather_unchecked({ids.data(), id_type::uint32, ids.size()}, made.rows.span(), exec);
  gpu::number_copies(ids.data(), ids.size(), made.copy_of.data(), made.copy_of.size(), exec);
  synchronize(exec);
  return made;
}

}  // namespace

feature_table spread_over_gpus(feature_table const& input, gpu_set const& devices, std::span<std::int64_t const> hot)
{
  TENDRIL_EXPECTS(input.device() < 0, "spread: the table lies on GPU {}, expected in host memory", input.device());
  TENDRIL_EXPECTS(input.num_rows() < std::int64_t{no_vertex}, "spread: {} rows, expected less than 2^32 - 1",
                  input.num_rows());
  std::vector<vertex_id> const rows = hot_rows(hot, input);
  feature_table const first = to_gpu(input, gpu_exec(devices[0], nullptr, &spread_gpu_memory(devices)));
  spread_rows whole{devices, {}, first.owner()};
  auto const over_all = [&](spread_rows&& spread) {
    return feature_table::over_gpus(std::make_shared<spread_rows>(std::move(spread)), first.bytes(),
                                    without_gaps(first));
  };
  if (rows.empty()) { return over_all(std::move(whole)); }
  feature_table const without_copies = over_all({devices, {}, first.owner()});
  for (int const device : devices) { whole.each.push_back(copies_on(device, without_copies, rows)); }
  return over_all(std::move(whole));
}

bool gpu::has_copies(feature_table const& table) { return table.spread() != nullptr && !table.spread()->each.empty(); }

void gpu::read_spread_rows(feature_table const& table, row_ids const& ids, std::span<std::byte> out,
                           gpu_exec const& exec)
{
  if (table.row_bytes() == 0) { return; }
  spread_rows const& spread = *table.spread();
  auto const place = std::ranges::find(spread.devices, exec.device) - spread.devices.begin();
  spread_rows::copies const& copies = spread.each[static_cast<std::size_t>(place)];
  rows_to_read job{};
  job.ids = ids.data();
  job.size = ids.size();
  job.row_bytes = table.row_bytes();
  job.out = out.data();
  job.num_tables = 1;
  job.bounds[1] = table.num_rows();
  job.tables[0] = {table.data(), table.row_stride()};
  job.tables[1] = {copies.rows.data(), table.row_bytes()};
  job.copy_of = copies.copy_of.data();
  read_rows(job, exec);
}

}  // namespace tendril
