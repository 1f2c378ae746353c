#include "dist/shard.hpp"

#include <utility>

#include "graph/derived_cache.hpp"
#include "plan/derived_tables.hpp"

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

std::vector<char> as_flags(std::vector<label_id> const& labels)
{
  std::vector<char> out;
  for (label_id const label : labels) {
    out.resize(label);
    out.push_back(1);
  }
  return out;
}

/// Gives a part's rows what planners would else work out from them alone, so that each rank chooses as one machine does.
void tell_of_whole(graph const& rows, partition_info const& whole)
{
  derived_cache& cache = rows.derived();
  if (whole.weights) {
    (void)cache.get(plan::statistics_table(), [&] {
      plan::weight_statistics out = plan::make_weight_statistics(rows.view(), {});
      out.expected_trials = whole.weights->expected_trials;
      out.mean_degree = whole.weights->mean_degree;
      out.most_trials = whole.weights->most_trials;
      return out;
    });
  }
  if (whole.bytes_per_edge_label > 0) {
    (void)cache.get(plan::labels_in_use_table(plan::grouping::by_edge_label),
                    [&] { return as_flags(whole.edge_labels_in_use); });
  }
  if (whole.bytes_per_node_type > 0) {
    (void)cache.get(plan::labels_in_use_table(plan::grouping::by_target_type),
                    [&] { return as_flags(whole.node_types_in_use); });
  }
}

}  // namespace

shard::shard(graph_part the_part)
    : part(std::move(the_part)), rows(rows_of(part)), owner(part.info.bounds), node_types(part.node_types.view())
{
  tell_of_whole(rows, part.info);
}

}  // namespace tendril::dist
