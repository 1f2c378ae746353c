// k-hop neighbourhoods as trees. The choice of neighbours: src/cpu/picks/neighbor_picks.hpp over the rules of src/core.
// Hops are done one after the other, roots in parallel. Within a hop a thread takes tiles of vertices through three
// stages - where their edges are, which are picked, read them - and prefetches for the next stage.

#include <tendril/sample.hpp>

#include <algorithm>
#include <vector>

#include <unistd.h>

#include <tendril/checked.hpp>

#include "base/expects.hpp"   // TENDRIL_EXPECTS
#include "base/parallel.hpp"  // parallel_ranges
#include "cpu/arguments.hpp"
#include "cpu/picks/block_bits.hpp"
#include "cpu/picks/copy_row.hpp"
#include "cpu/picks/neighbor_picks.hpp"
#include "plan/planner.hpp"
#include "samplers/trees/khop_checks.hpp"

namespace tendril {
namespace {

constexpr std::int64_t tile_slots = 1024;  // bench/khop, axis tile

void check(graph const& graph, khop_params const& params)
{
  cpu::check_in_host_memory(graph);
  samplers::check_khop(graph, params);
}

void check_fits(std::int64_t slots, std::int64_t bytes_a_slot, std::size_t hop)
{
  std::int64_t const memory = static_cast<std::int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
  if (slots > memory / bytes_a_slot) {
    throw memory_error(fmt::format("hop {}: {} slots take {} bytes, this machine has {}; sample fewer seeds a call",
                                   hop, slots, slots * bytes_a_slot, memory));
  }
}

/// The slots of one hop: which vertices they hold, and where each root's begin.
struct hop_slots {
  vertex_id const* vertices = nullptr;
  std::int64_t size = 0;
  std::int64_t a_root = 1;                    // slots a root where that is fixed
  std::vector<std::int64_t> root_begin = {};  // else [num_roots + 1]

  [[nodiscard]] std::int64_t begin_of(std::int64_t root) const
  {
    return root_begin.empty() ? root * a_root : root_begin[static_cast<std::size_t>(root)];
  }
};

/// What a thread needs to expand the slots of one hop with a fixed fan-out.
template <class View>
class hop_expander {
 public:
  hop_expander(View const& graph, cpu::pick_rule const& rule, rng_key key, std::uint32_t fanout)
      : graph_(graph),
        rule_(rule),
        key_(key),
        fanout_(fanout),
        alias_(rule.weighted && rule.replace && rule.tables->alias ? rule.tables->alias->data() : nullptr),
        draws_ahead_(!rule.weighted || alias_ != nullptr),
        tile_(std::max<std::int64_t>(1, tile_slots / fanout)),
        picker_(rule),
        root_(static_cast<std::size_t>(tile_)),
        slot_(static_cast<std::size_t>(tile_)),
        place_(static_cast<std::size_t>(tile_)),
        picks_(static_cast<std::size_t>(checked_product("picks of a tile", tile_, fanout)))
  {
  }

  /// Expands the slots of the roots [begin, end), tile by tile.
  void expand(hop_slots const& parents, std::int64_t begin, std::int64_t end, std::int64_t first_root, vertex_id* out,
              edge_id* out_edges)
  {
    std::int64_t root = begin;
    std::int64_t const last = parents.begin_of(end);
    for (std::int64_t slot = parents.begin_of(begin); slot < last; slot += tile_) {
      std::int64_t const count = std::min(tile_, last - slot);
      vertex_id const* const vertices = parents.vertices + slot;
      for (std::int64_t i = 0; i < count; ++i) {
        if (vertices[i] != no_vertex) { prefetch_row(vertices[i], out_edges != nullptr); }
        while (slot + i >= parents.begin_of(root + 1)) { ++root; }
        root_[static_cast<std::size_t>(i)] = static_cast<std::uint64_t>(first_root + root);
        slot_[static_cast<std::size_t>(i)] = static_cast<std::uint32_t>(slot + i - parents.begin_of(root));
      }
      if (draws_ahead_) { draw(count); }
      for (std::int64_t i = 0; i < count; ++i) { pick(vertices[i], static_cast<std::size_t>(i)); }
      if (alias_ != nullptr) {
        for (std::int64_t i = 0; i < count; ++i) { choose(vertices[i], static_cast<std::size_t>(i)); }
      }
      write(vertices, count, out + slot * fanout_, out_edges == nullptr ? nullptr : out_edges + slot * fanout_);
    }
  }

 private:
  void prefetch_row(vertex_id v, bool with_edges) const
  {
    graph_.prefetch_row(v);
    if constexpr (!View::targets_by_number) {
      if (rule_.weighted || with_edges) { graph_.prefetch_first_edge(v); }
    }
  }

  /// Blocks that a vertex draws: an alias pick takes a whole one, a uniform pick a half.
  [[nodiscard]] std::uint32_t blocks() const { return alias_ != nullptr ? fanout_ : (fanout_ + 1) / 2; }

