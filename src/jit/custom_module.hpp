// Structs that come as text on the CPU: compiled to a shared library, which is opened.

#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <tendril/engine/custom_struct.hpp>

#include "jit/custom_code.hpp"

namespace tendril::jit {

/// An open library, and the struct in it.
class custom_module {
 public:
  /// @return null if the file is no library of this kind, and why in `problem`.
  static std::shared_ptr<custom_module> open(jit::custom_kind const& kind, std::filesystem::path const& file,
                                             std::string& problem);
  ~custom_module();
  custom_module(custom_module const&) = delete;
  custom_module& operator=(custom_module const&) = delete;

  /// Number `i` of the kind's exports.
  template <class F>
  [[nodiscard]] F* function(std::size_t i) const
  {
    return reinterpret_cast<F*>(functions_[i]);
  }
  [[nodiscard]] engine::custom_made make(std::vector<engine::custom_word> const& words) const;

  std::vector<std::byte> bytes;  ///< Of the struct.
  std::int32_t flags = 0;        ///< custom_made::flags

 private:
  custom_module() = default;
  void* library_ = nullptr;
  engine::custom_make_function* make_ = nullptr;
  std::vector<void*> functions_;
};

/// The library of a struct for such graphs, from the cache or compiled and put there; opened when first asked for.
/// @throws argument_error for what is wrong with the struct; io_error without a compiler.
[[nodiscard]] std::shared_ptr<custom_module const> module_of(jit::custom_code& code, unit_graph graph);

}  // namespace tendril::jit
