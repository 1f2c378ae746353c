// Defines the requirements on a dynamic walk (<tendril/dynamic_walk.hpp> describes it), and the compile-time messages
// for a struct that does not meet them. Host and device. Includes only <concepts> and <type_traits> of the standard
// library, so that a program compiled at run time can include this header.

#pragma once

#include <concepts>
#include <type_traits>

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

/// States that every weight and bound is finite and 0 or more because the graph's weights are; the engine then skips
/// the check.
template <class W>
concept trusted_weights = requires
{
  requires W::trusted_weights;
};

}  // namespace walk_has

/// The requirement of run_dynamic_walk.
template <class W>
concept dynamic_walk = std::is_trivially_copyable_v<W> && walk_has::weight<W>;

/// Reports at compile time, in plain words, which requirement of a dynamic walk a type does not meet.
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

}  // namespace tendril
