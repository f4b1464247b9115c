"""Sparse matrices: `troupe.sparse`. A matrix is checked once, when it is made; its values are an array like any other.

>>> a = troupe.sparse.from_dense(troupe.eye(3))
>>> a @ troupe.arange(3, dtype="float64")
Array([0., 1., 2.], dtype=float64)
"""
from __future__ import annotations

from typing import NamedTuple

from . import _core, _dtypes
from ._array import Array
from ._creation import asarray, empty


class Matrix:
    """A sparse matrix on a device. Make one with `csr`, `csc`, `coo`, `from_dense` or `from_scipy`."""

    __slots__ = ("_core",)
    __array_priority__ = 1000

    def __init__(self, core):
        self._core = core

    @property
    def shape(self) -> tuple[int, int]:
        return (self._core.rows, self._core.columns)

    @property
    def nnz(self) -> int:
        """The number of stored elements, zero or not."""
        return self._core.nonzeros

    @property
    def dtype(self):
        return _dtypes.dtype_of(self._core.dtype_number)

    @property
    def format(self) -> str:
        """"csr", "csc", "coo" or "bsr"."""
        return self._core.format

    @property
    def values(self) -> Array:
        """The stored elements, an array that can be written."""
        return self._core.values

    def multiply(self, x, *, transpose=False, conjugate=False) -> Array:
        """The product with a vector or a dense matrix."""
        return self._core.multiply(asarray(x, dtype=self.dtype), transpose, conjugate)

    def __matmul__(self, other):
        if isinstance(other, Matrix):
            return Matrix(self._core.product(other._core))
        return self.multiply(other)

    def solve_triangular(self, b, *, upper=False, unit_diagonal=False, transpose=False) -> Array:
        """The x with triangle x = b, where the triangle is one of this matrix."""
        return self._core.solve(asarray(b, dtype=self.dtype), upper, unit_diagonal, transpose)

    def to_dense(self) -> Array:
        """The same as an array."""
        return self._core.to_dense()

    def to_format(self, name, *, block_size=1) -> Matrix:
        """The same as "csr", "csc", "coo" or, of dense blocks of `block_size`, "bsr"."""
        return Matrix(self._core.converted(name, block_size))

    def sddmm(self, x, y, *, alpha=1.0, beta=0.0) -> Matrix:
        """The values become alpha (x y) + beta values, where x y is a product of dense matrices."""
        _core.sddmm(asarray(x, dtype=self.dtype), asarray(y, dtype=self.dtype), self._core, alpha, beta)
        return self

    def __repr__(self) -> str:
        return f"Matrix({self.format}, {list(self.shape)}, {self.nnz} stored, dtype={self.dtype.name})"


def _made(name, shape, offsets, indices, values):
    values = asarray(values)
    device = values.device
    parts = [x if isinstance(x, Array) else asarray(x, dtype="int32", device=device) for x in (offsets, indices)]
    return Matrix(_core.sparse_from_parts(name, int(shape[0]), int(shape[1]), *parts, values))


def csr(shape, offsets, indices, values) -> Matrix:
    """Compressed rows: `offsets` has rows + 1 numbers, `indices` are columns."""
    return _made("csr", shape, offsets, indices, values)


def csc(shape, offsets, indices, values) -> Matrix:
    """Compressed columns."""
    return _made("csc", shape, offsets, indices, values)


def coo(shape, rows, columns, values) -> Matrix:
    """Elements with their rows and columns, sorted by row and then by column."""
    return _made("coo", shape, rows, columns, values)


def from_dense(array) -> Matrix:
    """The elements that are not 0, as CSR."""
    return Matrix(_core.sparse_from_dense(asarray(array)))


def from_scipy(matrix, *, device=None) -> Matrix:
    """A matrix of scipy.sparse, as CSR."""
    matrix = matrix.tocsr()
    matrix.sum_duplicates()
    return csr(matrix.shape, asarray(matrix.indptr, device=device), asarray(matrix.indices, device=device),
               asarray(matrix.data, device=device))


