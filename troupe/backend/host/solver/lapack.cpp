#include "troupe/backend/host/solver/lapack.hpp"

#include <dlfcn.h>

#include <string>

#include "troupe/backend/host/blas/blas_library.hpp"

namespace troupe::host {
namespace {

template <class T>
constexpr char kLetter = 's';
template <>
constexpr char kLetter<double> = 'd';
template <>
constexpr char kLetter<std::complex<float>> = 'c';
template <>
constexpr char kLetter<std::complex<double>> = 'z';

template <class T>
Result<Lapack<T>> find_lapack(const MathLibrary& library) {
  Lapack<T> found{};
  std::string missing;
  const auto find = [&]<class Function>(Function*& function, const std::string& name) {
    const std::string symbol = kLetter<T> + name + "_";
    function = reinterpret_cast<Function*>(dlsym(library.handle, symbol.c_str()));
    if (!function) missing += " " + symbol;
  };
  find(found.getrf, "getrf");
  find(found.getrs, "getrs");
  find(found.getri, "getri");
  find(found.potrf, "potrf");
  find(found.potrs, "potrs");
  find(found.geqrf, "geqrf");
  find(found.orgqr, detail::kIsComplex<T> ? "ungqr" : "orgqr");
  find(found.ormqr, detail::kIsComplex<T> ? "unmqr" : "ormqr");
  find(found.trtrs, "trtrs");
  find(found.gesdd, "gesdd");
  find(found.gejsv, "gejsv");
  find(found.syevd, detail::kIsComplex<T> ? "heevd" : "syevd");
  find(found.sygvd, detail::kIsComplex<T> ? "hegvd" : "sygvd");
  if (missing.empty()) return found;
  return fail(ErrorKind::unsupported, library.file + " has not all of LAPACK: it lacks" + missing);
}

}  // namespace

template <class T>
Result<const Lapack<T>*> lapack() {
  const Result<const BlasLibrary*> blas = try_open_blas();
  if (!blas && blas.error().kind() == ErrorKind::out_of_memory) return fail(blas.error());
  if (!blas)
    return fail(ErrorKind::unsupported,
                "solvers on the CPU need LAPACK, for example OpenBLAS's: " + std::string(blas.error().message()));
  if (!(*blas)->lapack) return fail(ErrorKind::unsupported, "there is no LAPACK: " + (*blas)->lapack_problem);
  static const auto* const kFound = new Result<Lapack<T>>(find_lapack<T>(*(*blas)->lapack));  // for good
  if (!*kFound) return fail(kFound->error());
  return &**kFound;
}

template Result<const Lapack<float>*> lapack<float>();
template Result<const Lapack<double>*> lapack<double>();
template Result<const Lapack<std::complex<float>>*> lapack<std::complex<float>>();
template Result<const Lapack<std::complex<double>>*> lapack<std::complex<double>>();

}  // namespace troupe::host
