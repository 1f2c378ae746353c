#include "convert/sorted_runs.hpp"

#include <algorithm>
#include <future>
#include <string>
#include <utility>

#include "base/thread_limit.hpp"  // aside

namespace tendril::convert {
namespace {

/// The arcs of a run in memory: those of a graph whose vertices may be numbered anew.
class run_writer {
 public:
  /// @param first_vertex  The id of vertex 0, where vertices have no ids of their own.
  run_writer(work_file& file, vertex_id first_vertex, std::int64_t first_edge)
      : file_(file), first_vertex_(first_vertex), first_edge_(first_edge)
  {
  }

  run_record write(graph_arrays const& arrays, arc_kinds const& kinds)
  {
    run_record out;
    std::int64_t const num_vertices = arrays.indptr.size() - 1;
    auto const has_row = [&](std::int64_t v) { return arrays.indptr[v] < arrays.indptr[v + 1]; };
    for (std::int64_t v = 0; v < num_vertices; ++v) { out.num_rows += has_row(v) ? 1 : 0; }
    out.num_arcs = arrays.indices.size();
    auto const original = [&](std::int64_t v) {
      return arrays.original_ids.empty() ? static_cast<vertex_id>(first_vertex_ + v) : arrays.original_ids[v];
    };
    // Large elements first, so that each is aligned.
    write_some<std::int64_t>(num_vertices, [&](std::int64_t v, auto&& put) {
      if (has_row(v)) { put(arrays.indptr[v + 1]); }
    });
    if (kinds.ids) {
      write_some<edge_id>(out.num_arcs, [&](std::int64_t i, auto&& put) { put(arrays.edge_ids[i] + first_edge_); });
    }
    write_some<vertex_id>(num_vertices, [&](std::int64_t v, auto&& put) {
      if (has_row(v)) { put(original(v)); }
    });
    if (arrays.original_ids.empty()) {
      file_.write(arrays.indices.span());
    } else {
      write_some<vertex_id>(out.num_arcs, [&](std::int64_t i, auto&& put) { put(original(arrays.indices[i])); });
    }
    file_.write(arrays.weights.span());
    if (kinds.labels) {
      label_view const labels = arrays.edge_labels.view();
      write_some<std::uint16_t>(out.num_arcs,
                                [&](std::int64_t i, auto&& put) { put(static_cast<std::uint16_t>(labels[i])); });
    }
    return out;
  }

 private:
  /// Writes what put(element) gets in f(i, put) for each i below `size`.
  template <class T, class F>
  void write_some(std::int64_t size, F&& f)
  {
    std::vector<T> pending;
    constexpr std::size_t most = std::size_t{1} << 14U;
    for (std::int64_t i = 0; i < size; ++i) {
      f(i, [&](T element) { pending.push_back(element); });
      if (pending.size() < most) { continue; }
      file_.write(std::span<T const>(pending));
      pending.clear();
    }
    file_.write(std::span<T const>(pending));
  }

