# `cmake --install` gives a package that find_package(troupe) finds.
include(CMakePackageConfigHelpers)

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/troupe")
install(TARGETS troupe EXPORT troupeTargets INCLUDES DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
install(TARGETS troupe_tool RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
install(TARGETS troupe_worker RUNTIME DESTINATION "${CMAKE_INSTALL_LIBEXECDIR}/troupe")
install(EXPORT troupeTargets NAMESPACE troupe:: DESTINATION "${package_dir}")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/troupe" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
        FILES_MATCHING PATTERN "*.hpp" PATTERN "*.h" PATTERN "*.test.*" EXCLUDE)

configure_package_config_file(
  "${PROJECT_SOURCE_DIR}/cmake/troupeConfig.cmake.in" "${PROJECT_BINARY_DIR}/troupeConfig.cmake"
  INSTALL_DESTINATION "${package_dir}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/troupeConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/troupeConfig.cmake" "${PROJECT_BINARY_DIR}/troupeConfigVersion.cmake"
        DESTINATION "${package_dir}")
