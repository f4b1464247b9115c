# consumer.*: Troupe as users get it. Each test builds the project tests/consumer and runs its programs far from Troupe,
# without a variable that would help them. Those that compile Troupe anew belong to the configuration `Consumers`, so
# that only `./dev consumers` runs them; ccache makes them cheap, because their flags and folders are like ours.
cmake_path(GET PROJECT_BINARY_DIR PARENT_PATH consumer_folder)

# troupe_consumer_test(name [NAME=value ...]): what tests/consumer/run.cmake is told.
function(troupe_consumer_test name)
  list(TRANSFORM ARGN PREPEND "-D")
  add_test(NAME "consumer.${name}" ${test_configuration}
           COMMAND "${CMAKE_COMMAND}" "-DSOURCE=${PROJECT_SOURCE_DIR}" "-DBUILD=${PROJECT_BINARY_DIR}"
                   "-DWORK=${consumer_folder}/consumer_${name}" "-DCOMPILER=${CMAKE_CXX_COMPILER}"
                   "-DLAUNCHER=$<$<BOOL:${TROUPE_CCACHE}>:${TROUPE_CCACHE}>" "-DBUILD_TYPE=${CMAKE_BUILD_TYPE}"
                   "-DFLAGS=${CMAKE_CXX_FLAGS_RELWITHDEBINFO}" "-DWERROR=${TROUPE_WERROR}" ${ARGN}
                   -P "${PROJECT_SOURCE_DIR}/tests/consumer/run.cmake")
  set_tests_properties("consumer.${name}" PROPERTIES TIMEOUT 3600)
endfunction()

set(test_configuration "")
troupe_consumer_test(installed HOW=package)
troupe_consumer_test(moved HOW=package MOVED=ON)
troupe_consumer_test(not_built HOW=not_built)

set(test_configuration CONFIGURATIONS Consumers)
troupe_consumer_test(subdirectory HOW=subdirectory)
troupe_consumer_test(fetch HOW=fetch)
troupe_consumer_test(release HOW=build BUILD_TYPE=Release FLAGS= WERROR=OFF)
troupe_consumer_test(release_with_symbols HOW=build BUILD_TYPE=RelWithDebInfo FLAGS= WERROR=OFF)
troupe_consumer_test(no_build_type HOW=build BUILD_TYPE= FLAGS= WERROR=OFF)