  work_file& file_;
  vertex_id first_vertex_;
  std::int64_t first_edge_;
};

vertex_id largest_of(std::vector<vertex_id> const& ids)
{
  vertex_id top = 0;
  for (vertex_id const id : ids) { top = std::max(top, id); }
  return top;
}

/// What the options of building make of a batch, with the ids that vertices have in the input.
graph_arrays build_run(edge_batch const& batch, std::int64_t num_ids, build_options build, cpu_exec const& exec)
{
  build.num_vertices = -1;
  build.compact = num_ids > 2 * batch.size();  // for the memory alone: ids come back as they were
  label_view const labels{batch.labels.data(), batch.labels.empty() ? 0 : 2};
  return build_graph(coo_view{batch.sources, batch.targets, batch.weights, labels}, build, exec).arrays();
}

/// Whether the edges of a batch are arcs in order, whose rows take no more memory than edges do.
bool stay_as_they_are(edge_source const& source, edge_batch const& batch)
{
  build_options const& build = source.build();
  return source.in_order() && !kinds_of(source).any() && !build.reverse && !build.symmetrize &&
         !build.drop_self_loops && !build.drop_duplicates &&
         std::int64_t{batch.sources.back()} - batch.sources.front() <= 2 * batch.size();
}

/// The rows of sorted edges from the first source on.
graph_arrays rows_of(edge_batch const& batch)
{
  vertex_id const first = batch.sources.front();
  std::int64_t const num_vertices = std::int64_t{batch.sources.back()} - first + 1;
  buffer<edge_id> indptr(num_vertices + 1);
  std::fill(indptr.begin(), indptr.end(), 0);
  for (vertex_id const source : batch.sources) { ++indptr[std::int64_t{source} - first + 1]; }
  for (std::int64_t v = 0; v < num_vertices; ++v) { indptr[v + 1] += indptr[v]; }
  buffer<vertex_id> indices(batch.size());
  std::copy(batch.targets.begin(), batch.targets.end(), indices.begin());
  graph_arrays arrays;
  arrays.indptr = std::move(indptr);
  arrays.indices = std::move(indices);
  return arrays;
}

}  // namespace

arc_kinds kinds_of(edge_source const& source)
{
  return {source.columns().weights, source.columns().bytes_per_label > 0, source.build().keep_edge_ids};
}

std::int64_t edges_a_run(build_options const& build, edge_columns const& columns, std::int64_t memory_bytes)
{
  std::int64_t const carried = 4 * columns.weights + (columns.bytes_per_label > 0 ? 2 : 0);
  std::int64_t const arc = 4 + carried + 8 * build.keep_edge_ids;
  constexpr std::int64_t vertex = 12;  // an offset and an id, of one vertex an edge
  std::int64_t const edge = 8 + carried + (build.symmetrize ? 2 : 1) * arc + vertex;
  // build_graph takes 2.2 times input and result; the rest is for the blocks of text that are parsed.
  constexpr std::int64_t least = 1024;
  return std::max(least, memory_bytes * 5 / 8 * 5 / (11 * edge));
}

mapped_run::mapped_run(workspace const& space, run_record const& record, arc_kinds const& kinds)
    : file(formats::mapped_file::open(space.path_of(record.file.name)))
{
  std::byte const* at = file->bytes().data();
  auto const take = [&]<class T>(std::span<T const>& part, std::int64_t size) {
    part = {reinterpret_cast<T const*>(at), static_cast<std::size_t>(size)};
    at += part.size_bytes();
  };
  take(ends, record.num_rows);
  take(ids, kinds.ids ? record.num_arcs : 0);
  take(sources, record.num_rows);
  take(targets, record.num_arcs);
  take(weights, kinds.weights ? record.num_arcs : 0);
  take(labels, kinds.labels ? record.num_arcs : 0);
}

void write_runs(edge_source& source, workspace& space, std::int64_t memory_bytes, cpu_exec const& exec)
{
  auto& runs = space.record.runs;
  run_record so_far;
  if (!runs.empty()) {
    so_far = runs.back();
    source.skip_to(so_far.end);
  }
  arc_kinds const kinds = kinds_of(source);
  std::int64_t const most = edges_a_run(source.build(), source.columns(), memory_bytes);
  cpu_exec quiet = exec;
  quiet.on_progress = {};
  // While a run is written, by one thread, the next part of the input is read: both together take less than sorting does.
  std::future<run_record> writing;  // waits, if anything throws
  auto const finish_run = [&] {
    if (!writing.valid()) { return; }
    runs.push_back(writing.get());
    space.save();
  };
  for (bool more = true; more;) {
    std::int64_t const first_edge = source.position().edges;
    edge_batch batch;
    more = source.read(batch, most);
    if (batch.size() == 0) { break; }
    std::int64_t const num_ids = std::int64_t{std::max(largest_of(batch.sources), largest_of(batch.targets))} + 1;
    for (std::uint16_t const label : batch.labels) {
      so_far.largest_label = std::max<std::int64_t>(so_far.largest_label, label);
    }
    finish_run();
    bool const in_order = stay_as_they_are(source, batch);
    vertex_id const first_vertex = in_order ? batch.sources.front() : 0;
    graph_arrays arrays = in_order ? rows_of(batch) : build_run(batch, num_ids, source.build(), quiet);
    so_far.num_ids = std::max(so_far.num_ids, num_ids);
    so_far.end = source.position();
    writing = std::async(base::aside, [&space, kinds, first_vertex, first_edge, so_far, arrays = std::move(arrays),
                                       name = "run-" + std::to_string(runs.size())] {
      work_file file(space, name);
      run_record run = run_writer(file, first_vertex, first_edge).write(arrays, kinds);
      run.file = file.close();
      run.end = so_far.end;
      run.num_ids = so_far.num_ids;
      run.largest_label = so_far.largest_label;
      return run;
    });
  }
  finish_run();
  space.record.is_read = true;
  space.save();
}

}  // namespace tendril::convert
