# Gets Troupe in one of the ways that users have, then builds and runs the project beside this file with it.
#   HOW     package: install BUILD; subdirectory, fetch: from SOURCE; built_package: build SOURCE and install it;
#           not_built: install what was not built
#   SHARED  Troupe is a shared object
#   MOVED   the package is moved to another prefix after it was installed
#   WORK    the folder for all of it, emptied first except for builds of Troupe
cmake_minimum_required(VERSION 3.25)

function(step)
  execute_process(COMMAND ${ARGV} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

set(how_to_compile -G Ninja "-DCMAKE_CXX_COMPILER=${COMPILER}" "-DCMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER}"
    "-DCMAKE_BUILD_TYPE=${BUILD_TYPE}")
if(FLAGS)
  list(APPEND how_to_compile "-DCMAKE_CXX_FLAGS_RELWITHDEBINFO=${FLAGS}")
endif()
set(how_to_build_troupe ${how_to_compile} "-DTROUPE_WERROR=${WERROR}" "-DTROUPE_CUDA=${CUDA}" "-DTROUPE_UNITY=${UNITY}"
    "-DTROUPE_KERNEL_CACHE=${KERNEL_CACHE}" -DTROUPE_BUILD_TESTS=OFF -DTROUPE_BUILD_BENCH=OFF
    -DTROUPE_BUILD_EXAMPLES=OFF "-DBUILD_SHARED_LIBS=${SHARED}")

if(HOW STREQUAL "not_built")
  file(REMOVE_RECURSE "${WORK}")
  step("${CMAKE_COMMAND}" -S "${SOURCE}" -B "${WORK}" ${how_to_build_troupe})
  execute_process(COMMAND "${CMAKE_COMMAND}" --install "${WORK}" --prefix "${WORK}/prefix"
                  RESULT_VARIABLE status ERROR_VARIABLE message OUTPUT_QUIET)
  message("${message}")
  string(REGEX REPLACE "[ \n]+" " " message "${message}")
  if(status EQUAL 0 OR NOT message MATCHES "is missing\\. Build it first: cmake --build")
    message(FATAL_ERROR "The message above should say what is missing and how to build it")
  endif()
  return()
endif()

if(HOW STREQUAL "built_package")
  set(BUILD "${WORK}_troupe")
  step("${CMAKE_COMMAND}" -S "${SOURCE}" -B "${BUILD}" ${how_to_build_troupe})
  step("${CMAKE_COMMAND}" --build "${BUILD}")
endif()
if(HOW MATCHES "package$")
  file(REMOVE_RECURSE "${WORK}")
  if(MOVED)
    step("${CMAKE_COMMAND}" --install "${BUILD}" --prefix "${WORK}/first_prefix")
    file(RENAME "${WORK}/first_prefix" "${WORK}/prefix")
  else()
    step("${CMAKE_COMMAND}" --install "${BUILD}" --prefix "${WORK}/prefix")
  endif()
  set(build "${WORK}/build")
  set(where "-DCMAKE_PREFIX_PATH=${WORK}/prefix" ${how_to_compile})
else()
  set(build "${WORK}")  # as deep as our own: paths relative to it are what ccache compares
  set(where "-DTROUPE_SOURCE=${SOURCE}" ${how_to_build_troupe})
endif()

set(programs consumer consumer_behind)
if(NOT SHARED)
  list(APPEND programs consumer_thread)
endif()
step("${CMAKE_COMMAND}" -S "${CMAKE_CURRENT_LIST_DIR}" -B "${build}" "-DHOW=${HOW}" ${where})
step("${CMAKE_COMMAND}" --build "${build}" --target ${programs} doubler)

# Far from the worker: only what is inside the program can tell it the way.
file(REMOVE_RECURSE "${WORK}/elsewhere")
foreach(program IN LISTS programs)
  file(COPY "${build}/${program}" DESTINATION "${WORK}/elsewhere")
  execute_process(COMMAND env -i "${WORK}/elsewhere/${program}" WORKING_DIRECTORY "${WORK}/elsewhere"
                  COMMAND_ERROR_IS_FATAL ANY)
endforeach()
