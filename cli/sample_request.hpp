// What khop and minibatch of `tendril sample` are made and written from, and what is told of them.

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <type_traits>

#include <tendril/array_file.hpp>
#include <tendril/buffer.hpp>
#include <tendril/exec.hpp>
#include <tendril/gpu_array.hpp>
#include <tendril/graph.hpp>

#include "progress.hpp"
#include "sample_job.hpp"

namespace tendril::cli {

struct outcome {
  std::int64_t edges = 0;       ///< Sampled, over all hops.
  double plan_seconds = 0;      ///< Before the first sample.
  double sample_seconds = 0;    ///< Of samples, the tables that the first ones build and copies from a GPU included.
  double write_seconds = 0;     ///< Of the file, in part while samples are made.
  std::string rule;             ///< Empty where there is no plan.
  std::int64_t read_bytes = 0;  ///< Of whole regions of the graph's file, with --memory.
};

using metadata = std::map<std::string, std::string>;

/// What a file of samples is written from.
struct request {
  graph const& g;
  std::optional<graph> const& on_gpu;  ///< The same graph where samples are made on a GPU.
  sample_job const& job;
  std::span<vertex_id const> seeds;
  std::string const& output;
  element_type vertices;  ///< Type of vertex ids in the file.
  metadata const& about;
};

/// A host copy of a buffer or a shared array in a GPU's memory.
template <class Array>
auto host_copy(Array const& from, gpu_exec const& exec)
{
  using element = std::remove_cv_t<std::remove_pointer_t<decltype(from.data())>>;
  buffer<element> out(from.size());
  if (!from.empty()) {
    copy_to_host(from.data(), out.data(), static_cast<std::size_t>(from.size()) * sizeof(element), exec);
  }
  return out;
}

/// Mini-batches into one file: all of them one after another; `*_offsets` tell where each begins.
outcome sample_minibatches(request const& what, cpu_exec const& exec, progress_bar& bar);

}  // namespace tendril::cli
