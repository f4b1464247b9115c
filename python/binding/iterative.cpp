// Iterative solvers and preconditioners of sparse matrices.
#include <atomic>
#include <optional>
#include <thread>

#include "handle.hpp"
#include "sparse_handle.hpp"

namespace troupe::python {
namespace {

/// Runs an iteration in a thread of its own, so that Ctrl-C ends the wait for it.
template <class R>
R ended(IterativeCall<R> call) {
  std::stop_source stop;
  std::optional<Result<R>> end;
  std::atomic<bool> has_ended = false;
  std::thread runner([&, token = stop.get_token()] {
    end.emplace(std::move(call).cancel_on(token).get(std::source_location()));
    has_ended = true;
  });
  bool is_interrupted = false;
  for (;;) {
    {
      nb::gil_scoped_release released;
      for (int look = 0; look < 50 && !has_ended; ++look) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      if (has_ended || is_interrupted) runner.join();
    }
    if (!runner.joinable()) break;
    if (PyErr_CheckSignals() == 0) continue;
    is_interrupted = true;
    stop.request_stop();
  }
  if (is_interrupted) throw nb::python_error();
  return checked(std::move(*end));
}

/// (why it stopped, rounds, residual, history)
nb::tuple told(const Solved& solved) {
  nb::list history;
  for (const double residual : solved.history) history.append(residual);
  return nb::make_tuple(nb::str(name(solved.stopped).data(), name(solved.stopped).size()), solved.rounds,
                        solved.residual, history);
}

SolveOptions solve_options(const nb::dict& given) {
  SolveOptions options;
  for (const auto& [key, value] : given) {
    const auto word = nb::cast<std::string>(key);
    if (word == "tolerance")
      options.tolerance = nb::cast<double>(value);
    else if (word == "relative")
      options.relative = nb::cast<bool>(value);
    else if (word == "max_rounds")
      options.max_rounds = nb::cast<std::int64_t>(value);
    else if (word == "rounds_per_op")
      options.rounds_per_op = nb::cast<std::int64_t>(value);
    else if (word == "starts_at_x")
      options.starts_at_x = nb::cast<bool>(value);
    else
      raise(ErrorKind::invalid_argument, "there is no option \"" + word + "\"");
  }
  return options;
}

Preconditioner from(nb::handle given) { return given.is_none() ? Preconditioner() : nb::cast<Preconditioner>(given); }

nb::tuple cg(const Matrix& a, const Handle& b, const Handle& x, const nb::dict& options, nb::handle preconditioner) {
  return told(ended(a.device.sparse().cg(a.matrix, b.array, x.array, solve_options(options), from(preconditioner))));
}

nb::tuple bicgstab(const Matrix& a, const Handle& b, const Handle& x, const nb::dict& options,
                   nb::handle preconditioner) {
  return told(
      ended(a.device.sparse().bicgstab(a.matrix, b.array, x.array, solve_options(options), from(preconditioner))));
}

nb::tuple gmres(const Matrix& a, const Handle& b, const Handle& x, const nb::dict& options, nb::handle preconditioner,
                std::int64_t restart) {
  const SolveOptions given = solve_options(options);
  const GmresOptions all{.tolerance = given.tolerance,
                         .relative = given.relative,
                         .max_rounds = given.max_rounds,
                         .restart = restart,
                         .starts_at_x = given.starts_at_x};
  return told(ended(a.device.sparse().gmres(a.matrix, b.array, x.array, all, from(preconditioner))));
}

nb::tuple power(const Matrix& a, const Handle& x, const nb::dict& options) {
  const SolveOptions given = solve_options(options);
  const PowerOptions all{.tolerance = given.tolerance,
                         .relative = given.relative,
                         .max_rounds = given.max_rounds,
                         .rounds_per_op = given.rounds_per_op,
                         .starts_at_x = given.starts_at_x};
  const FoundEigenvalue found = ended(a.device.sparse().power(a.matrix, x.array, all));
  return nb::make_tuple(nb::steal(PyComplex_FromDoubles(found.value.real(), found.value.imag())), told(found));
}

nb::tuple lanczos(const Matrix& a, const Handle& vectors, const nb::dict& options, bool largest, std::int64_t basis) {
  const SolveOptions given = solve_options(options);
  const LanczosOptions all{.tolerance = given.tolerance,
                           .relative = given.relative,
                           .which = largest ? Extreme::largest : Extreme::smallest,
                           .max_rounds = given.max_rounds,
                           .basis = basis};
  const FoundEigenvalues found = ended(a.device.sparse().lanczos(a.matrix, vectors.array, all));
  nb::list values;
  for (const double value : found.values) values.append(value);
  return nb::make_tuple(values, told(found));
}

Preconditioner precondition(const Matrix& a, const std::string& word) {
  const Sparse sparse = a.device.sparse();
  Call<Preconditioner> call = word == "jacobi" ? sparse.jacobi(a.matrix)
                              : word == "ilu0" ? sparse.ilu0(a.matrix)
                                               : sparse.ic0(a.matrix);
  Result<Preconditioner> made = [&] {
    nb::gil_scoped_release released;
    return std::move(call).get(std::source_location());
  }();
  return checked(std::move(made));
}

}  // namespace

void bind_iterative(nb::module_& module) {
  nb::class_<Preconditioner>(module, "Preconditioner");
  module.def("precondition", &precondition);
  module.def("cg", &cg, nb::arg("a"), nb::arg("b"), nb::arg("x"), nb::arg("options"), nb::arg("preconditioner").none());
  module.def("bicgstab", &bicgstab, nb::arg("a"), nb::arg("b"), nb::arg("x"), nb::arg("options"),
             nb::arg("preconditioner").none());
  module.def("gmres", &gmres, nb::arg("a"), nb::arg("b"), nb::arg("x"), nb::arg("options"),
             nb::arg("preconditioner").none(), nb::arg("restart"));
  module.def("power", &power);
  module.def("lanczos", &lanczos);
  module.def("sddmm", [](const Handle& x, const Handle& y, const Matrix& a, double alpha, double beta) {
    const SddmmOptions options{.alpha = alpha, .beta = beta};
    submit(a.device, [&] { return a.device.sparse().sddmm(x.array, y.array, a.matrix, options); });
  });
}

}  // namespace troupe::python
