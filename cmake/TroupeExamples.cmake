# examples/NN_topic.cpp: one program each, run as a test. examples/demo.cpp: what `./dev demo` shows.
# examples/plugins/NAME.cpp: a shared object libNAME.so that a worker loads; the programs look for it beside themselves.
add_custom_target(troupe_example_plugins)
file(GLOB example_plugins CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/examples/plugins/*.cpp")
foreach(source IN LISTS example_plugins)
  cmake_path(GET source STEM name)
  troupe_add_plugin(example_plugin_${name} "${source}")
  set_target_properties(example_plugin_${name} PROPERTIES OUTPUT_NAME "${name}")
  target_compile_features(example_plugin_${name} PRIVATE cxx_std_23)
  troupe_own_target(example_plugin_${name})
  troupe_sanitize(example_plugin_${name})
  add_dependencies(troupe_example_plugins example_plugin_${name})
endforeach()

function(troupe_example target source)
  troupe_shown_program(${target} "${source}")
  target_link_libraries(${target} PRIVATE troupe troupe_asio)
  add_dependencies(${target} troupe_worker troupe_example_plugins)
endfunction()

file(GLOB examples CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/examples/[0-9][0-9]_*.cpp")
foreach(source IN LISTS examples)
  cmake_path(GET source STEM name)
  if(name MATCHES "asio" AND NOT TROUPE_HAS_ASIO)
    if(TROUPE_BUILD_TESTS)
      troupe_skipped_test("example.${name}" "Boost headers not installed")
    endif()
    continue()
  endif()
  if(name MATCHES "thread_isolation" AND BUILD_SHARED_LIBS)
    continue()
  endif()
  troupe_example("example_${name}" "${source}")
  if(name MATCHES "thread_isolation")
    target_link_libraries("example_${name}" PRIVATE troupe_thread)
  endif()
  if(TROUPE_BUILD_TESTS AND NOT TROUPE_COMPILE_ONLY)
    troupe_test("example.${name}" "example_${name}")
  endif()
endforeach()

# examples/reference/TOPIC.cpp: the examples of the reference, name by name (tools/reference_filter.py).
file(GLOB reference_examples CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/examples/reference/*.cpp")
foreach(source IN LISTS reference_examples)
  cmake_path(GET source STEM name)
  if(name STREQUAL "asio" AND NOT TROUPE_HAS_ASIO)
    continue()
  endif()
  troupe_example("example_reference_${name}" "${source}")
  if(TROUPE_BUILD_TESTS AND NOT TROUPE_COMPILE_ONLY)
    troupe_test("example.reference_${name}" "example_reference_${name}")
  endif()
endforeach()

# What the README shows is that example, and what it says is printed is printed.
if(TROUPE_BUILD_TESTS AND NOT TROUPE_COMPILE_ONLY)
  troupe_test(docs.README Python3::Interpreter "${PROJECT_SOURCE_DIR}/tools/readme_check.py"
              "${PROJECT_SOURCE_DIR}/README.md" "${PROJECT_SOURCE_DIR}/examples"
              "$<TARGET_FILE:example_00_survive_a_plugin>")
endif()

# A program that uses devices, and links what a user's would: nothing of the backends is in it, and it is small.
if(TROUPE_BUILD_TESTS AND NOT TROUPE_SANITIZE AND NOT TROUPE_COMPILE_ONLY)
  set(size_limit "")
  if(CMAKE_BUILD_TYPE MATCHES "Rel")
    set(size_limit --max-bytes 2097152)
  endif()
  troupe_test(linked_program Python3::Interpreter "${PROJECT_SOURCE_DIR}/tools/look_at_program.py" ${size_limit}
              "$<TARGET_FILE:example_20_first_device>")
endif()

if(EXISTS "${PROJECT_SOURCE_DIR}/examples/demo.cpp")
  troupe_example(troupe_demo "${PROJECT_SOURCE_DIR}/examples/demo.cpp")
endif()
