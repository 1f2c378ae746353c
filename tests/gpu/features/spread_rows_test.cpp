// Rows over the memory of several GPUs come out right on each of them, with copies and without, and copies are what is read.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <tendril/gpu.hpp>
#include <tendril/gpu_array.hpp>
#include <tendril/gpu_features.hpp>
#include <tendril/several_gpus.hpp>

#include "gpu/device/check.hpp"
#include "gpu/device/side_stream.hpp"
#include "gpu/features/matrix_of.hpp"
#include "support/gpu_copies.hpp"
#include "support/gpu_test.hpp"
#include "support/messages.hpp"

namespace tendril::test {
namespace {

constexpr std::int64_t num_rows = 3001;

std::vector<std::byte> rows_of(std::int64_t width)
{
  std::vector<std::byte> out(static_cast<std::size_t>(num_rows * width));
  for (std::size_t i = 0; i < out.size(); ++i) { out[i] = static_cast<std::byte>((i * 7919 + i / 251) % 255 + 1); }
  return out;
}

std::vector<std::int64_t> ids_of(std::int64_t count)
{
  std::vector<std::int64_t> ids;
  for (std::int64_t i = 0; i < count; ++i) { ids.push_back((i * i * 31 + i) % num_rows); }
  return ids;
}

class SpreadRows : public gpu_test {
 protected:
  static feature_table table_over(std::vector<std::byte> const& rows)
  {
    return {rows, {"uint8", {num_rows, std::ssize(rows) / num_rows}}};
  }

