#include "dist/shard.hpp"

#include <utility>

#include "plan/whole_graph.hpp"

namespace tendril::dist {
namespace {

template <class Label>
shared_array<Label> slice(label_array const& labels, std::int64_t first, std::int64_t size)
{
  auto const* const data = static_cast<Label const*>(labels.view().data);
  return {std::span(data + first, static_cast<std::size_t>(size)), labels.owner()};
}

/// The rows as a graph of their own, whose vertices have their types.
graph rows_of(graph_part const& part)
{
  graph_arrays arrays = part.rows;
  if (!part.node_types.empty()) {
    std::int64_t const first = part.first_vertex();
    if (part.node_types.bytes_per_label() == 1) {
      arrays.node_types = slice<std::uint8_t>(part.node_types, first, part.num_vertices());
    } else {
      arrays.node_types = slice<std::uint16_t>(part.node_types, first, part.num_vertices());
    }
  }
  arrays.original_ids = {};
  arrays.symmetric = false;
  return graph(std::move(arrays), graph_content::valid);
}

}  // namespace

shard::shard(graph_part the_part)
    : part(std::move(the_part)), rows(rows_of(part)), owner(part.info.bounds), node_types(part.node_types.view())
{
  plan::tell_of_whole(rows, part.info, [&] { return plan::make_weight_statistics(rows.view(), {}); });
}

}  // namespace tendril::dist
