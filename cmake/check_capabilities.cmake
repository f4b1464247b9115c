# Runs the conformance suites and compares what they show with docs/capabilities.md.
file(REMOVE "${RECORDS}")
set(ENV{TROUPE_CAPABILITIES} "${RECORDS}")
execute_process(COMMAND "${TESTS}" --gtest_filter=*Conformance* --gtest_brief=1 COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND "${PYTHON}" "${SOURCE}/tools/capabilities.py" --check "${SOURCE}/docs/capabilities.md"
                        "${RECORDS}" COMMAND_ERROR_IS_FATAL ANY)