  /// The bits of all slots of a tile: slot p of a root's tree draws blocks 0, 1, … of counter (root, p).
  void draw(std::int64_t count)
  {
    bits_.begin(key_, static_cast<std::size_t>(checked_product("bits of a tile", count, blocks(), 2)) / 2);
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) { bits_.add(root_[i], slot_[i], blocks()); }
    bits_.finish();
  }

  /// Those of one of them.
  [[nodiscard]] std::uint64_t const* bits_of(std::size_t i) const { return bits_.bits() + i * 2 * blocks(); }

  void pick(vertex_id parent, std::size_t i)
  {
    std::uint32_t* const picks = picks_.data() + i * fanout_;
    if (parent == no_vertex) {
      std::fill_n(picks, fanout_, cpu::empty_slot);
      return;
    }
    place_[i] = graph_.locate(parent);
    auto const row = graph_.row(parent, place_[i]);
    std::uint32_t const degree = row.degree();
    if (alias_ != nullptr && degree > 0) {
      cpu::neighbor_picker::propose_alias(alias_ + row.first_edge(), degree, fanout_, bits_of(i), picks);
      return;
    }
    if (draws_ahead_) {
      picker_.pick_uniform(degree, fanout_, bits_of(i), picks);
    } else {
      picker_.pick_weighted(parent, row, fanout_, {key_, root_[i], slot_[i]}, picks);
    }
    prefetch(row, picks);
  }

  /// The second half of an alias pick, when the buckets have arrived.
  void choose(vertex_id parent, std::size_t i)
  {
    std::uint32_t* const picks = picks_.data() + i * fanout_;
    if (picks[0] == cpu::empty_slot) { return; }
    auto const row = graph_.row(parent, place_[i]);
    cpu::neighbor_picker::decide_alias(alias_ + row.first_edge(), fanout_, bits_of(i), picks);
    prefetch(row, picks);
  }

  template <class Row>
  void prefetch(Row const& row, std::uint32_t const* picks) const
  {
    for (std::uint32_t j = 0; j < fanout_; ++j) {
      if (picks[j] != cpu::empty_slot) { row.prefetch(picks[j]); }
    }
  }

  void write(vertex_id const* parents, std::int64_t count, vertex_id* out, edge_id* out_edges)
  {
    for (std::int64_t i = 0; i < count; ++i) {
      std::uint32_t const* const picks = picks_.data() + i * fanout_;
      auto const row = graph_.row(parents[i], place_[static_cast<std::size_t>(i)]);  // of no vertex: nothing was picked
      bool const is_whole = picks[0] != cpu::empty_slot && read_whole(row);
      for (std::uint32_t j = 0; j < fanout_; ++j) {
        bool const empty = picks[j] == cpu::empty_slot;
        out[i * fanout_ + j] = empty ? no_vertex : is_whole ? whole_row_[picks[j]] : row.neighbor(picks[j]);
        if (out_edges != nullptr) { out_edges[i * fanout_ + j] = empty ? -1 : row.edge(picks[j]); }
      }
    }
  }

  /// Reads a compressed row whose picks are many for its length: in order a neighbour takes a fraction of the time.
  template <class Row>
  [[nodiscard]] bool read_whole(Row const& row)
  {
    if constexpr (View::targets_by_number) {
      return false;
    } else {
      constexpr std::uint32_t most_a_pick = 2;
      if (row.has_fixed_width() || row.degree() > most_a_pick * std::uint64_t{fanout_}) { return false; }
      whole_row_.resize(row.degree());
      row.copy_to(whole_row_.data());
      return true;
    }
  }

