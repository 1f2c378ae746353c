#include "gpu/ranks/nccl.hpp"

#include <cstdlib>
#include <cstring>
#include <mutex>
#include <optional>
#include <string>

#include <dlfcn.h>
#include <fmt/format.h>

#include <tendril/error.hpp>

#include "gpu/device/check.hpp"
#include "gpu/device/side_stream.hpp"
#include "gpu/device/step_event.hpp"

namespace tendril::gpu {
namespace {

constexpr int success = 0, in_progress = 7;  // ncclResult_t
constexpr int as_bytes = 0;                  // ncclInt8
constexpr int least_version = 21400;         // with calls that don't block

/// What NCCL 2.14 took; later ones know it by its version.
struct nccl_config {
  std::size_t size = sizeof(nccl_config);
  unsigned magic = 0xcafebeef;
  unsigned version = least_version;
  int blocking = 0;
};

template <class F>
bool look_up(void* library, char const* name, F*& out)
{
  out = reinterpret_cast<F*>(dlsym(library, name));
  return out != nullptr;
}

std::optional<nccl_library> open_nccl()
{
  char const* const asked = std::getenv("TENDRIL_NCCL");
  void* const library = dlopen(asked != nullptr && *asked != 0 ? asked : "libnccl.so.2", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) { return std::nullopt; }
  nccl_library out{};
  int (*get_version)(int*) = nullptr;
  bool const found =
      look_up(library, "ncclGetVersion", get_version) && look_up(library, "ncclGetUniqueId", out.get_unique_id) &&
      look_up(library, "ncclCommInitRankConfig", out.comm_init) &&
      look_up(library, "ncclCommGetAsyncError", out.comm_error) && look_up(library, "ncclCommAbort", out.comm_abort) &&
      look_up(library, "ncclGroupStart", out.group_start) && look_up(library, "ncclGroupEnd", out.group_end) &&
      look_up(library, "ncclSend", out.send) && look_up(library, "ncclRecv", out.receive) &&
      look_up(library, "ncclGetErrorString", out.error_string);
  if (!found || get_version(&out.version) != success || out.version < least_version) { return std::nullopt; }
  return out;
}

std::string version_text(int version)
{
  return fmt::format("NCCL {}.{}.{}", version / 10000, version / 100 % 100, version % 100);
}

class nccl_messages final : public gpu_messages {
 public:
  /// With the GPU current.
  nccl_messages(nccl_library const& nccl, transport& ranks, int device) : nccl_(nccl), ranks_(ranks), device_(device)
  {
    nccl_id id{};
    if (ranks.rank() == 0) { expect(nccl.get_unique_id(&id)); }
    std::string const shared = ranks.broadcast("NCCL's id", {id.bytes, sizeof id.bytes});
    std::memcpy(id.bytes, shared.data(), sizeof id.bytes);
    nccl_config config;
    expect(nccl.comm_init(&comm_, ranks.size(), id, ranks.rank(), &config));
    try {
      settle("connecting the GPUs");
    } catch (...) {
      abort();
      throw;
    }
  }
  /// By an abort, though nothing is under way: comm_destroy waits for the same call of the other ranks, which may be waiting for
  /// this one.
  ~nccl_messages() override { abort(); }

  void exchange_beside(std::span<parcel const> sent, std::span<parcel const> received, cuda_stream stream,
                       std::function<void()> const& work) override
  {
    expect_working(*this);
    device_guard const guard(device_);
    TENDRIL_CUDA_TRY(cudaEventRecord(made_.get(), stream));
    TENDRIL_CUDA_TRY(cudaStreamWaitEvent(urgent_.get(), made_.get()));
    expect(nccl_.group_start());
    int status = success;
    auto const enqueue = [&](int result) { status = status == success ? result : status; };
    for (parcel const& p : sent) {
      if (p.num_bytes > 0) {
        enqueue(nccl_.send(p.data, static_cast<std::size_t>(p.num_bytes), as_bytes, p.rank, comm_, urgent_.get()));
        ranks_.count_sent(p.num_bytes);
      }
    }
    for (parcel const& p : received) {
      if (p.num_bytes > 0) {
        enqueue(nccl_.receive(p.data, static_cast<std::size_t>(p.num_bytes), as_bytes, p.rank, comm_, urgent_.get()));
      }
    }
    int const ended = nccl_.group_end();
    expect(status);
    expect(ended);
    settle("records between GPUs");
    TENDRIL_CUDA_TRY(cudaEventRecord(came_.get(), urgent_.get()));
    TENDRIL_CUDA_TRY(cudaStreamWaitEvent(stream, came_.get()));
    work();
    // Or a stream would wait for a rank that has fallen silent, and whoever synchronises with the stream.
    wait_among_ranks(ranks_, "records between GPUs", [&] { return came_.is_done(); });
  }

  /// Ranks of one process share memory of the library, which the last of them frees: so they end one after the other.
  void abort() noexcept override
  {
    static std::mutex ending;
    std::lock_guard const lock(ending);
    if (comm_ != nullptr) { (void)nccl_.comm_abort(comm_); }
    comm_ = nullptr;
  }
  [[nodiscard]] bool is_aborted() const noexcept override { return comm_ == nullptr; }

  [[nodiscard]] std::string name() const override { return version_text(nccl_.version); }

 private:
  /// @throws device_error unless the call succeeded, or goes on.
  void expect(int status) const
  {
    if (status != success && status != in_progress) {
      throw device_error(fmt::format("{}: {}", name(), nccl_.error_string(status)));
    }
  }
  /// Waits until the last call has enqueued its work.
  void settle(std::string_view what)
  {
    wait_among_ranks(ranks_, what, [&] {
      int status = success;
      expect(nccl_.comm_error(comm_, &status));
      expect(status);
      return status == success;
    });
  }

  nccl_library const& nccl_;
  transport& ranks_;
  int device_;
  side_stream urgent_ = side_stream::urgent();  // what travels goes before the steps of the other lane
  step_event made_, came_;
  nccl_comm comm_ = nullptr;
};

}  // namespace

nccl_library const* nccl_library::get()
{
  static std::optional<nccl_library> const opened = open_nccl();
  return opened ? &*opened : nullptr;
}

std::shared_ptr<gpu_messages> messages_by_nccl(nccl_library const& nccl, transport& ranks, int device)
{
  device_guard const guard(device);
  return std::make_shared<nccl_messages>(nccl, ranks, device);
}

}  // namespace tendril::gpu
