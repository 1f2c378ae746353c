// What the verbs share: options that mean the same everywhere, opening a graph, and the summary at the end.

#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>
#include "parser_fwd.hpp"

#include <tendril/exec.hpp>
#include <tendril/gpu_set.hpp>
#include <tendril/graph.hpp>
#include <tendril/io.hpp>
#include <tendril/partition.hpp>
#include <tendril/plan.hpp>

#include "progress.hpp"

namespace tendril::cli {

using json = nlohmann::ordered_json;

/// --threads, --json, --quiet, --progress.
struct common_options {
  int threads = 0;
  bool json = false;
  bool quiet = false;
  bool progress = false;

  void add_to(CLI::App& verb, bool with_progress = true);

  /// Runs on the threads asked for and reports to `bar`. @throws argument_error for a negative number of threads.
  [[nodiscard]] cpu_exec exec(progress_bar& bar) const;

  /// Where a progress_bar is to draw.
  [[nodiscard]] progress_shown shown() const;

  /// How many threads that is.
  [[nodiscard]] int num_threads() const;
};

/// GRAPH, --from, --columns: a graph in any format that the library reads, or the folder of a cut one.
struct graph_source {
  std::string path;
  std::string format = "auto";
  std::string columns;

  void add_to(CLI::App& verb);

  /// @throws io_error, format_error, argument_error.
  [[nodiscard]] graph read(cpu_exec const& exec, build_options const& build = {}) const;

  /// Of the folder of a cut graph. @throws argument_error for --from and --columns, which are about files.
  void expect_parts() const;

  /// How to read it. @throws argument_error
  [[nodiscard]] read_options options(build_options const& build = {}) const;

  /// The same as `read`, for a job on `device`. For the CPU a graph that was only mapped is checked here, with the threads of
  /// `exec` and a progress bar; a GPU checks its copy.
  [[nodiscard]] graph read_for(std::string const& device, cpu_exec const& exec) const;
};

/// --symmetrize and the other steps of building, for convert and generate.
struct build_flags {
  build_options build;

  void add_to(CLI::App& verb);
};

/// What is said of a graph, which need not be in one place.
struct graph_facts {
  std::string path, name;  ///< The graph's own name, or the name of its file.
  std::int64_t num_vertices = 0, num_edges = 0, num_bytes = 0;
  bool symmetric = false, has_weights = false, has_edge_labels = false, has_node_types = false;
  std::vector<std::string> edge_label_names, node_type_names;
};
[[nodiscard]] graph_facts facts_of(graph const& g, std::string const& path);
[[nodiscard]] graph_facts facts_of(partition_info const& cut, std::string const& path);

/// "email-enron: 36,692 vertices, 367,662 edges, symmetric, weighted".
[[nodiscard]] std::string describe(graph_facts const& facts);
[[nodiscard]] inline std::string describe(graph const& g, std::string const& path)
{
  return describe(facts_of(g, path));
}

/// The same for programs: path, name, num_vertices, num_edges, symmetric, weighted, bytes.
[[nodiscard]] json describe_json(graph_facts const& facts);
[[nodiscard]] inline json describe_json(graph const& g, std::string const& path)
{
  return describe_json(facts_of(g, path));
}

/// The graph's own name, or the name of its file.
[[nodiscard]] inline std::string graph_name(graph const& g, std::string const& path) { return facts_of(g, path).name; }

[[nodiscard]] json plan_json(sampling_plan const& plan);

/// Bytes of a file on disk, or of all files in a folder; 0 if there is none.
[[nodiscard]] std::int64_t file_bytes(std::string const& path);

/// Adds --compress, which `form_of` reads. @param where  The neighbours are: "in a native OUT". @param rest  Ends the description.
void add_compress(CLI::App& verb, std::string& form, std::string_view where, std::string_view rest);

/// What --compress says. @throws argument_error
[[nodiscard]] graph_form form_of(std::string const& form);

/// The same for a graph that is written to `output`. @throws argument_error if the output can't hold it.
[[nodiscard]] graph_form parse_form(std::string const& form, std::string const& output, graph_format format);

/// What --device says: no GPU for cpu, else the GPUs of cuda (the first, of ranks in turn), cuda:N, cuda:N,M,… and cuda:all. @throws argument_error;
/// device_error for cuda:all on a machine without one.
[[nodiscard]] gpu_set parse_devices(std::string const& device);

/// The same for a verb that works on one GPU at most: nothing for cpu. @throws argument_error for several.
[[nodiscard]] std::optional<int> parse_device(std::string const& device);

/// For people: "NVIDIA H200", "2 x NVIDIA H200". Before anything that takes time. @throws device_error for a GPU that can't be
/// used.
[[nodiscard]] std::string describe_gpus(gpu_set const& gpus);

/// --table-bytes, of a verb that plans. @param of  The applications that it is for, as in "khop: ".
void add_table_bytes(CLI::App& verb, std::string& bytes, std::string_view of);

/// What --table-bytes says: nothing if it is empty. @throws argument_error.
[[nodiscard]] table_limit parse_table_bytes(std::string const& bytes);

/// Checks that an option that was given belongs to the application: "--p: --app is ppr, expected node2vec".
/// @throws argument_error.
void expect_app(bool given, std::string_view option, std::string_view needed, std::string const& app);

/// A source that doesn't compile: the message has lines of its own, the compiler's, and they are shown.
class source_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// One line, or the whole of a --json answer, on standard output.
void print(std::string const& line);
void print(json const& document);

/// How long a part of a run took.
struct part_time {
  std::string_view part;
  double seconds;
};

/// A line of the summary: "time    reading 40 ms, planning 14.2 s, walking 778 ms".
[[nodiscard]] std::string time_line(std::vector<part_time> const& parts);

/// Wall-clock seconds since it was made.
class stopwatch {
 public:
  [[nodiscard]] double seconds() const
  {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - started_).count();
  }

 private:
  std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
};

}  // namespace tendril::cli
