// Defines the requirements on a dynamic walk (<tendril/dynamic_walk.hpp> describes it), and the compile-time messages
// for a struct that does not meet them. Host and device. Includes only <concepts> and <type_traits> of the standard
// library, so that a program compiled at run time can include this header.
//
// Concepts ask whether a walk can be called with the state and edges of graphs of one form, by default with walk_state
// and walk_edge.

#pragma once

#include <concepts>
#include <type_traits>

#include <tendril/walk_state.hpp>

namespace tendril {

namespace walk_has {

template <class W, class View = named_view>
concept weight = requires(W const& w, basic_walk_state<View> const& s, basic_walk_edge<View> const& e)
{
  {
    w.weight(s, e)
    } -> std::convertible_to<float>;
};

template <class W, class View = named_view>
concept bound = requires(W const& w, basic_walk_state<View> const& s)
{
  {
    w.bound(s)
    } -> std::convertible_to<float>;
};

template <class W, class View = named_view>
concept edge_bound = requires(W const& w, basic_walk_state<View> const& s, basic_walk_edge<View> const& e)
{
  {
    w.bound(s, e)
    } -> std::convertible_to<float>;
};

template <class W, class View = named_view>
concept floor = requires(W const& w, basic_walk_state<View> const& s)
{
  {
    w.floor(s)
    } -> std::convertible_to<float>;
};

template <class W, class View = named_view>
concept stop = requires(W const& w, basic_walk_state<View> const& s)
{
  {
    w.stop(s)
    } -> std::convertible_to<bool>;
};

template <class W, class View = named_view>
concept may_start = requires(W const& w, basic_walk_state<View> const& s)
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

namespace walk_has {

/// No optional member is lost where the walk is called with another form: it would be left out without a word.
template <class W, class View>
concept same_members = bound<W>
== bound<W, View>&& edge_bound<W> == edge_bound<W, View>&& floor<W> == floor<W, View>&& stop<W> ==
    stop<W, View>&& may_start<W> == may_start<W, View>;

}  // namespace walk_has

/// The requirement of run_dynamic_walk on graphs of one form.
template <class W, class View = named_view>
concept dynamic_walk = std::is_trivially_copyable_v<W> && walk_has::weight<W, View> && walk_has::same_members<W, View>;

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
