#include "bench/gpu_features.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include <unistd.h>

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <tendril/gpu.hpp>
#include <tendril/gpu_features.hpp>

#include "base/parallel.hpp"
#include "bench/measure.hpp"
#include "core/random.hpp"
#include "gpu/device/check.hpp"

namespace tendril::bench {
namespace {

constexpr std::int64_t gigabyte = std::int64_t{1} << 30U;
constexpr std::int64_t batch_rows = 600'000;  // of a batch of 1,024 seeds (15, 10, 5) on a graph like products
constexpr int calls = 20;                     // that a figure is the mean of, in GPU memory
constexpr int learning = 10;                  // gathers until the best way is known
constexpr work_share ways[] = {work_share::gpu, work_share::cpu, work_share::both, work_share::automatic};

/// Ids of a batch on the GPU, and room for its rows.
struct batch_bed {
  gpu_exec gpu;
  buffer<vertex_id> ids;
  buffer<std::byte> out;

  batch_bed(std::int64_t num_rows, std::int64_t row_bytes, gpu_exec const& exec)
      : gpu(exec), out(batch_rows * row_bytes, memory_of(exec))
  {
    buffer<vertex_id> drawn(batch_rows);
    rng_key const key = core::make_key(0, core::domain::start_vertices);
    for (std::int64_t i = 0; i < batch_rows; ++i) {
      auto const bits = core::draw_block(key, static_cast<std::uint64_t>(i), 0, 0).low();
      drawn[i] = static_cast<vertex_id>(core::bounded64(bits, static_cast<std::uint64_t>(num_rows)));
    }
    ids = copy_to_gpu(drawn.span(), exec);
  }

  [[nodiscard]] double bytes() const { return static_cast<double>(out.size()); }

  void gather(gpu_features const& from)
  {
    from.gather_unchecked({ids.data(), id_type::uint32, ids.size()}, out.span(), gpu);
  }
};

/// Bytes a second of `count` calls that are waited for together.
template <class F>
double rate(double bytes, int count, gpu_exec const& exec, F const& call)
{
  synchronize(exec);
  return bytes * count / seconds_of([&] {
           for (int i = 0; i < count; ++i) { call(); }
           synchronize(exec);
         });
}

feature_table table_of(buffer<std::byte> const& rows, std::int64_t bytes, std::int64_t row_bytes)
{
  std::int64_t const num_rows = bytes / row_bytes;
  return {rows.span().first(static_cast<std::size_t>(num_rows * row_bytes)), {"uint8", {num_rows, row_bytes}}};
}

void measure_gpu_memory(std::vector<row>& found, options const& o, gpu_exec const& exec)
{
  constexpr char copy[] = "copy in GPU memory";
  buffer<std::byte> rows(4 * gigabyte, memory_of(exec));
  TENDRIL_CUDA_TRY(cudaMemset(rows.data(), 1, static_cast<std::size_t>(rows.size())));
  session s("4 GB on the GPU", o.repeats);
  std::int64_t const copied = batch_rows * 512;
  auto const out = std::make_shared<buffer<std::byte>>(copied, memory_of(exec));
  s.add(copy, "307 MB", "B/s", "", [&rows, out, exec, copied] {
    return rate(static_cast<double>(copied), calls, exec,
                [&] { copy_on_gpu(rows.data(), out->data(), static_cast<std::size_t>(copied), exec); });
  });
  for (std::int64_t const row_bytes : {64, 128, 256, 400, 512, 1024, 2408, 4096}) {
    std::int64_t const num_rows = rows.size() / row_bytes;
    auto const table = feature_table::on_gpu(exec.device, rows.span(), {"uint8", {num_rows, row_bytes}});
    auto const from = std::make_shared<gpu_features>(table, exec);
    auto const bed = std::make_shared<batch_bed>(num_rows, row_bytes, exec);
    s.add(fmt::format("gather of {} bytes in GPU memory", row_bytes), "600,000 rows", "B/s", copy,
          [from, bed, exec] { return rate(bed->bytes(), calls, exec, [&] { bed->gather(*from); }); });
  }
  auto more = s.run();
  found.insert(found.end(), more.begin(), more.end());
}

void measure_host_memory(std::vector<row>& found, options const& o, gpu_exec const& exec, feature_table const& all,
                         std::int64_t gigabytes)
{
  constexpr char copy[] = "copy over the bus";
  std::int64_t const bytes = gigabytes * gigabyte;
  session s(fmt::format("{} GB in host memory", gigabytes), o.repeats);
  std::int64_t const copied = batch_rows * 512;
  auto const out = std::make_shared<buffer<std::byte>>(copied, memory_of(exec));
  s.add(copy, "307 MB", "B/s", "", [&all, out, exec, copied] {
    return rate(static_cast<double>(copied), 4, exec, [&] {
      TENDRIL_CUDA_TRY(cudaMemcpyAsync(out->data(), all.data(), static_cast<std::size_t>(copied),
                                       cudaMemcpyHostToDevice, exec.stream));
    });
  });
  for (std::int64_t const row_bytes : {128, 256, 512, 1024, 4096}) {
    std::int64_t const num_rows = bytes / row_bytes;
    feature_table const table(all.bytes().first(static_cast<std::size_t>(num_rows * row_bytes)),
                              {"uint8", {num_rows, row_bytes}});
    auto const bed = std::make_shared<batch_bed>(num_rows, row_bytes, exec);
    for (work_share const share : ways) {
      auto const from = std::make_shared<gpu_features>(table, exec, share);
      for (int i = 0; i < learning; ++i) { bed->gather(*from); }
      s.add(fmt::format("gather of {} bytes, {}", row_bytes, to_string(share)), "600,000 rows", "B/s", copy,
            [from, bed, exec] { return rate(bed->bytes(), 2, exec, [&] { bed->gather(*from); }); });
    }
  }
  auto more = s.run();
  found.insert(found.end(), more.begin(), more.end());
}

std::int64_t host_bytes()
{
  return static_cast<std::int64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::int64_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace

std::vector<row> run_gpu_features(options const& o)
{
  gpu_exec const exec(o.gpu.value_or(0));
  std::vector<row> found;
  measure_gpu_memory(found, o, exec);
  std::int64_t largest = 40;
  while (largest > 1 && largest * gigabyte > host_bytes() / 2) { largest /= 2; }
  buffer<std::byte> rows(largest * gigabyte);
  base::parallel_ranges(o.exec, rows.size(), gigabyte / 16, [&](std::int64_t begin, std::int64_t end) {
    std::memset(rows.data() + begin, 1, static_cast<std::size_t>(end - begin));
  });
  double const locking = seconds_of([&] { (void)pin_memory(table_of(rows, rows.size(), 4096)); });
  found.push_back({"locking pages", fmt::format("{} GB in host memory", largest), "once", locking * 1e3, "ms", "", 0, 0,
                   1, locking * 1e3, locking * 1e3});
  feature_table const all = pin_memory(table_of(rows, rows.size(), 4096));
  for (std::int64_t const gigabytes : {1, 4, 16, 40}) {
    if (gigabytes <= largest) { measure_host_memory(found, o, exec, all, gigabytes); }
  }
  return found;
}

}  // namespace tendril::bench
