// The options of `tendril sample`, which `tendril plan` understands too, and what they mean.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "parser_fwd.hpp"

#include <tendril/buffer.hpp>
#include <tendril/graph.hpp>
#include <tendril/minibatch.hpp>
#include <tendril/sample.hpp>

#include "catalogue.hpp"
#include "common.hpp"

namespace tendril::cli {

struct sample_job {
  std::string app = "khop";
  std::string fanouts = "25,10";
  std::string seeds_file;
  std::optional<std::int64_t> num_seeds;
  bool replace = false;
  bool edges = false;
  std::int64_t first_root = 0;
  // Mini-batches
  std::optional<std::int64_t> batch_size;
  std::int64_t first_batch = 0;
  bool disjoint = false;
  std::string subgraph = "directional";
  std::string frontier = "new";
  std::string choice = "independent";
  bool layer_dependency = false;
  std::optional<std::int64_t> batch_dependency;
  std::string device = "cpu";
  std::string memory;  ///< Of trees by regions of a mapped file.
  catalogue_options more;
  // These mean the same for walks; `tendril plan` registers them once.
  bool weighted = false;
  std::string rule = "auto", table_bytes;
  std::uint64_t seed = 0;

  /// @param with_walks  The verb has the options of walks too.
  void add_to(CLI::App& verb, bool with_walks = false);

  /// Whether `name` is an application of samples.
  [[nodiscard]] static bool is_app(std::string_view name);

  /// Whether the application comes as text.
  [[nodiscard]] bool from_source() const { return !more.source_file.empty(); }

  /// Whether it is one that catalogue.hpp runs.
  [[nodiscard]] bool is_of_catalogue() const { return from_source() || (app != "khop" && app != "minibatch"); }

  /// Checks that the options fit the application. @throws argument_error.
  void check() const;

  /// Checks the parameters of the application, without a graph. @throws argument_error.
  void validate() const;

  /// The parameters as the library takes them. @throws argument_error.
  [[nodiscard]] khop_params khop() const;
  [[nodiscard]] minibatch_params minibatch() const;

  /// What --executor says of mini-batches. @throws argument_error.
  [[nodiscard]] minibatch_executor minibatch_executor_choice() const;

  [[nodiscard]] std::vector<std::int64_t> fanout_list() const;

  /// Seeds of a batch, of minibatch and labor.
  [[nodiscard]] std::int64_t seeds_each() const;

  /// The vertices to grow samples from: those of the file, N different ones at random, or every vertex.
  [[nodiscard]] buffer<vertex_id> seeds(std::int64_t num_vertices, cpu_exec const& exec) const;

  /// What the lists of a graph are placed by, if it is placed: of the catalogue a guess.
  [[nodiscard]] placement_job visits() const;

  /// Bytes that --graph-memory leaves to the graph; 0 without it. @throws argument_error.
  [[nodiscard]] std::int64_t graph_bytes() const;

  /// Bytes that --memory leaves to the graph's pages and to trees; 0 without it. @throws argument_error.
  [[nodiscard]] std::int64_t host_bytes() const;

  /// For people: "khop 25,10, without replacement, uniform".
  [[nodiscard]] std::string describe() const;

  /// For programs and the metadata of files.
  [[nodiscard]] json params_json() const;
};

}  // namespace tendril::cli
