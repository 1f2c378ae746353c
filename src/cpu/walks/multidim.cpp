// Multi-dimensional random walks. The rule: src/core/multidim.hpp. A thread takes a few samples through their steps
// together, so that the two gathers of a step - the vertex reached, and where its edges are - overlap.

#include <tendril/multidim.hpp>

#include <algorithm>
#include <vector>

#include <tendril/checked.hpp>

#include "base/parallel.hpp"  // num_threads
#include "core/multidim.hpp"
#include "cpu/arguments.hpp"
#include "cpu/picks/philox_lanes.hpp"
#include "cpu/walks/source.hpp"
#include "samplers/walks/multidim_checks.hpp"

namespace tendril {
namespace {

// On R-MAT scale 20 a core makes 52, 72 and 78 M steps/s with 32, 64 and 128 samples of one root, and 31, 53 and 52 with
// samples of 1,000 roots, although 24 bytes a root then leave the nearest caches.
constexpr std::int64_t most_samples_at_once = 64;
constexpr std::int64_t most_roots_at_once = 1 << 16;
constexpr std::int64_t roots_ahead = 16;  // prefetched while a set is filled

/// Roots and where their edges are, so that a chosen one costs no gather from the graph.
template <class View>
struct located_roots {
  View graph;
  core::multidim_place<View>* roots;

  [[nodiscard]] core::multidim_place<View> at(std::uint32_t slot) const { return roots[slot]; }
  [[nodiscard]] core::multidim_place<View> put(std::uint32_t slot, vertex_id v) const
  {
    return roots[slot] = {graph.locate(v)};
  }
};

/// Samples that a thread takes at once: a few groups for each thread, where there are enough samples.
std::int64_t group_width(std::int64_t num_walks, std::int64_t num_roots, cpu_exec const& exec)
{
  std::int64_t const fair = num_walks / (std::int64_t{4} * base::num_threads(exec));
  return std::clamp<std::int64_t>(std::min(most_roots_at_once / num_roots, fair), 1, most_samples_at_once);
}

/// One thread's samples in progress.
template <bool by_degree, class View>
class sample_group {
 public:
  sample_group(View const& graph, std::span<vertex_id const> roots, multidim_params const& params,
               std::int64_t first_walk, multidim_walks& out, std::int64_t width)
      : graph_(graph),
        given_(roots),
        key_(core::multidim_key(params.seed)),
        first_walk_(first_walk),
        out_(out),
        roots_(checked_product("roots of samples", width, out.num_roots)),
        sums_(by_degree ? roots_.size() : 0)
  {
    samples_.reserve(static_cast<std::size_t>(width));
  }

  [[nodiscard]] bool empty() const { return samples_.empty(); }
  [[nodiscard]] std::int64_t size() const { return static_cast<std::int64_t>(samples_.size()); }

  /// Takes sample `index` in, at its first step.
  void add(std::int64_t index)
  {
    std::int64_t const m = out_.num_roots;
    std::int64_t const place = size() * m;
    vertex_id const* const given = given_.data() + index * m;
    frontier_view frontier({graph_, roots_.data() + place}, by_degree ? sums_.data() + place : nullptr,
                           static_cast<std::uint32_t>(m));
    for (std::int64_t j = 0; j < m; ++j) {
      if (j + roots_ahead < m) { graph_.prefetch_row(given[j + roots_ahead]); }
      frontier.place(static_cast<std::uint32_t>(j), given[j]);
    }
    frontier.start();
    vertex_id* const row = out_.vertices.data() + index * (m + out_.length);
    std::copy_n(given, m, row);
    samples_.push_back({frontier, {}, index, row + m, out_.slots.data() + index * out_.length});
  }

