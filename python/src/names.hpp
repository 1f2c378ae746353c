#pragma once

#include <string>
#include <string_view>

#include <fmt/format.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <tendril/names.hpp>

namespace tendril::python {

/// The value of an option by its name. @throws argument_error "what is 'x', expected 'row', 'symmetric' or 'weights'".
template <named_enum E>
[[nodiscard]] E parse_option(std::string_view what, std::string_view name)
{
  if (auto const value = find_name<E>(name)) { return *value; }
  throw argument_error(fmt::format("{} is '{}', expected {}", what, name, list_names<E>("'")));
}

/// Binds a field of an enum's type as an attribute that takes and gives names.
/// @param call  Begins the message for a wrong name: "walk: ", or "".
template <class P, named_enum E>
void def_named(nanobind::class_<P>& bound, char const* attribute, E P::*field, char const* call = "")
{
  bound.def_prop_rw(
      attribute, [field](P const& p) { return std::string(to_string(p.*field)); },
      [field, attribute, call](P& p, std::string const& name) {
        p.*field = parse_option<E>(std::string(call) + attribute, name);
      });
}

}  // namespace tendril::python
