# bench/*.cpp make one program, run by `./dev bench`, bench/actors/*.cpp another one, run by `./dev bench actors`, and
# bench/matrix/*.cpp our side of `./dev bench --torch`.
# The parts of the first are compiled once, for the program and for its tests.
if(EXISTS "${PROJECT_SOURCE_DIR}/bench/main.cpp")
  troupe_glob(bench_parts "bench/*.cpp")
  list(FILTER bench_parts EXCLUDE REGEX "/main\\.cpp$|/bench/(actors|matrix)/")
  add_library(troupe_bench_parts OBJECT ${bench_parts})
  target_link_libraries(troupe_bench_parts PUBLIC troupe_thread troupe_asio troupe_cuda troupe_eigen)
  troupe_own_target(troupe_bench_parts)
  if(TROUPE_COMPILE_ONLY)
    target_compile_options(troupe_bench_parts PRIVATE -O0)
  endif()
  troupe_compiled_once(troupe_bench_parts)
  # Compilers find fault with Eigen's templates where they are inlined, each version with others: that stops no build.
  set_source_files_properties(bench/eigen_reference.cpp PROPERTIES COMPILE_OPTIONS -Wno-error)

  # CUB needs nvcc and takes a minute to compile, so it is there when it is asked for: `./dev gpu` does.
  option(TROUPE_CUB_REFERENCE "Build CUB's functions, for the benchmarks of a GPU to compare with" OFF)
  if(TROUPE_CUB_REFERENCE AND TROUPE_NVCC)
    set(cub_reference "${PROJECT_BINARY_DIR}/libtroupe_cub_reference.so")
    add_custom_command(
      OUTPUT "${cub_reference}"
      COMMAND "${TROUPE_NVCC}" -std=c++20 -O2 -arch=native -shared -Xcompiler -fPIC -o "${cub_reference}"
              "${PROJECT_SOURCE_DIR}/bench/cub/cub_reference.cu"
      DEPENDS "${PROJECT_SOURCE_DIR}/bench/cub/cub_reference.cu"
      VERBATIM)
    add_custom_target(troupe_cub_reference DEPENDS "${cub_reference}")
    set_source_files_properties(bench/primitive_rows.cpp PROPERTIES
      COMPILE_DEFINITIONS "TROUPE_CUB_REFERENCE=\"${cub_reference}\"")
  endif()

  troupe_shown_program(troupe_bench bench/main.cpp)
  if(TARGET troupe_cub_reference)
    add_dependencies(troupe_bench troupe_cub_reference)
  endif()
  target_link_libraries(troupe_bench PRIVATE troupe_bench_parts)
  add_dependencies(troupe_bench troupe_worker)
  if(TROUPE_BUILD_TESTS)
    add_dependencies(troupe_bench plugin_bad_plugin)  # for the rows where something fails
    troupe_folder_tests(bench bench $<TARGET_OBJECTS:troupe_bench_parts> bench/actors/finish.cpp bench/actors/load.cpp
                        bench/actors/measure.cpp bench/actors/options.cpp bench/actors/report.cpp
                        bench/matrix/layouts.cpp bench/matrix/options.cpp bench/matrix/report.cpp bench/matrix/row.cpp
                        bench/matrix/rows.cpp)
  endif()
endif()

# It links what the actors need and no more: no worker, no backend.
if(NOT TROUPE_COMPILE_ONLY)
  troupe_glob(bench_actors_sources "bench/actors/*.cpp")
  add_executable(troupe_bench_actors ${bench_actors_sources} bench/bench.cpp bench/heap.cpp bench/options.cpp
                 bench/report.cpp)
  target_link_libraries(troupe_bench_actors PRIVATE troupe_library troupe_asio troupe_caf)
  troupe_own_target(troupe_bench_actors)
  troupe_compiled_once(troupe_bench_actors)
  if(TROUPE_BUILD_TESTS)
    troupe_test(bench_actors.smoke troupe_bench_actors --smoke --threads 2)
  endif()
endif()

if(NOT TROUPE_COMPILE_ONLY)
  troupe_glob(bench_matrix_sources "bench/matrix/*.cpp")
  add_executable(troupe_bench_matrix ${bench_matrix_sources} bench/bench.cpp bench/options.cpp)
  target_link_libraries(troupe_bench_matrix PRIVATE troupe)
  troupe_own_target(troupe_bench_matrix)
  troupe_compiled_once(troupe_bench_matrix)
  add_dependencies(troupe_bench_matrix troupe_worker)
  if(TROUPE_BUILD_TESTS)
    troupe_test(bench_matrix.smoke troupe_bench_matrix --quick --max-bytes 65536 --only "/f32/.*/(1KiB|32)$")
  endif()
endif()
