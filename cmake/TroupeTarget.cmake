# What every target of this project shares: the language, the warnings, the sanitizer.

set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CXX_SCAN_FOR_MODULES OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 12)
  message(FATAL_ERROR "Troupe needs g++ 12 or later; this is ${CMAKE_CXX_COMPILER_VERSION}")
elseif(CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 19)
  message(FATAL_ERROR "Troupe needs clang 19 or later; this is ${CMAKE_CXX_COMPILER_VERSION}")
endif()

find_program(TROUPE_CCACHE ccache)
mark_as_advanced(TROUPE_CCACHE)
if(PROJECT_IS_TOP_LEVEL AND TROUPE_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # The sloppiness is what it needs to cache what uses a precompiled header (TROUPE_PCH). Without paths of this
  # checkout, another one of the same text finds what this one has compiled.
  set(CMAKE_CXX_COMPILER_LAUNCHER "${CMAKE_COMMAND}" -E env CCACHE_SLOPPINESS=pch_defines,time_macros
                                  "CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}" CCACHE_NOHASHDIR=1 "${TROUPE_CCACHE}")
endif()

# It links a program in a third of the time, and there are some seventy of them.
find_program(TROUPE_MOLD mold)
mark_as_advanced(TROUPE_MOLD)
if(PROJECT_IS_TOP_LEVEL AND TROUPE_MOLD)
  add_link_options(-fuse-ld=mold)
endif()

set(TROUPE_WARNINGS -Wall -Wextra -Wpedantic -Wshadow)
if(TROUPE_WERROR)
  list(APPEND TROUPE_WARNINGS -Werror)
endif()

# For x86, GCC copies and clears small structs by `rep movs` and `rep stos`, which take longer to begin than memcpy and
# memset take; every op meets several on its way.
set(TROUPE_TUNING "")
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  set(TROUPE_TUNING -mmemcpy-strategy=libcall:-1:noalign -mmemset-strategy=libcall:-1:noalign)
endif()

# Our own code: warnings on, as errors if TROUPE_WERROR says so.
function(troupe_own_target target)
  target_compile_options(${target} PRIVATE ${TROUPE_WARNINGS} ${TROUPE_TUNING})
endfunction()

# What programs, shared libraries and the Python package have in them is compiled in the same way, so once. Nobody puts
# a function in place of ours.
function(troupe_position_independent target)
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_compile_options(${target} PRIVATE -fno-semantic-interposition)
endfunction()

# What nearly every file includes and nobody here changes, compiled once for all files of a target: a third of what a
# file takes to compile. Our own headers are not in it, so that a change of one compiles again only what includes it.
# In the presets only: where users build, and so in `./dev consumers`, a file that lacks an include does not compile.
option(TROUPE_PCH "Compile the standard library's headers once, and GoogleTest's for the tests" OFF)
set(TROUPE_PCH_HEADERS <algorithm> <array> <atomic> <chrono> <complex> <coroutine> <expected> <functional> <memory>
    <mutex> <optional> <span> <string> <thread> <vector>)
# What ccache needs to know such a header by.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  set(TROUPE_PCH_OPTIONS -fpch-preprocess)
else()
  set(TROUPE_PCH_OPTIONS "SHELL:-Xclang -fno-pch-timestamp")
endif()
# g++ forgets which headers of a precompiled one are the system's, and warns of them where it optimises: not where
# warnings are errors.
function(troupe_pch target)
  if(TROUPE_PCH AND NOT (TROUPE_WERROR AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU"))
    target_precompile_headers(${target} PRIVATE ${TROUPE_PCH_HEADERS})
    target_compile_options(${target} PRIVATE ${TROUPE_PCH_OPTIONS})
  endif()
endfunction()

# Programs that show something: examples, benchmarks, the documents' code. With a second compiler it is enough that they
# compile, as fast as they can: what they do is shown with the first.
set(TROUPE_SHOWN_OPTIONS -O1)
option(TROUPE_COMPILE_ONLY "Compile examples and documents without linking and running them" OFF)
function(troupe_shown_program target)
  if(TROUPE_COMPILE_ONLY)
    add_library(${target} OBJECT ${ARGN})
    set_property(SOURCE ${ARGN} APPEND PROPERTY COMPILE_OPTIONS -O0 $<$<BOOL:${TROUPE_SANITIZE}>:-fno-sanitize=all>)
  else()
    add_executable(${target} ${ARGN})
  endif()
  troupe_own_target(${target})
  troupe_compiled_once(${target})
endfunction()

# Where all is compiled once (TROUPE_UNITY), programs that show something find the public headers compiled, and are
# compiled with little optimisation. They must link what joins worker and program, or no more than that needs.
function(troupe_compiled_once target)
  if(NOT TROUPE_UNITY OR TROUPE_COMPILE_ONLY)
    return()
  endif()
  if(NOT TARGET troupe_shown_pch)
    file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/shown_pch.cpp" CONTENT "// Nothing but the headers.\n")
    add_library(troupe_shown_pch OBJECT "${PROJECT_BINARY_DIR}/shown_pch.cpp")
    target_link_libraries(troupe_shown_pch PRIVATE troupe_thread)
    troupe_own_target(troupe_shown_pch)
    target_compile_options(troupe_shown_pch PRIVATE ${TROUPE_SHOWN_OPTIONS} ${TROUPE_PCH_OPTIONS})
    target_precompile_headers(troupe_shown_pch PRIVATE ${TROUPE_PCH_HEADERS} <iostream> <troupe/troupe.hpp>)
  endif()
  target_compile_options(${target} PRIVATE ${TROUPE_SHOWN_OPTIONS} ${TROUPE_PCH_OPTIONS})
  target_precompile_headers(${target} REUSE_FROM troupe_shown_pch)
endfunction()

# Compiles the files of a folder together, which reads headers and makes what is inlined once. Where nobody changes a
# file and builds again: in the sanitizers' presets, and in CI, which sets the variable. A file that lacks an include
# does not compile where users build, nor in `./dev consumers`. A file is with the same others whatever else there is,
# and no path of this checkout is in what is compiled, so that ccache finds it again: large folders are divided by what
# the name hashes to. (CMake's own way writes whole paths.)
option(TROUPE_UNITY "Compile several files of a library at once" "$ENV{TROUPE_UNITY}")
function(troupe_unity target)
  if(TROUPE_UNITY)
    # When all options of its sources are known. A deferred call's arguments are read only then.
    cmake_language(EVAL CODE "cmake_language(DEFER CALL troupe_join_sources [[${target}]])")
  endif()
endfunction()

function(troupe_join_sources target)
  # g++ takes a file that another one includes for a header, where a coroutine's frame must not have local types.
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(${target} PRIVATE -Wno-subobject-linkage)
  endif()
  get_target_property(sources ${target} SOURCES)
  set(folders ${sources})
  list(TRANSFORM folders REPLACE "/[^/]*$" "")
  set(left "")
  set(groups "")
  foreach(source folder IN ZIP_LISTS sources folders)
    # What differs in anything but its options, or is without the precompiled header, stays alone.
    get_source_file_property(definitions "${source}" COMPILE_DEFINITIONS)
    get_source_file_property(without_pch "${source}" SKIP_PRECOMPILE_HEADERS)
    get_source_file_property(alone "${source}" SKIP_UNITY_BUILD_INCLUSION)
    if(definitions OR without_pch OR alone)
      list(APPEND left "${source}")
      continue()
    endif()
    set(in_folder ${folders})
    list(FILTER in_folder INCLUDE REGEX "^${folder}$")
    list(LENGTH in_folder count)
    cmake_path(RELATIVE_PATH folder BASE_DIRECTORY "${PROJECT_SOURCE_DIR}" OUTPUT_VARIABLE group)
    string(REPLACE "/" "_" group "${group}")
    if(count GREATER 10)
      cmake_path(GET source FILENAME part)
      string(MD5 part "${part}")
      string(SUBSTRING "${part}" 0 1 part)
      math(EXPR part "0x${part} % 4")
      string(APPEND group "_${part}")
    endif()
    get_source_file_property(options "${source}" COMPILE_OPTIONS)
    if(options)
      string(MD5 key "${options}")
      string(SUBSTRING "${key}" 0 4 key)
      string(APPEND group "_with_${key}")
      set(options_of_${group} "${options}")
    endif()
    list(APPEND groups "${group}")
    cmake_path(RELATIVE_PATH source BASE_DIRECTORY "${PROJECT_SOURCE_DIR}")
    string(APPEND text_of_${group} "#include \"${source}\"\n")
  endforeach()
  list(REMOVE_DUPLICATES groups)
  foreach(group IN LISTS groups)
    set(joined "${CMAKE_BINARY_DIR}/unity/${target}/${group}.cpp")
    file(CONFIGURE OUTPUT "${joined}" CONTENT "${text_of_${group}}" @ONLY)
    if(options_of_${group})
      set_source_files_properties("${joined}" PROPERTIES COMPILE_OPTIONS "${options_of_${group}}")
    endif()
    list(APPEND left "${joined}")
  endforeach()
  set_target_properties(${target} PROPERTIES SOURCES "${left}")
endfunction()

# Public: whatever links a sanitized library must be sanitized too.
function(troupe_sanitize target)
  if(TROUPE_SANITIZE STREQUAL "address")
    set(flags -fsanitize=address,undefined -fno-sanitize-recover=all)
    # Clang looks at the types of functions, too. Those of libraries that are opened at run time we declare ourselves,
    # with an integer where they have an enumeration.
    if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
      list(APPEND flags -fno-sanitize=function)
    endif()
  elseif(TROUPE_SANITIZE STREQUAL "thread")
    set(flags -fsanitize=thread)
    # g++ warns of the fences in Boost's headers wherever they are inlined; nothing of ours uses a fence.
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
      list(APPEND flags -Wno-tsan)
    endif()
  elseif(TROUPE_SANITIZE)
    message(FATAL_ERROR "TROUPE_SANITIZE is \"${TROUPE_SANITIZE}\"; it can be empty, address or thread")
  else()
    return()
  endif()
  target_compile_options(${target} PUBLIC ${flags} -fno-omit-frame-pointer)
  target_link_options(${target} PUBLIC ${flags})
endfunction()

# Files that match the patterns in all folders below, without the tests.
function(troupe_glob result)
  list(TRANSFORM ARGN PREPEND "${PROJECT_SOURCE_DIR}/")
  file(GLOB_RECURSE files CONFIGURE_DEPENDS ${ARGN})
  list(FILTER files EXCLUDE REGEX "\\.test\\.cpp$")
  set(${result} ${files} PARENT_SCOPE)
endfunction()
