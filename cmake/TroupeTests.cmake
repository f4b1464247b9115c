# The tests: one executable per layer (a folder of troupe/) and one for the tool, the consumer project, the code that
# must not compile, the documents' code blocks, and the style.
find_package(GTest REQUIRED)
find_package(Python3 REQUIRED COMPONENTS Interpreter)

# Tests whose names match one of these run alone: they measure time, or use every core themselves.
set(TROUPE_SERIAL_TESTS "[Ss]oak")

# Those that match this have a GPU's time to themselves.
set(TROUPE_GPU_TESTS "Gpu|EveryCompletion")

# ThreadSanitizer looks where threads are: what follows the library's calls to a device is the same for all of its ops,
# so one family stands for them.
string(JOIN "|" TROUPE_THREADED_TESTS "troupe/(core/(assert|clock|log|park)|(actor|wire|worker|device)/)"
       "backend/plugin/"
       "backend/host/(lanes/|team/|memory/|tensor/|kernels/(guarded|plane|walk))" "library/(jit/|blas/blas\\.)")

# Compile options of the tests alone. The library under test is compiled as always.
set(TROUPE_TEST_OPTIONS "" CACHE STRING "Compile options for the tests, such as -O0")

# For those who want a few tests only, and soon: files whose paths match this; all of them unless it is set.
set(TROUPE_TESTS_ONLY "" CACHE STRING "Regular expression: the files of tests that are built")

if(TROUPE_PCH)
  file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/test_pch.cpp" CONTENT "// Nothing but the headers.\n")
  add_library(troupe_test_pch OBJECT "${PROJECT_BINARY_DIR}/test_pch.cpp")
  target_link_libraries(troupe_test_pch PRIVATE troupe_thread troupe_asio troupe_cuda GTest::gtest_main)
  troupe_own_target(troupe_test_pch)
  target_compile_options(troupe_test_pch PRIVATE ${TROUPE_TEST_OPTIONS} ${TROUPE_PCH_OPTIONS})
  target_precompile_headers(troupe_test_pch PRIVATE ${TROUPE_PCH_HEADERS} <gtest/gtest.h> <filesystem> <fstream>
    <numeric> <random> <ranges> $<$<BOOL:${TROUPE_UNITY}>:<troupe/troupe.hpp$<ANGLE-R>>)
endif()

set(TROUPE_TEST_TIMEOUT_S 120)
if(TROUPE_SANITIZE)
  set(TROUPE_TEST_TIMEOUT_S 300)
endif()
# A process that is meant to die of a signal does so at once: clang's report of it may wait for its own locks for ever.
set(TROUPE_TEST_ENVIRONMENT
    "ASAN_OPTIONS=halt_on_error=1:detect_leaks=1:detect_stack_use_after_return=1:strict_string_checks=1"
    "UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1"
    "TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1:handle_segv=0:handle_sigbus=0"
    "TROUPE_PROGRAMS=")  # tests keep no compiled programs for each other

# troupe_test(name command...): like add_test, with the properties all our tests have.
function(troupe_test name)
  add_test(NAME "${name}" COMMAND ${ARGN})
  set_tests_properties("${name}" PROPERTIES TIMEOUT ${TROUPE_TEST_TIMEOUT_S} ENVIRONMENT "${TROUPE_TEST_ENVIRONMENT}")
  string(JOIN "|" serial ${TROUPE_SERIAL_TESTS})
  if(name MATCHES "${serial}")
    set_tests_properties("${name}" PROPERTIES RUN_SERIAL TRUE)
  endif()
endfunction()

# A test that cannot be built here says so, and why.
function(troupe_skipped_test name reason)
  troupe_test("${name}" "${CMAKE_COMMAND}" -E echo "skipped: ${reason}")
  set_tests_properties("${name}" PROPERTIES SKIP_REGULAR_EXPRESSION "^skipped: ")
endfunction()

