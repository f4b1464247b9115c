# Installs TROUPE_BUILD into WORK/prefix, then configures, builds and runs the consumer there with COMPILER.
file(REMOVE_RECURSE "${WORK}")
function(step)
  execute_process(COMMAND ${ARGV} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

step("${CMAKE_COMMAND}" --install "${TROUPE_BUILD}" --prefix "${WORK}/prefix")
step("${CMAKE_COMMAND}" -S "${CMAKE_CURRENT_LIST_DIR}" -B "${WORK}/build" -G Ninja
     "-DCMAKE_CXX_COMPILER=${COMPILER}" "-DCMAKE_PREFIX_PATH=${WORK}/prefix")
step("${CMAKE_COMMAND}" --build "${WORK}/build")
# Where a program is usually installed: from there it finds the worker in ../libexec/troupe.
file(COPY "${WORK}/build/consumer" DESTINATION "${WORK}/prefix/bin")
step("${WORK}/prefix/bin/consumer")
