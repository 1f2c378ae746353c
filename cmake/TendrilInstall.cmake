# `cmake --install`: the library, its headers and the command, and the package that find_package(tendril) reads
# (docs/install.md). The Python extension is another component, which only its wheel installs.

include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

install(TARGETS tendril tendril_engine EXPORT tendrilTargets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/tendril DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILES_MATCHING PATTERN "*.hpp" PATTERN "*.cuh")
# The engine's headers include the sampling rules as "core/…": these lie beside tendril/, where only tendril::engine looks.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/src/core DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/tendril-engine
  FILES_MATCHING PATTERN "*.hpp" PATTERN "rtc" EXCLUDE)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/licenses/tendril)

set(tendril_package ${CMAKE_INSTALL_LIBDIR}/cmake/tendril)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/tendrilConfig.cmake.in
  ${PROJECT_BINARY_DIR}/tendrilConfig.cmake INSTALL_DESTINATION ${tendril_package})
# Before version 1 a minor version may change the interface.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/tendrilConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/tendrilConfig.cmake ${PROJECT_BINARY_DIR}/tendrilConfigVersion.cmake
  DESTINATION ${tendril_package})
install(EXPORT tendrilTargets NAMESPACE tendril:: DESTINATION ${tendril_package})
if(TENDRIL_MPI)  # apart, so that only who asks for it needs an MPI
  install(TARGETS tendril_mpi EXPORT tendrilMpiTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(EXPORT tendrilMpiTargets NAMESPACE tendril:: DESTINATION ${tendril_package})
endif()
