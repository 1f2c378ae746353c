// Dynamic walks on a graph in parts, on CPUs, by a struct that is compiled with the program:
//
//   sharded_walker walk(std::move(part), part_walk_of(my_walk{}), {.length = 40}, ranks);
//
// <tendril/dynamic_walk.hpp> describes the struct, <tendril/sharded_walk.hpp> the walker. Needs src/ on the include path.

#pragma once

#include <cstddef>
#include <string>
#include <typeinfo>

#include <tendril/dynamic_walk.hpp>
#include <tendril/engine/walks/part_step.hpp>
#include <tendril/sharded_walk.hpp>

namespace tendril {

namespace engine {

/// "struct my_walk of 8 bytes".
[[nodiscard]] std::string struct_identity(std::type_info const& type, std::size_t size);

}  // namespace engine

/// A walk that sharded_walker takes. All data that the struct points to must be in host memory of this rank.
///
/// A walker steps at the rank of its vertex, so the struct may read the edges of that vertex alone: of the state everything but
/// `previous_edge` and `previous_weight()`, and of `graph` its `num_vertices` and `node_types`. Another struct, and one whose
/// functions name walk_state and walk_edge instead of `auto`, doesn't compile here. Ranks compare the names and sizes of their
/// structs, not the values of members: those must be equal on all ranks.
template <class W>
[[nodiscard]] part_walk part_walk_of(W const& walk)
{
  require_dynamic_walk<W>();
  static_assert(
      walk_has::weight<W, transit_view>,
      "walk on parts: weight() must take 'auto const&, auto const&', and read the edges of the walker's own vertex "
      "alone");
  static_assert(
      walk_has::same_members<W, transit_view>,
      "walk on parts: bound(), floor() and stop() must take 'auto const&', and read the edges of the walker's own "
      "vertex alone");
  auto const decide = [walk](auto const& setup, bool rejecting, engine::part_batch const& batch) {
    engine::decide_on_part(walk, setup, rejecting, batch);
  };
  return {engine::struct_identity(typeid(W), sizeof(W)), walk_has::bound<W>, decide, decide};
}

}  // namespace tendril
