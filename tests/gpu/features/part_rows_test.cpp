// Rows of features of ranks with GPUs come out where they are asked for, whoever has them, from memory of GPUs and of the host.
// Ranks are threads here; they share GPUs where there are fewer, and then rows go by way of host memory.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tendril/error.hpp>
#include <tendril/gpu.hpp>
#include <tendril/gpu_features.hpp>
#include <tendril/sharded_features.hpp>

#include "dist/failure_of.hpp"
#include "dist/refusal.hpp"
#include "gpu/device/check.hpp"
#include "support/gpu_copies.hpp"
#include "support/gpu_test.hpp"
#include "support/scoped_variable.hpp"

namespace tendril::test {
namespace {

class PartRows : public gpu_test {
 protected:
  static constexpr std::int64_t num_rows = 5000;

  static gpu_exec exec_of(transport const& ranks) { return gpu_exec(ranks.rank() % num_gpus()); }

  static std::vector<std::byte> table_bytes(std::int64_t width)
  {
    std::vector<std::byte> out(static_cast<std::size_t>(num_rows * width));
    for (std::int64_t i = 0; i < num_rows * width; ++i) {
      out[static_cast<std::size_t>(i)] = static_cast<std::byte>((i / std::max<std::int64_t>(width, 1) * 31 + i) % 251);
    }
    return out;
  }

  static std::vector<vertex_id> ids_for(int rank, std::int64_t count)
  {
    std::vector<vertex_id> out(static_cast<std::size_t>(count));
    for (std::int64_t i = 0; i < count; ++i) {
      out[static_cast<std::size_t>(i)] = static_cast<vertex_id>((i * 7919 + rank * 13) % num_rows);
    }
    return out;
  }

  static std::vector<std::int64_t> bounds_of(int num_ranks)
  {
    std::vector<std::int64_t> out{0};
    for (int r = 1; r < num_ranks; ++r) { out.push_back(num_rows * r * r / (num_ranks * num_ranks)); }
    out.push_back(num_rows);
    return out;
  }

  /// Rows that a rank gathers, as the host has them.
  static std::vector<std::byte> gathered(sharded_features& rows, std::vector<vertex_id> const& ids,
                                         gpu_exec const& exec)
  {
    auto const there = on_gpu(ids, exec);
    buffer<std::byte> out(std::ssize(ids) * rows.row_bytes(), memory_of(exec));
    rows.gather({there.span().data(), id_type::uint32, std::ssize(ids)},
                {out.data(), static_cast<std::size_t>(out.size())}, exec);
    return copied(out);
  }

  static std::vector<std::byte> rows_of(feature_table const& whole, std::vector<vertex_id> const& ids)
  {
    std::vector<std::byte> out(ids.size() * static_cast<std::size_t>(whole.row_bytes()));
    gather(whole, std::vector<std::int64_t>(ids.begin(), ids.end()), out);
    return out;
  }

