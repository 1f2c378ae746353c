// From a file to a native file in bounded memory: sorted runs of arcs, then rows, which are encoded range by range.

#include <tendril/convert.hpp>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <map>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>

#include <tendril/compress.hpp>  // to_string(graph_form)
#include <tendril/error.hpp>
#include <tendril/file.hpp>  // atomic_file

#include "base/expects.hpp"  // TENDRIL_EXPECTS
#include "base/memory_room.hpp"
#include "build/gather.hpp"  // gather, gather_labels
#include "convert/edge_source.hpp"
#include "convert/fit_edges.hpp"
#include "convert/merged_rows.hpp"
#include "convert/stored_rows.hpp"
#include "convert/workspace.hpp"
#include "convert/write_parts.hpp"
#include "formats/coo.hpp"
#include "formats/gzip.hpp"  // is_gzip
#include "formats/readers.hpp"
#include "formats/webgraph.hpp"
#include "graph/check.hpp"  // expect_valid_original_ids
#include "graph/symmetry.hpp"

namespace tendril {
namespace {

using convert::edge_source;
using convert::part_kinds;
using convert::workspace;
using formats::mapped_file;

bool is_coo(graph_format format)
{
  return format == graph_format::coo32 || format == graph_format::coo64 || format == graph_format::npy;
}

constexpr std::int64_t least_memory = std::int64_t{1} << 20U;

/// Size and time of a file, for telling that it changed.
std::string state_of(std::string const& path)
{
  struct stat info {};
  if (stat(path.c_str(), &info) != 0) { return "none"; }
  return fmt::format("{} bytes, {}.{:09}", info.st_size, info.st_mtim.tv_sec, info.st_mtim.tv_nsec);
}

/// What makes two conversions the same.
std::map<std::string, std::string> describe_job(std::string const& input, graph_format format, graph_form form,
                                                read_options const& read)
{
  auto const& build = read.build;
  return {
      {"input", std::filesystem::absolute(input).string()},
      {"state", state_of(input)},
      {"properties", format == graph_format::webgraph ? state_of(formats::webgraph_sibling(input, ".properties")) : ""},
      {"format", std::string(to_string(format))},
      {"columns", fmt::format("{}", fmt::join(read.columns, ","))},
      {"form", std::string(to_string(form))},
      {"num_vertices", std::to_string(build.num_vertices)},
      {"steps", fmt::format("reverse {} symmetrize {} no_self_loops {} dedup {} compact {} edge_ids {}", build.reverse,
                            build.symmetrize, build.drop_self_loops, build.drop_duplicates, build.compact,
                            build.keep_edge_ids)}};
}

/// One conversion.
class converter {
 public:
  converter(std::string const& input, std::string const& output, convert_options const& options, cpu_exec const& exec)
      : output_(output), options_(options), exec_(exec), file_(mapped_file::open(input))
  {
    auto& format = options_.read.format;
    if (format == graph_format::automatic) { format = detect_graph_format(input); }
    TENDRIL_EXPECTS(converts_in_bounded_memory(format),
                    "{}: {} files are read as a whole, expected an edge list, a Matrix Market, WebGraph, COO or native "
                    "file to convert in bounded memory",
                    input, to_string(format));
    bool const is_text = format == graph_format::text_edges || format == graph_format::matrix_market;
    TENDRIL_EXPECTS(options.read.columns.empty() || is_text,
                    "{}: columns are named, but the format is {}, expected edge-list or matrix-market", input,
                    to_string(format));
    TENDRIL_EXPECTS(output.ends_with(".safetensors"), "{}: expected a .safetensors file to convert in bounded memory",
                    output);
    TENDRIL_EXPECTS(options.memory_bytes >= least_memory, "memory: {} bytes, expected at least {}",
                    options.memory_bytes, least_memory);
    {
      atomic_file probe(output);
      probe.skip(1);  // a pipe can't hold parts that are written out of order
    }                 // before hours are spent
    // What a pass over mapped files brought into memory goes back when it reports its progress.
    careful_ = exec;
    careful_.on_progress = [this](progress const& report) {
      release_pages();
      if (exec_.on_progress) { exec_.on_progress(report); }
    };
    if (format == graph_format::safetensors) { open_stored(); }
    kinds_.form = options.form.value_or(is_stored_ && !rebuilds() ? stored_.form() : graph_form::csr);
  }

  convert_result run()
  {
    if (is_stored_ && !rebuilds() && kinds_.form == stored_.form()) {
      write(stored_);
      return {stored_.num_vertices(), stored_.num_edges(), 0, 0};
    }
    std::string const& input = file_->path();
    workspace space(output_, describe_job(input, options_.read.format, kinds_.form, options_.read), options_.restart);
    auto const resumed = static_cast<std::int64_t>(space.record.runs.size());
    try {
      write_all(space);
    } catch (format_error const&) {
      space.remove();
      throw;
    } catch (argument_error const&) {
      space.remove();
      throw;
    }
    convert_result const result{space.record.num_vertices, space.record.num_edges,
                                static_cast<std::int64_t>(space.record.runs.size()), resumed};
    space.remove();
    return result;
  }

