"""Linear systems, factorizations, eigenvalues: `troupe.linalg`. Matrices of float32, float64, complex64 or complex128;
a batch of them is an array of three axes. Integers become float64.

When the numbers do not allow it (a singular matrix, no convergence), looking at the result raises `NumericalError`.
"""
from __future__ import annotations

from collections import namedtuple

from . import _core, _dtypes
from ._array import Array
from ._creation import asarray
from ._products import matmul, vecdot  # noqa: F401

QR = namedtuple("QR", "Q R")
LU = namedtuple("LU", "LU pivots")
SVD = namedtuple("SVD", "U S Vh")
Eigh = namedtuple("Eigh", "eigenvalues eigenvectors")

_REAL = {"complex64": "float32", "complex128": "float64"}


def _floating(*arrays):
    arrays = [asarray(x) for x in arrays]
    number = arrays[0].dtype_number
    for x in arrays[1:]:
        number = _core.promoted(number, x.dtype_number)
    if _dtypes.kind_of(number) in ("bool", "integer"):
        number = _dtypes.F64
    return [x.astype(_dtypes.dtype_of(number), copy=False) for x in arrays]


def _like(x, shape, dtype=None):
    number = x.dtype_number if dtype is None else _dtypes.number_of(dtype)
    return _core.allocate(x.device_handle, tuple(shape), number, 0)


def _real(x):
    return _REAL.get(x.dtype.name, x.dtype.name)


def _matrix(x, name):
    if x.ndim not in (2, 3):
        raise ValueError(f"{name}: takes a matrix, or a batch of them with three axes; this is {list(x.shape)}")
    return x.shape[:-2], *x.shape[-2:]


def _run(op, *arrays, **options):
    _core.run(op, arrays, options)
    return arrays[-1]


def solve(a, b) -> Array:
    """The x with a x = b.

    >>> troupe.linalg.solve(2 * troupe.eye(2), troupe.ones(2))
    Array([0.5, 0.5], dtype=float64)
    """
    a, b = _floating(a, b)
    return _run("solver.solve", a, b, _like(b, b.shape))


def solve_positive(a, b) -> Array:
    """The same for a Hermitian positive definite a, of which the lower triangle is read."""
    a, b = _floating(a, b)
    return _run("solver.solve_positive", a, b, _like(b, b.shape))


def solve_triangular(a, b, *, upper=False, unit_diagonal=False) -> Array:
    """The x with a x = b for a triangular a."""
    a, b = _floating(a, b)
    name = "blas.trsv" if b.ndim == 1 else "blas.trsm"
    return _run(name, a, b, _like(b, b.shape), upper=upper, unit_diagonal=unit_diagonal)


def inv(a) -> Array:
    """The inverse."""
    a, = _floating(a)
    _matrix(a, "inv")
    return _run("solver.inverse", a, _like(a, a.shape))


def det(a) -> Array:
    """The determinant."""
    a, = _floating(a)
    batch, _, _ = _matrix(a, "det")
    found = _run("solver.determinants", a if batch else a[None], _like(a, batch or (1,)))
    return found if batch else found[0]


def lu(a) -> LU:
    """The factors of p a = l u in one array, and the pivots, for `lu_solve`."""
    a, = _floating(a)
    batch, m, n = _matrix(a, "lu")
    factors, pivots = _like(a, a.shape), _like(a, (*batch, min(m, n)), "int32")
    _core.run("solver.lu", [a, factors, pivots], {})
    return LU(factors, pivots)


def lu_solve(factors, b) -> Array:
    """The x with a x = b, with what `lu` gave for a."""
    b, = _floating(b)
    return _run("solver.lu_solve", factors[0], factors[1], b, _like(b, b.shape))


def cholesky(a, *, upper=False) -> Array:
    """The l with a = l l^H for a Hermitian positive definite a, of which the lower triangle is read; or its adjoint."""
    a, = _floating(a)
    _matrix(a, "cholesky")
    factor = _run("solver.cholesky", a, _like(a, a.shape))
    return factor.conj().mT if upper else factor


def cholesky_solve(factor, b) -> Array:
    """The x with a x = b, with the l that `cholesky` gave for a."""
    factor, b = _floating(factor, b)
    return _run("solver.cholesky_solve", factor, b, _like(b, b.shape))


def qr(a, *, mode="reduced") -> QR:
    """a = Q R; `mode` is "reduced" or "complete"."""
    a, = _floating(a)
    batch, m, n = _matrix(a, "qr")
    k = min(m, n) if mode == "reduced" else m
    q, r = _like(a, (*batch, m, k)), _like(a, (*batch, k, n))
    _core.run("solver.qr", [a, q, r], {})
    return QR(q, r)


def lstsq(a, b) -> Array:
    """The x for which |a x - b| is least, or the smallest one with a x = b."""
    a, b = _floating(a, b)
    batch, _, n = _matrix(a, "lstsq")
    x = _like(b, (*batch, n, *b.shape[len(batch) + 1:]))
    return _run("solver.least_squares", a, b, x)


def svd(a, *, full_matrices=False) -> SVD:
    """a = U diag(S) Vh, with descending S."""
    a, = _floating(a)
    batch, m, n = _matrix(a, "svd")
    k = min(m, n)
    rows, columns = (m, n) if full_matrices else (k, k)
    u, s, vh = _like(a, (*batch, m, rows)), _like(a, (*batch, k), _real(a)), _like(a, (*batch, columns, n))
    _core.run("solver.svd", [a, u, s, vh], {})
    return SVD(u, s, vh)


def svdvals(a) -> Array:
    """The singular values alone."""
    a, = _floating(a)
    batch, m, n = _matrix(a, "svdvals")
    return _run("solver.singular_values", a, _like(a, (*batch, min(m, n)), _real(a)))


def eigh(a) -> Eigh:
    """The eigenvalues, ascending, and eigenvectors of a symmetric or Hermitian a; its lower triangle is read."""
    a, = _floating(a)
    batch, n, _ = _matrix(a, "eigh")
    w, v = _like(a, (*batch, n), _real(a)), _like(a, a.shape)
    _core.run("solver.eigh", [a, w, v], {})
    return Eigh(w, v)


def eigvalsh(a) -> Array:
    """The eigenvalues alone."""
    a, = _floating(a)
    batch, n, _ = _matrix(a, "eigvalsh")
    return _run("solver.eigenvalues", a, _like(a, (*batch, n), _real(a)))


def norm(x, axis=None, keepdims=False) -> Array:
    """The square root of the sum of the squares, along all axes or these."""
    x, = _floating(x)
    axes = None if axis is None else axis if isinstance(axis, tuple) else (axis,)
    return _core.reduce(_core.REDUCTION["norm"], x, axes, keepdims, -1)


def trace(x) -> Array:
    """The sum of the diagonal of the last two axes."""
    return Array.sum(diagonal(x), -1) if x.dtype.kind in "iub" else _core.einsum("...ii->...", [x])


def diagonal(x) -> Array:
    """The diagonals of the last two axes."""
    from . import _in_app
    return _in_app.call(lambda m: m.diagonal(axis1=-2, axis2=-1), x, x)
