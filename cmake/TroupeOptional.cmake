# Components that are found, not demanded. Each is a target `troupe_<name>`: with the component it brings the headers
# and defines TROUPE_HAS_<NAME> as 1; without, it is empty. CMake code asks the variable of the same name.

# optional_headers(name header [hint ...]): headers only, warnings in them are not ours.
function(optional_headers name header)
  string(TOUPPER "${name}" upper)
  find_path(TROUPE_${upper}_INCLUDE_DIR "${header}" HINTS ${ARGN} PATH_SUFFIXES include)
  mark_as_advanced(TROUPE_${upper}_INCLUDE_DIR)
  add_library(troupe_${name} INTERFACE)
  if(TROUPE_${upper}_INCLUDE_DIR)
    target_include_directories(troupe_${name} SYSTEM INTERFACE "${TROUPE_${upper}_INCLUDE_DIR}")
    target_compile_definitions(troupe_${name} INTERFACE TROUPE_HAS_${upper}=1)
    set(TROUPE_HAS_${upper} 1 PARENT_SCOPE)
  endif()
endfunction()

optional_headers(asio "boost/asio.hpp")
optional_headers(eigen "Eigen/SparseCore" ENV EIGEN3_ROOT /usr/include/eigen3 /usr/local/include/eigen3)
optional_headers(cuda "cuda_fp16.h" ENV CUDA_PATH ENV CUDA_HOME /usr/local/cuda)
