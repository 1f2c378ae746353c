#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include <tendril/compress.hpp>
#include <tendril/error.hpp>
#include <tendril/graph.hpp>
#include <tendril/io.hpp>

namespace tendril::fuzz {

/// Runs a reader over `data`. It may refuse what it sees with an exception of the library, one line long; whatever it
/// accepts has to be a valid graph once `validate` was willing to take it, in any form.
template <class Reader>
int run_reader(Reader reader, char const* path, std::uint8_t const* data, std::size_t size,
               read_options const& options = {})
{
  if (size == 0) { return 0; }  // the front refuses empty files before any reader sees them
  cpu_exec exec;
  exec.num_threads = 1;
  try {
    graph const read = reader(path, std::as_bytes(std::span(data, size)), std::shared_ptr<void const>{}, options, exec);
    read.validate(exec);
    try {
      for (auto const& [form, name] : enum_names<graph_form>) { compress(read, form, exec).validate(exec); }
    } catch (format_error const&) {
      __builtin_trap();
    }
  } catch (error const& e) {
    std::string_view const what = e.what();
    if (what.empty() || what.find('\n') != std::string_view::npos) { __builtin_trap(); }
  }
  return 0;
}

}  // namespace tendril::fuzz
