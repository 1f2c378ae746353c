#include <tendril/gpu_set.hpp>

#include <algorithm>

#include <fmt/format.h>

#include <tendril/exec.hpp>

#include "base/expects.hpp"  // TENDRIL_EXPECTS

namespace tendril {

gpu_set::gpu_set(std::span<int const> devices) : size_(static_cast<int>(devices.size()))
{
  TENDRIL_EXPECTS(devices.size() <= most, "devices: {} GPUs, expected at most {}", devices.size(), most);
  for (std::size_t i = 0; i < devices.size(); ++i) {
    TENDRIL_EXPECTS(devices[i] >= 0, "devices: GPU {}, expected 0 or more", devices[i]);
    auto const earlier = devices.first(i);
    TENDRIL_EXPECTS(std::find(earlier.begin(), earlier.end(), devices[i]) == earlier.end(),
                    "devices: GPU {} twice, expected different ones", devices[i]);
    devices_[i] = devices[i];
  }
}

std::string to_string(gpu_set const& devices)
{
  if (devices.empty()) { return "in host memory"; }
  if (devices.size() == 1) { return fmt::format("on GPU {}", devices[0]); }
  return fmt::format("on GPUs {}", fmt::join(devices.begin(), devices.end(), ", "));
}

gpu_exec::gpu_exec(gpu_set const& devices, cuda_stream the_stream, memory_resource* the_memory)
    : device(devices.empty() ? -1 : devices[0]), stream(the_stream), memory(the_memory)
{
  TENDRIL_EXPECTS(devices.size() == 1, "devices: {} GPUs, expected one: a call runs on one GPU", devices.size());
}

}  // namespace tendril
