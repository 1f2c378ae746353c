#pragma once

#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <tendril/custom_code.hpp>
#include <tendril/exec.hpp>

namespace tendril::python {

/// A parameter as the Python half sends it: its name, whether it is an array, and its numbers in one of two lists.
using sent_parameter = std::tuple<std::string, bool, std::vector<double>, std::vector<std::int64_t>>;

[[nodiscard]] inline custom_parameter parameter_of(sent_parameter const& sent)
{
  auto const& [name, is_array, reals, integers] = sent;
  if (is_array) {
    if (reals.empty()) { return {name, integers}; }
    return {name, reals};
  }
  if (reals.empty()) { return {name, integers.at(0)}; }
  return {name, reals.at(0)};
}

/// A class of structs that come as text: custom_walk or custom_application.
template <class Custom>
void bind_custom(nanobind::module_& module, char const* name)
{
  using namespace nanobind::literals;  // NOLINT(google-build-using-namespace): the way nanobind names arguments

  nanobind::class_<Custom>(module, name)
      .def(
          "__init__",
          [](Custom* self, std::string source, std::string struct_name, std::vector<sent_parameter> const& sent,
             std::string compiler, std::vector<std::string> nvrtc_folders, std::string cache_folder) {
            std::vector<custom_parameter> parameters;
            for (auto const& parameter : sent) { parameters.push_back(parameter_of(parameter)); }
            new (self) Custom(std::move(source), std::move(struct_name), std::move(parameters),
                              {std::move(compiler), std::move(nvrtc_folders), std::move(cache_folder)});
          },
          "source"_a, "struct_name"_a, "parameters"_a, "compiler"_a, "nvrtc_folders"_a, "cache_folder"_a)
      .def_prop_ro("struct_name", &Custom::struct_name)
      .def(
          "compile", [](Custom const& code) { code.compile(); }, nanobind::call_guard<nanobind::gil_scoped_release>())
      .def(
          "compile_gpu", [](Custom const& code, int device) { code.compile(gpu_exec(device)); }, "device"_a,
          nanobind::call_guard<nanobind::gil_scoped_release>());
}

}  // namespace tendril::python