  /// Calls work(ranks, rows, exec) on every rank, of which each has a part of the table, on its GPU or on the host.
  template <class Work>
  static void with_parts(feature_table const& whole, std::vector<std::int64_t> const& bounds, bool on_host, Work work)
  {
    run_ranks(
        static_cast<int>(bounds.size()) - 1,
        [&](transport& ranks) {
          gpu_exec const exec = exec_of(ranks);
          gpu::device_guard const guard(exec.device);
          auto const r = static_cast<std::size_t>(ranks.rank());
          feature_table const here = slice_rows(whole, bounds[r], bounds[r + 1] - bounds[r]);
          sharded_features rows(on_host ? here : to_gpu(here, exec), bounds, ranks, exec);
          work(ranks, rows, exec);
        },
        transport::seconds(60));
  }
};

TEST_F(PartRows, OfEverySizeComeFromAnyRank)
{
  for (std::int64_t const width : {0, 1, 3, 8, 100, 512, 70'000}) {
    auto const bytes = table_bytes(width);
    feature_table const whole(bytes, {"uint8", {num_rows, width}});
    for (int const n : width > 1000 ? std::vector{2} : std::vector{1, 2, 3, 7}) {  // the widest take several batches
      auto const bounds = bounds_of(n);
      for (bool const on_host : {false, true}) {
        with_parts(whole, bounds, on_host, [&](transport& ranks, sharded_features& rows, gpu_exec const& exec) {
          EXPECT_EQ(rows.shape(), (std::vector{num_rows, width}));
          for (std::int64_t const count : std::vector<std::int64_t>{0, 1, 9000 + 100 * ranks.rank()}) {
            auto const ids = ids_for(ranks.rank(), count);
            EXPECT_EQ(gathered(rows, ids, exec), rows_of(whole, ids)) << width << " bytes, " << n << " ranks";
          }
          EXPECT_EQ(rows.report().rows, 9001 + 100 * ranks.rank());
          EXPECT_EQ(rows.report().rows_away == 0, n == 1);
        });
      }
    }
  }
}

TEST_F(PartRows, OfWhichARankHasCopiesAreAskedOfNobody)
{
  for (std::int64_t const width : {0, 1, 4, 100, 512, 4096}) {
    auto const bytes = table_bytes(width);
    feature_table const whole(bytes, {"uint8", {num_rows, width}});
    for (int const n : width == 100 ? std::vector{1, 2, 3, 32} : std::vector{1, 2, 3}) {
      auto const bounds = bounds_of(n);
      for (bool const on_host : {false, true}) {
        with_parts(whole, bounds, on_host, [&](transport& ranks, sharded_features& rows, gpu_exec const& exec) {
          auto const ids = ids_for(ranks.rank(), 9000);
          auto const expected = rows_of(whole, ids);
          auto const r = static_cast<std::size_t>(ranks.rank());
          auto const is_away = [&](std::int64_t id) { return id < bounds[r] || id >= bounds[r + 1]; };
          std::vector<std::int64_t> some, all(num_rows);
          for (std::int64_t id = num_rows - 1; id >= 0; id -= 2 + ranks.rank()) { some.insert(some.end(), 2, id); }
          std::iota(all.begin(), all.end(), 0);
          std::int64_t away = 0, kept = 0;
          for (auto const& wanted : {std::vector<std::int64_t>{}, some, all, std::vector<std::int64_t>{}, some}) {
            rows.keep(wanted, exec);  // ranks keep other rows, their own and twice the same among them
            EXPECT_EQ(gathered(rows, ids, exec), expected) << width << " bytes, " << n << " ranks";
            std::vector<char> is_wanted(num_rows);
            for (std::int64_t const id : wanted) { is_wanted[static_cast<std::size_t>(id)] = 1; }
            for (vertex_id const id : ids) {
              away += is_away(id) ? 1 : 0;
              kept += is_away(id) && is_wanted[id] != 0 ? 1 : 0;
            }
            EXPECT_EQ(rows.report().rows_away, away);
            EXPECT_EQ(rows.report().rows_kept, kept);
          }
        });
      }
    }
  }
}

/// Where ranks have GPUs that reach each other, rows are read where they lie; else, and if the user wants it, they are sent.
TEST_F(PartRows, AreReadOrSentFromMemoryOfEveryKind)
{
  for (std::int64_t const width : {1, 4, 100, 512}) {
    auto const bytes = table_bytes(width);
    feature_table const whole(bytes, {"uint8", {num_rows, width}});
    auto const bounds = bounds_of(std::clamp(num_gpus(), 2, 4));
    for (char const* const way : {"peers", "nccl", "host"}) {
      scoped_variable const wanted("TENDRIL_GPU_MESSAGES", way);
      for (int const first_lent : {0, 1, 4}) {  // ranks before it have memory of the pool
        run_ranks(static_cast<int>(std::ssize(bounds)) - 1, [&](transport& ranks) {
          gpu_exec const exec = exec_of(ranks);
          gpu::device_guard const guard(exec.device);
          auto const r = static_cast<std::size_t>(ranks.rank());
          feature_table const here = slice_rows(whole, bounds[r], bounds[r + 1] - bounds[r]);
          gpu_exec const lent(exec.device, exec.stream, &lendable_gpu_memory(exec.device));
          sharded_features rows(to_gpu(here, ranks.rank() < first_lent ? exec : lent), bounds, ranks, exec);
          for (std::int64_t const count : std::vector<std::int64_t>{1, 9000 + 100 * ranks.rank()}) {
            auto const ids = ids_for(ranks.rank(), count);
            EXPECT_EQ(gathered(rows, ids, exec), rows_of(whole, ids)) << width << " bytes, by " << way;
          }
          bool const is_read = num_gpus() > 1 && std::string(way) == "peers";
          EXPECT_EQ(rows.report().sent_bytes < 4096, is_read) << way;
        });
      }
    }
  }
}

/// A rank may write its rows as soon as its own call is back, and the next call sees what all have written.
TEST_F(PartRows, AreThoseOfTheTimeOfTheCall)
{
  std::int64_t const width = 64;
  auto const bounds = bounds_of(std::clamp(num_gpus(), 2, 4));
  run_ranks(static_cast<int>(std::ssize(bounds)) - 1, [&](transport& ranks) {
    gpu_exec const exec = exec_of(ranks);
    gpu::device_guard const guard(exec.device);
    auto const r = static_cast<std::size_t>(ranks.rank());
    std::int64_t const mine = bounds[r + 1] - bounds[r];
    buffer<std::byte> memory(mine * width, memory_of(exec));
    std::span<std::byte> const bytes(memory.data(), static_cast<std::size_t>(mine * width));
    sharded_features rows(feature_table::on_gpu(exec.device, bytes, {"uint8", {mine, width}}, nullptr), bounds, ranks,
                          exec);
    for (int turn = 1; turn < 20; ++turn) {
      TENDRIL_CUDA_TRY(cudaMemsetAsync(bytes.data(), turn, bytes.size(), exec.stream));
      auto const ids =
          ids_for(ranks.rank(), ranks.rank() == turn % 3 ? 200'000 : 10);  // one takes longer than the others
      EXPECT_TRUE(gathered(rows, ids, exec) == std::vector(ids.size() * width, static_cast<std::byte>(turn))) << turn;
    }
  });
}

TEST_F(PartRows, AWrongIdEndsTheCallAlone)
{
  auto const bytes = table_bytes(4);
  feature_table const whole(bytes, {"float32", {num_rows, 1}});
  with_parts(whole, bounds_of(3), false, [&](transport& ranks, sharded_features& rows, gpu_exec const& exec) {
    for (int const bad : {0, 2}) {
      bool const wrong = ranks.rank() == bad;
      std::string const words = "ids[1] is 5000, expected 0 to 4999";
      expect_refusal(ranks, bad, words, [&] { (void)gathered(rows, {1, wrong ? 5000U : 2U}, exec); });
      expect_refusal(ranks, bad, words, [&] { rows.keep(std::vector<std::int64_t>{1, wrong ? 5000 : 2}, exec); });
      auto const ids = ids_for(ranks.rank(), 100);
      EXPECT_EQ(gathered(rows, ids, exec), rows_of(whole, ids));
    }
  });
}

TEST_F(PartRows, WhatIsWrongIsNamed)
{
  auto const bytes = table_bytes(4);
  feature_table const whole(bytes, {"float32", {num_rows, 1}});
  auto const bounds = bounds_of(2);
  auto const failure = [&](auto const& call) {
    return failure_of(2, [&](transport& ranks) {
      gpu_exec const exec = exec_of(ranks);
      gpu::device_guard const guard(exec.device);
      auto const r = static_cast<std::size_t>(ranks.rank());
      sharded_features rows(slice_rows(whole, bounds[r], bounds[r + 1] - bounds[r]), bounds, ranks, exec);
      call(rows, ranks, exec);
    });
  };
  EXPECT_NE(failure([](sharded_features& rows, transport&, gpu_exec const& exec) {
              (void)gathered(rows, {1, 5000}, exec);
            }).find("ids[1] is 5000, expected 0 to 4999"),
            std::string::npos);
  EXPECT_NE(failure([](sharded_features& rows, transport&, gpu_exec const&) {
              rows.gather(std::vector<std::int64_t>{}, {});
            }).find("made for a GPU, expected a gpu_exec"),
            std::string::npos);
  EXPECT_NE(failure([](sharded_features& rows, transport&, gpu_exec const& exec) {
              rows.keep(std::vector<std::int64_t>{0, 5000}, exec);
            }).find("ids[1] is 5000, expected 0 to 4999"),
            std::string::npos);
  EXPECT_NE(failure([](sharded_features& rows, transport&, gpu_exec const& exec) {
              rows.keep(std::vector<std::int64_t>{}, gpu_exec(exec.device + 1));
            }).find("sharded_features: made for GPU "),
            std::string::npos);
  EXPECT_EQ(failure([](sharded_features& rows, transport& ranks, gpu_exec const& exec) {
              if (ranks.rank() == 1) { throw io_error("lost"); }
              (void)gathered(rows, {1}, exec);
            }),
            "lost");
}

}  // namespace
}  // namespace tendril::test
