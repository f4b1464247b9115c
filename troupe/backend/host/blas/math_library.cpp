#include "troupe/backend/host/blas/math_library.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <initializer_list>

#include "troupe/backend/host/vectors/vector_level.hpp"

namespace troupe::host {
namespace {

template <class Function>
Function* find(void* library, const char* symbol) noexcept {
  return reinterpret_cast<Function*>(dlsym(library, symbol));
}

Unexpected last_dl_error() {
  const char* const text = dlerror();  // NOLINT(concurrency-mt-unsafe): of this thread, in glibc
  const std::string_view message = text != nullptr ? text : "the dynamic linker gives no reason";
  // Other code of this process may hold all descriptors, or all memory, just now.
  for (const char* const shortage : {"Too many open files", "Cannot allocate memory", "failed to map segment"})
    if (message.contains(shortage)) return fail(ErrorKind::out_of_memory, std::string(message));
  return fail(ErrorKind::unsupported, std::string(message));
}

/// What stands behind `before`, up to the next space or dash.
std::string word_after(std::string_view text, std::string_view before) {
  const std::size_t at = text.find(before);
  if (at == std::string_view::npos) return {};
  text.remove_prefix(at + before.size());
  return std::string(text.substr(0, text.find_first_of(" -")));
}

// ---- OpenBLAS ----

/// "OpenBLAS 0.3.21 NO_LAPACKE DYNAMIC_ARCH ...".
std::string openblas_version(void* library) {
  auto* const config = find<char*()>(library, "openblas_get_config");
  return config ? word_after(config(), "OpenBLAS ") : "";
}
/// A CPU that is newer than OpenBLAS is taken for one of 2004: OpenBLAS 0.3.21 on an Intel of 2023 multiplies at a
/// fifth of its speed. And its ssymv_ for those old CPUs reads what an earlier call left in scratch memory, so that a
/// NaN of one caller gets into the eigenvalues of another. Where the CPU has AVX2, such code is not used: OpenBLAS
/// reads in the environment, when it is opened, which CPU it is to take this one for. Who has set that has chosen.
constexpr const char* kCpuVariable = "OPENBLAS_CORETYPE";
constexpr std::array<std::string_view, 19> kWithoutAvx2{
    "Katmai",      "Coppermine", "Northwood", "Prescott",   "Banias",       "Atom",      "Core2",
    "Penryn",      "Dunnington", "Nehalem",   "Opteron",    "Opteron_SSE3", "Barcelona", "Nano",
    "Sandybridge", "Bobcat",     "Bulldozer", "Piledriver", "Steamroller"};

void* suit_openblas_to_cpu(void* library, const char* file) {
  auto* const core = find<char*()>(library, "openblas_get_corename");
  if (core == nullptr || !has(VectorLevel::avx2)) return library;
  if (std::ranges::find(kWithoutAvx2, std::string_view(core())) == kWithoutAvx2.end()) return library;
  // NOLINTBEGIN(concurrency-mt-unsafe): others may read the environment meanwhile. What they read stays as it was: the
  // first new variable of a process goes into a copy.
  if (std::getenv(kCpuVariable) != nullptr) return library;
  setenv(kCpuVariable, has(VectorLevel::avx512) ? "SkylakeX" : "Haswell", 0);
  // NOLINTEND(concurrency-mt-unsafe)
  dlclose(library);
  return dlopen(file, RTLD_NOW | RTLD_LOCAL);
}

void prepare_openblas(void* library) {
  if (auto* const set = find<void(int)>(library, "openblas_set_num_threads")) set(1);
}

// ---- MKL ----

/// "Intel(R) oneAPI Math Kernel Library Version 2024.0-Product Build ...".
std::string mkl_version(void* library) {
  std::array<char, 256> text{};
  if (auto* const get = find<void(char*, int)>(library, "MKL_Get_Version_String"))
    get(text.data(), static_cast<int>(text.size()) - 1);
  return word_after(text.data(), "Version ");
}
/// MKL ends the process when it lacks the threads that it is to use, so it is told of some that are there. (The names
/// in small letters are Fortran's, which take addresses.)
void prepare_mkl(void* library) {
  constexpr int kWith32BitIntegers = 0;
  constexpr int kIntel = 0;
  constexpr int kSequential = 1;
  constexpr int kGnu = 3;
  const auto has = [](const char* file) { return dlopen(file, RTLD_NOW | RTLD_LOCAL) != nullptr; };
  if (auto* const set = find<int(int)>(library, "MKL_Set_Interface_Layer")) set(kWith32BitIntegers);
  if (auto* const set = find<int(int)>(library, "MKL_Set_Threading_Layer"))
    set(has("libiomp5.so") ? kIntel : has("libgomp.so.1") ? kGnu : kSequential);
  if (auto* const set = find<void(int)>(library, "MKL_Set_Num_Threads")) set(1);
}

// ---- Arm Performance Libraries ----

std::string armpl_version(void* library) {
  int major = 0, minor = 0, patch = 0;
  const char* tag = nullptr;
  auto* const get = find<void(int*, int*, int*, const char**)>(library, "armplversion");
  if (!get) return {};
  get(&major, &minor, &patch, &tag);
  return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch);
}

// ---- BLIS ----

std::string blis_version(void* library) {
  auto* const get = find<const char*()>(library, "bli_info_get_version_str");
  return get ? get() : "";
}
/// The way in which it multiplies complex numbers by real products is on in the thread that opened it and off in
/// others, and the last bits of a result would depend on the thread: so it is off in this one, too.
void prepare_blis(void* library) {
  if (auto* const set = find<void(std::int64_t)>(library, "bli_thread_set_num_threads")) set(1);
  if (auto* const disable = find<void()>(library, "bli_ind_disable_all")) disable();
}

void prepare_nothing(void*) {}

using Scope = LibraryThreads::Scope;

constexpr std::array<KnownLibrary, 4> kKnown{{
    {.word = "openblas",
     .name = "OpenBLAS",
     .files = {"libopenblas.so.0", "libopenblas.so"},
     .mark = "openblas_get_config",
     .version = openblas_version,
     .suit_cpu = suit_openblas_to_cpu,
     .prepare = prepare_openblas,
     .threads = Scope::of_process,
     .set_threads = "openblas_set_num_threads",
     .conjugates = true,
     .source = "libopenblas0-pthread"},
    {.word = "mkl",
     .name = "MKL",
     .files = {"libmkl_rt.so.2", "libmkl_rt.so.1", "libmkl_rt.so"},
     .mark = "MKL_Get_Version_String",
     .version = mkl_version,
     .suit_cpu = nullptr,
     .prepare = prepare_mkl,
     .threads = Scope::of_thread,
     .set_threads = "MKL_Set_Num_Threads_Local",
     .conjugates = false,
     .source = "Intel's MKL"},
    {.word = "armpl",
     .name = "Arm PL",
     .files = {"libarmpl_lp64.so"},  // the one without threads of its own
     .mark = "armplversion",
     .version = armpl_version,
     .suit_cpu = nullptr,
     .prepare = prepare_nothing,
     .threads = Scope::none,
     .set_threads = "",
     .conjugates = false,
     .source = "Arm Performance Libraries"},
    {.word = "blis",
     .name = "BLIS",
     .files = {"libblis.so.4", "libblis.so.5", "libblis.so"},
     .mark = "bli_info_get_version_str",
     .version = blis_version,
     .suit_cpu = nullptr,
     .prepare = prepare_blis,
     .threads = Scope::none,  // it has no LAPACK, so nobody wants more than one
     .set_threads = "",
     .conjugates = false,
     .source = "libblis4-pthread"},
}};

}  // namespace

