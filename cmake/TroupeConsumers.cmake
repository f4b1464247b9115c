# consumer.*: Troupe as users get it. Each test builds the project tests/consumer and runs its programs far from Troupe,
# without a variable that would help them. Those that compile Troupe anew belong to the configuration `Consumers`, so
# that only `./dev consumers` runs them.
cmake_path(GET PROJECT_BINARY_DIR PARENT_PATH consumer_folder)

# troupe_consumer_test(name [NAME=value ...]): what tests/consumer/run.cmake is told.
function(troupe_consumer_test name)
  list(TRANSFORM ARGN PREPEND "-D")
  add_test(NAME "consumer.${name}" ${test_configuration}
           COMMAND "${CMAKE_COMMAND}" "-DSOURCE=${PROJECT_SOURCE_DIR}" "-DBUILD=${PROJECT_BINARY_DIR}"
                   "-DWORK=${consumer_folder}/consumer_${name}" "-DCOMPILER=${CMAKE_CXX_COMPILER}"
                   "-DLAUNCHER=$<$<BOOL:${TROUPE_CCACHE}>:${TROUPE_CCACHE}>" "-DBUILD_TYPE=${CMAKE_BUILD_TYPE}"
                   "-DFLAGS=${CMAKE_CXX_FLAGS_RELWITHDEBINFO}" "-DWERROR=${TROUPE_WERROR}"
                   "-DKERNEL_CACHE=${TROUPE_KERNEL_CACHE}" ${ARGN}
                   -P "${PROJECT_SOURCE_DIR}/tests/consumer/run.cmake")
  set_tests_properties("consumer.${name}" PROPERTIES TIMEOUT 3600)
endfunction()

set(test_configuration "")
troupe_consumer_test(installed HOW=package)
troupe_consumer_test(moved HOW=package MOVED=ON)
troupe_consumer_test(not_built HOW=not_built CUDA=OFF)

# Each by another way. The first two find what the preset `release` has compiled, where there is ccache. The third is
# shared, compiled without optimisation, where some code is refused that otherwise is taken, and each file by itself.
set(test_configuration CONFIGURATIONS Consumers)
troupe_consumer_test(subdirectory HOW=subdirectory BUILD_TYPE=RelWithDebInfo CUDA=ON UNITY=${TROUPE_UNITY})
troupe_consumer_test(fetch HOW=fetch BUILD_TYPE=RelWithDebInfo CUDA=ON UNITY=${TROUPE_UNITY})
troupe_consumer_test(no_build_type HOW=built_package SHARED=ON BUILD_TYPE= FLAGS= WERROR=OFF CUDA=OFF)
