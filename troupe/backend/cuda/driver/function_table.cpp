#include "troupe/backend/cuda/driver/function_table.hpp"

#include <algorithm>
#include <string>

namespace troupe::cuda {

Error error_of(const VendorDeclaration& library, std::span<const StatusCode> codes, int number, std::string_view call) {
  const auto code = std::ranges::find(codes, number, &StatusCode::number);
  std::string message = std::string(call) + " answered " + std::to_string(number);
  if (code != codes.end()) message += ", " + std::string(code->name);
  return Error(code != codes.end() ? code->kind : ErrorKind::library_error, std::move(message),
               {.library = std::string(library.id()), .native_code = number});
}

Result<void> FunctionFinder::status(const VendorDeclaration& declaration) const {
  if (missing_.empty()) return {};
  constexpr std::size_t kNamed = 3;  // an error's text has little room
  std::string names;
  for (std::size_t i = 0; i < missing_.size() && i < kNamed; ++i)
    names += (i == 0 ? "" : ", ") + std::string(missing_[i]);
  if (missing_.size() > kNamed) names += " and " + std::to_string(missing_.size() - kNamed) + " more";
  return fail(Error(ErrorKind::unsupported,
                    std::string(declaration.name) + " lacks " + names + "; Troupe needs a whole library, " +
                        declaration.versions.to_string() + "; this is " + library_.file(),
                    {.library = library_.file()}));
}

}  // namespace troupe::cuda
