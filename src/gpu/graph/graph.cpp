// A graph's arrays to a GPU and back.

#include <tendril/gpu.hpp>

#include <fmt/format.h>

#include <tendril/place.hpp>

#include "gpu/device/check.hpp"
#include "gpu/graph/array_copies.hpp"
#include "gpu/graph/soundness.hpp"

namespace tendril {
namespace {

using gpu::copied;

graph copied(graph const& input, int device, memory_resource& resource, gpu_exec const& exec)
{
  gpu::device_guard const guard(exec.device);
  auto const& from = input.arrays();
  graph_arrays to;
  // A graph made by graph() has no array at all; every other CSR has V + 1 offsets.
  buffer<edge_id> only_offset(1);
  only_offset[0] = 0;
  bool const without_arrays = input.form() == graph_form::csr && from.indptr.empty();
  to.indptr = copied(without_arrays ? shared_array(std::move(only_offset)) : from.indptr, resource, exec);
  to.indices = copied(from.indices, resource, exec);
  to.compressed = from.compressed;
  to.compressed.blocks = copied(from.compressed.blocks, resource, exec);
  to.compressed.wide = copied(from.compressed.wide, resource, exec);
  to.compressed.words = copied(from.compressed.words, resource, exec);
  to.weights = copied(from.weights, resource, exec);
  to.edge_labels = copied(from.edge_labels, resource, exec);
  to.node_types = copied(from.node_types, resource, exec);
  to.edge_ids = copied(from.edge_ids, resource, exec);
  to.narrow = copied(from.narrow, resource, exec);
  to.original_ids = copied(from.original_ids, resource, exec);
  to.edge_label_names = from.edge_label_names;
  to.node_type_names = from.node_type_names;
  to.symmetric = from.symmetric;
  to.metadata = from.metadata;
  to.device = device;
  to.source = from.source;
  TENDRIL_CUDA_TRY(cudaStreamSynchronize(exec.stream));
  return graph(std::move(to), input.content());
}

/// A copy on a GPU whose content is sound. What the host does not know yet the GPU checks: it reads faster than the copy
/// was made, and the host only looks for the message.
graph checked_copy(graph const& input, gpu_exec const& exec)
{
  graph copy = copied(input, exec.device, memory_of(exec), exec);
  if (copy.content() != graph_content::unchecked) { return copy; }
  gpu::device_guard const guard(exec.device);
  if (gpu::is_sound(copy.arrays(), exec)) { return graph(copy.arrays(), graph_content::sound); }
  input.check();
  throw format_error(fmt::format("{}{}the arrays changed while they were copied, expected them to stay as they are",
                                 copy.arrays().source, copy.arrays().source.empty() ? "" : ": "));
}

}  // namespace

graph to_gpu(graph const& input, gpu_exec const& exec)
{
  if (input.device() == exec.device) { return input; }
  if (input.device() >= 0) {
    throw argument_error(fmt::format("to_gpu: the graph is on GPU {}, expected it in host memory or on GPU {}",
                                     input.device(), exec.device));
  }
  return checked_copy(input, exec);
}

graph to_host(graph const& input, gpu_exec const& exec)
{
  if (input.device() < 0) { return input; }
  if (input.placed() != nullptr) { return input.placed()->host; }
  gpu_exec there = exec;
  there.device = input.device();
  return copied(input, -1, host_memory(), there);
}

}  // namespace tendril