 private:
  [[nodiscard]] bool rebuilds() const { return formats::changes_something(options_.read.build); }

  void release_pages() const
  {
    file_->release_pages();
    for (auto const& part : parts_) { part->release_pages(); }
  }

  /// A native file, checked as `write_graph` and `build_graph` would.
  void open_stored()
  {
    is_stored_ = true;
    stored_ = formats::read_safetensors(file_->path(), file_->bytes(), file_, options_.read, careful_);
    stored_.check(careful_);
    validation::expect_valid_original_ids(stored_.arrays(), careful_);
    auto const& build = options_.read.build;
    std::int64_t const vertices = stored_.num_vertices();
    TENDRIL_EXPECTS(build.num_vertices == -1 || build.num_vertices >= vertices,
                    "build_graph: num_vertices is {}, expected -1 or at least the graph's own number, {}",
                    build.num_vertices, vertices);
    TENDRIL_EXPECTS(build.num_vertices <= vertices || stored_.arrays().original_ids.empty(),
                    "build_graph: num_vertices is {}, expected -1 or {} for a graph that keeps original ids",
                    build.num_vertices, vertices);
    if (stored_.arrays().symmetric && !validation::has_all_reverses(stored_.view(), careful_)) {
      throw format_error(
          fmt::format("{}: it says that it is symmetric, but edges and reverses differ, expected each edge "
                      "with its reverse ('tendril info --validate' names one)",
                      file_->path()));
    }
  }

  [[nodiscard]] std::unique_ptr<edge_source> open_source()
  {
    auto const format = options_.read.format;
    if (is_stored_) { return convert::open_stored(file_, stored_, options_.read, exec_); }
    if (format == graph_format::webgraph) { return convert::open_webgraph(file_, options_.read, exec_); }
    if (is_coo(format)) { return convert::open_coo(file_, options_.read, exec_); }
    // A batch of blocks is a part of a run, whatever columns the text turns out to have.
    std::int64_t const edges = convert::edges_a_run(options_.read.build, {true, 2}, options_.memory_bytes);
    return convert::open_text(file_, format, options_.read, edges, exec_);
  }

  void write_all(workspace& space)
  {
    if (is_stored_ && !rebuilds()) {
      if (space.record.parts.empty()) {
        convert::stored_rows const rows(file_, stored_);
        convert::write_parts(rows, kinds_, space, options_.memory_bytes, exec_);
        space.save();
      }
      graph_arrays arrays = stored_.arrays();
      take_parts(arrays, space);
      convert::fit_edges(arrays, space, parts_, careful_);
      return write(graph(std::move(arrays), graph_content::valid));
    }
    auto const source = open_source();
    kinds_.columns = convert::kinds_of(*source);
    kinds_.bytes_per_label = source->columns().bytes_per_label;
    if (space.record.parts.empty() && !space.record.is_read) {
      convert::write_runs(*source, space, options_.memory_bytes, exec_);
    }
    bool const narrow = space.record.runs.empty() || space.record.runs.back().largest_label <= 0xff;
    if (!is_stored_ && kinds_.bytes_per_label > 0 && narrow) { kinds_.bytes_per_label = 1; }
    if (!is_stored_ && space.record.runs.empty()) {
      kinds_.columns.labels = false;
      kinds_.bytes_per_label = 0;
    }
    if (space.record.parts.empty()) { merge(*source, space); }

    graph_arrays arrays;
    if (is_stored_) {
      arrays.edge_label_names = stored_.arrays().edge_label_names;
      arrays.node_type_names = stored_.arrays().node_type_names;
      arrays.metadata = stored_.arrays().metadata;
    }
    take_parts(arrays, space);
    convert::fit_edges(arrays, space, parts_, careful_);
    if (is_stored_) { renumber_vertices(arrays); }
    auto const& build = source->build();
    arrays.symmetric = build.symmetrize || (is_stored_ && stored_.arrays().symmetric);
    // As in build_graph: the first of parallel edges is kept in each direction, and their weights may differ.
    bool const in_doubt = arrays.symmetric && !build.symmetrize && build.drop_duplicates && stored_.has_weights();
    if (in_doubt) {
      arrays.symmetric = validation::has_all_reverses(graph(arrays, graph_content::sound).view(), careful_);
    }
    write(graph(std::move(arrays), graph_content::valid));
  }

