# For those who write plugins: troupe_add_plugin(name source ...) makes libNAME.so, which a worker loads. It links
# `troupe::plugin`, which is the include folder of troupe/plugin.h and nothing else: a plugin links no library of
# Troupe's. A plugin may be C, C++, or anything that CMake compiles to a shared object.
function(troupe_add_plugin name)
  if(NOT ARGN)
    message(FATAL_ERROR "troupe_add_plugin(${name}) has no source: troupe_add_plugin(name source ...)")
  endif()
  add_library(${name} MODULE ${ARGN})
  target_link_libraries(${name} PRIVATE troupe::plugin)
  set_target_properties(${name} PROPERTIES PREFIX lib)
endfunction()
