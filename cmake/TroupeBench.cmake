# bench/*.cpp make one program, run by `./dev bench`. Its parts are compiled once, for the program and for its tests.
if(EXISTS "${PROJECT_SOURCE_DIR}/bench/main.cpp")
  troupe_glob(bench_parts "bench/*.cpp")
  list(FILTER bench_parts EXCLUDE REGEX "/main\\.cpp$")
  add_library(troupe_bench_parts OBJECT ${bench_parts})
  target_link_libraries(troupe_bench_parts PUBLIC troupe_thread troupe_asio troupe_cuda troupe_eigen)
  troupe_own_target(troupe_bench_parts)
  if(TROUPE_COMPILE_ONLY)
    target_compile_options(troupe_bench_parts PRIVATE -O0)
  endif()
  # Compilers find fault with Eigen's templates where they are inlined, each version with others: that stops no build.
  set_source_files_properties(bench/eigen_reference.cpp PROPERTIES COMPILE_OPTIONS -Wno-error)

  troupe_shown_program(troupe_bench bench/main.cpp)
  target_link_libraries(troupe_bench PRIVATE troupe_bench_parts)
  add_dependencies(troupe_bench troupe_worker)
  if(TROUPE_BUILD_TESTS)
    add_dependencies(troupe_bench plugin_bad_plugin)  # for the rows where something fails
    troupe_folder_tests(bench bench $<TARGET_OBJECTS:troupe_bench_parts>)
  endif()
endif()
