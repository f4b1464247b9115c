// A table of a library's functions under their own names, made from a list of them: filled when the library is first
// needed, and kept for good. Each function knows its name, so that errors name the call that was really made.
//
//   #define TROUPE_CUFFT_FUNCTIONS(required, optional) required(cufftPlan1d) optional(cufftXtExec)
//   inline constexpr std::array kCufftCodes{TROUPE_STATUS_CODE(CUFFT_ALLOC_FAILED, out_of_memory)};
//   TROUPE_FUNCTION_TABLE(CufftTable, kCufft, cufftResult, kCufftCodes, TROUPE_CUFFT_FUNCTIONS)
//
//   const CufftTable& cufft = *TROUPE_TRY(find_table<CufftTable>());
//   TROUPE_TRY(cufft.cufftPlan1d(&plan, 1024, CUFFT_C2C, 1));  // "cufftPlan1d answered 2, CUFFT_ALLOC_FAILED"
//   if (cufft.cufftXtExec) ...                                 // null where an older version lacks it
#pragma once

#include <complex>
#include <concepts>
#include <span>
#include <vector>

#include "troupe/backend/cuda/driver/vendor_declaration.hpp"

namespace troupe::cuda {

/// A code that functions answer, its name, and the kind of error that it is.
struct StatusCode {
  int number;
  std::string_view name;
  ErrorKind kind;
};
#define TROUPE_STATUS_CODE(code, kind) \
  ::troupe::cuda::StatusCode { static_cast<int>(code), #code, ::troupe::ErrorKind::kind }

/// What `call` answered, as an error: `library_error` for a code that is not in the list.
Error error_of(const VendorDeclaration& library, std::span<const StatusCode> codes, int number, std::string_view call);

template <class Table, class Signature>
class BoundFunction;

/// A function of a table. Calling it costs what calling a pointer costs, and a look at what it answers.
template <class Table, class Answer, class... Arguments>
class BoundFunction<Table, Answer(Arguments...)> {
 public:
  constexpr explicit BoundFunction(const char* name) noexcept : name_(name) {}

  /// Whether the library has it; all but optional ones are there.
  explicit operator bool() const noexcept { return function_ != nullptr; }
  const char* name() const noexcept { return name_; }

  /// Of a function that answers a status: `Result<void>`. Any other answer is returned as it is.
  auto operator()(Arguments... arguments) const {
    if constexpr (std::same_as<Answer, typename Table::Status>)
      return checked(function_(arguments...));
    else
      return function_(arguments...);
  }
  /// The status itself, for those who take some of them for an answer.
  Answer status(Arguments... arguments) const { return function_(arguments...); }
  /// What it answered, as a result.
  Result<void> checked(Answer status) const {
    if (status == Answer{}) [[likely]]
      return {};
    return fail(error_of(Table::kDeclaration, Table::kCodes, static_cast<int>(status), name_));
  }

 private:
  friend class FunctionFinder;
  Answer (*function_)(Arguments...) = nullptr;
  const char* name_;
};

/// The same for functions whose header says that they do not throw.
template <class Table, class Answer, class... Arguments>
class BoundFunction<Table, Answer(Arguments...) noexcept> : public BoundFunction<Table, Answer(Arguments...)> {
 public:
  using BoundFunction<Table, Answer(Arguments...)>::BoundFunction;
};

/// Finds functions, and remembers those that are missing. For as long as its library lives.
class FunctionFinder {
 public:
  explicit FunctionFinder(const Library& library) noexcept : library_(library) {}

  template <class Table, class Signature>
  void find_required(BoundFunction<Table, Signature>& function) {
    find_optional(function);
    if (!function) missing_.push_back(function.name());
  }
  /// Null when it is missing.
  template <class Table, class Signature>
  void find_optional(BoundFunction<Table, Signature>& function) {
    function.function_ = library_.find_function<Signature>(function.name());
  }
  /// A variable of the library's, as it is now; required.
  template <class T>
  void find_variable(const char* name, T& value) {
    if (const void* const at = library_.find(name))
      value = *static_cast<const T*>(at);
    else
      missing_.push_back(name);
  }
  /// `unsupported`, with the names of all that are missing.
  Result<void> status(const VendorDeclaration& declaration) const;

 private:
  const Library& library_;
  std::vector<const char*> missing_;
};

// Headers make macros of some names, for their newest version: it is that one's name which is looked for.
#define TROUPE_NAME_OF(function) #function
#define TROUPE_TABLE_MEMBER(function) \
  ::troupe::cuda::BoundFunction<Table, decltype(::function)> function{TROUPE_NAME_OF(function)};
#define TROUPE_FIND_REQUIRED(function) finder.find_required(function);
#define TROUPE_FIND_OPTIONAL(function) finder.find_optional(function);

/// A table with a member for each function of a list: a macro `FUNCTIONS(required, optional)`. `Status` is what its
/// functions answer, with 0 for success; the names of `codes` are used in errors.
#define TROUPE_FUNCTION_TABLE(Name, declaration, StatusType, codes, FUNCTIONS)                                      \
  struct Name {                                                                                                     \
    using Table = Name;                                                                                             \
    using Status = StatusType;                                                                                      \
    static constexpr const ::troupe::cuda::VendorDeclaration& kDeclaration = declaration;                           \
    [[maybe_unused]] static constexpr std::span<const ::troupe::cuda::StatusCode> kCodes = codes;                   \
    FUNCTIONS(TROUPE_TABLE_MEMBER, TROUPE_TABLE_MEMBER)                                                             \
    std::string file; /* where the library was found */                                                             \
    void find_all(::troupe::cuda::FunctionFinder& finder) { FUNCTIONS(TROUPE_FIND_REQUIRED, TROUPE_FIND_OPTIONAL) } \
  };

/// Opens the library of a table and finds its functions. `unsupported`, in a sentence, when it is not there, is too old
/// or too new, or lacks a function that is required.
template <class Table>
Result<Table> open_table_from(const SearchPaths& paths) {
  const OpenLibrary opened = TROUPE_TRY(open(Table::kDeclaration, paths));
  Table table;
  FunctionFinder finder(opened.library);
  table.find_all(finder);
  TROUPE_TRY(finder.status(Table::kDeclaration));
  table.file = opened.library.file();
  return table;
}
template <class Table>
Result<Table> open_table() {
  return open_table_from<Table>(SearchPaths::from_environment());
}

/// What `open`, a function, gives: opened once, and never closed. When that fails, for want of memory perhaps, the next
/// call tries again.
template <auto open>
Result<const typename decltype(open())::value_type*> opened_once() {
  try {
    static const auto kOpened = value(open());
    return &kOpened;
  } catch (const Exception& exception) {
    return fail(exception.error());
  }
}

/// The one table of its kind in this process.
template <class Table>
Result<const Table*> find_table() {
  return opened_once<open_table<Table>>();
}
/// For those who have a handle of the library, and so know that it is open.
template <class Table>
const Table& table() noexcept {
  return **find_table<Table>();
}

/// Of functions for float, double and complex numbers of them, that for T.
template <class T>
constexpr const auto& for_type(const auto& of_float, const auto& of_double, const auto& of_complex_float,
                               const auto& of_complex_double) noexcept {
  if constexpr (std::same_as<T, float>)
    return of_float;
  else if constexpr (std::same_as<T, double>)
    return of_double;
  else if constexpr (std::same_as<T, std::complex<float>>)
    return of_complex_float;
  else
    return of_complex_double;
}

}  // namespace troupe::cuda
