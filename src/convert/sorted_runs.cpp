#include "convert/sorted_runs.hpp"

#include <algorithm>
#include <string>

namespace tendril::convert {
namespace {

/// The arcs of a run in memory: those of a graph whose vertices may be numbered anew.
class run_writer {
 public:
  run_writer(work_file& file, std::int64_t first_edge) : file_(file), first_edge_(first_edge) {}

  run_record write(graph_arrays const& arrays, arc_kinds const& kinds)
  {
    run_record out;
    std::int64_t const num_vertices = arrays.indptr.size() - 1;
    auto const has_row = [&](std::int64_t v) { return arrays.indptr[v] < arrays.indptr[v + 1]; };
    for (std::int64_t v = 0; v < num_vertices; ++v) { out.num_rows += has_row(v) ? 1 : 0; }
    out.num_arcs = arrays.indices.size();
    auto const original = [&](std::int64_t v) {
      return arrays.original_ids.empty() ? static_cast<vertex_id>(v) : arrays.original_ids[v];
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
  std::int64_t first_edge_;
};

vertex_id largest_of(std::vector<vertex_id> const& ids)
{
  vertex_id top = 0;
  for (vertex_id const id : ids) { top = std::max(top, id); }
  return top;
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
  for (bool more = true; more;) {
    std::int64_t const first_edge = source.position().edges;
    edge_batch batch;
    more = source.read(batch, most);
    if (batch.size() == 0) { break; }
    std::int64_t const num_ids = std::int64_t{std::max(largest_of(batch.sources), largest_of(batch.targets))} + 1;
    for (std::uint16_t const label : batch.labels) {
      so_far.largest_label = std::max<std::int64_t>(so_far.largest_label, label);
    }
    build_options build = source.build();
    build.num_vertices = -1;
    build.compact = num_ids > 2 * batch.size();  // for the memory alone: ids come back as they were
    label_view const labels{batch.labels.data(), batch.labels.empty() ? 0 : 2};
    coo_view const edges{batch.sources, batch.targets, batch.weights, labels};
    work_file file(space, "run-" + std::to_string(runs.size()));
    graph const built = build_graph(edges, build, quiet);
    batch = {};
    run_record run = run_writer(file, first_edge).write(built.arrays(), kinds);
    run.file = file.close();
    run.end = source.position();
    run.num_ids = so_far.num_ids = std::max(so_far.num_ids, num_ids);
    run.largest_label = so_far.largest_label;
    runs.push_back(std::move(run));
    space.save();
  }
  space.record.is_read = true;
  space.save();
}

}  // namespace tendril::convert
