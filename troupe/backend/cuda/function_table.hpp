// Tables of pointers to a library's functions, under their own names: filled when the library is first needed, and kept
// for good.
//
//   Result<Table> open_table() {
//     const Library library = TROUPE_TRY(Library::open({"libcublasLt.so.13", "libcublasLt.so.12"}));
//     Table table;
//     FunctionFinder finder(library);
//     TROUPE_LT_FUNCTIONS(TROUPE_FIND_FUNCTION)
//     TROUPE_TRY(finder.status());
//     return table;
//   }
//   Result<const Table*> find_table() { return opened_once<open_table>(); }
#pragma once

#include <vector>

#include "troupe/backend/cuda/library.hpp"

namespace troupe::cuda {

/// Finds functions, and remembers those that are missing. For as long as its libraries live.
class FunctionFinder {
 public:
  explicit FunctionFinder(const Library& library) noexcept : library_(library) {}
  /// What `library` lacks is looked for in `other`.
  FunctionFinder(const Library& library, const Library& other) noexcept : library_(library), other_(&other) {}

  /// Null when it is missing. `symbol` must be a literal.
  template <class Function>
  void find(Function*& function, const char* symbol) {
    function = library_.find_function<Function>(symbol);
    if (!function && other_) function = other_->find_function<Function>(symbol);
    if (!function) missing_.push_back(symbol);
  }
  /// The same for one that can be done without.
  template <class Function>
  void find_if_there(Function*& function, const char* symbol) {
    function = library_.find_function<Function>(symbol);
  }
  /// `unsupported`, with the names of all that are missing.
  Result<void> status() const;

 private:
  const Library& library_;
  const Library* other_ = nullptr;
  std::vector<const char*> missing_;
};

/// Finds a function of a `table` with a `finder`. Headers make macros of some names, for their newest version: it is
/// that one's name which is looked for.
#define TROUPE_FIND_FUNCTION(function) finder.find(table.function, TROUPE_NAME_OF(function));
#define TROUPE_FIND_NEWER_FUNCTION(function) finder.find_if_there(table.function, TROUPE_NAME_OF(function));
#define TROUPE_NAME_OF(function) #function

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

}  // namespace troupe::cuda