def to_scipy(matrix):
    """A matrix of scipy.sparse."""
    import scipy.sparse
    return scipy.sparse.csr_array(matrix.to_dense().numpy())


# ---- solving round by round: the matrix is square and CSR ----

class Solved(NamedTuple):
    """How an iteration ended. One that did not converge is no error: x has what it had reached by then."""

    x: Array
    stopped: str  # "converged", "max_rounds", "breakdown", "not_positive_definite", "stagnated" or "not_finite"
    rounds: int
    residual: float
    history: list

    @property
    def converged(self) -> bool:
        return self.stopped == "converged"


class Eigen(NamedTuple):
    """Eigenvalues that an iteration found, their vectors, and how it ended."""

    values: object
    vectors: Array
    stopped: str
    rounds: int
    residual: float
    history: list

    @property
    def converged(self) -> bool:
        return self.stopped == "converged"


def _preconditioner(name, words):
    def make(a):
        return _core.precondition(a._core, name)
    make.__name__ = make.__qualname__ = name
    make.__doc__ = words
    return make


jacobi = _preconditioner("jacobi", "A preconditioner of the inverse diagonal.")
ilu0 = _preconditioner("ilu0", "A preconditioner of an incomplete LU, with elements where the matrix has them.")
ic0 = _preconditioner("ic0", "A preconditioner of an incomplete Cholesky factor of the lower triangle.")


def _started(a, b, x0):
    b = asarray(b, dtype=a.dtype)
    x = empty(b.shape, dtype=a.dtype, device=b.device)
    if x0 is not None:
        x[...] = x0
    return b, x, {"starts_at_x": x0 is not None}


def cg(a, b, *, x0=None, preconditioner=None, **options) -> Solved:
    """Solves a x = b by conjugate gradients, for a positive definite matrix. The options: tolerance, relative,
    max_rounds, rounds_per_op; docs/iterative.md says what they do.

    >>> troupe.sparse.cg(troupe.sparse.from_dense(2 * troupe.eye(3)), troupe.ones(3)).x
    Array([0.5, 0.5, 0.5], dtype=float64)
    """
    b, x, start = _started(a, b, x0)
    return Solved(x, *_core.cg(a._core, b, x, {**start, **options}, preconditioner))


def bicgstab(a, b, *, x0=None, preconditioner=None, **options) -> Solved:
    """Solves a x = b by stabilized biconjugate gradients, for any square matrix."""
    b, x, start = _started(a, b, x0)
    return Solved(x, *_core.bicgstab(a._core, b, x, {**start, **options}, preconditioner))


def gmres(a, b, *, x0=None, preconditioner=None, restart=32, **options) -> Solved:
    """Solves a x = b by generalized minimal residuals, for any square matrix."""
    b, x, start = _started(a, b, x0)
    return Solved(x, *_core.gmres(a._core, b, x, {**start, **options}, preconditioner, restart))


def power(a, *, x0=None, **options) -> Eigen:
    """The eigenvalue of largest absolute value, and its vector."""
    x = empty(a.shape[0], dtype=a.dtype, device=a.values.device)
    if x0 is not None:
        x[...] = x0
    value, told = _core.power(a._core, x, {"starts_at_x": x0 is not None, **options})
    return Eigen(value if a.dtype.kind == "c" else value.real, x, *told)


def lanczos(a, count, *, largest=True, basis=0, max_rounds=300, **options) -> Eigen:
    """The `count` largest, or smallest, eigenvalues of a symmetric or Hermitian matrix, and their vectors in rows."""
    vectors = empty((count, a.shape[0]), dtype=a.dtype, device=a.values.device)
    values, told = _core.lanczos(a._core, vectors, {"max_rounds": max_rounds, **options}, largest, basis)
    return Eigen(values, vectors, *told)