  View graph_;
  cpu::pick_rule rule_;
  rng_key key_;
  std::uint32_t fanout_;
  core::alias_bucket const* alias_;  // the graph's table, where picks are made from it
  bool draws_ahead_;
  std::int64_t tile_;
  cpu::neighbor_picker picker_;
  std::vector<vertex_id> whole_row_;         // the one that read_whole read last
  std::vector<std::uint64_t> root_;          // of each slot of the tile: its root's logical id,
  std::vector<std::uint32_t> slot_;          // its place in the root's tree,
  std::vector<typename View::place> place_;  // and where its vertex's edges are
  std::vector<std::uint32_t> picks_;
  cpu::block_bits bits_;
};

/// A hop that samples `fanout` of each vertex's neighbours.
tree_hop sample_hop(graph_view const& graph, hop_slots const& parents, std::int64_t num_roots, std::int64_t first_root,
                    std::uint32_t fanout, cpu::pick_rule const& rule, rng_key key, bool with_edges,
                    cpu_exec const& exec)
{
  tree_hop out;
  out.fanout = fanout;
  std::int64_t const slots = checked_product("slots of a hop", parents.size, fanout);
  out.vertices = buffer<vertex_id>(slots, *exec.memory);
  if (with_edges) { out.edges = buffer<edge_id>(slots, *exec.memory); }
  std::int64_t const slots_a_root = std::max<std::int64_t>(1, parents.size / std::max<std::int64_t>(1, num_roots));
  std::int64_t const grain = std::clamp<std::int64_t>(65536 / (slots_a_root * fanout), 1, 4096);
  graph.visit([&](auto const& g) {
    base::parallel_ranges(exec, num_roots, grain, [&](std::int64_t begin, std::int64_t end) {
      hop_expander expander(g, rule, key, fanout);
      expander.expand(parents, begin, end, first_root, out.vertices.data(), with_edges ? out.edges.data() : nullptr);
    });
  });
  return out;
}

/// A hop that takes all neighbours.
tree_hop all_neighbors(graph_view const& graph, hop_slots const& parents, std::size_t hop, bool with_edges,
                       cpu_exec const& exec)
{
  tree_hop out;
  out.fanout = -1;
  out.offsets = buffer<std::int64_t>(parents.size + 1, *exec.memory);
  std::int64_t total = 0;
  for (std::int64_t s = 0; s < parents.size; ++s) {
    out.offsets[s] = total;
    total += parents.vertices[s] == no_vertex ? 0 : graph.degree(parents.vertices[s]);
  }
  out.offsets[parents.size] = total;
  check_fits(total, with_edges ? 12 : 4, hop + 1);
  out.vertices = buffer<vertex_id>(total, *exec.memory);
  if (with_edges) { out.edges = buffer<edge_id>(total, *exec.memory); }
  graph.visit([&](auto const& g) {
    base::parallel_ranges(exec, parents.size, 256, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t s = begin; s < end; ++s) {
        if (out.offsets[s + 1] == out.offsets[s]) { continue; }
        cpu::copy_row(g.row(parents.vertices[s]), out.vertices.data() + out.offsets[s],
                      with_edges ? out.edges.data() + out.offsets[s] : nullptr);
      }
    });
  });
  return out;
}

/// Where each root's slots begin in a hop, given the hop before.
hop_slots slots_of(tree_hop const& hop, hop_slots const& parents, std::int64_t num_roots)
{
  hop_slots out{hop.vertices.data(), hop.vertices.size(), parents.a_root * std::max<std::int64_t>(hop.fanout, 1)};
  if (hop.fanout > 0 && parents.root_begin.empty()) { return out; }
  out.root_begin.resize(static_cast<std::size_t>(num_roots) + 1);
  for (std::int64_t r = 0; r <= num_roots; ++r) {
    std::int64_t const at = parents.begin_of(r);
    out.root_begin[static_cast<std::size_t>(r)] = hop.fanout > 0 ? at * hop.fanout : hop.offsets[at];
  }
  for (std::int64_t r = 0; r < num_roots; ++r) {  // a slot's place in its tree is a word of its counter
    TENDRIL_EXPECTS(out.begin_of(r + 1) - out.begin_of(r) <= 0xffffffffLL,
                    "fanouts: the tree of seed {} has more than 2^32 slots in one hop", r);
  }
  return out;
}

}  // namespace

khop_trees khop_sample(graph const& graph, std::span<vertex_id const> seeds, khop_params const& params,
                       cpu_exec const& exec, std::int64_t first_root, bool with_edges)
{
  check(graph, params);
  auto const num_roots = static_cast<std::int64_t>(seeds.size());
  samplers::check_first_root(first_root);
  cpu::check_vertices("seed", seeds, graph.view());
  khop_params const planned = plan::without_idle_weights(graph, params);
  auto const plan = plan::make_khop_plan(graph, planned, num_roots, exec);
  auto const tables = plan::make_pick_tables(graph, plan, exec);
  cpu::pick_rule const rule{planned.replace, planned.weighted, plan.rule, &tables};

  khop_trees out;
  out.num_roots = num_roots;
  hop_slots parents{seeds.data(), num_roots};
  for (std::size_t h = 0; h < params.fanouts.size(); ++h) {
    if (exec.on_progress) {
      exec.on_progress({"sampling", static_cast<std::int64_t>(h), static_cast<std::int64_t>(params.fanouts.size())});
    }
    std::int64_t const fanout = params.fanouts[h];
    if (fanout == -1) {
      out.hops.push_back(all_neighbors(graph.view(), parents, h, with_edges, exec));
    } else {
      TENDRIL_EXPECTS(parents.size <= (std::int64_t{1} << 62U) / fanout, "fanouts: too many slots at hop {}", h + 1);
      check_fits(parents.size * fanout, with_edges ? 12 : 4, h + 1);
      rng_key const key = core::khop_key(params.seed, h + 1);
      out.hops.push_back(sample_hop(graph.view(), parents, num_roots, first_root, static_cast<std::uint32_t>(fanout),
                                    rule, key, with_edges, exec));
    }
    parents = slots_of(out.hops.back(), parents, num_roots);
  }
  return out;
}

sampling_plan plan_khop(graph const& graph, khop_params const& params, std::int64_t num_roots, cpu_exec const& exec)
{
  check(graph, params);
  return plan::make_khop_plan(graph, plan::without_idle_weights(graph, params), num_roots, exec);
}

}  // namespace tendril
