// NCCL (https://docs.nvidia.com/deeplearning/nccl), opened at run time: PyTorch brings it, or a package of the system. Of its
// interface, which is C and has kept these functions since version 2.14, only what is called is declared here.

#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include <tendril/exec.hpp>
#include <tendril/transport.hpp>

#include "gpu/ranks/messages.hpp"

namespace tendril::gpu {

struct nccl_id {
  char bytes[128];
};
using nccl_comm = struct ncclComm*;

/// NCCL's functions.
struct nccl_library {
  int version;  ///< 22809 is 2.28.9.
  int (*get_unique_id)(nccl_id*);
  int (*comm_init)(nccl_comm*, int size, nccl_id, int rank, void* config);
  int (*comm_error)(nccl_comm, int* status);
  int (*comm_abort)(nccl_comm);
  int (*group_start)();
  int (*group_end)();
  int (*send)(void const*, std::size_t count, int type, int peer, nccl_comm, cuda_stream);
  int (*receive)(void*, std::size_t count, int type, int peer, nccl_comm, cuda_stream);
  char const* (*error_string)(int status);

  /// Opened once: TENDRIL_NCCL names the file, else libnccl.so.2 is looked for where the system does. Null where there is none,
  /// or an older one.
  [[nodiscard]] static nccl_library const* get();
};

/// Connects the GPUs of all ranks, each with one of its own. A call of all ranks.
[[nodiscard]] std::shared_ptr<gpu_messages> messages_by_nccl(nccl_library const& nccl, transport& ranks, int device);

}  // namespace tendril::gpu
