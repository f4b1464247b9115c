#include "troupe/backend/cuda/function_table.hpp"

#include <string>

namespace troupe::cuda {

Result<void> FunctionFinder::status() const {
  if (missing_.empty()) return {};
  std::string names;
  for (const char* const name : missing_) {
    if (!names.empty()) names += ", ";
    names += name;
  }
  return fail(ErrorKind::unsupported, library_.path() + " is too old: it lacks " + names);
}

}  // namespace troupe::cuda
