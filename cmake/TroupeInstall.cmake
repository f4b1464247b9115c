# `cmake --install` gives a package that find_package(troupe) finds.
include(CMakePackageConfigHelpers)

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/troupe")
# What was not built cannot be installed; CMake alone would speak of a file that it cannot find.
set(installed_libraries ${what_programs_link})
if(NOT BUILD_SHARED_LIBS)
  list(APPEND installed_libraries troupe_backends)
endif()
foreach(target IN ITEMS ${installed_libraries} troupe_worker troupe_tool)
  install(CODE "
  if(NOT EXISTS \"$<TARGET_FILE:${target}>\")
    message(FATAL_ERROR \"Troupe is not built whole: $<TARGET_FILE:${target}> is missing. Build it first: \"
                        \"cmake --build ${PROJECT_BINARY_DIR}\")
  endif()")
endforeach()
install(TARGETS troupe troupe_plugin ${installed_libraries} EXPORT troupeTargets
        INCLUDES DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
if(NOT BUILD_SHARED_LIBS)
  install(TARGETS troupe_thread EXPORT troupeTargets)
endif()
install(TARGETS troupe_tool RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
install(TARGETS troupe_worker RUNTIME DESTINATION "${CMAKE_INSTALL_LIBEXECDIR}/troupe")
install(EXPORT troupeTargets NAMESPACE troupe:: DESTINATION "${package_dir}")
# What users may include, and what that includes in turn (tools/public_headers.py).
file(STRINGS "${PROJECT_SOURCE_DIR}/cmake/public_headers.txt" public_headers)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS cmake/public_headers.txt)
foreach(header IN LISTS public_headers)
  cmake_path(GET header PARENT_PATH folder)
  install(FILES "${PROJECT_SOURCE_DIR}/${header}" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/${folder}")
endforeach()

configure_package_config_file(
  "${PROJECT_SOURCE_DIR}/cmake/troupeConfig.cmake.in" "${PROJECT_BINARY_DIR}/troupeConfig.cmake"
  INSTALL_DESTINATION "${package_dir}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/troupeConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/troupeConfig.cmake" "${PROJECT_BINARY_DIR}/troupeConfigVersion.cmake"
        "${PROJECT_SOURCE_DIR}/cmake/TroupeWorkerPath.cmake" "${PROJECT_SOURCE_DIR}/cmake/TroupePlugin.cmake"
        DESTINATION "${package_dir}")
