// Grows one sample of an application on the CPU, step by step. Inputs and random numbers of a call:
// engine/applications/step.hpp. Host. Independent of the library's types, so that a library compiled at run time can
// include this header.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include <tendril/engine/applications/step.hpp>

namespace tendril::engine {

/// The edges that a run of samples recorded at one step.
struct recorded_edges {
  std::vector<vertex_id> sources, targets;
  std::vector<std::int64_t> counts;  ///< Per sample.
};

/// Grows a run of samples, one after another. Each thread has its own grower.
template <class A, class View>
class sample_grower {
 public:
  sample_grower(A const& app, application_setup<View> const& setup) : app_(app), setup_(setup) {}

  /// Grows samples [begin, end) to their ends. `edges` [num_steps] collects the recorded edges; null if none are
  /// recorded.
  void grow(std::int64_t begin, std::int64_t end, recorded_edges* edges)
  {
    for (std::int64_t i = begin; i < end; ++i) {
      if (i + 1 < end) { fetch_roots(i + 1); }  // not beyond the run: other threads may be replacing those roots now
      grow(i, edges);
    }
  }

  [[nodiscard]] std::uint64_t problem() const { return problem_; }

 private:
  using sample_type = basic_sample_view<View>;
  using list_type = basic_edge_list<typename View::row_type>;

  void grow(std::int64_t index, recorded_edges* edges)
  {
    bool grows = true;
    for (std::int32_t step = 0; step < setup_.num_steps; ++step) {
      sample_type sample = view_of<A>(setup_, index, step);
      step_shape const& shape = setup_.shape(step);
      step_place const& place = setup_.places()[step + 1];
      vertex_id* const out = place.vertices + index * place.stride;
      if (grows) {
        find_transits(sample, index, shape);
        fill(sample, index, shape, out, edges != nullptr);
        if (edges != nullptr) { record(sample, index, shape, edges[step]); }
      } else {
        std::fill_n(out, shape.num_slots, no_vertex);
        if (edges != nullptr) { edges[step].counts.push_back(0); }
      }
      std::int64_t added = 0;
      if (place.sizes != nullptr) {
        added = shape.num_slots - std::count(out, out + shape.num_slots, no_vertex);
        place.sizes[index] = static_cast<std::int32_t>(added);
      }
      if constexpr (application_has::end_step<A>) {
        if (grows) {
          sample_type after = view_of<A>(setup_, index, step + 1);
          app_.end_step(after, step);
        }
      }
      grows = grows && (!setup_.until_done || added > 0);
    }
    if (setup_.until_done && grows) { note(problem_code::of(index, setup_.num_steps, application_problem::steps)); }
  }

  /// Prefetches the positions of the edges of a sample's first roots. Called for the next sample while this one is
  /// grown.
  void fetch_roots(std::int64_t index) const
  {
    step_place const& roots = setup_.places()[0];
    for (std::int64_t i = 0; i < roots.num_slots && i < 16; ++i) {
      setup_.graph.prefetch_row(roots.vertices[index * roots.stride + i]);
    }
  }

  void note(std::uint64_t code) { problem_ = std::min(problem_, code); }

  void find_transits(sample_type const& sample, std::int64_t index, step_shape const& shape)
  {
    transits_.resize(static_cast<std::size_t>(shape.num_transits));
    for (std::size_t i = 0; i < transits_.size(); ++i) {
      vertex_id const v = transit_of(app_, setup_, sample, static_cast<std::int64_t>(i));
      transits_[i] = is_transit(sample, index, v, problem_) ? v : no_vertex;
      if (transits_[i] != no_vertex) { setup_.graph.prefetch_row(transits_[i]); }
    }
    if constexpr (is_collective<A>) {
      offsets_.assign(transits_.size() + 1, 0);
      for (std::size_t i = 0; i < transits_.size(); ++i) {
        offsets_[i + 1] = offsets_[i] + (transits_[i] == no_vertex ? 0 : setup_.graph.degree(transits_[i]));
      }
    }
  }

