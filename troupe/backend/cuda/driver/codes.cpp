#include "troupe/backend/cuda/driver/codes.hpp"

#include <string>

namespace troupe::cuda {
namespace {

ErrorKind kind_of(int number) noexcept {
  constexpr int kOutOfMemory = 2, kNotSupported = 801;
  if (is_sticky(number)) return ErrorKind::context_poisoned;
  if (number == kOutOfMemory) return ErrorKind::out_of_memory;
  if (number == kNotSupported) return ErrorKind::unsupported;
  return ErrorKind::library_error;
}

}  // namespace

Error error_of(int number, std::string_view call) {
  const Code* code = find_code(number);
  std::string message = std::string(call) + " answered " + std::to_string(number);
  if (code) message += ", " + std::string(code->name);
  if (code && !code->meaning.empty()) message += ": " + std::string(code->meaning);
  return Error(kind_of(number), std::move(message), ErrorOrigin{.library = "cuda", .native_code = number});
}

}  // namespace troupe::cuda
