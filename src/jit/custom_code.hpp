// Structs that come as text: walks and applications. What the user gave, what tells the two kinds apart, and what
// executors keep of one.

#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tendril/custom_code.hpp>
#include <tendril/graph_view.hpp>  // graph_form

#include "jit/embedded_text.hpp"

namespace tendril::jit {

/// What the unit around a struct is made of, for all structs of one kind. In all texts tendril_type is the struct.
struct custom_kind {
  std::string_view noun;      ///< "walk": begins messages.
  std::string_view file;      ///< "walk.cpp": what compilers call the source.
  std::string_view names;     ///< Using-declarations: what the source may name without `tendril::`.
  std::string_view require;   ///< A function template that says what a struct lacks, in messages that begin with
  std::string_view head;      ///< this.
  std::string_view types;     ///< Comes behind the struct.
  std::string_view flags;     ///< An expression for custom_made::flags.
  std::string_view cpu_head;  ///< Includes of the unit for the system's compiler.
  std::string_view cpu_functions;
  std::string_view part_functions;  ///< In their place for parts of a graph; empty: there is no unit for parts.
  std::string_view gpu_head;        ///< Includes of the unit for NVRTC,
  std::string_view part_gpu_head;   ///< and of that for parts.
  std::string_view gpu_functions;
  std::span<std::string_view const> exports;       ///< What `cpu_functions` exports, besides tendril_make.
  std::span<std::string_view const> kernels;       ///< Those that the GPU's module wants, as C++ names them,
  std::span<std::string_view const> part_kernels;  ///< and the one for parts.
  std::span<embedded_text const> headers;          ///< Stand for public headers that a source may include.
};

/// The graphs that a unit is compiled for.
enum class unit_graph : std::uint8_t { csr, compressed, part, compressed_part };

[[nodiscard]] constexpr unit_graph graph_of(graph_form form)
{
  return form == graph_form::csr ? unit_graph::csr : unit_graph::compressed;
}
/// The same of parts.
[[nodiscard]] constexpr unit_graph part_of(graph_form form)
{
  return form == graph_form::csr ? unit_graph::part : unit_graph::compressed_part;
}
[[nodiscard]] constexpr bool is_part(unit_graph graph)
{
  return graph == unit_graph::part || graph == unit_graph::compressed_part;
}

struct custom_code {
  explicit custom_code(custom_kind const& the_kind) : kind(&the_kind) {}

  custom_kind const* kind;
  std::string source;
  std::string struct_name;
  std::vector<custom_parameter> parameters;
  bool has_bytes = false;  ///< The struct comes as `bytes` instead.
  std::vector<std::byte> bytes;
  custom_options options;

  /// Where code runs, a GPU's number or host_place, and what it was compiled for.
  using place = std::pair<int, unit_graph>;
  static constexpr int host_place = -1;

  std::mutex mutex;  ///< Guards the following while somebody compiles.
  std::map<place, std::shared_ptr<void const>>
      modules;  ///< src/jit/custom_module.cpp, src/gpu/device/custom_module.cpp
};

/// Fills a struct in by what can be seen without a compiler.
/// @param struct_name  Empty: the only struct that the source defines outside of namespaces.
/// @throws argument_error if there isn't one; for names that are none; for parameters given twice or without values.
void set_source(custom_code& code, std::string source, std::string struct_name, custom_options options);
void set_parameters(custom_code& code, std::vector<custom_parameter> parameters);

/// The struct as the bytes that it has in memory, instead of parameters.
void set_bytes(custom_code& code, std::span<std::byte const> bytes);

}  // namespace tendril::jit
