# tendril_embed(FUNCTION HEADER NAME=PATH…): makes FUNCTION.cpp in the build folder, a source that holds the files' texts under
# their names. HEADER declares the function that gives them.
function(tendril_embed function header)
  set(paths "")
  foreach(entry IN LISTS ARGN)
    string(REGEX REPLACE "^[^=]+=" "" path "${entry}")
    list(APPEND paths ${path})
  endforeach()
  string(REPLACE ";" "|" entries "${ARGN}")
  set(output ${CMAKE_CURRENT_BINARY_DIR}/${function}.cpp)
  set(script ${PROJECT_SOURCE_DIR}/cmake/EmbedTextScript.cmake)
  add_custom_command(OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} "-DENTRIES=${entries}" -DFUNCTION=${function} -DHEADER=${header} -DOUTPUT=${output}
      -P ${script}
    DEPENDS ${paths} ${script} VERBATIM)
endfunction()
