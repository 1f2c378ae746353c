// What khop and minibatch of `tendril sample` are made and written from, and what is told of them.

#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include <tendril/array_file.hpp>
#include <tendril/buffer.hpp>
#include <tendril/exec.hpp>
#include <tendril/gpu_array.hpp>
#include <tendril/graph.hpp>

#include "graph_of_ranks.hpp"
#include "progress.hpp"
#include "sample_job.hpp"
#include "sample_makers.hpp"

namespace tendril::cli {

struct outcome {
  std::int64_t edges = 0;       ///< Sampled, over all hops.
  double plan_seconds = 0;      ///< Before the first sample.
  double sample_seconds = 0;    ///< Of samples, the tables that the first ones build and copies from a GPU included.
  double write_seconds = 0;     ///< Of the file, in part while samples are made.
  std::string rule;             ///< Empty where there is no plan.
  std::int64_t read_bytes = 0;  ///< Of whole regions of the graph's file, with --memory.
  std::int64_t sent_bytes = 0;  ///< By this rank: questions, answers, and sizes for the file.
};

/// What a file of samples is written from. Where each rank writes its own, `seeds` and `job` are those of this rank.
struct request : sample_makers {
  graph_of_ranks const& on;
  std::vector<graph> const& copies;  ///< The same graph on each GPU that makes samples; none: on the CPU.
  sample_job const& job;
  std::span<vertex_id const> seeds;
  std::string const& output;
  element_type vertices;  ///< Type of vertex ids in the file.
  metadata const& about;

  [[nodiscard]] graph const& whole() const { return *on.whole; }

  [[nodiscard]] bool on_gpu() const { return !copies.empty(); }

  /// Where calls on a copy of the graph run.
  [[nodiscard]] gpu_exec exec(int place) const { return gpu_exec(copies[static_cast<std::size_t>(place)].device()); }
};

/// Seconds that places worked side by side: of the one that worked longest.
class place_seconds {
 public:
  explicit place_seconds(int num_places) : seconds_(static_cast<std::size_t>(num_places), 0) {}

  /// From the thread of the place.
  void add(int place, double seconds) { seconds_[static_cast<std::size_t>(place)] += seconds; }
  [[nodiscard]] double longest() const { return *std::max_element(seconds_.begin(), seconds_.end()); }

 private:
  std::vector<double> seconds_;
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

/// Trees into one file.
outcome sample_khop(request const& what, cpu_exec const& exec, progress_bar& bar);

/// Mini-batches into one file: all of them one after another; `*_offsets` tell where each begins.
outcome sample_minibatches(request const& what, cpu_exec const& exec, progress_bar& bar);

}  // namespace tendril::cli
