#include "dist/trees/asked_neighbors.hpp"

#include "core/draws.hpp"
#include "cpu/picks/copy_row.hpp"
#include "cpu/trees/hop_expander.hpp"

namespace tendril::dist {

std::vector<message> asked_neighbors::answer(std::span<message const> asked, message_pool& pool, cpu_exec const& exec)
{
  return sections_.make(asked, pool, exec,
                        [&](slots_question const& head, std::byte const* arrays, std::size_t, made_section& out) {
                          std::int64_t const fanout = params_.fanouts[head.hop];
                          if (fanout == -1) {
                            take_all(head, arrays, out);
                          } else {
                            sample(head, arrays, static_cast<std::uint32_t>(fanout), out);
                          }
                        });
}

/// The rows of a question's vertices in this rank's part.
std::vector<vertex_id> asked_neighbors::rows_of(slots_question const& asked, std::byte const* arrays) const
{
  auto const* const vertices = array_at<vertex_id>(arrays, 0);
  std::vector<vertex_id> out(vertices, vertices + asked.count);
  for (vertex_id& v : out) { v -= here_.first(); }
  return out;
}

void asked_neighbors::sample(slots_question const& asked, std::byte const* arrays, std::uint32_t fanout,
                             made_section& out) const
{
  slots_answer const head{.count = asked.count,
                          .has_counts = 0,
                          .has_edges = asked.with_edges,
                          .num_slots = std::int64_t{asked.count} * fanout};
  std::byte* const to = out.begin(head, head.bytes());
  auto const rows = rows_of(asked, arrays);
  edge_id* const edges = asked.with_edges != 0 ? array_at<edge_id>(to, head.edges()) : nullptr;
  here_.rows.view().visit([&](auto const& graph) {
    cpu::hop_expander expander(graph, rule_, core::khop_key(params_.seed, asked.hop + 1), fanout);
    expander.expand(rows, array_at<std::uint32_t>(arrays, asked.array_bytes()),
                    array_at<std::uint32_t>(arrays, 2 * asked.array_bytes()), asked.first_root,
                    array_at<vertex_id>(to, head.neighbors()), edges);
  });
  for (std::int64_t s = 0; edges != nullptr && s < head.num_slots; ++s) {
    if (edges[s] >= 0) { edges[s] += first_edge_; }
  }
}

void asked_neighbors::take_all(slots_question const& asked, std::byte const* arrays, made_section& out) const
{
  auto const rows = rows_of(asked, arrays);
  graph_view const view = here_.rows.view();
  slots_answer head{.count = asked.count, .has_counts = 1, .has_edges = asked.with_edges, .num_slots = 0};
  for (vertex_id const row : rows) { head.num_slots += view.degree(row); }
  std::byte* const to = out.begin(head, head.bytes());
  auto* const counts = array_at<std::uint32_t>(to, head.counts());
  auto* neighbors = array_at<vertex_id>(to, head.neighbors());
  edge_id* edges = asked.with_edges != 0 ? array_at<edge_id>(to, head.edges()) : nullptr;
  view.visit([&](auto const& graph) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      auto const row = graph.row(rows[i]);
      std::uint32_t const degree = row.degree();
      counts[i] = degree;
      cpu::copy_row(row, neighbors, edges);
      neighbors += degree;
      for (std::uint32_t k = 0; edges != nullptr && k < degree; ++k) { *edges++ += first_edge_; }
    }
  });
}

}  // namespace tendril::dist
