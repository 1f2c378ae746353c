#include "cpu/trees/grow.hpp"

#include <utility>

#include <fmt/format.h>

#include <tendril/checked.hpp>

#include "base/expects.hpp"      // TENDRIL_EXPECTS
#include "base/memory_room.hpp"  // expect_memory
#include "base/parallel.hpp"     // num_threads

namespace tendril::cpu {
namespace {

std::int64_t bytes_a_slot(tree_job const& job) { return job.with_edges ? 12 : 4; }

/// Checks that the slots of the hops from `hop` on can be had, up to the next one that takes all neighbours, with what
/// threads work with.
void expect_memory_of_hops(tree_job const& job, std::size_t hop, std::int64_t parents)
{
  khop_params const& params = job.params;
  // Of a thread: a vertex's picks, and the random bits that are drawn ahead of them.
  std::int64_t const bytes_a_pick = params.weighted && !params.replace ? 4 : 12;
  auto const& fanouts = params.fanouts;
  std::int64_t slots = parents, all = 0, widest = 0;
  std::size_t last = hop;
  for (; last < fanouts.size() && fanouts[last] != -1; ++last) {
    slots = checked_product("slots of a hop", slots, fanouts[last]);
    all = checked_sum("slots of all hops", all, slots);
    widest = std::max<std::int64_t>(widest, fanouts[last]);
  }
  std::int64_t const threads = std::min<std::int64_t>(base::num_threads(job.exec), job.num_roots);
  std::int64_t const of_threads = slots == 0 ? 0 : checked_product("picks of a tile", threads, widest, bytes_a_pick);
  base::expect_memory(
      checked_sum("bytes of all hops", checked_product("bytes of all hops", all, bytes_a_slot(job)), of_threads),
      fmt::format("fanouts: {} slots in hops {} to {} (seeds in one call: {})", all, hop + 1, last, job.num_roots));
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

tree_hop tree_job::room_for(std::int64_t fanout, std::int64_t slots) const
{
  tree_hop out;
  out.fanout = fanout;
  out.vertices = buffer<vertex_id>(slots, *exec.memory);
  if (with_edges) { out.edges = buffer<edge_id>(slots, *exec.memory); }
  return out;
}

void expect_memory_of_all(tree_job const& job, std::size_t hop, std::int64_t total)
{
  base::expect_memory(checked_product("slots of a hop", total, bytes_a_slot(job)),
                      fmt::format("hop {}: {} slots in one call", hop + 1, total));
}

khop_trees grow_trees(std::span<vertex_id const> seeds, tree_job const& job, tree_source& source)
{
  khop_trees out;
  out.num_roots = job.num_roots;
  auto const& fanouts = job.params.fanouts;
  hop_slots parents{seeds.data(), job.num_roots};
  for (std::size_t h = 0; h < fanouts.size(); ++h) {
    if (job.exec.on_progress) {
      job.exec.on_progress({"sampling", static_cast<std::int64_t>(h), static_cast<std::int64_t>(fanouts.size())});
    }
    if (fanouts[h] == -1) {
      out.hops.push_back(source.take_all(parents, job, h));
    } else {
      if (h == 0 || fanouts[h - 1] == -1) { expect_memory_of_hops(job, h, parents.size); }
      out.hops.push_back(source.sample(parents, job, h, static_cast<std::uint32_t>(fanouts[h])));
    }
    parents = slots_of(out.hops.back(), parents, job.num_roots);
  }
  return out;
}

}  // namespace tendril::cpu
