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

# CAF (C++ Actor Framework), beside which `./dev bench actors` measures ours. Debian's has no package file for CMake,
# and other versions have another interface.
set(TROUPE_CAF_ROOT "" CACHE PATH "Where CAF 0.17 is if not in a usual place: what its packages were unpacked to")
set(caf_places ${TROUPE_CAF_ROOT} ${TROUPE_CAF_ROOT}/usr)
find_path(TROUPE_CAF_INCLUDE_DIR "caf/all.hpp" HINTS ${caf_places} PATH_SUFFIXES include)
find_library(TROUPE_CAF_LIBRARY NAMES caf_core libcaf_core.so.0.17.6 HINTS ${caf_places}
             PATH_SUFFIXES lib "lib/${CMAKE_SYSTEM_PROCESSOR}-linux-gnu")
mark_as_advanced(TROUPE_CAF_INCLUDE_DIR TROUPE_CAF_LIBRARY)
add_library(troupe_caf INTERFACE)
if(TROUPE_CAF_INCLUDE_DIR AND TROUPE_CAF_LIBRARY)
  file(STRINGS "${TROUPE_CAF_INCLUDE_DIR}/caf/config.hpp" caf_version REGEX "^#define CAF_VERSION 17[0-9][0-9]$")
  if(caf_version)
    target_include_directories(troupe_caf SYSTEM INTERFACE "${TROUPE_CAF_INCLUDE_DIR}")
    target_link_libraries(troupe_caf INTERFACE "${TROUPE_CAF_LIBRARY}")
    target_compile_definitions(troupe_caf INTERFACE TROUPE_HAS_CAF=1)
  endif()
endif()
