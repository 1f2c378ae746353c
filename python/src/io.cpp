// Reading and writing graph files.

#include <tendril/compress.hpp>  // names of graph_form
#include <tendril/convert.hpp>
#include <tendril/io.hpp>
#include <tendril/partition.hpp>

#include <optional>
#include <string>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bind.hpp"
#include "exec.hpp"
#include "names.hpp"

namespace tendril::python {
namespace {

namespace nb = nanobind;

graph read(std::string const& path, std::string const& format, std::vector<std::string> columns,
           build_options const& options, int num_threads)
{
  cpu_exec const exec = make_exec(num_threads);
  nb::gil_scoped_release const no_gil;
  return read_graph(path, {parse_option<graph_format>("format", format), options, std::move(columns)}, exec);
}

void write(graph const& input, std::string const& path, std::string const& format, int num_threads)
{
  cpu_exec const exec = make_exec(num_threads);
  nb::gil_scoped_release const no_gil;
  write_graph(input, path, {parse_option<graph_format>("format", format)}, exec);
}

void convert(std::string const& input, std::string const& output, std::optional<std::string> const& form,
             std::int64_t memory_bytes, bool restart, std::string const& format, std::vector<std::string> columns,
             build_options const& options, int num_threads)
{
  convert_options chosen;
  chosen.read = {parse_option<graph_format>("format", format), options, std::move(columns)};
  if (form) { chosen.form = parse_option<graph_form>("form", *form); }
  chosen.memory_bytes = memory_bytes;
  chosen.restart = restart;
  cpu_exec const exec = make_exec(num_threads);
  nb::gil_scoped_release const no_gil;
  convert_graph(input, output, chosen, exec);
}

void cut(graph const& input, std::string const& folder, std::int64_t num_parts, std::string const& method,
         std::optional<std::string> const& form, int num_threads)
{
  partition_params params{num_parts, parse_option<partition_method>("method", method)};
  if (form) { params.form = parse_option<graph_form>("form", *form); }
  cpu_exec const exec = make_exec(num_threads);
  nb::gil_scoped_release const no_gil;
  partition_graph(input, folder, params, exec);
}

graph read_parts(std::string const& folder, build_options const& options, int num_threads)
{
  cpu_exec const exec = make_exec(num_threads);
  nb::gil_scoped_release const no_gil;
  return read_parts_as_graph(folder, exec, options);
}

std::string detect(std::string const& path)
{
  nb::gil_scoped_release const no_gil;
  return std::string(to_string(detect_graph_format(path)));
}

}  // namespace

void bind_io(nb::module_& module)
{
  using namespace nb::literals;  // NOLINT(google-build-using-namespace): the way nanobind names arguments
  module.def("read_graph", &read, "path"_a, "format"_a, "columns"_a, "options"_a, "num_threads"_a);
  module.def("write_graph", &write, "graph"_a, "path"_a, "format"_a, "num_threads"_a);
  module.def("convert_graph", &convert, "input"_a, "output"_a, "form"_a.none(), "memory_bytes"_a, "restart"_a,
             "format"_a, "columns"_a, "options"_a, "num_threads"_a);
  module.def("detect_graph_format", &detect, "path"_a);
  module.def("partition_graph", &cut, "graph"_a, "folder"_a, "num_parts"_a, "method"_a, "form"_a.none(),
             "num_threads"_a);
  module.def("read_partition", &read_parts, "folder"_a, "options"_a, "num_threads"_a);
}

}  // namespace tendril::python
