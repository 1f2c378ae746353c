// The text that is compiled around a struct's source, and what compilers say about it.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <tendril/engine/custom_struct.hpp>

#include "jit/custom_code.hpp"
#include "jit/embedded_text.hpp"

namespace tendril::jit {

/// Every file but the unit, standard headers aside: the engine's headers, those that stand for public ones that a
/// source may include, and the source itself.
[[nodiscard]] std::vector<embedded_text> unit_files(custom_code const& code);

/// The unit for the system's compiler: a shared library that exports tendril_make (engine/custom_struct.hpp) and what
/// its kind does.
[[nodiscard]] std::string cpu_unit(custom_code const& code, unit_graph graph);

/// The unit for NVRTC: a kernel tendril_make, and those that its kind names.
[[nodiscard]] std::string gpu_unit(custom_code const& code, unit_graph graph);

/// The parameters' values one after the other.
[[nodiscard]] std::vector<engine::custom_word> parameter_words(custom_code const& code);

/// The struct's bytes where the caller gave them, else those made by tendril_make. Checks what that found.
/// @throws argument_error for bytes of another size, and a parameter that its field can't hold.
[[nodiscard]] std::vector<std::byte> struct_bytes(custom_code const& code, engine::custom_made const& made);

/// @param compiler  Its name.
/// @param output    What it said.
/// @throws argument_error with one line that says what is wrong, as far as that can be told, then the output.
[[noreturn]] void throw_compile_error(custom_code const& code, std::string_view compiler, std::string output);

}  // namespace tendril::jit
