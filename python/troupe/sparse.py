"""Sparse matrices: `troupe.sparse`. A matrix is checked once, when it is made; its values are an array like any other.

>>> a = troupe.sparse.from_dense(troupe.eye(3))
>>> a @ troupe.arange(3, dtype="float64")
Array([0., 1., 2.], dtype=float64)
"""
from __future__ import annotations

from . import _core, _dtypes
from ._array import Array
from ._creation import asarray


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
        """"csr", "csc" or "coo"."""
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

    def to_format(self, name) -> Matrix:
        """The same as "csr", "csc" or "coo"."""
        return Matrix(self._core.converted(name))

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
