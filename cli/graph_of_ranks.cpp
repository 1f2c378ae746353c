#include "graph_of_ranks.hpp"

#include <bit>
#include <cstdint>
#include <utility>

#include <fmt/format.h>

#include <tendril/error.hpp>

#include "content_hash.hpp"
#include "ranks.hpp"
#include "text.hpp"

namespace tendril::cli {
namespace {

// A graph of at most so many vertices and edges is compared as a whole. Of a larger one a hash takes so many lists, or all
// if there are no more, and so many edges of a longer list.
constexpr std::int64_t whole_size = std::int64_t{1} << 20, most_lists = 8192;
constexpr std::uint32_t most_edges_of_list = 1024;

/// The i-th number below `bound`, which is at most 2^32, of a fixed series that looks random (SplitMix64).
std::int64_t pick(std::uint64_t i, std::int64_t bound)
{
  std::uint64_t x = (i + 1) * 0x9E3779B97F4A7C15U;
  x = (x ^ x >> 30U) * 0xBF58476D1CE4E5B9U;
  x = (x ^ x >> 27U) * 0x94D049BB133111EBU;
  return static_cast<std::int64_t>(((x ^ x >> 31U) >> 32U) * static_cast<std::uint64_t>(bound) >> 32U);
}

edge_id_view edge_ids_of(graph_arrays const& arrays)
{
  narrow_edges const& narrow = arrays.narrow;
  if (narrow.ids.empty()) { return {arrays.edge_ids.data()}; }
  return {nullptr, narrow.ids.view(), narrow.least_id, narrow.ids_ascend};
}

/// Hashes a graph by its vertices, with every array that it has; its form makes no difference.
class graph_hash {
 public:
  explicit graph_hash(graph const& g)
      : graph_(g),
        view_(g.view()),
        ids_(edge_ids_of(g.arrays())),
        is_whole_(g.num_vertices() + g.num_edges() <= whole_size)
  {
    graph_arrays const& arrays = g.arrays();
    for (bool const has :
         {g.has_weights(), g.has_edge_labels(), g.has_edge_ids(), g.has_node_types(), !arrays.original_ids.empty()}) {
      hash_.mix(std::uint64_t{has});
    }
    for (auto const* const names : {&arrays.edge_label_names, &arrays.node_type_names}) {
      hash_.mix(names->size());
      for (std::string const& name : *names) { hash_.mix(name); }
    }
  }

  std::uint64_t value()
  {
    std::int64_t const num_vertices = graph_.num_vertices();
    bool const all = is_whole_ || num_vertices <= most_lists;
    view_.visit([&](auto const& view) {
      for (std::int64_t i = 0; i < (all ? num_vertices : most_lists); ++i) {
        mix_vertex(view, all ? i : pick(static_cast<std::uint64_t>(i), num_vertices));
      }
    });
    return hash_.value();
  }

 private:
  template <class View>
  void mix_vertex(View const& view, std::int64_t v)
  {
    graph_arrays const& arrays = graph_.arrays();
    if (graph_.has_node_types()) { hash_.mix(view_.node_types[v]); }
    if (!arrays.original_ids.empty()) { hash_.mix(arrays.original_ids[v]); }
    edge_id const first = view.first_edge(v);  // moves with every edge that is added before
    std::uint32_t const degree = view.degree(v);
    hash_.mix(static_cast<std::uint64_t>(first));
    hash_.mix(degree);
    bool const all = is_whole_ || degree <= most_edges_of_list;
    for (std::uint32_t k = 0; k < (all ? degree : most_edges_of_list); ++k) {
      std::uint64_t const at = (static_cast<std::uint64_t>(v) << 32U) + k;
      auto const i = all ? k : static_cast<std::uint32_t>(pick(at, degree));
      hash_.mix(view.neighbor(v, i));
      if (graph_.has_weights()) { hash_.mix(std::bit_cast<std::uint32_t>(view.weight(v, i))); }
      if (graph_.has_edge_labels()) { hash_.mix(view.label(v, i)); }
      if (graph_.has_edge_ids()) { hash_.mix(static_cast<std::uint64_t>(ids_[first + i])); }
    }
  }

  graph const& graph_;
  graph_view view_;
  edge_id_view ids_;
  bool is_whole_;
  content_hash hash_;
};

}  // namespace

std::string graph_of_ranks::digest() const
{
  if (part) { return part->info.digest; }
  return fmt::format("{} vertices, {} edges, symmetric {}, hash {:016x}", facts.num_vertices, facts.num_edges,
                     facts.symmetric, graph_hash(*whole).value());
}

graph_of_ranks read_for_ranks(graph_source const& source, std::string const& device, cpu_exec const& exec)
{
  transport* const ranks = job_ranks();
  if (ranks == nullptr || !is_partition(source.path)) {
    graph whole = source.read_for(device, exec);
    return {facts_of(whole, source.path), std::move(whole), std::nullopt};
  }
  source.expect_parts();
  partition_info const info = read_partition_info(source.path);
  if (info.num_parts() != ranks->size()) {
    throw argument_error(fmt::format("{}: {}, expected one a rank: mpirun started {}", source.path,
                                     counted(info.num_parts(), "part", "parts"), ranks->size()));
  }
  return {facts_of(info, source.path), std::nullopt, read_part(source.path, ranks->rank(), exec)};
}

}  // namespace tendril::cli
