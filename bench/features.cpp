#include "bench/features.hpp"

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <tendril/features.hpp>

#include "base/parallel.hpp"  // num_threads, parallel_ranges
#include "bench/measure.hpp"
#include "core/random.hpp"

namespace tendril::bench {
namespace {

constexpr std::int64_t table_bytes = std::int64_t{1} << 30U;
constexpr std::int64_t out_bytes = std::int64_t{64} << 20U;
constexpr std::int64_t piece = 1 << 16;  // bytes of a range

struct features_bed {
  buffer<std::byte> rows{table_bytes};
  buffer<std::byte> out{out_bytes};
};

buffer<std::int64_t> random_ids(std::int64_t count, std::int64_t num_rows)
{
  buffer<std::int64_t> ids(count);
  rng_key const key = core::make_key(0, core::domain::start_vertices);
  for (std::int64_t i = 0; i < count; ++i) {
    auto const bits = core::draw_block(key, static_cast<std::uint64_t>(i), 0, 0).low();
    ids[i] = static_cast<std::int64_t>(core::bounded64(bits, static_cast<std::uint64_t>(num_rows)));
  }
  return ids;
}

void copy_in_order(features_bed& b, cpu_exec const& exec)
{
  base::parallel_ranges(exec, out_bytes, piece, [&](std::int64_t begin, std::int64_t end) {
    std::memcpy(b.out.data() + begin, b.rows.data() + begin, static_cast<std::size_t>(end - begin));
  });
}

void plain_gather(features_bed& b, buffer<std::int64_t> const& ids, std::int64_t row_bytes, cpu_exec const& exec)
{
  base::parallel_ranges(exec, ids.size(), piece / row_bytes, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      std::memcpy(b.out.data() + i * row_bytes, b.rows.data() + ids[i] * row_bytes,
                  static_cast<std::size_t>(row_bytes));
    }
  });
}

}  // namespace

std::vector<row> run_features(options const& o)
{
  auto const b = std::make_shared<features_bed>();
  std::memset(b->rows.data(), 1, static_cast<std::size_t>(table_bytes));
  auto const add = [&](session& s, std::string const& name, std::string const& ceiling, auto f) {
    s.add(name, "64 MiB", "B/s", ceiling, [f] { return static_cast<double>(out_bytes) / seconds_of(f); });
  };
  constexpr char copy[] = "copy in order";
  session s("1 GiB of rows", o.repeats);
  add(s, copy, "", [b, exec = o.exec] { copy_in_order(*b, exec); });
  for (std::int64_t const row_bytes : {128, 512, 1024, 4096}) {
    auto const ids =
        std::make_shared<buffer<std::int64_t> const>(random_ids(out_bytes / row_bytes, table_bytes / row_bytes));
    feature_table const table(b->rows.span(), {"uint8", {table_bytes / row_bytes, row_bytes}});
    add(s, fmt::format("rows of {} bytes, plain loop", row_bytes), copy,
        [b, ids, row_bytes, exec = o.exec] { plain_gather(*b, *ids, row_bytes, exec); });
    add(s, fmt::format("rows of {} bytes, gather", row_bytes), copy,
        [b, ids, table, exec = o.exec] { gather(table, ids->span(), b->out.span(), exec); });
  }
  return s.run();
}

}  // namespace tendril::bench
