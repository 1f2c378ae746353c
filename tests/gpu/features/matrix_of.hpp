#pragma once

#include <type_traits>

#include <tendril/buffer.hpp>
#include <tendril/features.hpp>

namespace tendril::test {

/// Ids in one piece.
template <class T>
id_matrix matrix_of(buffer<T> const& ids)
{
  constexpr bool is_signed = std::is_signed_v<T>;
  constexpr id_type type =
      sizeof(T) == 4 ? (is_signed ? id_type::int32 : id_type::uint32) : (is_signed ? id_type::int64 : id_type::uint64);
  return {ids.data(), type, ids.size()};
}

}  // namespace tendril::test