  /// Walks all samples to their ends; then the group is empty.
  void run()
  {
    for (std::int32_t step = 0; step < out_.length && !empty(); ++step) {
      draw(step);
      choose(step);
      for (auto& s : samples_) {
        s.reached[step] = s.pick.edge.row(graph_).neighbor(s.pick.edge.i);
        graph_.prefetch_row(s.reached[step]);
      }
      for (auto& s : samples_) {
        s.frontier.replace(s.pick, s.reached[step]);
        s.slots[step] = static_cast<std::int32_t>(s.pick.slot);
      }
    }
    for (auto const& s : samples_) { finish(s, static_cast<std::int32_t>(out_.length)); }
    samples_.clear();
  }

 private:
  using frontier_view = core::multidim_frontier<located_roots<View>, std::uint64_t*, by_degree>;

  struct sample {
    frontier_view frontier;
    typename frontier_view::pick_type pick;
    std::int64_t index;
    vertex_id* reached;   // [length]: the row behind its roots
    std::int32_t* slots;  // [length]
  };

  void draw(std::int32_t step)
  {
    for (std::size_t i = 0; i < samples_.size(); ++i) {
      lanes_.item[i] = static_cast<std::uint64_t>(first_walk_ + samples_[i].index);
      lanes_.step[i] = static_cast<std::uint32_t>(step);
      lanes_.draw[i] = 0;
    }
    cpu::philox_lanes(lanes_, 0, static_cast<int>(samples_.size()), key_);
  }

  /// Each sample's root and edge; samples that have none leave the group.
  void choose(std::int32_t step)
  {
    std::size_t going_on = 0;
    for (std::size_t i = 0; i < samples_.size(); ++i) {
      auto& s = samples_[i];
      s.pick = s.frontier.choose(lanes_.low[i], lanes_.high[i]);
      if (s.pick.degree == 0) {
        finish(s, step);
      } else {
        s.pick.edge.row(graph_).prefetch(s.pick.edge.i);
        samples_[going_on++] = s;
      }
    }
    samples_.resize(going_on);
  }

  void finish(sample const& s, std::int32_t steps)
  {
    std::fill(s.reached + steps, s.reached + out_.length, no_vertex);
    std::fill(s.slots + steps, s.slots + out_.length, -1);
    out_.lengths[s.index] = steps;
  }

  View graph_;
  std::span<vertex_id const> given_;
  rng_key key_;
  std::int64_t first_walk_;
  multidim_walks& out_;
  buffer<core::multidim_place<View>> roots_;  // [width, num_roots]
  buffer<std::uint64_t> sums_;                // the same, if by_degree
  std::vector<sample> samples_;
  cpu::draw_lanes lanes_;
};

template <bool by_degree, class View>
void walk(View const& graph, std::span<vertex_id const> roots, multidim_params const& params, std::int64_t first_walk,
          multidim_walks& out, cpu_exec const& exec)
{
  std::int64_t const width = group_width(out.num_walks, out.num_roots, exec);
  cpu::run_walks(
      out.num_walks, exec,
      [&](cpu::walk_source& source) {
        sample_group<by_degree, View> group(graph, roots, params, first_walk, out, width);
        for (std::int64_t i = source.next(); i >= 0; i = source.next()) {
          group.add(i);
          if (group.size() == width) { group.run(); }
        }
        group.run();
      },
      width);
}

}  // namespace

multidim_walks multidim_walk(graph const& graph, std::span<vertex_id const> roots, std::int64_t num_roots,
                             multidim_params const& params, cpu_exec const& exec, std::int64_t first_walk)
{
  auto const num_vertices = static_cast<std::int64_t>(roots.size());
  samplers::check_multidim(num_vertices, num_roots, params, first_walk);
  cpu::check_vertices("root", roots, graph.view());
  auto out = samplers::allocate_multidim(num_vertices / num_roots, num_roots, params.length, *exec.memory);
  graph.view().visit([&](auto const& view) {
    if (params.choose == root_choice::by_degree) {
      walk<true>(view, roots, params, first_walk, out, exec);
    } else {
      walk<false>(view, roots, params, first_walk, out, exec);
    }
  });
  return out;
}

}  // namespace tendril
