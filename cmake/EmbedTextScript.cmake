# Writes OUTPUT, a C++ source that holds texts: ENTRIES is a list of name=path, FUNCTION what gives them, HEADER what
# declares it. Run as a script, when one of the texts has changed.
string(REPLACE "|" ";" entries "${ENTRIES}")
set(list "")
foreach(entry IN LISTS entries)
  string(REGEX MATCH "^([^=]+)=(.+)$" matched "${entry}")
  set(name "${CMAKE_MATCH_1}")
  file(READ "${CMAKE_MATCH_2}" text)
  string(APPEND list "    {\"${name}\", R\"TEXT(${text})TEXT\"},\n")
endforeach()
file(WRITE "${OUTPUT}" "#include \"${HEADER}\"

namespace tendril::jit {

std::span<embedded_text const> ${FUNCTION}()
{
  static constexpr embedded_text texts[] = {
${list}  };
  return texts;
}

}  // namespace tendril::jit
")