  /// Fills the slots of a step with the method that suits it.
  void fill(sample_type& sample, std::int64_t index, step_shape const& shape, vertex_id* out, bool records)
  {
    if constexpr (goes_ahead) {
      if (!records && !shape.unique) {
        add_ahead(sample, index, shape, out);
        return;
      }
    }
    add(sample, index, shape, out);
  }

  // Whether calls are prepared in groups of some hundreds. Not for applications that read whole lists, nor for
  // collective ones.
  static constexpr bool goes_ahead = !is_collective<A> && !application_has::scans<A>;
  static constexpr std::size_t calls_ahead = 512;  // bench sample, axis "general API"

  /// Does the work of add() for an individual application without unique steps or recorded edges. It draws the first
  /// numbers of many calls at once, and prefetches the edges that a single bounded(size) would pick, before next() asks
  /// for them. An application that picks edges in another way loses a few prefetches.
  void add_ahead(sample_type& sample, std::int64_t index, step_shape const& shape, vertex_id* out)
  {
    auto const m = static_cast<std::size_t>(shape.sample_size);
    std::size_t const tile = std::max<std::size_t>(1, calls_ahead / m);
    lists_.resize(std::min(tile, transits_.size()));
    bits_.resize(std::max(calls_ahead, m));  // tile * m or more
    rng_key const key = setup_.key(sample.step);
    for (std::size_t first = 0; first < transits_.size(); first += tile) {
      std::size_t const count = std::min(tile, transits_.size() - first);
      if (setup_.draw_calls != nullptr) {
        setup_.draw_calls(key, sample.id, static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(count),
                          static_cast<std::uint32_t>(m), bits_.data());
      }
      for (std::size_t i = 0; i < count; ++i) { look_up(transits_[first + i], lists_[i], bits_.data() + i * m, m); }
      for (std::size_t i = 0; i < count; ++i) {
        vertex_id* const slots = out + (first + i) * m;
        if (transits_[first + i] == no_vertex) {
          std::fill_n(slots, m, no_vertex);
          continue;
        }
        sample.transit = static_cast<std::uint32_t>(first + i);
        transit_list const transit(transits_[first + i]);
        for (std::size_t j = 0; j < m; ++j) {
          sample.call = static_cast<std::uint32_t>(j);
          random_stream rng =
              setup_.draw_calls == nullptr
                  ? random_stream(key, sample.id, sample.transit, sample.call, static_cast<std::uint32_t>(m))
                  : random_stream(key, sample.id, sample.transit, sample.call, static_cast<std::uint32_t>(m),
                                  bits_[i * m + j]);
          slots[j] = call_next_with(rng, app_, sample, index, transit, lists_[i], problem_);
        }
      }
    }
  }

  /// Looks up the list of a transit, and prefetches the edges that `bits` are likely to pick.
  void look_up(vertex_id transit, list_type& list, std::uint64_t const* bits, std::size_t count) const
  {
    list = {};
    if (transit == no_vertex) { return; }
    list = list_type(setup_.graph.row(transit));
    if (list.empty() || setup_.draw_calls == nullptr) { return; }
    for (std::size_t j = 0; j < count; ++j) { list.row().prefetch(core::bounded(bits[j], list.size())); }
  }

  /// Makes the call for one slot, in round `round`.
  vertex_id call(sample_type& sample, std::int64_t index, step_shape const& shape, std::int64_t slot,
                 std::uint32_t round)
  {
    auto const m = static_cast<std::uint32_t>(shape.sample_size);
    rng_key const key = round == 0 ? setup_.key(sample.step) : call_key(setup_, sample.step, round);
    sample.call = static_cast<std::uint32_t>(slot % shape.sample_size);
    if constexpr (is_collective<A>) {
      sample.transit = 0;
      transit_list const all(transits_.data(), static_cast<std::uint32_t>(transits_.size()));
      basic_combined_edges<View> const edges(setup_.graph, all, offsets_.data());
      return call_next(app_, key, sample, index, all, edges, m, problem_);
    } else {
      sample.transit = static_cast<std::uint32_t>(slot / shape.sample_size);
      vertex_id const transit = transits_[sample.transit];
      if (transit == no_vertex) { return no_vertex; }
      return call_next(app_, key, sample, index, transit_list(transit), list_type(setup_.graph.row(transit)), m,
                       problem_);
    }
  }

