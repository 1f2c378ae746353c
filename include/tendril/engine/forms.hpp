// From a graph whose form is known at run time to code that is compiled for the forms that a user's struct can read. Host
// only.

#pragma once

#include <type_traits>

#include <tendril/application_concept.hpp>
#include <tendril/error.hpp>
#include <tendril/graph_view.hpp>
#include <tendril/walk_concept.hpp>

namespace tendril::engine {

/// The forms that a dynamic walk can read.
template <class W>
struct walk_forms {
  static constexpr char const* refusal =
      "dynamic walk: its functions take walk_state, which reads CSR graphs; write 'auto const&' for graphs of every "
      "form "
      "(to_csr makes this one CSR)";
  template <class View>
  static constexpr bool include = dynamic_walk<W, View>;
};

/// The forms that a sampling application can read.
template <class A>
struct application_forms {
  static constexpr char const* refusal =
      "application: its functions take sample_view, which reads CSR graphs; write 'auto&' for graphs of every form "
      "(to_csr makes this one CSR)";
  template <class View>
  static constexpr bool include = sampling_application<A, View>;
};

/// Calls f with the view of the graph's form, for which f is compiled if the struct can read it, and returns what f
/// returns. @throws argument_error if it can't.
template <class Forms, class F>
auto visit_form(graph_view const& graph, F const& f)
{
  return graph.visit([&](auto const& view) -> decltype(f(csr_view{})) {
    if constexpr (Forms::template include<std::decay_t<decltype(view)>>) {
      return f(view);
    } else {
      throw argument_error(Forms::refusal);
    }
  });
}

/// @throws argument_error if the struct can't read graphs of this form.
template <class Forms>
void expect_form(graph_view const& graph)
{
  visit_form<Forms>(graph, [](auto const&) {});
}

}  // namespace tendril::engine
