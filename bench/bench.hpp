// The benchmarks behind `tendril bench`. Each suite measures this machine's ceilings first, then its jobs, all of them
// in turn once a repeat, so that a machine that drifts drifts for everyone; figures are medians.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <tendril/exec.hpp>
#include <tendril/gpu_set.hpp>
#include <tendril/graph.hpp>
#include <tendril/transport.hpp>

namespace tendril::bench {

struct options {
  std::string suite = "ceilings";  ///< One of suites().
  /// rmat:SCALE[:EDGE_FACTOR] or a file; on a GPU and for compressed, forms and prefixes web:VERTICES[xEDGE_FACTOR][:FORM]; on a GPU also names of bench/gpu_graphs.hpp, and lists separated by commas.
  /// Empty: default_graph(suite, gpu).
  std::string graph = {};
  int repeats = 5;
  std::string only =
      {};  ///< Jobs, of mini-batches executors, whose name holds this, and ceilings. Of forms, compressed, and these
           ///< suites on a GPU.
  std::string gpu_share = "0,0.25,0.5,1";  ///< Suites placed and placed-walks: shares of the lists that lie on the GPU.
  std::vector<std::int64_t> hosts = {};    ///< Suite dist: numbers of hosts to plan for.
  double bandwidth = 12.5;                 ///< Of the plan: GB/s that a host sends.
  double latency = 20;                     ///< Of the plan: microseconds of a message.
  cpu_exec exec = {};
  std::optional<int> gpu = {};  ///< Ordinal of a GPU to measure; nothing: this machine's cores.
  gpu_set gpus = {};           ///< All that were named, of which `gpu` is the first. Suite dist measures them together.
  transport* ranks = nullptr;  ///< Suite dist: processes that mpirun started, of which the first reports; or null.
  std::string json_path = {};  ///< Where the result file goes; empty: nowhere.
  bool quiet = false;          ///< No table on standard output.
};

/// One line of a result file. `value` is the median of `repeats` runs; `ceiling` was taken in the same run.
struct row {
  std::string job, graph, params;
  double value = 0;
  std::string unit;
  std::string ceiling_name;
  double ceiling = 0, share = 0;
  int repeats = 0;
  double min = 0, max = 0;
};

/// The names of the suites: ceilings, walks, sample, scaling, store, stream, published, samplers, layers, applications,
/// subgraphs, minibatch, compressed, forms, prefixes, placed, policies, placed-walks, tables, features, dist, minibatch-picks.
[[nodiscard]] std::vector<std::string> suites();

/// What a suite measures unless it is told: R-MAT 22 on the CPU (dist: R-MAT 20), the graphs that its goals name on a GPU.
[[nodiscard]] std::string default_graph(std::string const& suite, bool on_gpu);

/// Runs a suite, prints its table and writes its result file.
/// @throws argument_error for an unknown suite or graph specification; what reading a graph throws.
std::vector<row> run(options const& options);

}  // namespace tendril::bench
