// Ops of the families by their names: `run("solver.solve", [a, b, x])`. One row for each; Python's side makes the
// arrays that an op writes.
#include "handle.hpp"

namespace troupe::python {
namespace {

using Arrays = std::span<const AnyArray* const>;

/// What rows can be told; each takes what it knows.
struct Options {
  std::complex<double> alpha = 1.0;
  std::complex<double> beta = 0.0;
  bool upper = false;
  bool unit_diagonal = false;
  bool right = false;
  bool hermitian = false;
  bool conjugate = false;

  detail::Factor factor() const { return alpha; }
  Triangle triangle() const { return upper ? Triangle::upper : Triangle::lower; }
  Side side() const { return right ? Side::right : Side::left; }
  SymmOptions symm() const { return {factor(), beta, triangle(), hermitian, side()}; }
  SyrkOptions syrk() const { return {factor(), beta, triangle()}; }
  TriangularOptions triangular() const { return {factor(), triangle(), unit_diagonal, conjugate, side()}; }
};

struct Row {
  std::string_view name;
  std::size_t arrays;
  Call<void> (*call)(const Device& device, Arrays a, const Options& options);
};

constexpr Row kRows[] = {
    {"solver.solve", 3,
     [](const Device& d, Arrays a, const Options&) { return d.solver().solve(*a[0], *a[1], *a[2]); }},
    {"solver.solve_positive", 3,
     [](const Device& d, Arrays a, const Options&) { return d.solver().solve_positive(*a[0], *a[1], *a[2]); }},
    {"solver.inverse", 2, [](const Device& d, Arrays a, const Options&) { return d.solver().inverse(*a[0], *a[1]); }},
    {"solver.determinants", 2,
     [](const Device& d, Arrays a, const Options&) { return d.solver().determinants(*a[0], *a[1]); }},
    {"solver.lu", 3, [](const Device& d, Arrays a, const Options&) { return d.solver().lu(*a[0], *a[1], *a[2]); }},
    {"solver.lu_solve", 4,
     [](const Device& d, Arrays a, const Options&) { return d.solver().lu_solve(*a[0], *a[1], *a[2], *a[3]); }},
    {"solver.cholesky", 2, [](const Device& d, Arrays a, const Options&) { return d.solver().cholesky(*a[0], *a[1]); }},
    {"solver.cholesky_solve", 3,
     [](const Device& d, Arrays a, const Options&) { return d.solver().cholesky_solve(*a[0], *a[1], *a[2]); }},
    {"solver.qr", 3, [](const Device& d, Arrays a, const Options&) { return d.solver().qr(*a[0], *a[1], *a[2]); }},
    {"solver.least_squares", 3,
     [](const Device& d, Arrays a, const Options&) { return d.solver().least_squares(*a[0], *a[1], *a[2]); }},
    {"solver.svd", 4,
     [](const Device& d, Arrays a, const Options&) { return d.solver().svd(*a[0], *a[1], *a[2], *a[3]); }},
    {"solver.singular_values", 2,
     [](const Device& d, Arrays a, const Options&) { return d.solver().singular_values(*a[0], *a[1]); }},
    {"solver.eigh", 3, [](const Device& d, Arrays a, const Options&) { return d.solver().eigh(*a[0], *a[1], *a[2]); }},
    {"solver.eigenvalues", 2,
     [](const Device& d, Arrays a, const Options&) { return d.solver().eigenvalues(*a[0], *a[1]); }},
    {"blas.axpy", 2, [](const Device& d, Arrays a, const Options& o) { return d.blas().axpy(o.alpha, *a[0], *a[1]); }},
    {"blas.scal", 1, [](const Device& d, Arrays a, const Options& o) { return d.blas().scal(o.alpha, *a[0]); }},
    {"blas.swap", 2, [](const Device& d, Arrays a, const Options&) { return d.blas().swap(*a[0], *a[1]); }},
    {"blas.gemm", 3,
     [](const Device& d, Arrays a, const Options& o) {
       return d.blas().gemm(*a[0], *a[1], *a[2], {.alpha = o.alpha, .beta = o.beta});
     }},
    {"blas.gemv", 3,
     [](const Device& d, Arrays a, const Options& o) {
       return d.blas().gemv(*a[0], *a[1], *a[2], {.alpha = o.alpha, .beta = o.beta});
     }},
    {"blas.ger", 3,
     [](const Device& d, Arrays a, const Options& o) {
       return d.blas().ger(*a[0], *a[1], *a[2], {.alpha = o.alpha, .conjugate = o.conjugate});
     }},
    {"blas.symm", 3,
     [](const Device& d, Arrays a, const Options& o) { return d.blas().symm(*a[0], *a[1], *a[2], o.symm()); }},
    {"blas.symv", 3,
     [](const Device& d, Arrays a, const Options& o) { return d.blas().symv(*a[0], *a[1], *a[2], o.symm()); }},
    {"blas.syrk", 2, [](const Device& d, Arrays a, const Options& o) { return d.blas().syrk(*a[0], *a[1], o.syrk()); }},
    {"blas.herk", 2, [](const Device& d, Arrays a, const Options& o) { return d.blas().herk(*a[0], *a[1], o.syrk()); }},
    {"blas.syr2k", 3,
     [](const Device& d, Arrays a, const Options& o) { return d.blas().syr2k(*a[0], *a[1], *a[2], o.syrk()); }},
    {"blas.her2k", 3,
     [](const Device& d, Arrays a, const Options& o) { return d.blas().her2k(*a[0], *a[1], *a[2], o.syrk()); }},
    {"blas.trmm", 3,
     [](const Device& d, Arrays a, const Options& o) { return d.blas().trmm(*a[0], *a[1], *a[2], o.triangular()); }},
    {"blas.trmv", 3,
     [](const Device& d, Arrays a, const Options& o) { return d.blas().trmv(*a[0], *a[1], *a[2], o.triangular()); }},
    {"blas.trsm", 3,
     [](const Device& d, Arrays a, const Options& o) { return d.blas().trsm(*a[0], *a[1], *a[2], o.triangular()); }},
    {"blas.trsv", 3,
     [](const Device& d, Arrays a, const Options& o) { return d.blas().trsv(*a[0], *a[1], *a[2], o.triangular()); }},
    {"blas.geam", 3,
     [](const Device& d, Arrays a, const Options& o) {
       return d.blas().geam(*a[0], *a[1], *a[2], {.alpha = o.alpha, .beta = o.beta});
     }},
};

std::complex<double> complex_from(nb::handle number) {
  const std::complex<double> value(PyComplex_RealAsDouble(number.ptr()), PyComplex_ImagAsDouble(number.ptr()));
  if (PyErr_Occurred()) throw nb::python_error();
  return value;
}

Options options_from(const nb::dict& given) {
  Options options;
  for (const auto& [key, value] : given) {
    const auto word = nb::cast<std::string>(key);
    if (word == "alpha")
      options.alpha = complex_from(value);
    else if (word == "beta")
      options.beta = complex_from(value);
    else if (word == "upper")
      options.upper = nb::cast<bool>(value);
    else if (word == "unit_diagonal")
      options.unit_diagonal = nb::cast<bool>(value);
    else if (word == "right")
      options.right = nb::cast<bool>(value);
    else if (word == "hermitian")
      options.hermitian = nb::cast<bool>(value);
    else if (word == "conjugate")
      options.conjugate = nb::cast<bool>(value);
    else
      raise(ErrorKind::invalid_argument, "there is no option \"" + word + "\"");
  }
  return options;
}

void run(const std::string& op, nb::handle given, const nb::dict& options) {
  const auto* const row = std::ranges::find(kRows, op, &Row::name);
  if (row == std::end(kRows)) raise(ErrorKind::invalid_argument, "there is no op \"" + op + "\"");
  std::vector<const AnyArray*> arrays;
  const Device* device = nullptr;
  for (const nb::handle item : given) {
    if (!is_array(item)) throw nb::type_error((op + ": every operand must be an array").c_str());
    if (device == nullptr) device = &handle_of(item).device;
    arrays.push_back(&handle_of(item).array);
  }
  if (arrays.size() != row->arrays)
    raise(ErrorKind::invalid_argument,
          op + " takes " + std::to_string(row->arrays) + " arrays; there are " + std::to_string(arrays.size()));
  const Options told = options_from(options);
  submit(*device, [&] { return row->call(*device, arrays, told); });
}

}  // namespace

void bind_families(nb::module_& module) {
  module.def("run", &run);
  module.def("rows", [] {
    nb::list all;
    for (const Row& row : kRows) all.append(nb::str(row.name.data(), row.name.size()));
    return all;
  });
}

}  // namespace troupe::python
