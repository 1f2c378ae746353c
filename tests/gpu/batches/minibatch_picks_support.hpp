#pragma once

// Picks for mini-batches on the GPU beside those of the CPU, slot by slot, on the documented draws.

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "core/temporal.hpp"
#include "cpu/picks/neighbor_picks.hpp"
#include "gpu/batches/expand.hpp"
#include "gpu/picks/lists.hpp"
#include "support/gpu_copies.hpp"
#include "support/gpu_forms.hpp"
#include "support/gpu_test.hpp"
#include "support/small_graphs.hpp"

namespace tendril::test {

inline constexpr std::uint32_t pick_step = 3 | (7U << 16U);
inline constexpr edge_id untouched = -99;

/// Times in [0, 50), ascending within each vertex, and a permutation of its edges.
struct order {
  std::vector<std::int64_t> times;
  std::vector<std::uint32_t> ordinal;

  explicit order(graph const& g) : times(static_cast<std::size_t>(g.num_edges())), ordinal(times.size())
  {
    std::mt19937_64 random(9);
    for (auto& t : times) { t = static_cast<std::int64_t>(random() % 50); }
    csr_arrays const view = g.csr();
    for (vertex_id v = 0; v < g.num_vertices(); ++v) {
      auto const begin = static_cast<std::ptrdiff_t>(view.first_edge(v));
      auto const end = begin + static_cast<std::ptrdiff_t>(view.degree(v));
      std::sort(times.begin() + begin, times.begin() + end);
      std::iota(ordinal.begin() + begin, ordinal.begin() + end, 0U);
      std::shuffle(ordinal.begin() + begin, ordinal.begin() + end, random);
    }
  }
};

/// Whom vertices are expanded for.
struct frontier {
  std::vector<vertex_id> vertices;
  std::vector<std::uint32_t> group_of;
  std::vector<gpu::batch_group> groups;
  std::int64_t bound = 0;  ///< At least as many as there are.

  [[nodiscard]] std::int64_t size() const { return static_cast<std::int64_t>(vertices.size()); }
};

/// Every vertex `copies` times and some that are none, shuffled, for `num_groups` batches or trees.
inline frontier make_frontier(graph const& g, int copies, std::uint32_t num_groups, std::int64_t beyond)
{
  frontier out;
  std::mt19937_64 random(static_cast<std::uint64_t>(copies));
  out.vertices = starts_everywhere(g, copies);
  for (int i = 0; i < 3; ++i) { out.vertices.push_back(no_vertex); }
  std::shuffle(out.vertices.begin(), out.vertices.end(), random);
  for (std::uint32_t b = 0; b < num_groups; ++b) {
    gpu::batch_group whom;
    whom.key = core::make_key(31, core::domain::minibatch, b / 3);
    whom.tree = b % 3 == 0 ? 0 : b;
    whom.time = static_cast<std::int64_t>(random() % 60) - 5;  // before all, in between, after all
    out.groups.push_back(whom);
  }
  for (std::size_t i = 0; i < out.vertices.size(); ++i) {
    out.group_of.push_back(static_cast<std::uint32_t>(random() % num_groups));
  }
  out.bound = out.size() + beyond;
  return out;
}

enum class pick_choice { uniform, uniform_replace, last, alias, race };

/// One vertex on the CPU: positions in the graph's edge arrays, -1 for none.
inline std::vector<edge_id> pick_on_cpu(csr_arrays const& g, order const* times, vertex_id v,
                                        gpu::batch_group const& whom, std::uint32_t k, pick_choice which)
{
  std::vector<edge_id> out(k, -1);
  if (v == no_vertex) { return out; }
  edge_id const first = g.first_edge(v);
  std::uint32_t const degree =
      times == nullptr ? g.degree(v) : core::edges_until(times->times.data() + first, g.degree(v), whom.time);
  std::vector<std::uint32_t> picks(k, cpu::empty_slot);
  std::uint64_t const item = v | (std::uint64_t{whom.tree} << 32U);
  bool const weighted = which == pick_choice::alias || which == pick_choice::race;
  bool const replace = which == pick_choice::alias || which == pick_choice::uniform_replace;
  cpu::neighbor_picker picker(
      {replace, weighted, which == pick_choice::alias ? sampling_rule::alias : sampling_rule::scan, nullptr});
  if (which == pick_choice::last) {
    std::uint32_t const count = std::min(k, degree);
    for (std::uint32_t j = 0; j < count; ++j) { picks[j] = degree - count + j; }
  } else if (weighted) {
    picker.pick_weighted(v, csr_view(g).row(v), k, {whom.key, item, pick_step}, picks.data());
  } else {
    std::vector<std::uint64_t> bits(k);
    for (std::uint32_t j = 0; j < k; ++j) { bits[j] = core::draw_bits(whom.key, item, pick_step, 0, j); }
    picker.pick_uniform(degree, k, bits.data(), picks.data());
  }
  for (std::uint32_t j = 0; j < k; ++j) {
    if (picks[j] == cpu::empty_slot) { continue; }
    out[j] = first + (times == nullptr ? picks[j] : times->ordinal[static_cast<std::size_t>(first + picks[j])]);
  }
  return out;
}

class picks_test : public gpu_test {
 protected:
  /// A frontier on the GPU, with room for its picks.
  struct expanded {
    buffer<vertex_id> vertices;
    buffer<std::uint32_t> group_of;
    buffer<gpu::batch_group> groups;
    buffer<std::int64_t> size, times;
    buffer<std::uint32_t> ordinal;
    buffer<edge_id> picked;
    gpu::expansion what;
  };

