# What every target of the project is compiled with.

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)

find_program(TENDRIL_CCACHE ccache)
if(TENDRIL_CCACHE)
  # The first lets it keep sources that are compiled with a precompiled header, the others find in one checkout what
  # another has compiled.
  set(launcher ${CMAKE_COMMAND} -E env
    CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
    CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1 ${TENDRIL_CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${launcher})
  set(CMAKE_CUDA_COMPILER_LAUNCHER ${launcher})
endif()

find_package(OpenMP REQUIRED COMPONENTS CXX)
find_package(ZLIB REQUIRED)
find_package(fmt REQUIRED)
if(NOT TARGET fmt::fmt)  # headers alone are installed: every source then compiles what it uses of them
  add_library(fmt::fmt ALIAS fmt::fmt-header-only)
endif()
find_package(nlohmann_json REQUIRED)

# One interface target carries the flags. Floating point that CPU and GPU must agree on to the bit is written with
# explicit fma, so contraction is off everywhere.
add_library(tendril_flags INTERFACE)
target_compile_options(tendril_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wshadow -ffp-contract=off>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # GCC 12 sees overlapping copies inside std::string where there are none (GCC bug 105651).
  target_compile_options(tendril_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict>)
endif()
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  target_compile_options(tendril_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-march=${TENDRIL_MARCH}>)
endif()
if(TENDRIL_SANITIZE)
  target_compile_options(tendril_flags INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-fsanitize=${TENDRIL_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all>)
  target_link_options(tendril_flags INTERFACE -fsanitize=${TENDRIL_SANITIZE})
endif()

if(NOT TENDRIL_MPI STREQUAL "OFF")
  find_package(MPI COMPONENTS CXX)
  if(TENDRIL_MPI STREQUAL "AUTO")
    set(TENDRIL_MPI ${MPI_CXX_FOUND})
  elseif(NOT MPI_CXX_FOUND)
    message(FATAL_ERROR "TENDRIL_MPI=ON: no MPI found (Debian: libopenmpi-dev)")
  endif()
endif()

include(TendrilCuda)