# troupe_folder_tests(name folder [source ...]): the tests of a folder, and the sources given, as the executable
# troupe_<name>_test. Files named *asio*.test.cpp need Boost.Asio and are left out without it.
function(troupe_folder_tests name folder)
  file(GLOB_RECURSE files CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/${folder}/*.test.cpp")
  if(NOT TROUPE_HAS_ASIO)
    set(asio_files ${files})
    list(FILTER asio_files INCLUDE REGEX "/[^/]*asio[^/]*$")
    if(asio_files)
      list(REMOVE_ITEM files ${asio_files})
      troupe_skipped_test("${name}.asio" "Boost headers not installed")
    endif()
  endif()
  if(TROUPE_SANITIZE)  # a sanitizer and a GPU do not go together
    list(FILTER files EXCLUDE REGEX "/gpu[^/]*\\.test\\.cpp$")
  endif()
  if(TROUPE_SANITIZE STREQUAL "thread")
    list(FILTER files INCLUDE REGEX "${TROUPE_THREADED_TESTS}")
    list(FILTER files EXCLUDE REGEX "wire/zygote\\.")  # this sanitizer ends what forks
  endif()
  if(TROUPE_TESTS_ONLY)
    list(FILTER files INCLUDE REGEX "${TROUPE_TESTS_ONLY}")
  endif()
  if(NOT files)
    return()
  endif()
  set(target "troupe_${name}_test")
  add_executable(${target} ${files} ${ARGN})
  target_link_libraries(${target} PRIVATE troupe_thread troupe_asio troupe_cuda GTest::gtest_main)
  add_dependencies(${target} troupe_worker troupe_test_plugins)
  troupe_own_target(${target})
  if(TROUPE_SANITIZE)
    target_compile_definitions(${target} PRIVATE
      "TROUPE_TEST_TYPES=$<IF:$<STREQUAL:${TROUPE_SANITIZE},thread>,1,2>")
  endif()
  # Coroutines are tested as the optimiser makes them, and the core's tests go through all codes of small floats.
  if(NOT name MATCHES "^(actor|core)$")
    target_compile_options(${target} PRIVATE ${TROUPE_TEST_OPTIONS})
    if(TROUPE_PCH)
      target_precompile_headers(${target} REUSE_FROM troupe_test_pch)
      target_compile_options(${target} PRIVATE ${TROUPE_PCH_OPTIONS})
    endif()
  endif()
  if(name MATCHES "^(core|op|backend|library)$")
    # Copies of stack frames make loops over all codes, the kernels and what checks them up to 70 times slower, and
    # nothing outlives a frame.
    list(TRANSFORM TROUPE_TEST_ENVIRONMENT REPLACE "detect_stack_use_after_return=1" "detect_stack_use_after_return=0")
  endif()
  if(TROUPE_SANITIZE STREQUAL "address")
    # The search for leaks at the end of a process takes 4 s with g++ 12 on ARM, so few processes run them all.
    math(EXPR timeout_s "4 * ${TROUPE_TEST_TIMEOUT_S}")
    set(shards 1)
    if(name STREQUAL "library")
      set(shards 4)
    endif()
    foreach(shard RANGE 1 ${shards})
      math(EXPR index "${shard} - 1")
      set(shard_name "${name}")
      if(shards GREATER 1)
        set(shard_name "${name}.${shard}_of_${shards}")
      endif()
      set(environment "${TROUPE_TEST_ENVIRONMENT}" "GTEST_TOTAL_SHARDS=${shards}" "GTEST_SHARD_INDEX=${index}")
      if(TROUPE_COVERAGE AND NOT name STREQUAL "fake_cuda")
        # What these count is not looked at, and must not come between the processes that are.
        list(APPEND environment "GCOV_PREFIX=${PROJECT_BINARY_DIR}/gcov/${shard_name}")
      elseif(TROUPE_COVERAGE)
        list(APPEND environment "TROUPE_COUNTS_LINES=1")
      endif()
      troupe_test("${shard_name}" ${target})
      set_tests_properties("${shard_name}" PROPERTIES TIMEOUT ${timeout_s} ENVIRONMENT "${environment}")
    endforeach()
    return()
  endif()
  # CTest learns which suites there are when it starts.
  set(suites_file "${PROJECT_BINARY_DIR}/${target}_suites.cmake")
  configure_file("${PROJECT_SOURCE_DIR}/cmake/test_suites.cmake.in" "${suites_file}" @ONLY)
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES "${suites_file}")
endfunction()

# tests/plugins/NAME.cpp: a shared object libNAME.so that a worker loads, beside the programs.
add_custom_target(troupe_test_plugins)
file(GLOB plugins CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/plugins/*.cpp")
foreach(source IN LISTS plugins)
  cmake_path(GET source STEM name)
  troupe_add_plugin(plugin_${name} "${source}")
  set_target_properties(plugin_${name} PROPERTIES OUTPUT_NAME "${name}")
  target_compile_features(plugin_${name} PRIVATE cxx_std_23)
  troupe_own_target(plugin_${name})
  troupe_sanitize(plugin_${name})
  add_dependencies(troupe_test_plugins plugin_${name})
endforeach()

# It compares a page with what is said.
set_source_files_properties(troupe/library/mistakes.test.cpp PROPERTIES
  COMPILE_DEFINITIONS "TROUPE_DOCS=\"${PROJECT_SOURCE_DIR}/docs\"")

file(GLOB layers RELATIVE "${PROJECT_SOURCE_DIR}/troupe" CONFIGURE_DEPENDS LIST_DIRECTORIES true
     "${PROJECT_SOURCE_DIR}/troupe/*")
foreach(layer IN LISTS layers)
  if(IS_DIRECTORY "${PROJECT_SOURCE_DIR}/troupe/${layer}")
    troupe_folder_tests("${layer}" "troupe/${layer}")
  endif()
endforeach()

troupe_folder_tests(tool tools/troupe $<TARGET_OBJECTS:troupe_tool_parts>)
if(TARGET troupe_tool_test)
  add_dependencies(troupe_tool_test troupe_tool)
endif()

if(TROUPE_SANITIZE AND NOT TROUPE_COMPILE_ONLY)
  return()  # what follows is the same with and without a sanitizer; the second compiler sees some of it
endif()

# Code that must not compile, with a message that says why.
file(GLOB compile_fail_files CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/compile_fail/*.cpp")
foreach(file IN LISTS compile_fail_files)
  cmake_path(GET file STEM name)
  troupe_test("compile_fail.${name}" Python3::Interpreter "${PROJECT_SOURCE_DIR}/tools/compile_fail.py" "${file}"
              "${CMAKE_CXX_COMPILER}" ${CMAKE_CXX23_STANDARD_COMPILE_OPTION} ${TROUPE_WARNINGS} -Werror
              "-I${PROJECT_SOURCE_DIR}")
endforeach()

include(TroupeDocs)
if(TROUPE_COMPILE_ONLY)
  return()  # what follows is the same for both
endif()

include(TroupeConsumers)
troupe_test(public_headers Python3::Interpreter "${PROJECT_SOURCE_DIR}/tools/public_headers.py" "${PROJECT_SOURCE_DIR}")
troupe_test(public_names Python3::Interpreter "${PROJECT_SOURCE_DIR}/tools/public_names.py" "${PROJECT_SOURCE_DIR}")
set_tests_properties(public_names PROPERTIES SKIP_REGULAR_EXPRESSION "^skipped: ")
troupe_test(reference Python3::Interpreter "${PROJECT_SOURCE_DIR}/tools/reference.py" "${PROJECT_SOURCE_DIR}"
            "${PROJECT_BINARY_DIR}/reference" --check)
set_tests_properties(reference PROPERTIES SKIP_REGULAR_EXPRESSION "^skipped: ")
troupe_test(options_page Python3::Interpreter "${PROJECT_SOURCE_DIR}/tools/options_page.py" "${PROJECT_SOURCE_DIR}")
troupe_test(recipes Python3::Interpreter "${PROJECT_SOURCE_DIR}/tools/recipes_check.py" "${PROJECT_SOURCE_DIR}")
troupe_test(style Python3::Interpreter "${PROJECT_SOURCE_DIR}/tools/style_check.py" "${PROJECT_SOURCE_DIR}")

# The tools that choose what runs are tested too.
file(GLOB tool_tests CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tools/*_test.py")
foreach(file IN LISTS tool_tests)
  cmake_path(GET file STEM name)
  troupe_test("tools.${name}" Python3::Interpreter "${file}")
endforeach()

# What docs/capabilities.md says is what the conformance suites show.
configure_file("${PROJECT_SOURCE_DIR}/cmake/test_capabilities.cmake.in" "${PROJECT_BINARY_DIR}/test_capabilities.cmake"
               @ONLY)
set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES "${PROJECT_BINARY_DIR}/test_capabilities.cmake")
