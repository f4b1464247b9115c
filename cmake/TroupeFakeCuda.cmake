# tests/fake_cuda: NVIDIA's driver and libraries as stand-ins that compute nothing, and the tests of the CUDA backend
# that run over them, on machines without a GPU and with AddressSanitizer, too.
if(NOT TARGET troupe_kernel_images)
  troupe_skipped_test("fake_cuda" "no CUDA toolkit, so no CUDA backend")
  return()
endif()

option(TROUPE_COVERAGE "The CUDA backend counts which of its lines run, also in workers that end at once" OFF)
mark_as_advanced(TROUPE_COVERAGE)
if(TROUPE_COVERAGE)
  set(counted ${backend_sources})
  list(FILTER counted INCLUDE REGEX "/backend/cuda/")
  set_property(SOURCE ${counted} APPEND PROPERTY COMPILE_OPTIONS --coverage -fprofile-update=atomic)
  target_link_options(troupe_backends PUBLIC --coverage)
  target_sources(troupe_worker PRIVATE "${PROJECT_SOURCE_DIR}/tests/fake_cuda/flush_coverage.cpp")
endif()

add_custom_target(troupe_fake_libraries)

# troupe_fake_library(target file source ...): a shared object under the name that the backend looks for.
function(troupe_fake_library target file)
  list(TRANSFORM ARGN PREPEND "${PROJECT_SOURCE_DIR}/tests/fake_cuda/" OUTPUT_VARIABLE sources)
  add_library(${target} SHARED ${sources})
  cmake_path(GET file PARENT_PATH folder)
  cmake_path(GET file FILENAME name)
  set_target_properties(${target} PROPERTIES PREFIX "" SUFFIX "" OUTPUT_NAME "${name}"
    LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/fake_cuda/${folder}")
  target_compile_features(${target} PRIVATE cxx_std_23)
  target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}")
  target_link_libraries(${target} PRIVATE troupe_cuda Threads::Threads)
  troupe_own_target(${target})
  add_dependencies(troupe_fake_libraries ${target})
endfunction()

troupe_fake_library(fake_cuda libcuda.so.1 driver.cpp driver_memory.cpp driver_modules.cpp fault.cpp kernels.cpp
  stream.cpp)
troupe_fake_library(fake_cublas libcublas.so.13 cublas.cpp)
troupe_fake_library(fake_cublas_lt libcublasLt.so.13 cublas_lt.cpp)
troupe_fake_library(fake_cudnn libcudnn.so.9 cudnn.cpp)
troupe_fake_library(fake_cufft libcufft.so.12 cufft.cpp)
troupe_fake_library(fake_cusolver libcusolver.so.12 cusolver.cpp)
troupe_fake_library(fake_cusparse libcusparse.so.12 cusparse.cpp)
troupe_fake_library(fake_cutensor libcutensor.so.2 cutensor.cpp)
troupe_fake_library(fake_nvrtc libnvrtc.so.13 nvrtc.cpp)
# Older versions, which lack some functions.
troupe_fake_library(fake_old_cublas old/libcublas.so.13 cublas.cpp)
troupe_fake_library(fake_old_cudnn old/libcudnn.so.9 cudnn.cpp)
troupe_fake_library(fake_old_cusolver old/libcusolver.so.12 cusolver.cpp)
troupe_fake_library(fake_old_cusparse old/libcusparse.so.12 cusparse.cpp)
troupe_fake_library(fake_old_cutensor old/libcutensor.so.2 cutensor.cpp)
foreach(library IN ITEMS cublas cublas_lt cudnn cufft cusolver cusparse cutensor nvrtc
        old_cublas old_cudnn old_cusolver old_cusparse old_cutensor)
  target_link_libraries(fake_${library} PRIVATE fake_cuda)
  troupe_sanitize(fake_${library})
  if(library MATCHES "^old_")
    target_compile_definitions(fake_${library} PRIVATE FAKE_CUDA_OLD=1)
  endif()
endforeach()
troupe_sanitize(fake_cuda)
# The loader takes it before the program, and so before a sanitizer: it has none, and needs nothing but the C library.
troupe_fake_library(fake_hide_libraries libhide_libraries.so hide_libraries.cpp)
target_link_options(fake_hide_libraries PRIVATE -static-libstdc++ -static-libgcc)

troupe_folder_tests(fake_cuda tests/fake_cuda)
if(TARGET troupe_fake_cuda_test)
  add_dependencies(troupe_fake_cuda_test troupe_fake_libraries)
endif()
