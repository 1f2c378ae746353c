// Layered label propagation. P. Boldi, M. Rosa, M. Santini, S. Vigna, "Layered label propagation: a multiresolution
// coordinate-free ordering for compressing social networks", WWW'11.
//
// A layer gives each vertex a label, at first its own id. In a round each vertex takes the label l that maximises
// k - gamma (s - k): k edges lead to vertices with l, of which there are s. Small gammas make few and large clusters. From
// fine layers to coarse ones each layer refines the order so far: its clusters come in the order of the vertices whose ids
// are their labels, and within a cluster vertices stay in the order that they have.
//
// The authors update labels at once, so that threads change the result. Here random draws cut the vertices of a round
// into classes; vertices of one class decide by the labels before it, and then take their labels together. Classes
// are small enough that neighbours seldom decide at the same time.

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "base/parallel.hpp"        // parallel_ranges
#include "build/orders.hpp"         // label_propagation_order
#include "build/sort_vertices.hpp"  // all_vertices, sort_stably
#include "build/undirected.hpp"     // visit_undirected
#include "core/draws.hpp"           // vertex_order_key, vertex_turn

namespace tendril::build {
namespace {

constexpr std::int64_t turns_a_range = 1024;
constexpr std::int64_t plain_range = std::int64_t{1} << 16U;
constexpr unsigned class_bits = 3;
constexpr std::uint32_t max_rounds = 8;
constexpr std::int64_t few = 1000;  // a layer ends when less than one vertex in so many changes its label

/// gamma = 2^-shift, or 0: fine layers first. The authors take each power down to 2^-10; every second one gives the same
/// bits an edge, to one in a hundred, in 0.6 of the time.
struct resolution {
  unsigned shift = 0;
  bool is_zero = false;
};
constexpr std::array<resolution, 7> layers{{{0}, {2}, {4}, {6}, {8}, {10}, {0, true}}};

/// How many edges of one vertex lead to each label: a table of one thread, empty between vertices.
class label_counts {
 public:
  /// Makes room for a vertex of `degree` edges and its own label.
  void reserve(std::int64_t degree)
  {
    std::uint64_t const size = std::bit_ceil(static_cast<std::uint64_t>(2 * degree + 2));
    if (size > slots_.size()) { slots_.assign(size, {}); }
    mask_ = size - 1;
  }

  void add(vertex_id label, std::uint32_t count)
  {
    // Neighbours with near ids tend to have one label.
    if (slots_[last_].label != label) { last_ = find(label); }
    slots_[last_].count += count;
  }

  /// Calls f(label, count) for each label, and forgets it.
  template <class F>
  void take(F&& f)
  {
    for (std::uint64_t const i : used_) {
      f(slots_[i].label, slots_[i].count);
      slots_[i] = {};
    }
    used_.clear();
  }

 private:
  struct slot {
    vertex_id label = no_vertex;
    std::uint32_t count = 0;
  };

  /// The slot of a label, which is made if there is none.
  std::uint64_t find(vertex_id label)
  {
    std::uint64_t i = (label * 0x9E3779B97F4A7C15ULL >> 32U) & mask_;
    while (slots_[i].label != label && slots_[i].label != no_vertex) { i = (i + 1) & mask_; }
    if (slots_[i].label == no_vertex) {
      slots_[i].label = label;
      used_.push_back(i);
    }
    return i;
  }

  std::vector<slot> slots_;
  std::vector<std::uint64_t> used_;
  std::uint64_t mask_ = 0;
  std::uint64_t last_ = 0;  // the slot of the last label
};

/// Where ties are broken: different for each vertex and round, the same for all that one vertex compares.
std::uint64_t tie_key(std::uint64_t turn, vertex_id label)
{
  std::uint64_t const mixed = (turn ^ label) * 0x9E3779B97F4A7C15ULL;
  return mixed ^ (mixed >> 32U);
}

template <class View>
class label_propagation {
 public:
  label_propagation(undirected_view<View> const& g, cpu_exec const& exec)
      : g_(g),
        exec_(exec),
        labels_(g.num_vertices(), *exec.memory),
        sizes_(g.num_vertices(), *exec.memory),
        next_(g.num_vertices(), *exec.memory),
        waiting_(g.num_vertices(), *exec.memory)
  {
  }

  /// The labels of a layer. `report` is called before each round.
  template <class Report>
  buffer<vertex_id> const& run(resolution const& gamma, rng_key key, Report&& report)
  {
    std::int64_t const size = g_.num_vertices();
    base::parallel_ranges(exec_, size, plain_range, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t v = begin; v < end; ++v) {
        labels_[v] = static_cast<vertex_id>(v);
        sizes_[v] = 1;
        waiting_[v] = 1;
      }
    });
    for (std::uint32_t round = 0; round < max_rounds; ++round) {
      report(round);
      auto turns = all_waiting();
      auto const class_of = [&](vertex_id v) { return core::vertex_turn(key, v, round).low() >> (64U - class_bits); };
      sort_stably(turns, class_bits, class_of, exec_);
      std::int64_t changed = 0;
      auto const all = std::span<vertex_id const>(turns.span());
      for (auto first = all.begin(); first != all.end();) {
        std::uint64_t const which = class_of(*first);
        auto const last = std::partition_point(first, all.end(), [&](vertex_id v) { return class_of(v) <= which; });
        changed += take_turn({first, last}, gamma, key, round);
        first = last;
      }
      if (changed * few < size) { break; }
    }
    return labels_;
  }

  /// [num_vertices], for the caller between two calls of `run`.
  [[nodiscard]] buffer<vertex_id>& scratch() { return next_; }

