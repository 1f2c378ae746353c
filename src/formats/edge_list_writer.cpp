// Writes edge lists that any tool reads, and that read_edge_list reads back as the same graph.

#include <algorithm>

#include <fmt/format.h>

#include "base/expects.hpp"  // TENDRIL_EXPECTS
#include "formats/edge_list.hpp"
#include "formats/readers.hpp"
#include "formats/text_writer.hpp"

namespace tendril::formats {

void write_edge_list(graph const& input, std::string const& path, cpu_exec const& exec)
{
  TENDRIL_EXPECTS(!input.has_node_types(), "{}: the graph has node types, which an edge list cannot hold", path);
  csr_arrays const g = input.csr();
  std::string_view stem = path;
  if (stem.ends_with(".gz")) { stem.remove_suffix(3); }
  bool const csv = stem.ends_with(".csv");
  char const between = csv ? ',' : stem.ends_with(".tsv") ? '\t' : ' ';

  std::string columns = "source target";
  if (g.weights != nullptr) { columns += " weight"; }
  if (!g.edge_labels.empty()) { columns += " label"; }

  // Readers of csv files expect the names first; only a last vertex without edges needs the comment above them.
  vertex_id largest = 0;
  for (std::int64_t v = 0; v < g.num_vertices; ++v) {
    auto const u = static_cast<vertex_id>(v);
    if (g.degree(u) > 0) { largest = std::max({largest, u, g.neighbor(u, g.degree(u) - 1)}); }
  }
  bool const all_seen = g.num_edges > 0 && largest + std::int64_t{1} == g.num_vertices;

  text_writer out(path);
  if (!csv || !all_seen) { out.text(fmt::format("{}{}, columns: {}\n", edge_list_comment, g.num_vertices, columns)); }
  if (csv) {
    for (char const c : columns) { out.letter(c == ' ' ? between : c); }
    out.letter('\n');
  }
  for (std::int64_t v = 0; v < g.num_vertices; ++v) {
    report_writing(exec, v, g.num_vertices);
    for (edge_id e = g.indptr[v]; e < g.indptr[v + 1]; ++e) {
      out.number(v);
      out.letter(between);
      out.number(g.indices[e]);
      if (g.weights != nullptr) {
        out.letter(between);
        out.number(g.weights[e]);
      }
      if (!g.edge_labels.empty()) {
        out.letter(between);
        out.number(g.edge_labels[e]);
      }
      out.letter('\n');
    }
  }
  out.commit();
}

}  // namespace tendril::formats
