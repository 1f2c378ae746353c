// Defines the requirements on a sampling application (<tendril/application.hpp> describes it), and the compile-time
// messages for a struct that does not meet them. Host and device. Includes only <concepts> and <type_traits> of the
// standard library, so that a program compiled at run time can include this header.

#pragma once

#include <concepts>
#include <type_traits>

#include <tendril/sample_view.hpp>

namespace tendril {

class random_stream;  // <tendril/engine/applications/random_stream.hpp>

/// The value of steps() that means "until a step adds nothing".
inline constexpr int until_done = -1;

/// The maximum number of calls of next() for one slot of a unique step. The step calls next() until it returns a vertex
/// that the step doesn't have yet. A slot without success stays empty. This number is part of the definition of a
/// sample.
inline constexpr int max_unique_rounds = 32;

namespace application_has {

template <class A>
concept sampling_type = requires
{
  {
    A::sampling_type()
    } -> std::same_as<sampling>;
};

template <class A>
concept collective = sampling_type<A> && A::sampling_type()
== sampling::collective;

/// The type of the edges that next() is given.
template <class A, class View = named_view>
using edges_of =
    std::conditional_t<collective<A>, basic_combined_edges<View>, basic_edge_list<typename View::row_type>>;

template <class A, class View = named_view>
concept next = requires(A const& a, basic_sample_view<View>& s, transit_list const& t, edges_of<A, View> const& e,
                        int step, random_stream& rng)
{
  {
    a.next(s, t, e, step, rng)
    } -> std::convertible_to<vertex_id>;
};

template <class A>
concept steps = requires(A const& a)
{
  {
    a.steps()
    } -> std::convertible_to<int>;
};

template <class A>
concept sample_size = requires(A const& a, int step)
{
  {
    a.sample_size(step)
    } -> std::convertible_to<std::int64_t>;
};

template <class A>
concept unique = requires(A const& a, int step)
{
  {
    a.unique(step)
    } -> std::convertible_to<bool>;
};

template <class A>
concept num_transits = requires(A const& a, int step)
{
  {
    a.num_transits(step)
    } -> std::convertible_to<std::int64_t>;
};

template <class A, class View = named_view>
concept step_transits = requires(A const& a, int step, basic_sample_view<View> const& s, std::int64_t i)
{
  {
    a.step_transits(step, s, i)
    } -> std::convertible_to<vertex_id>;
};

template <class A, class View = named_view>
concept random_transits = requires(A const& a, int step, basic_sample_view<View> const& s, std::int64_t i,
                                   random_stream& rng)
{
  {
    a.step_transits(step, s, i, rng)
    } -> std::convertible_to<vertex_id>;
};

template <class A, class View = named_view>
concept end_step = requires(A const& a, basic_sample_view<View>& s, int step)
{
  a.end_step(s, step);
};

/// The application defines a state type; each sample carries one state.
template <class A>
concept state = requires
{
  typename A::state;
};

template <class A>
concept edges = requires
{
  requires A::adds_edges;
};

/// States that next() reads the whole list of a transit, so that grouping work by transit may pay.
template <class A>
concept scans = requires
{
  requires A::scans_neighbors;
};

/// States that the application reads only the edges that next() is given, so that other edges need not be in memory.
/// Required for a graph that streams through a GPU.
template <class A>
concept reads_transit_only = requires
{
  requires A::reads_transit_only;
};

/// No optional member is lost where the application is called with another form: it would be left out without a word.
template <class A, class View>
concept same_members = step_transits<A>
== step_transits<A, View>&& random_transits<A> == random_transits<A, View>&& end_step<A> == end_step<A, View>;

}  // namespace application_has

template <class A>
constexpr bool is_collective = application_has::collective<A>;

/// The requirement of run_application on graphs of one form.
template <class A, class View = named_view>
concept sampling_application = std::is_trivially_copyable_v<A> && application_has::next<A, View> &&
    application_has::steps<A> && application_has::sample_size<A> && application_has::same_members<A, View>;

/// Reports at compile time, in plain words, which requirement of a sampling application a type does not meet.
template <class A>
constexpr void require_application()
{
  static_assert(
      std::is_trivially_copyable_v<A>,
      "application: must be trivially copyable, since it is copied to the GPU byte for byte (no containers, no "
      "virtual functions; refer to arrays by pointer)");
  static_assert(
      application_has::sampling_type<A> || !requires { &A::sampling_type; },
      "application: 'sampling_type' must be 'static constexpr sampling sampling_type()'");
  static_assert(
      application_has::next<A>,
      "application: needs a member 'vertex_id next(sample_view&, transit_list const&, edge_list const&, int step, "
      "random_stream&) const', with 'combined_edges const&' in the third place if sampling_type() is collective");
  static_assert(application_has::steps<A>, "application: needs a member 'int steps() const', a number or until_done");
  static_assert(
      application_has::sample_size<A>,
      "application: needs a member 'std::int64_t sample_size(int step) const', calls of next() for each transit "
      "(collective: for each sample) of a step");
  static_assert(
      application_has::unique<A> || !requires { &A::unique; },
      "application: 'unique' must be 'bool unique(int step) const'");
  static_assert(
      application_has::num_transits<A> || !requires { &A::num_transits; },
      "application: 'num_transits' must be 'std::int64_t num_transits(int step) const'");
  static_assert(
      application_has::step_transits<A> || application_has::random_transits<A> || !requires { &A::step_transits; },
      "application: 'step_transits' must be 'vertex_id step_transits(int step, sample_view const&, std::int64_t i) "
      "const', "
      "with 'random_stream&' at the end if it draws");
  static_assert(
      application_has::end_step<A> || !requires { &A::end_step; },
      "application: 'end_step' must be 'void end_step(sample_view&, int step) const'");
  if constexpr (application_has::state<A>) {
    static_assert(std::is_trivially_copyable_v<typename A::state>,
                  "application: 'state' must be trivially copyable: it begins as zero bytes and is never constructed");
  }
}

}  // namespace tendril