 private:
  /// The vertices whose neighbours have changed since their last turn, ascending.
  [[nodiscard]] buffer<vertex_id> all_waiting() const
  {
    std::int64_t const size = g_.num_vertices();
    std::vector<std::int64_t> begins(static_cast<std::size_t>((size + plain_range - 1) / plain_range) + 1, 0);
    base::parallel_ranges(exec_, size, plain_range, [&](std::int64_t begin, std::int64_t end) {
      begins[static_cast<std::size_t>(begin / plain_range) + 1] =
          std::count(waiting_.data() + begin, waiting_.data() + end, 1);
    });
    for (std::size_t r = 1; r < begins.size(); ++r) { begins[r] += begins[r - 1]; }
    buffer<vertex_id> out(begins.back(), *exec_.memory);
    base::parallel_ranges(exec_, size, plain_range, [&](std::int64_t begin, std::int64_t end) {
      std::int64_t at = begins[static_cast<std::size_t>(begin / plain_range)];
      for (std::int64_t v = begin; v < end; ++v) {
        if (waiting_[v] != 0) { out[at++] = static_cast<vertex_id>(v); }
      }
    });
    return out;
  }

  /// The vertices of one class decide, and then take their labels. Returns how many have another one.
  std::int64_t take_turn(std::span<vertex_id const> turns, resolution const& gamma, rng_key key, std::uint32_t round)
  {
    auto const* const v_of = turns.data();
    base::parallel_ranges(exec_, std::ssize(turns), turns_a_range, [&](std::int64_t begin, std::int64_t end) {
      label_counts counts;
      for (std::int64_t i = begin; i < end; ++i) {
        waiting_[v_of[i]] = 0;
        next_[i] = best_label(v_of[i], gamma, core::vertex_turn(key, v_of[i], round).high(), counts);
      }
    });
    std::atomic<std::int64_t> changed{0};
    base::parallel_ranges(exec_, std::ssize(turns), turns_a_range, [&](std::int64_t begin, std::int64_t end) {
      std::int64_t mine = 0;
      for (std::int64_t i = begin; i < end; ++i) {
        vertex_id const v = v_of[i];
        if (next_[i] == labels_[v]) { continue; }
        std::atomic_ref(sizes_[labels_[v]]).fetch_sub(1, std::memory_order_relaxed);
        std::atomic_ref(sizes_[next_[i]]).fetch_add(1, std::memory_order_relaxed);
        labels_[v] = next_[i];
        g_.for_each_end(v, [&](vertex_id x) { std::atomic_ref(waiting_[x]).store(1, std::memory_order_relaxed); });
        ++mine;
      }
      changed += mine;
    });
    return changed;
  }

  [[nodiscard]] vertex_id best_label(vertex_id v, resolution const& gamma, std::uint64_t turn,
                                     label_counts& counts) const
  {
    counts.reserve(g_.degree(v));
    vertex_id const own = labels_[v];
    counts.add(own, 0);
    g_.for_each_end(v, [&](vertex_id x) {
      if (x != v) { counts.add(labels_[x], 1); }
    });
    struct candidate {
      std::int64_t value;
      std::uint64_t tie;
      vertex_id label;
    };
    candidate best{std::numeric_limits<std::int64_t>::min(), 0, own};
    counts.take([&](vertex_id label, std::uint32_t k) {
      // k - gamma (s - k) times 2^shift, once v has this label too: its own label counts one vertex fewer without it.
      std::int64_t const others = std::int64_t{sizes_[label]} - (label == own ? 1 : 0);
      std::int64_t const edges = k;
      std::int64_t const value = gamma.is_zero ? edges : ((std::int64_t{1} << gamma.shift) + 1) * edges - (others + 1);
      if (value < best.value) { return; }
      candidate const one{value, tie_key(turn, label), label};
      if (value > best.value || std::pair(one.tie, one.label) < std::pair(best.tie, best.label)) { best = one; }
    });
    return best.label;
  }

  undirected_view<View> g_;
  cpu_exec const& exec_;
  buffer<vertex_id> labels_;
  buffer<vertex_id> sizes_;  // of each label
  buffer<vertex_id> next_;   // the labels that a class decides on, in the order of its vertices
  buffer<std::uint8_t> waiting_;
};

}  // namespace

buffer<vertex_id> label_propagation_order(graph const& g, std::uint64_t seed, cpu_exec const& exec)
{
  return visit_undirected(g, exec, [&](auto const& edges) {
    std::int64_t const size = edges.num_vertices();
    auto const bits = static_cast<unsigned>(std::bit_width(static_cast<std::uint64_t>(size)));
    label_propagation propagation(edges, exec);
    auto order = all_vertices(size, exec);
    auto ranks = all_vertices(size, exec);
    for (std::size_t layer = 0; layer < layers.size(); ++layer) {
      auto const& labels =
          propagation.run(layers[layer], core::vertex_order_key(seed, layer), [&](std::uint32_t round) {
            if (!exec.on_progress) { return; }
            exec.on_progress({"ordering", static_cast<std::int64_t>(layer * max_rounds + round),
                              static_cast<std::int64_t>(layers.size() * max_rounds)});
          });
      auto& keys = propagation.scratch();
      base::parallel_ranges(exec, size, plain_range, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t v = begin; v < end; ++v) { keys[v] = ranks[labels[v]]; }
      });
      sort_stably(
          order, bits, [&](vertex_id v) { return keys[v]; }, exec);
      base::parallel_ranges(exec, size, plain_range, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) { ranks[order[i]] = static_cast<vertex_id>(i); }
      });
    }
    return order;
  });
}

}  // namespace tendril::build
