// How records travel from the GPU of one rank to those of others. Who sends how many is agreed on over the ranks' transport before;
// so these messages have no heads, and can't be taken for others.

#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include <tendril/error.hpp>
#include <tendril/exec.hpp>
#include <tendril/transport.hpp>

namespace tendril::gpu {

/// Bytes in the memory of this rank's GPU that go to another rank, or come from it.
struct parcel {
  int rank;
  void* data;
  std::int64_t num_bytes;
};

class gpu_messages {
 public:
  virtual ~gpu_messages() = default;

  /// A call of all ranks, in the order of `stream`. Of what goes from one rank to another, both name the same sizes in the same
  /// order. May synchronise.
  /// @throws rank_error; device_error.
  void exchange(std::span<parcel const> sent, std::span<parcel const> received, cuda_stream stream)
  {
    exchange_beside(sent, received, stream, [] {});
  }

  /// The same. @param work  Called once, while records are under way: enqueues what doesn't touch them.
  virtual void exchange_beside(std::span<parcel const> sent, std::span<parcel const> received, cuda_stream stream,
                               std::function<void()> const& work) = 0;

  /// After a failure: ends what is under way, so that streams come to their ends. Nothing can be exchanged afterwards.
  virtual void abort() noexcept = 0;
  [[nodiscard]] virtual bool is_aborted() const noexcept = 0;

  /// Whether each GPU reads the memory of the others.
  [[nodiscard]] virtual bool reach_memory() const noexcept { return false; }

  /// For plans: "NCCL 2.28.9".
  [[nodiscard]] virtual std::string name() const = 0;
};

/// @throws device_error if a call of this connection has failed.
inline void expect_working(gpu_messages const& messages)
{
  if (messages.is_aborted()) {
    throw device_error("GPUs of ranks: a call has failed before, expected a new connection");
  }
}

/// Calls is_done until it is true, while the other ranks are told that this one is alive.
/// @param what  That is waited for, for messages.
/// @throws rank_error if a rank has failed, or if nothing comes until the deadline; what is_done throws.
template <class F>
void wait_among_ranks(transport& ranks, std::string_view what, F&& is_done)
{
  using clock = std::chrono::steady_clock;
  auto const begin = clock::now();
  while (!is_done()) {
    ranks.beat();
    if (clock::now() - begin > ranks.deadline()) {
      throw rank_error(ranks.rank(),
                       fmt::format("rank {} of {}: nothing came from the GPUs of others for {:g} s, in '{}'",
                                   ranks.rank(), ranks.size(), ranks.deadline().count(), what));
    }
    std::this_thread::yield();
  }
}

/// A number that no other process of the machine has.
[[nodiscard]] std::int64_t number_of_process();

/// What a rank tells the others of its GPU, so that all choose the same way.
struct rank_gpu;

/// The best way for the GPUs of all ranks: copies from GPU to GPU where all are in one machine and reach each other's memory; NCCL
/// where each rank has a GPU for itself and all find the library; else by way of host memory. TENDRIL_GPU_MESSAGES (peers, nccl or
/// host) allows one of the first two, or neither. The connection that is there, if every rank still has it: one takes
/// memory of the GPU, and time to make. A call of all ranks.
/// @param ranks  Outlives the result. @throws rank_error; device_error; argument_error.
[[nodiscard]] std::shared_ptr<gpu_messages> connect_gpus(transport& ranks, int device);

/// By copies from GPU to GPU. A call of all ranks. Null, on all of them, where one doesn't reach another.
/// @param all  [ranks], in one machine, each with a GPU for itself.
[[nodiscard]] std::shared_ptr<gpu_messages> messages_by_peers(transport& ranks, std::vector<rank_gpu> const& all,
                                                              int device);

/// By way of host memory and the ranks' transport.
[[nodiscard]] std::shared_ptr<gpu_messages> messages_by_host(transport& ranks, int device);

}  // namespace tendril::gpu
