// Which random numbers every decision draws: the key, and the counter (item, step, draw) of its blocks. One place for all
// executors; docs/reproducibility.md explains it. A block has two halves of 64 bits, `low` and `high`.
//
//   decision                    key: domain, fold              item          step             blocks (draw)
//   walk: one choice            of the walk, 0                 walk          steps so far     0: low, and high where two
//                                                                                             numbers are needed
//   walk: uniform trial t       the same                       the same      the same         t: low proposes, high judges
//   walk: paired trial t        the same                       the same      the same         2t: low and high propose;
//                                                                                             2t + 1: low judges, high
//                                                                                             for the edge back
//   walk: inverse transform     the same                       the same      the same         n: low, after n trials
//   walk: trial k by sums       the same                       the same      the same         after n trials two each,
//                                                                                             as paired trials
//   walk: race                  the same                       the same      the same         from race_draws on (race.hpp)
//   walk: stop, restart         walk_end, 0                    walk          steps so far     0: low stop, high restart
//   walk, multi-dimensional     multidim_walk, 0               sample        steps so far     0: low root, high edge
//   tree: picks of a slot       khop, hop from 1               root          slot in its hop  see picks
//   batch: picks of a vertex    minibatch, batch number        vertex; tree  hop, edge type   see picks
//   picks: uniform pick j                                                                     j / 2, half j mod 2
//   picks: alias or its pick j                                                                j: low, and high in the bucket
//   picks: race                                                                               from 0 on (race.hpp)
//   layer: slot                 layer, layer from 1; method    sample        slot             round: low, high
//   LABOR: number of a vertex   labor, period of the batch     vertex; tree  hop, its type    0: low
//   LABOR: phase of a vertex    labor, 0                       the same      the same         1: low
//   HGSampling: a vertex        hgt, batch number              vertex        hop, its type    0: low
//   GraphSAINT: draw            saint, sampler                 sample        draw's number    0: low, high; walk step s:
//                                                                                             s / 2, half s mod 2
//   ShaDow: pick j of a vertex  shadow, hop from 1             sample        its position     j / 2, half j mod 2
//   clusters: order             cluster, 0; epoch + 1          vertex; it    0                0: low
//   negative link: end          negatives, batch number        link          0 from, 1 to     0; with times and weights also
//                                                                                             the group of weights
//   order: turn of a vertex     vertex_order, layer            vertex        round            0: low class, high ties
//
// Sampling applications: include/tendril/engine/applications/{step,random_stream}.hpp. Generators: src/generate.

#pragma once

#include <cstdint>

#include "core/random.hpp"

namespace tendril::core {

/// The blocks of one decision: those of counter (item, step) under a key. `Key` is rng_key or, where a kernel has that as an
/// argument, key_schedule, or a reference to it.
template <class Key = rng_key>
struct decision_draws {
  Key key;
  std::uint64_t item;
  std::uint32_t step;

  [[nodiscard]] TENDRIL_HD random_block block(std::uint32_t draw) const { return draw_block(key, item, step, draw); }
  /// The same, for what takes a function of blocks.
  [[nodiscard]] TENDRIL_HD random_block operator()(std::uint32_t draw) const { return block(draw); }

  /// Where picks take 64 bits each: those of pick i.
  [[nodiscard]] TENDRIL_HD std::uint64_t half(std::uint32_t i) const
  {
    random_block const both = block(i / 2);
    return i % 2 == 0 ? both.low() : both.high();
  }
};

// Walks -------------------------------------------------------------------------------------------------------------------

/// The choices of a walk's neighbours.
/// @param step  Steps taken so far.
template <class Key>
[[nodiscard]] TENDRIL_HD decision_draws<Key> walk_draws(Key const& key, std::uint64_t walk, std::int32_t step)
{
  return {key, walk, static_cast<std::uint32_t>(step)};
}

/// Trials that propose by `low` of their block and are judged by `high` of it.
struct uniform_trials {
  static constexpr std::uint32_t blocks = 1;  ///< Of a trial. Trial t begins with block `blocks` * t.

