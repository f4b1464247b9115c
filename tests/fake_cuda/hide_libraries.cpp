// For $LD_AUDIT: lets a process see no libraries of NVIDIA's but those in the folder $TROUPE_CUDA_LIBRARIES. So a test
// can take one away on a machine that has it, and no real one ever gets between the fakes.
#include <link.h>

#include <cstdlib>
#include <string_view>

extern "C" unsigned la_version(unsigned version) { return version; }

extern "C" char* la_objsearch(const char* name, uintptr_t*, unsigned) {
  const std::string_view path = name;
  const std::size_t slash = path.rfind('/');
  const std::string_view file = slash == std::string_view::npos ? path : path.substr(slash + 1);
  const char* const folder = std::getenv("TROUPE_CUDA_LIBRARIES");
  const bool is_theirs = file.starts_with("libcu") || file.starts_with("libnvrtc");
  const bool is_shown = folder && slash != std::string_view::npos && path.substr(0, slash) == folder;
  return is_theirs && !is_shown && slash != std::string_view::npos ? nullptr : const_cast<char*>(name);
}
