# tests/scribbler: what both programs below need.
set(scribbler_sources "${PROJECT_SOURCE_DIR}/tests/scribbler/scribbler.cpp")

# tests/chaos: the program behind `./dev chaos`. It finds the worker and the plugin beside itself.
file(GLOB chaos_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/chaos/*.cpp")
add_executable(troupe_chaos ${chaos_sources} ${scribbler_sources})
target_link_libraries(troupe_chaos PRIVATE troupe_library)
troupe_own_target(troupe_chaos)
add_dependencies(troupe_chaos troupe_worker plugin_bad_plugin)

# tests/adversary: the program behind `./dev adversary`, likewise.
file(GLOB adversary_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/adversary/*.cpp")
add_executable(troupe_adversary ${adversary_sources} ${scribbler_sources})
target_link_libraries(troupe_adversary PRIVATE troupe_library)
troupe_own_target(troupe_adversary)
add_dependencies(troupe_adversary troupe_worker plugin_bad_plugin)
