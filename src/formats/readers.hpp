#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include <tendril/graph.hpp>
#include <tendril/io.hpp>

namespace tendril::formats {

// One reader and, where there is one, one writer a format; io.cpp chooses among them. A reader takes the bytes of the
// file, so that it runs without one (fuzzing):
//
//   path     for messages ("path:line: what, expected what"), and to find sibling files
//   bytes    the whole file, not empty; valid as long as `owner` lives
//   owner    keeps `bytes` alive: arrays that refer to them hold it, others let it go
//   options  readers of edges (edge_list, matrix_market, metis, coo) apply `options.build` themselves and return a valid graph;
//            the others return the CSR as it is stored and leave validation and `options.build` to io.cpp
//   throws   format_error for whatever the bytes hold that is not as it should be; memory_error; io_error for siblings
//
// A size that stands in the file is compared with the size of the file before anything of that size is allocated.

[[nodiscard]] graph read_edge_list(std::string const& path, std::span<std::byte const> bytes,
                                   std::shared_ptr<void const> owner, read_options const& options,
                                   cpu_exec const& exec);
[[nodiscard]] graph read_matrix_market(std::string const& path, std::span<std::byte const> bytes,
                                       std::shared_ptr<void const> owner, read_options const& options,
                                       cpu_exec const& exec);
[[nodiscard]] graph read_metis(std::string const& path, std::span<std::byte const> bytes,
                               std::shared_ptr<void const> owner, read_options const& options, cpu_exec const& exec);
[[nodiscard]] graph read_npz(std::string const& path, std::span<std::byte const> bytes,
                             std::shared_ptr<void const> owner, read_options const& options, cpu_exec const& exec);
[[nodiscard]] graph read_gap(std::string const& path, std::span<std::byte const> bytes,
                             std::shared_ptr<void const> owner, read_options const& options, cpu_exec const& exec);
[[nodiscard]] graph read_safetensors(std::string const& path, std::span<std::byte const> bytes,
                                     std::shared_ptr<void const> owner, read_options const& options,
                                     cpu_exec const& exec);

/// @param options  `options.format` is coo32, coo64 or npy.
[[nodiscard]] graph read_coo(std::string const& path, std::span<std::byte const> bytes,
                             std::shared_ptr<void const> owner, read_options const& options, cpu_exec const& exec);

/// `path` and `bytes` are those of the .graph file; the reader opens .properties and .offsets beside it.
[[nodiscard]] graph read_webgraph(std::string const& path, std::span<std::byte const> bytes,
                                  std::shared_ptr<void const> owner, read_options const& options, cpu_exec const& exec);

/// Whether a graph that is stored has to be built again for these options.
[[nodiscard]] bool changes_something(build_options const& build) noexcept;

void write_edge_list(graph const& input, std::string const& path, cpu_exec const& exec);
void write_matrix_market(graph const& input, std::string const& path, cpu_exec const& exec);
void write_metis(graph const& input, std::string const& path, cpu_exec const& exec);
void write_npz(graph const& input, std::string const& path, cpu_exec const& exec);
void write_gap(graph const& input, std::string const& path, cpu_exec const& exec);
void write_safetensors(graph const& input, std::string const& path, cpu_exec const& exec);

}  // namespace tendril::formats