  /// Fills the slots of a step. A unique step calls again, round by round, for each slot whose vertex an earlier slot
  /// or an earlier round already has. The result is the first distinct vertices of one sequence of calls.
  void add(sample_type& sample, std::int64_t index, step_shape const& shape, vertex_id* out)
  {
    std::fill_n(out, shape.num_slots, no_vertex);
    rounds_.assign(static_cast<std::size_t>(shape.num_slots), max_unique_rounds);
    if (shape.unique) { forget(shape.num_slots); }
    open_.resize(static_cast<std::size_t>(shape.num_slots));
    std::iota(open_.begin(), open_.end(), std::int64_t{0});
    for (std::uint32_t round = 0; !open_.empty() && round < max_unique_rounds; ++round) {
      std::size_t num_open = 0;
      for (std::int64_t const slot : open_) {
        vertex_id const v = call(sample, index, shape, slot, round);
        if (shape.unique && v != no_vertex && !is_new(v)) {
          open_[num_open++] = slot;
        } else {
          out[slot] = v;
          rounds_[static_cast<std::size_t>(slot)] = round;
        }
      }
      open_.resize(num_open);
    }
  }

  void forget(std::int64_t num_slots)
  {
    std::size_t size = 16;
    while (size < 2 * static_cast<std::size_t>(num_slots)) { size *= 2; }
    set_.assign(size, no_vertex);
  }

  /// Whether the step doesn't have `v` yet; adds `v` to the set.
  bool is_new(vertex_id v)
  {
    std::size_t at = (v * 0x9E3779B1U) & (set_.size() - 1);
    for (; set_[at] != no_vertex; at = (at + 1) & (set_.size() - 1)) {
      if (set_[at] == v) { return false; }
    }
    set_[at] = v;
    return true;
  }

  /// Repeats the last call of every settled slot, to record its edges.
  void record(sample_type& sample, std::int64_t index, step_shape const& shape, recorded_edges& edges)
  {
    std::size_t const before = edges.sources.size();
    for (std::int64_t slot = 0; slot < shape.num_slots; ++slot) {
      std::uint32_t const round = rounds_[static_cast<std::size_t>(slot)];
      if (round == max_unique_rounds) { continue; }
      sample.set_sink({});
      (void)call(sample, index, shape, slot, round);
      std::size_t const count = sample.num_edges_added();
      std::size_t const at = edges.sources.size();
      edges.sources.resize(at + count);
      edges.targets.resize(at + count);
      if (count == 0) { continue; }
      sample.set_sink({edges.sources.data() + at, edges.targets.data() + at, 0});
      (void)call(sample, index, shape, slot, round);
    }
    edges.counts.push_back(static_cast<std::int64_t>(edges.sources.size() - before));
  }

  A const& app_;
  application_setup<View> const& setup_;
  std::vector<vertex_id> transits_;
  std::vector<std::uint64_t> offsets_;
  std::vector<list_type> lists_;       // of a group of transits,
  std::vector<std::uint64_t> bits_;    // and the first numbers of their calls
  std::vector<std::int64_t> open_;     // slots without a vertex
  std::vector<std::uint32_t> rounds_;  // per slot: the round that settled it; max_unique_rounds if no round did
  std::vector<vertex_id> set_;         // the vertices of a unique step, as a hash table
  std::uint64_t problem_ = problem_code::none;
};

}  // namespace tendril::engine
