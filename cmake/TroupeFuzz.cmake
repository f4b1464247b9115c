# troupe_fuzz_decode: libFuzzer over everything that reads bytes of another process (tests/fuzz/fuzz_decode.cpp). Only
# clang has libFuzzer; `./dev fuzz` builds it with the preset `asan`, whose library has the fuzzer's counters in it.
if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang" OR NOT TROUPE_SANITIZE STREQUAL "address")
  return()
endif()

target_compile_options(troupe_library PRIVATE -fsanitize=fuzzer-no-link)
add_executable(troupe_fuzz_decode tests/fuzz/fuzz_decode.cpp)
target_compile_options(troupe_fuzz_decode PRIVATE -fsanitize=fuzzer)
target_link_options(troupe_fuzz_decode PRIVATE -fsanitize=fuzzer)
target_link_libraries(troupe_fuzz_decode PRIVATE troupe_library)
troupe_own_target(troupe_fuzz_decode)
