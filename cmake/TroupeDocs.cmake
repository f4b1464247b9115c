# Every ```cpp block of the documents is compiled; a document with a main() or with tests is also run.
# The sources are made when CMake runs, and CMake runs again when a document changes. The README shows programs of
# examples/ and nothing else: TroupeExamples compares them.
file(GLOB_RECURSE documents CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}" "${PROJECT_SOURCE_DIR}/docs/*.md")
list(APPEND documents CONTRIBUTING.md)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${documents} tools/doc_blocks.py)

# Prints one line `name;kind;source` per document that has blocks.
execute_process(
  COMMAND "${Python3_EXECUTABLE}" tools/doc_blocks.py "${PROJECT_BINARY_DIR}/docs" ${documents}
  WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}" OUTPUT_VARIABLE lines RESULT_VARIABLE status)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "The documents' code blocks cannot be read; see the lines above")
endif()

string(REGEX MATCHALL "[^\n]+" lines "${lines}")
foreach(line IN LISTS lines)
  string(REPLACE " " ";" line "${line}")
  list(GET line 0 name)
  list(GET line 1 kind)
  list(GET line 2 source)
  string(REPLACE "." "_" target "docs_${name}")
  if(kind STREQUAL "compile")
    add_library(${target} OBJECT "${source}")
    troupe_own_target(${target})
  else()
    troupe_shown_program(${target} "${source}")
    if(NOT TROUPE_COMPILE_ONLY)
      troupe_test("docs.${name}" ${target})
    endif()
  endif()
  if(kind STREQUAL "gtest")
    target_link_libraries(${target} PRIVATE GTest::gtest_main)
  endif()
  target_link_libraries(${target} PRIVATE troupe_thread troupe_asio)
endforeach()
