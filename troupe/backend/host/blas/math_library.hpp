// The libraries for linear algebra that we know, and one of them when it is open. A table says under which names a
// library's file is found, how it tells its version, and how it is told a number of threads. The rest of our code knows
// only the names that all of them share, such as cblas_sgemm and sgetrf_.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>

#include "troupe/core/result.hpp"

namespace troupe::host {

/// How many threads a library uses for a call. Products are shared out by our team, so the library computes each part
/// by the thread that asks: one thread is the rule. A factorization of a large matrix is a single call, and may have
/// more. OpenBLAS has one number for all callers: while a product is computed, it is one, whoever asked for more.
class LibraryThreads {
 public:
  using Set = void (*)(int);
  enum class Scope : std::uint8_t { none, of_process, of_thread };

  LibraryThreads() = default;
  LibraryThreads(Scope scope, Set set) noexcept : scope_(set ? scope : Scope::none), set_(set) {}

  /// While it lives, calls of this thread may use so many threads.
  class Many {
   public:
    Many(LibraryThreads& threads, int count) noexcept;
    ~Many();
    Many(const Many&) = delete;
    Many& operator=(const Many&) = delete;

   private:
    LibraryThreads& threads_;
  };
  /// While it lives, calls of this thread use that thread only.
  class One {
   public:
    explicit One(LibraryThreads& threads) noexcept;
    ~One();
    One(const One&) = delete;
    One& operator=(const One&) = delete;

   private:
    LibraryThreads& threads_;
  };

 private:
  void enter(int ones, int many, int count) noexcept;

  Scope scope_ = Scope::none;
  Set set_ = nullptr;
  std::mutex mutex_;
  int ones_ = 0;
  int manys_ = 0;
  int count_ = 1;  // for those who want many
};

struct KnownLibrary {
  std::string_view word;             // in TROUPE_BLAS
  std::string_view name;             // "OpenBLAS"
  std::array<const char*, 4> files;  // tried in this order; the rest is null
  const char* mark;                  // a function that no other library has
  std::string (*version)(void* library);
  /// Before anything else: the library, closed and opened again where that makes it take this CPU for what it is. Null
  /// when it cannot be opened again. No function where a library never errs.
  void* (*suit_cpu)(void* library, const char* file);
  /// Before its first call: 32-bit integers and one thread.
  void (*prepare)(void* library);
  LibraryThreads::Scope threads;
  const char* set_threads;
  bool conjugates;          // takes CblasConjNoTrans, which only some have
  std::string_view source;  // what to install to have it
};

/// In the order in which they are tried. OpenBLAS comes first: it is in every distribution, has all of LAPACK, and is
/// the one that our tests run with.
std::span<const KnownLibrary> known_libraries() noexcept;

/// A library that is open: for good, because its threads live as long as the process.
struct MathLibrary {
  const KnownLibrary* kind = nullptr;  // null for a file that is none of those we know
  void* handle = nullptr;
  std::string version;  // empty when it does not say
  std::string file;
  LibraryThreads threads;

  std::string_view name() const noexcept { return kind ? kind->name : "a BLAS"; }
  bool conjugates() const noexcept { return kind && kind->conjugates; }
};

/// `unsupported` when there is no such file or it cannot be loaded, `out_of_memory` when there was no memory or
/// descriptor to open it: that may pass. Which library it is, its own functions tell.
Result<std::shared_ptr<MathLibrary>> open_library(const char* file);

}  // namespace troupe::host
