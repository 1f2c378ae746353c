// Compiled together with the text of a struct, on the CPU and by NVRTC: sets its parameters and copies its bytes.
// src/jit/custom_unit.cpp writes the rest of the translation unit. Host and device.

#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <tendril/types.hpp>

namespace tendril::engine {

/// A number to be stored in a field.
union custom_word {
  double real;
  std::int64_t integer;
};

inline constexpr std::size_t most_custom_bytes = 1024;  // kernels take 4096 bytes of arguments on all GPUs

/// A struct's bytes and properties.
struct custom_made {
  std::uint64_t size;   ///< sizeof the struct.
  std::int32_t flags;   ///< Properties specific to its kind. Walks: whether it has bound(state).
  std::int32_t misfit;  ///< The first parameter that doesn't fit its field, or -1.
  alignas(16) unsigned char bytes[most_custom_bytes];
};

/// Sets the fields: a function exported by a library for the CPU, a kernel of one thread on a GPU.
using custom_make_function = void(custom_word const* words, custom_made* made);

template <class Value, class Field>
TENDRIL_HD bool set_number(Field& field, custom_word word)
{
  static_assert(std::is_arithmetic_v<Field>,
                "custom struct: a parameter's field must be a number, or an array of them");
  if constexpr (std::is_same_v<Value, double>) {
    static_assert(std::is_floating_point_v<Field>, "custom struct: a field of integers takes no fractions");
    field = static_cast<Field>(word.real);
    return true;
  } else {
    field = static_cast<Field>(word.integer);
    if constexpr (std::is_floating_point_v<Field>) {
      return true;
    } else {
      return static_cast<std::int64_t>(field) == word.integer && (field < Field{1}) == (word.integer < 1);
    }
  }
}

/// Sets a field to `count` numbers of type Value; count 0: a single number, not an array. @return whether the field can
/// hold them.
template <class Value, int count, class Field>
TENDRIL_HD bool set_field(Field& field, custom_word const* words)
{
  static_assert(
      std::is_array_v<Field> == (count > 0),
      "custom struct: a parameter with several values needs an array, one with a single value must not have one");
  if constexpr (std::is_array_v<Field>) {
    static_assert(std::extent_v<Field> >= count, "custom struct: a parameter has more values than its array");
    bool fits = true;
    for (int i = 0; i < count; ++i) { fits = set_number<Value>(field[i], words[i]) && fits; }
    return fits;
  } else {
    return set_number<Value>(field, *words);
  }
}

/// Fills in everything except the struct itself.
template <class T>
TENDRIL_HD void describe(custom_made& made, std::int32_t flags)
{
  static_assert(sizeof(T) <= most_custom_bytes,
                "custom struct: must not be larger than 1024 bytes; refer to arrays by pointer");
  made.size = sizeof(T);
  made.flags = flags;
  made.misfit = -1;
}

/// The struct as bytes.
template <class T>
TENDRIL_HD void store(T const& value, custom_made& made)
{
  auto const* const bytes = reinterpret_cast<unsigned char const*>(&value);
  for (std::size_t i = 0; i < sizeof(T) && i < most_custom_bytes; ++i) { made.bytes[i] = bytes[i]; }
}

}  // namespace tendril::engine
