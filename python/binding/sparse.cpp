// Sparse matrices: made from arrays, multiplied, solved with, and turned into other forms.
#include "handle.hpp"
#include "sparse_handle.hpp"

namespace troupe::python {
namespace {

/// Waits for a call that gives a matrix.
template <class MadeCall>
Matrix made(const Device& device, MadeCall call) {
  Result<SparseMatrix> end = [&] {
    nb::gil_scoped_release released;
    return std::move(call).get(std::source_location());
  }();
  return {checked(std::move(end)), device};
}

SparseFormat format_from(const std::string& word) {
  if (word == "csr") return SparseFormat::csr;
  if (word == "csc") return SparseFormat::csc;
  if (word == "coo") return SparseFormat::coo;
  if (word == "bsr") return SparseFormat::bsr;
  raise(ErrorKind::invalid_argument, "format is \"" + word + "\"; it can be csr, csc, coo or bsr");
}

Matrix from_parts(const std::string& word, std::int64_t rows, std::int64_t columns, const Handle& offsets,
                  const Handle& indices, const Handle& values) {
  const Device& device = values.device;
  const Sparse sparse = device.sparse();
  switch (format_from(word)) {
    case SparseFormat::csr: return made(device, sparse.csr(rows, columns, offsets.array, indices.array, values.array));
    case SparseFormat::csc: return made(device, sparse.csc(rows, columns, offsets.array, indices.array, values.array));
    default: return made(device, sparse.coo(rows, columns, offsets.array, indices.array, values.array));
  }
}

std::string format_of(const Matrix& self) {
  std::string word(name(self.matrix.format()));
  std::ranges::transform(word, word.begin(), [](char letter) { return static_cast<char>(letter | 0x20); });
  return word;
}

nb::object multiply(const Matrix& self, const Handle& x, bool transpose, bool conjugate) {
  const std::int64_t rows = transpose ? self.matrix.columns() : self.matrix.rows();
  Shape shape = x.array.shape();
  if (shape.rank() > 0) shape[0] = rows;
  AnyArray y = allocate(self.device, x.array.dtype(), shape);
  const SparseMultiplyOptions options{.transpose = transpose, .conjugate = conjugate};
  submit(self.device, [&] { return self.device.sparse().multiply(self.matrix, x.array, y, options); });
  return wrap(std::move(y), self.device);
}

nb::object solve(const Matrix& self, const Handle& b, bool upper, bool unit_diagonal, bool transpose) {
  AnyArray x = allocate(self.device, b.array.dtype(), b.array.shape());
  const SparseSolveOptions options{.upper = upper, .unit_diagonal = unit_diagonal, .transpose = transpose};
  submit(self.device, [&] { return self.device.sparse().solve(self.matrix, b.array, x, options); });
  return wrap(std::move(x), self.device);
}

nb::object to_dense(const Matrix& self) {
  AnyArray out = allocate(self.device, self.matrix.dtype(), Shape{self.matrix.rows(), self.matrix.columns()});
  submit(self.device, [&] { return self.device.sparse().to_dense(self.matrix, out); });
  return wrap(std::move(out), self.device);
}

}  // namespace

void bind_sparse(nb::module_& module) {
  nb::class_<Matrix>(module, "SparseHandle")
      .def_prop_ro("rows", [](const Matrix& self) { return self.matrix.rows(); })
      .def_prop_ro("columns", [](const Matrix& self) { return self.matrix.columns(); })
      .def_prop_ro("nonzeros", [](const Matrix& self) { return self.matrix.nonzeros(); })
      .def_prop_ro("dtype_number", [](const Matrix& self) { return static_cast<int>(self.matrix.dtype()); })
      .def_prop_ro("format", &format_of)
      .def_prop_ro("values", [](const Matrix& self) { return wrap(self.matrix.values(), self.device); })
      .def("multiply", &multiply)
      .def("solve", &solve)
      .def("to_dense", &to_dense)
      .def("converted",
           [](const Matrix& self, const std::string& format, std::int64_t block_size) {
             return made(self.device, self.device.sparse().convert(self.matrix, format_from(format), block_size));
           })
      .def("product", [](const Matrix& self, const Matrix& other) {
        return made(self.device, self.device.sparse().product(self.matrix, other.matrix));
      });
  module.def("sparse_from_parts", &from_parts);
  module.def("sparse_from_dense",
             [](const Handle& dense) { return made(dense.device, dense.device.sparse().from_dense(dense.array)); });
}

}  // namespace troupe::python
