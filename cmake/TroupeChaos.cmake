# tests/chaos, tests/adversary, tests/killer: the programs behind `./dev chaos`, `./dev adversary` and `./dev killer`.
# They find the worker and the plugin beside themselves. tests/scribbler is what the first two share.
foreach(name chaos adversary killer)
  file(GLOB ${name}_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/${name}/*.cpp")
  add_executable(troupe_${name} ${${name}_sources})
  target_link_libraries(troupe_${name} PRIVATE troupe_library)
  troupe_own_target(troupe_${name})
  add_dependencies(troupe_${name} troupe_worker plugin_bad_plugin)
endforeach()
foreach(name chaos adversary)
  target_sources(troupe_${name} PRIVATE "${PROJECT_SOURCE_DIR}/tests/scribbler/scribbler.cpp")
endforeach()