  /// @param high  Of the block that made the proposal, block `first`.
  template <class Draws>
  [[nodiscard]] static TENDRIL_HD std::uint64_t judgement(Draws const&, std::uint32_t /*first*/, std::uint64_t high)
  {
    return high;
  }
};

/// Trials that may need more: those that propose by an alias table, which takes a whole block, and those of node2vec where
/// the edge back is an alternative of its own. They are judged by `low` of the next block.
struct paired_trials {
  static constexpr std::uint32_t blocks = 2;

  /// The second block: `low` judges, `high` says whether the trial proposes the edge back as an alternative of its own.
  template <class Draws>
  [[nodiscard]] static TENDRIL_HD random_block second(Draws const& draws, std::uint32_t first)
  {
    return draws.block(first + 1);
  }
  template <class Draws>
  [[nodiscard]] static TENDRIL_HD std::uint64_t judgement(Draws const& draws, std::uint32_t first,
                                                          std::uint64_t /*high*/)
  {
    return second(draws, first).low();
  }
};

/// What a walk does before it chooses a neighbour.
enum class walk_turn : std::uint8_t { choose, stop, restart };

/// When walks stop or restart.
struct walk_ends {
  rng_key key;
  probability stop, restart;

  [[nodiscard]] static TENDRIL_HD walk_ends of(std::uint64_t seed, double stop_prob, double restart_prob)
  {
    return {make_key(seed, domain::walk_end), probability::of(stop_prob), probability::of(restart_prob)};
  }

  /// By the halves of the walk's block, for executors that draw many blocks at once.
  [[nodiscard]] TENDRIL_HD walk_turn turn(std::uint64_t low, std::uint64_t high) const
  {
    return stop.hit(low) ? walk_turn::stop : restart.hit(high) ? walk_turn::restart : walk_turn::choose;
  }
  [[nodiscard]] TENDRIL_HD walk_turn turn(std::uint64_t walk, std::int32_t step) const
  {
    random_block const block = walk_draws(key, walk, step).block(0);
    return turn(block.low(), block.high());
  }
};

TENDRIL_HD rng_key multidim_key(std::uint64_t seed) { return make_key(seed, domain::multidim_walk); }

// Trees and batches -------------------------------------------------------------------------------------------------------

/// Races among a vertex's edges, in trees and batches, begin here: such a vertex draws nothing else.
inline constexpr std::uint32_t pick_race_draws = 0;

/// @param hop  From 1.
TENDRIL_HD rng_key khop_key(std::uint64_t seed, std::uint64_t hop) { return make_key(seed, domain::khop, hop); }

/// The picks of a slot in a hop of a root's tree. @param key  khop_key, or a schedule of it that outlives the draws.
[[nodiscard]] TENDRIL_HD decision_draws<key_schedule const&> khop_draws(key_schedule const& key, std::uint64_t root,
                                                                        std::uint32_t slot)
{
  return {key, root, slot};
}
[[nodiscard]] TENDRIL_HD decision_draws<> khop_draws(rng_key key, std::uint64_t root, std::uint32_t slot)
{
  return {key, root, slot};
}

/// The counters of a mini-batch.
struct minibatch_draws {
  /// @param batch  Its number.
  [[nodiscard]] static TENDRIL_HD rng_key key(std::uint64_t seed, std::uint64_t batch)
  {
    return make_key(seed, domain::minibatch, batch);
  }

  /// The upper half of the items of a disjoint batch's tree; 0 is that of vertices that all seeds share.
  /// @param tree  Position of its seed.
  [[nodiscard]] static TENDRIL_HD std::uint32_t half_of(std::uint32_t tree) { return tree + 1; }
  /// The item of a vertex below such a half.
  [[nodiscard]] static TENDRIL_HD std::uint64_t item_below(vertex_id v, std::uint32_t half)
  {
    return std::uint64_t{half} << 32U | v;
  }

  /// The item of a vertex that all seeds share.
  [[nodiscard]] static TENDRIL_HD std::uint64_t item(vertex_id v) { return item_below(v, 0); }
  /// The item of a vertex in a disjoint batch. @param tree  Position of its seed.
  [[nodiscard]] static TENDRIL_HD std::uint64_t item(vertex_id v, std::uint32_t tree)
  {
    return item_below(v, half_of(tree));
  }

