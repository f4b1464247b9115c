# The CUDA backend: built where the toolkit is (its headers, and nvcc for the kernels of our own). No CUDA library is
# linked: workers open them at run time.
find_program(TROUPE_NVCC nvcc HINTS ENV CUDA_PATH ENV CUDA_HOME /usr/local/cuda PATH_SUFFIXES bin)
mark_as_advanced(TROUPE_NVCC)
set(TROUPE_CUDA_PTX 80 CACHE STRING "The oldest GPUs that the CUDA backend runs on, by compute capability")
set(TROUPE_CUDA_CODE 90 CACHE STRING "GPUs for which the kernels are compiled ahead of time")
# All build folders of a checkout share it, and whatever else is told to.
set(default_cache "${PROJECT_SOURCE_DIR}/build/kernel_cache")
if(DEFINED ENV{TROUPE_KERNEL_CACHE})
  set(default_cache "$ENV{TROUPE_KERNEL_CACHE}")
elseif(NOT PROJECT_IS_TOP_LEVEL)
  set(default_cache "${PROJECT_BINARY_DIR}/kernel_cache")
endif()
set(TROUPE_KERNEL_CACHE "${default_cache}" CACHE PATH "Where compiled kernels are kept for the next build")
option(TROUPE_CUDA "Build the CUDA backend where the toolkit is" ON)
if(NOT TROUPE_CUDA)
  return()
endif()
if(NOT TROUPE_HAS_CUDA OR NOT TROUPE_NVCC)
  message(STATUS "Troupe: no CUDA toolkit, so no CUDA backend")
  return()
endif()

find_package(Python3 REQUIRED COMPONENTS Interpreter)
# In a folder of its own, or every file of the library would wait for the kernels (see there).
add_subdirectory("${PROJECT_SOURCE_DIR}/troupe/backend/cuda/kernels")
target_compile_definitions(troupe_backends PRIVATE TROUPE_CUDA_BACKEND=1)
target_include_directories(troupe_backends SYSTEM PRIVATE "${TROUPE_CUDA_INCLUDE_DIR}")
target_compile_definitions(troupe_cuda INTERFACE TROUPE_CUDA_BACKEND=1)