  static std::vector<std::byte> gathered(feature_table const& table, std::vector<std::int64_t> const& ids, int device,
                                         bool checked)
  {
    gpu::device_guard const guard(device);  // on_gpu copies on the current one
    gpu_exec const gpu(device);
    gpu_features const from(table, gpu);
    auto const there = on_gpu(ids, gpu);
    buffer<std::byte> out(std::ssize(ids) * table.row_bytes(), gpu_memory(device));
    checked ? from.gather(matrix_of(there), out.span(), gpu) : from.gather_unchecked(matrix_of(there), out.span(), gpu);
    std::vector<std::byte> made(static_cast<std::size_t>(out.size()));
    copy_to_host(out.data(), made.data(), made.size(), gpu);
    return made;
  }
};

TEST_F(SpreadRows, ComeOutOnEachGpu)
{
  std::vector<std::int64_t> const hot = {3000, 0, 17, 17, 1234, 2}, ids = ids_of(5000);
  for (std::int64_t const width : {0, 1, 3, 4, 16, 100, 512, 3000, 4096}) {  // the last two lie over several stripes
    std::vector<std::byte> const rows = rows_of(width);
    feature_table const table = table_over(rows);
    std::vector<std::byte> expected(ids.size() * static_cast<std::size_t>(width));
    gather(table, std::span(ids), expected);
    for (auto const& copied : {std::vector<std::int64_t>(), hot, ids}) {
      feature_table const spread = spread_over_gpus(table, all_gpus(), copied);
      ASSERT_NE(spread.spread(), nullptr);
      EXPECT_EQ(spread.spread()->devices, all_gpus());
      for (int const device : all_gpus()) {
        for (bool const checked : {true, false}) {
          EXPECT_EQ(gathered(spread, ids, device, checked), expected)
              << width << " bytes, " << copied.size() << " copies, GPU " << device;
        }
      }
      feature_table const back = to_host(spread);
      EXPECT_TRUE(width == 0 || std::memcmp(back.data(), rows.data(), rows.size()) == 0);
    }
  }
}

TEST_F(SpreadRows, CopiesAreReadAndNotTheRowsElsewhere)
{
  constexpr std::int64_t width = 48;
  std::vector<std::byte> const rows = rows_of(width);
  std::vector<std::int64_t> const hot = {5, 2999, 640};
  feature_table const spread = spread_over_gpus(table_over(rows), all_gpus(), hot);
  TENDRIL_CUDA_TRY(cudaMemset(const_cast<std::byte*>(spread.data()), 0, rows.size()));
  TENDRIL_CUDA_TRY(cudaDeviceSynchronize());
  for (int const device : all_gpus()) {
    auto const made = gathered(spread, {6, 640, 5, 0, 2999}, device, true);
    std::vector<std::byte> expected(5 * width);
    for (auto const& [place, row] : {std::pair{1, 640}, std::pair{2, 5}, std::pair{4, 2999}}) {
      std::memcpy(expected.data() + place * width, rows.data() + row * width, width);
    }
    EXPECT_EQ(made, expected) << device;
  }
}

TEST_F(SpreadRows, WrongIdsAreNamedOrGiveZeros)
{
  std::vector<std::byte> const rows = rows_of(8);
  feature_table const table = table_over(rows),
                      spread = spread_over_gpus(table, all_gpus(), std::vector<std::int64_t>{1});
  std::vector<std::int64_t> const ids = {1, num_rows, 2};
  for (int const device : all_gpus()) {
    EXPECT_EQ(message_of<argument_error>([&] { (void)gathered(spread, ids, device, true); }),
              "ids[1] is 3001, expected 0 to 3000");
  }
  std::vector<std::byte> expected(24);
  std::memcpy(expected.data(), rows.data() + 8, 8);
  std::memcpy(expected.data() + 16, rows.data() + 16, 8);
  for (int const device : all_gpus()) { EXPECT_EQ(gathered(spread, ids, device, false), expected) << device; }
}

TEST_F(SpreadRows, AreThereWhenACheckedGatherReturns)
{
  std::vector<std::byte> const rows = rows_of(100);
  for (auto const& hot : {std::vector<std::int64_t>(), std::vector<std::int64_t>{1, 7}}) {
    feature_table const spread = spread_over_gpus(table_over(rows), all_gpus(), hot);
    gpu::side_stream const stream;
    gpu_exec const own(0, stream.get());
    buffer<vertex_id> const ids = copy_to_gpu(std::vector<vertex_id>(4'000'000, 7), own);  // a gather of some time
    buffer<std::byte> out(ids.size() * spread.row_bytes(), gpu_memory(0, own.stream));
    gpu_features(spread, own).gather(matrix_of(ids), out.span(), own);
    EXPECT_EQ(cudaStreamQuery(own.stream), cudaSuccess) << hot.size() << " copies";
  }
}

TEST_F(SpreadRows, RefusesWhatIsNoRowAndWhatLiesElsewhere)
{
  std::vector<std::byte> const rows = rows_of(4);
  feature_table const table = table_over(rows);
  for (std::int64_t const wrong : {num_rows, std::int64_t{-1}, std::int64_t{1} << 40U}) {
    std::vector<std::int64_t> const hot = {0, wrong};
    EXPECT_EQ(message_of<argument_error>([&] { (void)spread_over_gpus(table, all_gpus(), hot); }),
              "hot[1] is " + std::to_string(wrong) + ", expected 0 to 3000");
  }
  EXPECT_EQ(message_of<argument_error>([&] { (void)spread_over_gpus(table, gpu_set()); }),
            "memory of several GPUs: no GPU, expected one or more");
  EXPECT_EQ(message_of<argument_error>([&] { (void)spread_over_gpus(to_gpu(table, gpu_exec(0)), all_gpus()); }),
            "spread: the table lies on GPU 0, expected in host memory");
  if (num_gpus() > 1) {
    feature_table const on_first = spread_over_gpus(table, gpu_set(0), std::vector<std::int64_t>{1});
    EXPECT_EQ(message_of<argument_error>([&] { (void)gpu_features(on_first, gpu_exec(1)); }),
              "the table lies on GPU 0, expected GPU 1");
  }
}

}  // namespace
}  // namespace tendril::test
