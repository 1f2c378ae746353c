// The sampling applications that `tendril sample` has beside khop and minibatch: their options, and what becomes of them.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "parser_fwd.hpp"

#include <tendril/layers.hpp>  // propagation
#include <tendril/plan_application.hpp>
#include <tendril/walk_parts.hpp>  // walk_range

#include "common.hpp"
#include "gpu_graph.hpp"
#include "ranks.hpp"
#include "result_file.hpp"
#include "sample_place.hpp"

namespace tendril::cli {

struct sample_job;

/// Options that khop and minibatch don't have.
struct catalogue_options {
  std::optional<std::int64_t> layers, layer_size, max_size, max_steps, num_samples, clusters, clusters_per_sample,
      depth, num_neighbors, budget, roots, length, coefficients;
  std::optional<std::string> partition, normalization, executor;
  std::string clusters_file, importance_file, source_file, struct_name, gpu_memory;
  graph_memory graph_room;
  std::vector<std::string> params;
  std::optional<bool> normalize_rows;
  std::int64_t first_sample = 0;
  bool no_replace = false, unique = false, checked = false;

  /// @param with_walks  The verb has the options of walks too: --length and --roots are theirs.
  void add_to(CLI::App& verb, bool with_walks);

  /// @throws argument_error for a number that can't be, of those that the library doesn't check.
  void check() const;

  /// What --normalization says. @throws argument_error.
  [[nodiscard]] propagation matrix() const;

  /// What --executor says. @throws argument_error.
  [[nodiscard]] sampling_executor chosen_executor() const;

  /// Bytes that --gpu-memory leaves to the graph; 0 without it. @throws argument_error.
  [[nodiscard]] std::int64_t gpu_bytes() const;
};

/// What running a job took and made.
struct sample_counts {
  std::int64_t vertices = 0, edges = 0;
  double seconds = 0;           ///< Of sampling, copies from the GPU included.
  double write_seconds = 0;     ///< Of the file.
  std::int64_t sent_bytes = 0;  ///< By all ranks, to each other.
};

/// What would run: the executor of each step where an application is one of the general engine, else the tables.
struct catalogue_plan {
  std::vector<planned_step> steps;
  std::string tables = "none";
  std::int64_t table_bytes = 0;
  std::vector<std::string> reasons;
};

/// A job that is ready to run.
struct catalogue_job {
  std::int64_t num_samples = 0;
  std::string description;  ///< For people: "ladies, 5 layers of 64 …".
  json params;              ///< For programs, and for metadata of files.
  catalogue_plan plan;

  /// Makes what all places need, once, before everything else; it may take long.
  std::function<void()> ready = [] {};
  /// What ranks must agree on once `ready` has returned: the content of files that the job read, for example.
  std::function<std::vector<agreement>()> agreements = [] { return std::vector<agreement>(); };
  /// Puts the arrays that belong to no sample into the file of these samples of the job.
  std::function<void(result_file& file, walk_range samples)> begin = [](result_file&, walk_range) {};
  std::int64_t run_size = 1;  ///< Samples that are made at a time.
  /// Brings to a place what samples need there, before its first sample.
  std::function<void(sample_place const& place)> prepare = [](sample_place const&) {};
  /// Makes `count` samples from sample `first` of the job on at a place, into `part`. Places work at the same time.
  std::function<void(sample_place const& place, std::int64_t first, std::int64_t count, sample_part& part)> make;
};

/// Each checks the parameters of an application, without a graph. @throws argument_error.
void validate_layer(sample_job const& job);
void validate_custom(sample_job const& job);  // --app-source
void validate_fastgcn(sample_job const& job);
void validate_ladies(sample_job const& job);
void validate_mvs(sample_job const& job);
void validate_labor(sample_job const& job);
void validate_cluster(sample_job const& job);
void validate_shadow(sample_job const& job);
void validate_saint(sample_job const& job);  // saint-…

/// Each makes the jobs of an application, from valid parameters. `place` is the first of those that make the samples; it must
/// stay as long as the job is used.
/// @throws argument_error for what the graph can't serve; io_error, format_error for a file that the job needs.
[[nodiscard]] catalogue_job layer_job(sample_job const& job, sample_place const& place);
[[nodiscard]] catalogue_job custom_job(sample_job const& job, sample_place const& place);
[[nodiscard]] catalogue_job fastgcn_job(sample_job const& job, sample_place const& place);
[[nodiscard]] catalogue_job ladies_job(sample_job const& job, sample_place const& place);
[[nodiscard]] catalogue_job mvs_job(sample_job const& job, sample_place const& place);
[[nodiscard]] catalogue_job labor_job(sample_job const& job, sample_place const& place);
[[nodiscard]] catalogue_job cluster_job(sample_job const& job, sample_place const& place);
[[nodiscard]] catalogue_job shadow_job(sample_job const& job, sample_place const& place);
[[nodiscard]] catalogue_job saint_job(sample_job const& job, sample_place const& place);

/// Checks the parameters of the application that `job` names, without a graph. @throws argument_error.
void validate_catalogue(sample_job const& job);

/// The job that `job.app` names.
[[nodiscard]] catalogue_job job_of_catalogue(sample_job const& job, sample_place const& place);

/// The seeds of some samples of a job, each of which has as many, but for the last one of the job.
[[nodiscard]] std::span<vertex_id const> seeds_of(buffer<vertex_id> const& seeds, walk_range samples,
                                                  std::int64_t of_a_sample);

/// What ranks must agree on of seeds: those of a file.
[[nodiscard]] std::function<std::vector<agreement>()> agreements_on_seeds(
    sample_job const& job, std::shared_ptr<buffer<vertex_id> const> const& seeds);

/// Samples that fit a part of a file, where each takes so many bytes.
[[nodiscard]] std::int64_t samples_a_part(double bytes_each);

/// Slots that hold a vertex.
[[nodiscard]] std::int64_t count_vertices(buffer<vertex_id> const& vertices);

/// `tendril sample`, and what `tendril plan` says of it. Of ranks a call of all of them; the graph is in one piece.
/// @param own_files  Of ranks: each writes a file of its own samples.
void run_catalogue(sample_job const& job, graph_source const& source, common_options const& common,
                   std::string const& output, std::string const& dtype, bool own_files);
void plan_catalogue(sample_job const& job, graph const& g, graph_source const& source, common_options const& common,
                    cpu_exec const& exec);

}  // namespace tendril::cli
