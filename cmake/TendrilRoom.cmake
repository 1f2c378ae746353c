# One object library a room of src/: tendril_<room>, of every source below the folder. docs/architecture.md says which room
# may include which, and tests/structure checks it.
function(tendril_room room)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${room}/*.cpp)
  add_library(tendril_${room} OBJECT ${sources} ${ARGN})
  target_link_libraries(tendril_${room} PUBLIC tendril_core OpenMP::OpenMP_CXX fmt::fmt)
endfunction()
