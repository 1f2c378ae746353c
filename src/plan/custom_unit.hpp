// The text that is compiled around a walk's source, and what compilers say about it.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <tendril/engine/custom_unit.hpp>

#include "plan/custom_walk_state.hpp"
#include "plan/embedded_text.hpp"

namespace tendril::plan {

/// Every file but the unit, standard headers aside: the engine's headers, those of the public ones that a walk's source
/// may include instead, and the source itself as walk.cpp.
[[nodiscard]] std::vector<embedded_text> unit_files(custom_walk::state const& walk);

/// The unit for the system's compiler: a shared library that exports tendril_make and tendril_walk, of the types in
/// engine/custom_cpu.hpp.
[[nodiscard]] std::string cpu_unit(custom_walk::state const& walk);

/// The unit for NVRTC: a kernel tendril_make, and the kernels that `scan_kernel_name` and `reject_kernel_name` name.
[[nodiscard]] std::string gpu_unit(custom_walk::state const& walk);
inline constexpr char const* scan_kernel_name =
    "tendril::engine::scan_walk_kernel<tendril_scanning, tendril::engine::race_sampler>";
inline constexpr char const* reject_kernel_name = "tendril::engine::reject_walk_kernel<tendril_rejecting>";

/// The parameters' values one after the other.
[[nodiscard]] std::vector<engine::custom_word> parameter_words(custom_walk::state const& walk);

/// The struct's bytes where the caller gave them, else those made by tendril_make. Checks what that found.
/// @throws argument_error for bytes of another size, and a parameter that its field can't hold.
[[nodiscard]] std::vector<std::byte> struct_bytes(custom_walk::state const& walk, engine::custom_made const& made);

/// @param compiler  Its name.
/// @param output    What it said.
/// @throws argument_error with one line that says what is wrong, as far as that can be told, then the output.
[[noreturn]] void throw_compile_error(custom_walk::state const& walk, std::string_view compiler, std::string output);

}  // namespace tendril::plan
