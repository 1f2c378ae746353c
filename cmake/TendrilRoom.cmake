# One object library a room of src/: tendril_<room>, of every source below the folder. docs/architecture.md says which room
# may include which, and tests/structure checks it.

# What nearly every source includes is parsed once, for all rooms. A source still names what it uses: clang-tidy and the
# tests of public headers read them without this.
set(TENDRIL_COMMON_HEADERS <algorithm> <array> <atomic> <cmath> <cstdint> <cstring> <filesystem> <functional> <limits> <map>
  <memory> <mutex> <numeric> <optional> <span> <stdexcept> <string> <string_view> <thread> <utility> <vector>
  <fmt/format.h>)

# The first target parses the common headers, all later ones that are compiled with the same flags share the result.
function(tendril_share_headers target)
  get_property(first GLOBAL PROPERTY tendril_first_target)
  if(first)
    target_precompile_headers(${target} REUSE_FROM ${first})
  else()
    target_precompile_headers(${target} PRIVATE ${TENDRIL_COMMON_HEADERS})
    set_property(GLOBAL PROPERTY tendril_first_target ${target})
  endif()
endfunction()

function(tendril_room room)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${room}/*.cpp)
  add_library(tendril_${room} OBJECT ${sources} ${ARGN})
  target_link_libraries(tendril_${room} PUBLIC tendril_core OpenMP::OpenMP_CXX fmt::fmt)
  tendril_share_headers(tendril_${room})
endfunction()
