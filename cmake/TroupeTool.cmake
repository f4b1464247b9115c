# tools/troupe: the command line tool `troupe`. Its parts are compiled once, for the program and for its tests.
troupe_glob(tool_parts "tools/troupe/*.cpp")
list(FILTER tool_parts EXCLUDE REGEX "/main\\.cpp$")
add_library(troupe_tool_parts OBJECT ${tool_parts})
target_link_libraries(troupe_tool_parts PUBLIC troupe_library)
troupe_own_target(troupe_tool_parts)

add_executable(troupe_tool tools/troupe/main.cpp)
target_link_libraries(troupe_tool PRIVATE troupe_tool_parts)
troupe_own_target(troupe_tool)
add_dependencies(troupe_tool troupe_worker)
# In a folder of its own, because the library's target has the name already. A link leads from there to the worker.
set_target_properties(troupe_tool PROPERTIES OUTPUT_NAME troupe RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")
add_custom_command(TARGET troupe_tool POST_BUILD VERBATIM
  COMMAND "${CMAKE_COMMAND}" -E create_symlink "$<TARGET_FILE:troupe_worker>" "${PROJECT_BINARY_DIR}/bin/troupe-worker")
