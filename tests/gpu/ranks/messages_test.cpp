// Whichever way bytes take from GPU to GPU, the other one has what was sent, in order, whatever the sizes.

#include <chrono>
#include <cstdint>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tendril/error.hpp>
#include <tendril/gpu.hpp>
#include <tendril/gpu_array.hpp>
#include <tendril/transport.hpp>

#include "dist/failure_of.hpp"
#include "gpu/device/check.hpp"
#include "gpu/device/side_stream.hpp"
#include "gpu/ranks/messages.hpp"
#include "support/gpu_test.hpp"
#include "support/scoped_variable.hpp"

namespace tendril::test {
namespace {

constexpr char const* variable = "TENDRIL_GPU_MESSAGES";
constexpr std::int64_t mega = std::int64_t{1} << 20U;

/// Sizes of the parcels that rank 0 sends to rank 1 in one exchange, and the other way.
struct traffic {
  std::vector<std::int64_t> from_0, from_1;
};

/// A slot of a window holds 8 MB, and there are four.
std::vector<traffic> rounds()
{
  return {{{1}, {}},
          {{}, {}},
          {{0, 3, 0}, {5}},
          {{255, 256, 257}, {1 << 16U}},
          {{8 * mega}, {8 * mega - 1, 1}},
          {{8 * mega + 1, 7}, {8 * mega - 3, 100}},
          {{100 * mega + 13}, {1}},
          {{40 * mega, 2, 33 * mega}, {70 * mega}},
          {{1, 1, 1, 1, 1}, {1}}};
}

std::int64_t sum(std::vector<std::int64_t> const& sizes)
{
  std::int64_t out = 0;
  for (std::int64_t const size : sizes) { out += size; }
  return out;
}

/// Bytes that a rank sends in a round.
std::vector<std::uint8_t> content(std::int64_t size, int rank, std::size_t turn)
{
  std::vector<std::uint8_t> out(static_cast<std::size_t>(size));
  std::uint32_t x = 77U + static_cast<std::uint32_t>(rank) + 1000U * static_cast<std::uint32_t>(turn);
  for (std::uint8_t& byte : out) {
    x = x * 1664525U + 1013904223U;
    byte = static_cast<std::uint8_t>(x >> 24U);
  }
  return out;
}

buffer<std::uint8_t> bytes_on_gpu(std::vector<std::uint8_t> const& bytes, gpu_exec const& exec)
{
  buffer<std::uint8_t> out(std::ssize(bytes), memory_of(exec));
  TENDRIL_CUDA_TRY(cudaMemcpyAsync(out.data(), bytes.data(), bytes.size(), cudaMemcpyHostToDevice, exec.stream));
  TENDRIL_CUDA_TRY(cudaStreamSynchronize(exec.stream));
  return out;
}

std::vector<gpu::parcel> parcels(buffer<std::uint8_t>& memory, std::vector<std::int64_t> const& sizes, int other)
{
  std::vector<gpu::parcel> out;
  std::int64_t first = 0;
  for (std::int64_t const size : sizes) {
    out.push_back({other, memory.data() + first, size});
    first += size;
  }
  return out;
}

/// The exchanges of one rank, all enqueued before any is looked at.
void exchange_all(transport& ranks, gpu::gpu_messages& messages, gpu_exec const& exec)
{
  int const me = ranks.rank(), other = 1 - me;
  auto const all = rounds();
  std::vector<buffer<std::uint8_t>> sent, received;
  std::int64_t bytes = -ranks.report().sent_bytes;
  for (std::size_t turn = 0; turn < all.size(); ++turn) {
    auto const& out = me == 0 ? all[turn].from_0 : all[turn].from_1;
    auto const& in = me == 0 ? all[turn].from_1 : all[turn].from_0;
    sent.push_back(bytes_on_gpu(content(sum(out), me, turn), exec));
    received.emplace_back(sum(in), memory_of(exec));
    bytes -= sum(out);
    messages.exchange(parcels(sent.back(), out, other), parcels(received.back(), in, other), exec.stream);
    TENDRIL_CUDA_TRY(cudaMemsetAsync(sent.back().data(), 0, sent.back().span().size_bytes(), exec.stream));
  }
  EXPECT_EQ(bytes + ranks.report().sent_bytes, 0);
  for (std::size_t turn = 0; turn < all.size(); ++turn) {
    std::vector<std::uint8_t> here(static_cast<std::size_t>(received[turn].size()));
    copy_to_host(received[turn].data(), here.data(), here.size(), exec);
    EXPECT_TRUE(here == content(received[turn].size(), other, turn)) << "round " << turn << " of rank " << me;
  }
}

class GpuMessages : public gpu_test {
 protected:
  /// What two ranks find, each with a GPU of its own if there are two: its name, after all exchanges.
  static std::string exchange_by(std::string const& way)
  {
    scoped_variable const wanted(variable, way);
    std::string name;
    run_ranks(
        2,
        [&](transport& ranks) {
          int const device = ranks.rank() % num_gpus();
          gpu::device_guard const guard(device);
          gpu::side_stream const stream;
          auto const messages = gpu::connect_gpus(ranks, device);
          exchange_all(ranks, *messages, gpu_exec(device, stream.get()));
          if (ranks.rank() == 0) { name = messages->name(); }
        },
        transport::seconds(60));
    return name;
  }

