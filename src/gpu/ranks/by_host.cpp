// Records of GPUs that travel by way of host memory: for ranks that share a GPU, and where there is no NCCL.

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include <cuda_runtime_api.h>

#include "gpu/device/check.hpp"
#include "gpu/ranks/messages.hpp"

namespace tendril::gpu {
namespace {

class host_messages final : public gpu_messages {
 public:
  host_messages(transport& ranks, int device) : ranks_(ranks), device_(device) {}

  void exchange_beside(std::span<parcel const> sent, std::span<parcel const> received, cuda_stream stream,
                       std::function<void()> const& work) override
  {
    expect_working(*this);
    device_guard const guard(device_);
    std::vector<message> messages;
    messages.reserve(static_cast<std::size_t>(ranks_.size()));
    for (int r = 0; r < ranks_.size(); ++r) { messages.push_back(ranks_.pool().take(bytes_of(sent, r))); }
    for (parcel const& p : sent) {
      message& m = messages[static_cast<std::size_t>(p.rank)];
      copy(m.data() + m.size(), p.data, p.num_bytes, stream);
      m.set_size(m.size() + p.num_bytes);
    }
    work();
    TENDRIL_CUDA_TRY(cudaStreamSynchronize(stream));
    std::vector<message> arrived = ranks_.all_to_all("records between GPUs", messages);
    std::vector<std::int64_t> taken(arrived.size());
    for (parcel const& p : received) {
      auto const from = static_cast<std::size_t>(p.rank);
      copy(p.data, arrived[from].data() + taken[from], p.num_bytes, stream);
      taken[from] += p.num_bytes;
    }
    TENDRIL_CUDA_TRY(cudaStreamSynchronize(stream));
    for (message& used : arrived) { ranks_.pool().give_back(std::move(used)); }
  }

  void abort() noexcept override { is_aborted_ = true; }
  [[nodiscard]] bool is_aborted() const noexcept override { return is_aborted_; }
  [[nodiscard]] std::string name() const override { return "host memory"; }

 private:
  [[nodiscard]] static std::int64_t bytes_of(std::span<parcel const> parcels, int rank)
  {
    std::int64_t out = 0;
    for (parcel const& p : parcels) { out += p.rank == rank ? p.num_bytes : 0; }
    return out;
  }
  static void copy(void* to, void const* from, std::int64_t bytes, cuda_stream stream)
  {
    if (bytes == 0) { return; }
    TENDRIL_CUDA_TRY(cudaMemcpyAsync(to, from, static_cast<std::size_t>(bytes), cudaMemcpyDefault, stream));
  }

  transport& ranks_;
  int device_;
  bool is_aborted_ = false;
};

}  // namespace

std::shared_ptr<gpu_messages> messages_by_host(transport& ranks, int device)
{
  return std::make_shared<host_messages>(ranks, device);
}

}  // namespace tendril::gpu
