# The CUDA backend: built where the toolkit is (its headers, and nvcc for the kernels of our own). No CUDA library is
# linked: workers open them at run time.
find_program(TROUPE_NVCC nvcc HINTS ENV CUDA_PATH ENV CUDA_HOME /usr/local/cuda PATH_SUFFIXES bin)
mark_as_advanced(TROUPE_NVCC)
set(TROUPE_CUDA_PTX 80 CACHE STRING "The oldest GPUs that the CUDA backend runs on, by compute capability")
set(TROUPE_CUDA_CODE 90 CACHE STRING "GPUs for which the kernels are compiled ahead of time")
option(TROUPE_CUDA "Build the CUDA backend where the toolkit is" ON)
if(NOT TROUPE_CUDA)
  return()
endif()
if(NOT TROUPE_HAS_CUDA OR NOT TROUPE_NVCC)
  message(STATUS "Troupe: no CUDA toolkit, so no CUDA backend")
  return()
endif()

# In a folder of its own, or every file of the library would wait for the kernels (see there).
add_subdirectory("${PROJECT_SOURCE_DIR}/troupe/backend/cuda")
target_compile_definitions(troupe PRIVATE TROUPE_CUDA_BACKEND=1)
target_include_directories(troupe SYSTEM PRIVATE "${TROUPE_CUDA_INCLUDE_DIR}")
target_compile_definitions(troupe_cuda INTERFACE TROUPE_CUDA_BACKEND=1)