  /// Beyond the frontier's end lies garbage that no kernel may use.
  expanded put(graph const& there, order const* times, frontier const& f, std::uint32_t k, std::int64_t num_slots)
  {
    auto const padded = [&](auto list) {
      list.resize(static_cast<std::size_t>(f.bound), static_cast<std::uint32_t>(0x7fffffff));
      return on_gpu(list, exec);
    };
    expanded out{padded(f.vertices),
                 padded(f.group_of),
                 on_gpu(f.groups, exec),
                 on_gpu<std::int64_t>({f.size()}, exec),
                 on_gpu(times == nullptr ? std::vector<std::int64_t>() : times->times, exec),
                 on_gpu(times == nullptr ? std::vector<std::uint32_t>() : times->ordinal, exec),
                 on_gpu(std::vector<edge_id>(static_cast<std::size_t>(num_slots), untouched), exec),
                 {}};
    out.what.graph = there.view();
    out.what.times = times == nullptr ? nullptr : out.times.data();
    out.what.ordinal = times == nullptr ? nullptr : out.ordinal.data();
    out.what.num_vertices = out.size.data();
    out.what.most_vertices = f.bound;
    out.what.vertices = out.vertices.data();
    out.what.group_of = out.group_of.data();
    out.what.groups = out.groups.data();
    out.what.step = pick_step;
    out.what.fanout = k;
    out.what.picked = out.picked.data();
    return out;
  }

  using enqueue = std::function<void(gpu::expansion const&)>;

  /// Compares all slots, and that none beyond is written. `ways` are different ways to the same picks, `forms` the graph on
  /// the GPU.
  void compare(graph const& g, std::vector<graph> const& forms, order const* times, frontier const& f, std::uint32_t k,
               pick_choice which, std::vector<std::pair<std::string, enqueue>> const& ways)
  {
    std::map<std::pair<vertex_id, std::uint32_t>, std::vector<edge_id>> known;
    auto const expected = [&](std::size_t i) -> std::vector<edge_id> const& {
      auto const [at, is_new] = known.try_emplace({f.vertices[i], f.group_of[i]});
      if (is_new) { at->second = pick_on_cpu(g.csr(), times, f.vertices[i], f.groups[f.group_of[i]], k, which); }
      return at->second;
    };
    for (auto const& there : forms) {
      for (auto const& [name, way] : ways) {
        expanded const e = put(there, times, f, k, f.bound * k);
        way(e.what);
        synchronize(exec);
        auto const picked = on_host(e.picked);
        for (std::size_t i = 0; i < f.vertices.size(); ++i) {
          auto const& list = expected(i);
          edge_id const* const own = picked.data() + static_cast<std::int64_t>(i) * k;
          if (std::equal(list.begin(), list.end(), own)) { continue; }
          auto const slot = std::mismatch(list.begin(), list.end(), own).first - list.begin();
          ADD_FAILURE() << name << ", fan-out " << k << ", vertex " << f.vertices[i] << " at " << i << " of "
                        << f.size() << ", " << (f.vertices[i] == no_vertex ? 0 : g.csr().degree(f.vertices[i]))
                        << " edges, group " << f.group_of[i] << ", slot " << slot << ": " << own[slot] << ", expected "
                        << list[static_cast<std::size_t>(slot)];
          break;
        }
        EXPECT_TRUE(std::all_of(picked.data() + f.size() * k, picked.data() + picked.size(),
                                [](edge_id slot) { return slot == untouched; }))
            << name << ", fan-out " << k << ": writes beyond the frontier";
      }
    }
  }
};

}  // namespace tendril::test