  void merge(edge_source const& source, workspace& space)
  {
    auto const& runs = space.record.runs;
    std::int64_t const num_ids = runs.empty() ? 0 : runs.back().num_ids;
    convert::merged_rows const rows(space, kinds_.columns, source.build(), num_ids, options_.memory_bytes, exec_);
    convert::write_parts(rows, kinds_, space, options_.memory_bytes, exec_);
    if (rows.ids()) { convert::write_original_ids(rows.ids()->ids().span(), space); }
    space.save();
    for (auto const& run : runs) { space.remove_file(run.file.name); }
  }

  /// The arrays that were written in place of those of the input.
  void take_parts(graph_arrays& arrays, workspace const& space)
  {
    graph_arrays parts = convert::map_parts(space, kinds_, parts_);
    arrays.indptr = std::move(parts.indptr);
    arrays.indices = std::move(parts.indices);
    arrays.compressed = std::move(parts.compressed);
    arrays.source = {};
    if (!parts.weights.empty()) { arrays.weights = std::move(parts.weights); }
    if (!parts.edge_labels.empty()) { arrays.edge_labels = std::move(parts.edge_labels); }
    if (!parts.edge_ids.empty()) { arrays.edge_ids = std::move(parts.edge_ids); }
    if (!parts.original_ids.empty()) { arrays.original_ids = std::move(parts.original_ids); }
  }

  /// What the vertices of a stored graph carry follows them.
  void renumber_vertices(graph_arrays& arrays) const
  {
    auto const& from = stored_.arrays();
    auto const kept = arrays.original_ids.span();
    std::int64_t const built =
        arrays.compressed.words.empty() ? arrays.indptr.size() - 1 : arrays.compressed.num_vertices;
    arrays.node_types = build::gather_labels(from.node_types, kept, built, exec_);
    if (from.original_ids.empty()) { return; }
    arrays.original_ids =
        kept.empty()
            ? from.original_ids
            : shared_array(build::gather(from.original_ids.data(), stored_.num_vertices(), kept, built, exec_));
  }

  void write(graph const& result) const
  {
    write_options options;
    options.format = graph_format::safetensors;
    if (result.content() != graph_content::valid) {
      graph_arrays arrays = result.arrays();  // checked above
      return write_graph(graph(std::move(arrays), graph_content::valid), output_, options, careful_);
    }
    write_graph(result, output_, options, careful_);
  }

  std::string output_;
  convert_options options_;
  cpu_exec const& exec_;
  cpu_exec careful_;
  std::shared_ptr<mapped_file const> file_;
  std::vector<std::shared_ptr<mapped_file const>> parts_;
  bool is_stored_ = false;
  graph stored_;
  part_kinds kinds_;
};

}  // namespace

bool converts_in_bounded_memory(graph_format format) noexcept
{
  return format == graph_format::text_edges || format == graph_format::matrix_market ||
         format == graph_format::webgraph || is_coo(format) || format == graph_format::safetensors;
}

std::int64_t available_memory() { return std::min(base::read_memory_room().free, base::address_space_left()); }

std::int64_t estimate_graph_memory(std::string const& input, read_options const& options)
{
  auto const file = mapped_file::open(input);
  auto const format = options.format == graph_format::automatic ? detect_graph_format(input) : options.format;
  auto const size = static_cast<std::int64_t>(file->bytes().size());
  bool const rebuilds = formats::changes_something(options.build);
  std::int64_t const arcs_an_edge = options.build.symmetrize ? 2 : 1;
  // build_graph takes 2.2 times the edges and the result.
  auto const building = [&](std::int64_t edges) { return edges * 11 / 5 * (8 + 6 * arcs_an_edge); };
  constexpr std::int64_t bytes_a_line = 12;
  if (format == graph_format::webgraph) {
    std::string const path = formats::webgraph_sibling(input, ".properties");
    auto const properties = mapped_file::open(path);
    auto const text = properties->bytes();
    auto const parsed =
        formats::parse_webgraph_properties(path, {reinterpret_cast<char const*>(text.data()), text.size()});
    std::int64_t const arcs = std::min(parsed.num_arcs, std::int64_t{1} << 48U);
    return 16 * parsed.num_vertices + (rebuilds ? 4 * arcs + building(arcs) : 8 * arcs);
  }
  if (is_coo(format)) { return building(formats::coo_edges(input, file->bytes(), format, options.build).num_edges()); }
  if (format == graph_format::safetensors) { return rebuilds ? building(size / 4) : size; }
  std::int64_t const inflated = formats::is_gzip(file->bytes()) ? 4 * size : size;
  return building(inflated / bytes_a_line);
}

convert_result convert_graph(std::string const& input, std::string const& output, convert_options const& options,
                             cpu_exec const& exec)
{
  try {
    return converter(input, output, options, exec).run();
  } catch (std::bad_alloc const&) {
    throw memory_error(fmt::format("{}: out of memory while converting", input));
  }
}

}  // namespace tendril