void LibraryThreads::enter(int ones, int many, int count) noexcept {
  const std::lock_guard lock(mutex_);
  const auto wanted = [&] { return ones_ == 0 && manys_ > 0 ? count_ : 1; };
  const int before = wanted();
  ones_ += ones;
  manys_ += many;
  if (many > 0) count_ = count;
  if (wanted() != before) set_(wanted());
}

LibraryThreads::Many::Many(LibraryThreads& threads, int count) noexcept : threads_(threads) {
  if (threads.scope_ == Scope::of_process) threads.enter(0, 1, count);
  if (threads.scope_ == Scope::of_thread) threads.set_(count);
}
LibraryThreads::Many::~Many() {
  if (threads_.scope_ == Scope::of_process) threads_.enter(0, -1, 1);
  if (threads_.scope_ == Scope::of_thread) threads_.set_(1);
}
LibraryThreads::One::One(LibraryThreads& threads) noexcept : threads_(threads) {
  if (threads.scope_ == Scope::of_process) threads.enter(1, 0, 1);
}
LibraryThreads::One::~One() {
  if (threads_.scope_ == Scope::of_process) threads_.enter(-1, 0, 1);
}

std::span<const KnownLibrary> known_libraries() noexcept { return kKnown; }

Result<std::shared_ptr<MathLibrary>> open_library(const char* file) {
  void* handle = dlopen(file, RTLD_NOW | RTLD_LOCAL);  // open for good, whether it is used or not
  if (handle == nullptr) return last_dl_error();
  const auto is_this = [&](const KnownLibrary& known) { return dlsym(handle, known.mark) != nullptr; };
  const auto kind = std::ranges::find_if(kKnown, is_this);
  if (kind == kKnown.end()) {
    auto unknown = std::make_shared<MathLibrary>();
    unknown->handle = handle;
    unknown->file = file;
    return unknown;
  }
  if (kind->suit_cpu != nullptr) handle = kind->suit_cpu(handle, file);
  if (handle == nullptr) return last_dl_error();
  kind->prepare(handle);
  Dl_info where{};
  const bool is_known = dladdr(dlsym(handle, kind->mark), &where) != 0 && where.dli_fname != nullptr;
  return std::shared_ptr<MathLibrary>(
      new MathLibrary{.kind = &*kind,
                      .handle = handle,
                      .version = kind->version(handle),
                      .file = is_known ? where.dli_fname : file,
                      .threads = {kind->threads, find<void(int)>(handle, kind->set_threads)}});
}

}  // namespace troupe::host
