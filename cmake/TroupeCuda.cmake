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

set(targets -gencode "arch=compute_${TROUPE_CUDA_PTX},code=compute_${TROUPE_CUDA_PTX}")
foreach(code IN LISTS TROUPE_CUDA_CODE)
  list(APPEND targets -gencode "arch=compute_${code},code=sm_${code}")
endforeach()
file(GLOB kernels CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/troupe/backend/cuda/*.cu")
set(images "")
set(list_of_images "")
foreach(source IN LISTS kernels)
  cmake_path(GET source STEM name)
  set(image "${PROJECT_BINARY_DIR}/troupe_${name}.fatbin")
  add_custom_command(
    OUTPUT "${image}"
    COMMAND "${TROUPE_NVCC}" -std=c++20 --expt-relaxed-constexpr -diag-suppress 186 -I "${PROJECT_SOURCE_DIR}"
            ${targets} -fatbin -o "${image}" "${source}" -MD -MF "${image}.d"
    DEPENDS "${source}"
    DEPFILE "${image}.d"
    COMMENT "Compiling ${name}.cu for GPUs"
    VERBATIM)
  list(APPEND images "${image}")
  string(APPEND list_of_images "TROUPE_KERNEL_IMAGE(${name}, \"${image}\")\n")
endforeach()
file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/troupe_kernel_images.inc" CONTENT "${list_of_images}")
set_source_files_properties("${PROJECT_SOURCE_DIR}/troupe/backend/cuda/kernel_image.cpp" PROPERTIES
  COMPILE_DEFINITIONS "TROUPE_KERNEL_IMAGES=\"${PROJECT_BINARY_DIR}/troupe_kernel_images.inc\""
  OBJECT_DEPENDS "${images}")
target_compile_definitions(troupe PRIVATE TROUPE_CUDA_BACKEND=1)
target_include_directories(troupe SYSTEM PRIVATE "${TROUPE_CUDA_INCLUDE_DIR}")
target_compile_definitions(troupe_cuda INTERFACE TROUPE_CUDA_BACKEND=1)
