#include "gpu/batches/captured.hpp"

#include "gpu/device/check.hpp"

namespace tendril::gpu {
namespace {

constexpr std::size_t most_graphs = 64;  // of different shapes; a loader has two

}  // namespace

captured_batches::~captured_batches()
{
  drop();
  if (stream_ != nullptr) { (void)cudaStreamDestroy(stream_); }
}

void captured_batches::drop() noexcept
{
  for (auto const& [shape, graph] : graphs_) { (void)cudaGraphExecDestroy(graph); }
  graphs_.clear();
}

void captured_batches::launch(batch_run& run, batch_input const& input, std::uint64_t generation, gpu_exec const& exec)
{
  if (generation != generation_ || graphs_.size() >= most_graphs) { drop(); }
  generation_ = generation;
  std::vector<std::int64_t> shape;
  for (auto const& bound : seed_bounds(input, true)) { shape.push_back(bound.total); }
  shape.push_back(run.table().mask);
  auto found = graphs_.find(shape);
  if (found == graphs_.end()) { found = graphs_.emplace(shape, capture(run, exec)).first; }
  TENDRIL_CUDA_TRY(cudaGraphLaunch(found->second, exec.stream));
}

cudaGraphExec_t captured_batches::capture(batch_run& run, gpu_exec const& exec)
{
  if (stream_ == nullptr) { TENDRIL_CUDA_TRY(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking)); }
  cudaGraph_t graph = nullptr;
  // Relaxed: what other threads, or the launches' set-up, ask of CUDA meanwhile is no part of it.
  TENDRIL_CUDA_TRY(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeRelaxed));
  try {
    run.enqueue(gpu_exec(exec.device, stream_, exec.memory));
  } catch (...) {
    (void)cudaStreamEndCapture(stream_, &graph);
    if (graph != nullptr) { (void)cudaGraphDestroy(graph); }
    (void)cudaGetLastError();
    throw;
  }
  TENDRIL_CUDA_TRY(cudaStreamEndCapture(stream_, &graph));
  cudaGraphExec_t out = nullptr;
  cudaError_t const made = cudaGraphInstantiate(&out, graph, 0);
  (void)cudaGraphDestroy(graph);
  TENDRIL_CUDA_TRY(made);
  return out;
}

}  // namespace tendril::gpu
