# troupe_fuzz_decode: libFuzzer over everything that reads bytes of another process (tests/fuzz/fuzz_decode.cpp). Only
# clang has libFuzzer; `./dev fuzz` builds it with the preset `clang`. Built on demand, because it compiles what it
# needs of the library once more, with the sanitizers and the fuzzer's counters in it.
if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang" OR TROUPE_SANITIZE)
  return()
endif()

troupe_glob(fuzz_core "troupe/core/*.cpp")
troupe_glob(fuzz_wire "troupe/wire/*.cpp")
troupe_glob(fuzz_op "troupe/op/*.cpp")
add_executable(troupe_fuzz_decode EXCLUDE_FROM_ALL tests/fuzz/fuzz_decode.cpp
               ${fuzz_core} ${fuzz_wire} ${fuzz_op} troupe/wire/protocol.cpp)
set(fuzz_flags -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all)
target_compile_features(troupe_fuzz_decode PRIVATE cxx_std_23)
target_compile_options(troupe_fuzz_decode PRIVATE ${fuzz_flags} -fno-omit-frame-pointer)
target_link_options(troupe_fuzz_decode PRIVATE ${fuzz_flags})
target_include_directories(troupe_fuzz_decode PRIVATE "${PROJECT_SOURCE_DIR}")
target_link_libraries(troupe_fuzz_decode PRIVATE Threads::Threads)
troupe_own_target(troupe_fuzz_decode)