  /// Whether each of two GPUs reaches the other's memory.
  static bool are_peers()
  {
    int there = 0, back = 0;
    if (num_gpus() < 2) { return false; }
    TENDRIL_CUDA_TRY(cudaDeviceCanAccessPeer(&there, 0, 1));
    TENDRIL_CUDA_TRY(cudaDeviceCanAccessPeer(&back, 1, 0));
    return there != 0 && back != 0;
  }
};

TEST_F(GpuMessages, ByHostMemory) { EXPECT_EQ(exchange_by("host"), "host memory"); }

TEST_F(GpuMessages, ByCopiesFromGpuToGpu)
{
  std::string const name = exchange_by("peers");
  EXPECT_EQ(name, are_peers() ? "copies from GPU to GPU" : "host memory");
  EXPECT_EQ(exchange_by("").substr(0, 4), are_peers() ? "copi" : name.substr(0, 4));
}

TEST_F(GpuMessages, ByNccl)
{
  std::string const name = exchange_by("nccl");
  if (name == "host memory") { GTEST_SKIP() << "no NCCL, or no GPU for each of two ranks"; }
  EXPECT_EQ(name.substr(0, 5), "NCCL ");
}

TEST_F(GpuMessages, OneThatHasFailedTakesNothing)
{
  for (std::string const way : {"peers", "nccl", "host"}) {
    scoped_variable const wanted(variable, way);
    run_ranks(2, [&](transport& ranks) {
      int const device = ranks.rank() % num_gpus();
      gpu::device_guard const guard(device);
      gpu::side_stream const stream;
      auto const messages = gpu::connect_gpus(ranks, device);
      messages->abort();
      EXPECT_TRUE(messages->is_aborted());
      buffer<std::uint8_t> byte(1, memory_of(gpu_exec(device)));
      std::vector<gpu::parcel> const parcel{{1 - ranks.rank(), byte.data(), 1}};
      EXPECT_THROW(messages->exchange(parcel, parcel, stream.get()), device_error) << way;
    });
  }
}

/// What a rank says of another one that falls silent, at once or after records have come from it.
struct silence {
  std::string way, said;
};

silence silence_by(std::string const& wanted, bool after_records)
{
  scoped_variable const way(variable, wanted);
  std::promise<void> ended;
  silence out;
  run_ranks(
      2,
      [&](transport& ranks) {
        {
          int const device = ranks.rank() % num_gpus();
          gpu::device_guard const guard(device);
          gpu::side_stream const stream;
          auto const messages = gpu::connect_gpus(ranks, device);
          buffer<std::uint8_t> byte(1, memory_of(gpu_exec(device)));
          std::vector<gpu::parcel> const none, parcel{{1 - ranks.rank(), byte.data(), 1}};
          bool const sends = ranks.rank() == 1;
          if (after_records) { messages->exchange(sends ? parcel : none, sends ? none : parcel, stream.get()); }
          ranks.barrier("connected");
          if (sends) {  // tells nothing, not even that it lives, until the other has given up
            EXPECT_EQ(ended.get_future().wait_for(std::chrono::seconds(60)), std::future_status::ready) << wanted;
            return;
          }
          out.way = messages->name();
          ranks.set_deadline(transport::seconds(1));
          try {
            messages->exchange({}, parcel, stream.get());
            ADD_FAILURE() << "nothing is thrown, by " << out.way;
          } catch (rank_error const& failed) {
            out.said = failed.what();
          }
          messages->abort();  // as those who exchange do: what is enqueued ends, and so can the stream
        }
        ended.set_value();
      },
      transport::seconds(60));
  return out;
}

TEST_F(GpuMessages, ASilentRankEndsTheOther)
{
  for (std::string const wanted : {"peers", "nccl", "host"}) {
    for (bool const after_records : {false, true}) {
      auto const [way, said] = silence_by(wanted, after_records);
      if (way == "host memory") {  // over the transport, which tells how long the silence was
        EXPECT_TRUE(said.starts_with("rank 1 of 2: nothing was heard of it for ")) << said;
        EXPECT_TRUE(said.ends_with(" s, while rank 0 waits for it in 'records between GPUs'")) << said;
      } else {
        EXPECT_EQ(said, "rank 0 of 2: nothing came from the GPUs of others for 1 s, in 'records between GPUs'")
            << way << (after_records ? ", after records" : "");
      }
    }
  }
}

TEST_F(GpuMessages, ARankThatFailsEndsTheOther)
{
  for (std::string const way : {"peers", "nccl"}) {
    scoped_variable const wanted(variable, way);
    std::string const said = failure_of(2, [&](transport& ranks) {
      int const device = ranks.rank() % num_gpus();
      gpu::device_guard const guard(device);
      gpu::side_stream const stream;
      auto const messages = gpu::connect_gpus(ranks, device);
      ranks.barrier("connected");
      if (ranks.rank() == 1) { throw argument_error("enough"); }
      buffer<std::uint8_t> byte(1, memory_of(gpu_exec(device)));
      std::vector<gpu::parcel> const parcel{{1, byte.data(), 1}};
      for (;;) { messages->exchange({}, parcel, stream.get()); }
    });
    EXPECT_EQ(said, "enough") << way;
  }
}

TEST_F(GpuMessages, AnotherWayIsRefused)
{
  scoped_variable const wanted(variable, "pigeons");
  run_ranks(2, [&](transport& ranks) {
    try {
      (void)gpu::connect_gpus(ranks, ranks.rank() % num_gpus());
      ADD_FAILURE() << "expected an error";
    } catch (argument_error const& failed) {
      EXPECT_STREQ(failed.what(), "TENDRIL_GPU_MESSAGES: 'pigeons', expected peers, nccl or host");
    }
  });
}

}  // namespace
}  // namespace tendril::test
