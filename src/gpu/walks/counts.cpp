#include "gpu/walks/counts.hpp"

#include <algorithm>
#include <array>

#include <tendril/gpu.hpp>
#include <tendril/gpu_array.hpp>  // copy_to_host

#include "gpu/device/check.hpp"

namespace tendril::gpu {
namespace {

constexpr std::int64_t piece = std::int64_t{1} << 19U;  // counts that come to the host together

template <class T>
buffer<T> zeros_of(std::int64_t size, gpu_exec const& exec)
{
  buffer<T> out(size, gpu_memory(exec.device, exec.stream));
  TENDRIL_CUDA_TRY(cudaMemsetAsync(out.data(), 0, out.span().size_bytes(), exec.stream));
  return out;
}

}  // namespace

vertex_counts::tally vertex_counts::zeros(std::int64_t size) const
{
  std::int64_t const words = (size + 3) / 4;
  return {zeros_of<std::uint32_t>(words, exec_), zeros_of<std::int64_t>(4 * words, exec_)};
}

vertex_counts::vertex_counts(walk_counts const& wanted, vertex_id first, std::int64_t num_vertices,
                             gpu_exec const& exec)
    : exec_(exec),
      first_(first),
      visits_(zeros(wanted.visits.empty() ? 0 : num_vertices)),
      ends_(zeros(wanted.ends.empty() ? 0 : num_vertices)),
      steps_(zeros_of<std::int64_t>(1, exec)),
      kept_(exec.device, static_cast<std::int64_t>(visits_.words.span().size_bytes()))
{
  TENDRIL_CUDA_TRY(cudaStreamSynchronize(exec.stream));
}

vertex_counters vertex_counts::view() { return {visits_.view(), ends_.view(), first_}; }

void vertex_counts::add_to(std::span<std::int64_t> wanted, tally& from) const
{
  buffer<std::int64_t> const& counted = from.counts;
  if (counted.empty()) { return; }
  empty(from);
  std::int64_t const size = std::ssize(wanted);
  // While one piece is added, the next one comes.
  std::array<buffer<std::int64_t>, 2> landing;
  for (auto& l : landing) { l = buffer<std::int64_t>(std::min(piece, size), pinned_memory()); }
  auto const of = [&](std::int64_t first) { return std::min(piece, size - first); };
  auto const fetch = [&](std::int64_t first) {
    if (first >= size) { return; }
    TENDRIL_CUDA_TRY(cudaMemcpyAsync(landing[static_cast<std::size_t>(first / piece % 2)].data(),
                                     counted.data() + first, static_cast<std::size_t>(of(first)) * sizeof(std::int64_t),
                                     cudaMemcpyDeviceToHost, exec_.stream));
  };
  fetch(0);
  for (std::int64_t first = 0; first < size; first += piece) {
    TENDRIL_CUDA_TRY(cudaStreamSynchronize(exec_.stream));
    fetch(first + piece);
    std::int64_t const* const piece_here = landing[static_cast<std::size_t>(first / piece % 2)].data();
    std::int64_t* const to = wanted.data() + first;
    for (std::int64_t i = 0; i < of(first); ++i) { to[i] += piece_here[i]; }
  }
}

std::int64_t vertex_counts::add_to(walk_counts const& wanted)
{
  device_guard const guard(exec_.device);
  add_to(wanted.visits, visits_);
  add_to(wanted.ends, ends_);
  std::int64_t steps = 0;
  copy_to_host(steps_.data(), &steps, sizeof steps, exec_);
  return steps;
}

}  // namespace tendril::gpu
