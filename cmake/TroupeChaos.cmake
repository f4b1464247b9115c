# tests/chaos: the program behind `./dev chaos`. It finds the worker and the plugin beside itself.
file(GLOB chaos_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/chaos/*.cpp")
add_executable(troupe_chaos ${chaos_sources})
target_link_libraries(troupe_chaos PRIVATE troupe_library)
troupe_own_target(troupe_chaos)
add_dependencies(troupe_chaos troupe_worker plugin_bad_plugin)
