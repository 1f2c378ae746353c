#include "dist/shard.hpp"

#include <utility>

#include "dist/slices.hpp"
#include "plan/whole_graph.hpp"

namespace tendril::dist {
namespace {

/// The rows as a graph of their own, whose vertices have their types.
graph rows_of(graph_part const& part)
{
  graph_arrays arrays = part.rows;
  arrays.node_types = slice(part.node_types, part.first_vertex(), part.num_vertices());
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