  /// @param hop  From 0. Hop and edge type are below 2^16.
  [[nodiscard]] static TENDRIL_HD std::uint32_t step(std::uint32_t hop, std::uint32_t edge_type)
  {
    return hop | edge_type << 16U;
  }
};

/// @param batch  Its number.
TENDRIL_HD rng_key hgt_key(std::uint64_t seed, std::uint64_t batch) { return make_key(seed, domain::hgt, batch); }

/// The number of a vertex in a hop of HGSampling. @param hop  From 0. Hop and type are below 2^16.
[[nodiscard]] TENDRIL_HD decision_draws<> hgt_draws(rng_key key, vertex_id v, std::uint32_t hop, std::uint32_t type)
{
  return {key, v, minibatch_draws::step(hop, type)};
}

// Layers ------------------------------------------------------------------------------------------------------------------

/// Tells the samplers of domain::layer apart. Part of the contract, as domains are.
enum class layer_method : std::uint32_t { fastgcn = 1, ladies = 2, mvs = 3 };

/// @param layer  From 1.
TENDRIL_HD rng_key layer_key(std::uint64_t seed, layer_method which, std::uint32_t layer)
{
  return make_key(seed, domain::layer, layer | (static_cast<std::uint64_t>(which) << 32U));
}

/// The block by which a slot of a layer draws in a round.
TENDRIL_HD random_block layer_block(rng_key key, std::uint64_t sample, std::uint32_t slot, std::uint32_t round)
{
  return draw_block(key, sample, slot, round);
}

/// @param period  The batch number, where batches are independent.
TENDRIL_HD rng_key labor_key(std::uint64_t seed, std::uint64_t period) { return make_key(seed, domain::labor, period); }

/// @param item  As in minibatch_draws. @param step  Likewise, of the vertex's own type.
[[nodiscard]] TENDRIL_HD decision_draws<> labor_draws(rng_key key, std::uint64_t item, std::uint32_t step)
{
  return {key, item, step};
}

// Subgraphs and links -----------------------------------------------------------------------------------------------------

/// The sampler is in the key.
enum class saint_kind : std::uint32_t { node = 1, edge = 2, walk = 3 };

TENDRIL_HD rng_key saint_key(std::uint64_t seed, saint_kind kind)
{
  return make_key(seed, domain::saint, static_cast<std::uint64_t>(kind));
}

/// Hops count from 1.
TENDRIL_HD rng_key shadow_key(std::uint64_t seed, std::uint32_t hop) { return make_key(seed, domain::shadow, hop); }

/// The key of the order in which vertices are cut into random clusters.
TENDRIL_HD rng_key clustering_key(std::uint64_t seed) { return make_key(seed, domain::cluster, 0); }

/// The key of the order of clusters in an epoch.
TENDRIL_HD rng_key epoch_key(std::uint64_t seed, std::uint64_t epoch)
{
  return make_key(seed, domain::cluster, epoch + 1);
}

/// What item `item` of a random order is sorted by.
TENDRIL_HD std::uint64_t order_bits(rng_key key, std::uint64_t item) { return draw_block(key, item, 0, 0).low(); }

/// The key of a layer of label propagation. Layers count from 0.
TENDRIL_HD rng_key vertex_order_key(std::uint64_t seed, std::uint64_t layer)
{
  return make_key(seed, domain::vertex_order, layer);
}

/// In which class of a round a vertex has its turn (low), and how it breaks ties between labels (high).
[[nodiscard]] TENDRIL_HD random_block vertex_turn(rng_key key, std::uint64_t vertex, std::uint32_t round)
{
  return draw_block(key, vertex, round, 0);
}

TENDRIL_HD rng_key negative_key(std::uint64_t seed, std::uint64_t batch)
{
  return make_key(seed, domain::negatives, batch);
}

/// @param end  0: where the link comes from, 1: where it leads to.
[[nodiscard]] TENDRIL_HD decision_draws<> negative_draws(rng_key key, std::uint64_t link, std::uint32_t end)
{
  return {key, link, end};
}

}  // namespace tendril::core
