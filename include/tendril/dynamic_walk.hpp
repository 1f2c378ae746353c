// Dynamic walks: the weight of an edge is a function of where the walker stands, asked for at every step. A walk is
// one small struct, compiled for CPU and GPU from one source:
//
//   struct my_walk {
//     TENDRIL_HD float weight(walk_state const& s, walk_edge const& e) const;  // 0 or more, finite
//     TENDRIL_HD float bound(walk_state const& s) const;                       // optional: no weight here is larger
//     TENDRIL_HD float bound(walk_state const& s, walk_edge const& e) const;   // optional: this weight is not larger
//     TENDRIL_HD float floor(walk_state const& s) const;                       // optional: no weight is smaller
//     TENDRIL_HD bool stop(walk_state const& s) const;                         // optional: the walk ends here
//     TENDRIL_HD bool may_start(walk_state const& s) const;                    // optional: false is a dead end at once
//   };
//
// bound(state) unlocks rejection, which reads a few edges a step instead of all of them; bound(state, edge) spares a
// race the weights of edges that can't win; floor(state) accepts some proposals unseen. None of them changes the
// distribution, and all but bound(state), which changes the rule, leave every walk as it is.
//
// CPU and GPU agree to the bit if weight() does: use + - * /, comparisons and integers, compiled without contraction
// (-ffp-contract=off, nvcc --fmad=false), not the mathematical library. examples/ has two such walks.
//
// <tendril/engine/dynamic_walk_cpu.hpp> and <tendril/engine/dynamic_walk_gpu.cuh> run them. They need src/ on the
// include path, for the rules of src/core.

#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

#include <tendril/plan.hpp>  // sampling_rule
#include <tendril/walk.hpp>  // dead_end, walks
#include <tendril/walk_state.hpp>

namespace tendril {

namespace walk_has {

template <class W>
concept weight = requires(W const& w, walk_state const& s, walk_edge const& e)
{
  {
    w.weight(s, e)
    } -> std::convertible_to<float>;
};

template <class W>
concept bound = requires(W const& w, walk_state const& s)
{
  {
    w.bound(s)
    } -> std::convertible_to<float>;
};

template <class W>
concept edge_bound = requires(W const& w, walk_state const& s, walk_edge const& e)
{
  {
    w.bound(s, e)
    } -> std::convertible_to<float>;
};

template <class W>
concept floor = requires(W const& w, walk_state const& s)
{
  {
    w.floor(s)
    } -> std::convertible_to<float>;
};

template <class W>
concept stop = requires(W const& w, walk_state const& s)
{
  {
    w.stop(s)
    } -> std::convertible_to<bool>;
};

template <class W>
concept may_start = requires(W const& w, walk_state const& s)
{
  {
    w.may_start(s)
    } -> std::convertible_to<bool>;
};

/// Says that every weight and bound is finite and 0 or more because the graph's weights are; they aren't checked then.
template <class W>
concept trusted_weights = requires
{
  requires W::trusted_weights;
};

}  // namespace walk_has

/// What run_dynamic_walk takes.
template <class W>
concept dynamic_walk = std::is_trivially_copyable_v<W> && walk_has::weight<W>;

/// Says in plain words what a type lacks to be a dynamic walk, at compile time.
template <class W>
constexpr void require_dynamic_walk()
{
  static_assert(std::is_trivially_copyable_v<W>,
                "dynamic walk: must be trivially copyable, since it is copied to the GPU byte for byte (no containers, "
                "no virtual functions; refer to arrays by pointer)");
  static_assert(walk_has::weight<W>,
                "dynamic walk: needs a member 'float weight(walk_state const&, walk_edge const&) const'");
  static_assert(
      walk_has::bound<W> || walk_has::edge_bound<W> || !requires { &W::bound; },
      "dynamic walk: 'bound' must be 'float bound(walk_state const&) const' or 'float bound(walk_state "
      "const&, walk_edge const&) const'");
  static_assert(
      walk_has::floor<W> || !requires { &W::floor; },
      "dynamic walk: 'floor' must be 'float floor(walk_state const&) const'");
  static_assert(!walk_has::floor<W> || walk_has::bound<W>,
                "dynamic walk: 'floor' serves rejection, which needs 'float bound(walk_state const&) const' too");
  static_assert(
      walk_has::stop<W> || !requires { &W::stop; },
      "dynamic walk: 'stop' must be 'bool stop(walk_state const&) const'");
  static_assert(
      walk_has::may_start<W> || !requires { &W::may_start; },
      "dynamic walk: 'may_start' must be 'bool may_start(walk_state const&) const'");
}

struct dynamic_walk_params {
  std::int64_t length = 80;  ///< Steps, in [1, 2^31 - 1).
  double stop_prob = 0;      ///< Before each step the walk ends with this probability, in [0, 1].
  double restart_prob = 0;   ///< Instead of a step, jump back to the start, in [0, 1].
  dead_end dead_ends = dead_end::stop;
  /// reject (needs bound(state)), scan (a race over the whole neighbourhood), or automatic: reject where it can.
  sampling_rule rule = sampling_rule::automatic;
  std::uint64_t seed = 0;
};

}  // namespace tendril
