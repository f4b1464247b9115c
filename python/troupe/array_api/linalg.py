"""Linear algebra: matrices are the last two axes, and any axes before them are a batch.

When the numbers do not allow it (a singular matrix, no convergence), looking at the result raises `NumericalError`.
"""
from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from .. import _core, _in_app
from .. import linalg as _linalg
from .._array import Array
from .._creation import eye
from .._functions import where
from .._products import matmul
from . import _statistics
from ._dtypes import result_type
from ._elementwise import abs as _abs
from ._elementwise import conj
from ._manipulation import axes_of, matrix_transpose, permute_dims, reshape


class Eigh(NamedTuple):
    """Eigenvalues, ascending, and eigenvectors as columns."""

    eigenvalues: Array
    eigenvectors: Array


class QR(NamedTuple):
    """Orthogonal, and upper triangular."""

    Q: Array
    R: Array


class Slogdet(NamedTuple):
    """Of a determinant: its sign, and the logarithm of its absolute value."""

    sign: Array
    logabsdet: Array


class SVD(NamedTuple):
    """Left vectors, descending singular values, right vectors."""

    U: Array
    S: Array
    Vh: Array


def _checked(name, x, square=False):
    if x.ndim < 2:
        raise ValueError(f"{name} takes matrices; this is {list(x.shape)}")
    if square and x.shape[-2] != x.shape[-1]:
        raise ValueError(f"{name} takes square matrices; these are {list(x.shape[-2:])}")
    if x.dtype.kind not in "fc":
        raise TypeError(f"{name} takes floating numbers; these are {x.dtype}")


def _stacked(x):
    """With at most one axis before the matrix."""
    return x if x.ndim <= 3 else x.reshape((math.prod(x.shape[:-2]), *x.shape[-2:]))


def _computed(name, x, square=False, **options):
    """What `troupe.linalg` computes of a batch; of nothing, what NumPy does."""
    _checked(name, x, square)
    if not x.size:
        return _in_app.call(lambda m: tuple(made) if isinstance(made := getattr(np.linalg, name)(m, **options), tuple)
                            else made, x, x)
    made = getattr(_linalg, name)(_stacked(x), **options)
    return tuple(_unstacked(part, x) for part in made) if isinstance(made, tuple) else _unstacked(made, x)


def _unstacked(made, x):
    return made if x.ndim <= 3 else made.reshape((*x.shape[:-2], *made.shape[1:]))


def cholesky(x, /, *, upper=False) -> Array:
    """The lower triangular l with x = l l^H for a Hermitian positive definite x; or its adjoint."""
    _checked("cholesky", x, True)
    if not x.size:
        return x.copy()
    made = _computed("cholesky", x, True)
    return conj(matrix_transpose(made)) if upper else made


def det(x, /) -> Array:
    """The determinant.

    >>> from troupe import array_api as xp
    >>> xp.linalg.det(2 * xp.eye(3))
    Array(8., dtype=float64)
    """
    return _computed("det", x, True)


def eigh(x, /) -> Eigh:
    """The eigenvalues and eigenvectors of a symmetric or Hermitian matrix, of which the lower triangle is read."""
    return Eigh(*_computed("eigh", x, True))


def eigvalsh(x, /) -> Array:
    """The eigenvalues alone."""
    return _computed("eigvalsh", x, True)


def inv(x, /) -> Array:
    """The inverse."""
    return _computed("inv", x, True)


def qr(x, /, *, mode="reduced") -> QR:
    """x = Q R; `mode` is "reduced" or "complete"."""
    if mode not in ("reduced", "complete"):
        raise ValueError(f"mode is {mode!r}; it can be 'reduced' or 'complete'")
    return QR(*_computed("qr", x, mode=mode))


def slogdet(x, /) -> Slogdet:
    """The sign of the determinant, and the logarithm of its absolute value."""
    _checked("slogdet", x, True)
    return Slogdet(*_in_app.call(lambda m: tuple(np.linalg.slogdet(m)), x, x))


def svd(x, /, *, full_matrices=True) -> SVD:
    """x = U diag(S) Vh."""
    return SVD(*_computed("svd", x, full_matrices=full_matrices))


def svdvals(x, /) -> Array:
    """The singular values alone."""
    if not x.size:
        _checked("svdvals", x)
        return _in_app.call(lambda m: np.linalg.svd(m, compute_uv=False), x, x)
    return _computed("svdvals", x)


def solve(x1, x2, /) -> Array:
    """The x with x1 x = x2, where x2 is a vector, or a batch of matrices."""
    dtype = result_type(x1, x2)
    _checked("solve", x1, True)
    a, b = x1.astype(dtype, copy=False), x2.astype(dtype, copy=False)
    b = b[:, None] if x2.ndim == 1 else b
    if a.shape[-1] != b.shape[-2]:
        raise ValueError(f"solve: x1 is {list(x1.shape)} and x2 is {list(x2.shape)}; both must have as many rows")
    batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    shape = (*batch, *b.shape[-2:])
    if not a.size or not b.size:
        made = _in_app.call(np.zeros, a, shape, dtype)
    else:
        if a.shape[:-2] != batch or b.shape[:-2] != batch:
            a = a.view_broadcast((*batch, *a.shape[-2:])).copy()
            b = b.view_broadcast(shape).copy()
        made = _linalg.solve(_stacked(a), _stacked(b)).reshape(shape)
    return made[..., 0] if x2.ndim == 1 else made


def _relative_limit(x, rtol, largest):
    """Below it, a singular value counts as 0."""
    if rtol is None:
        rtol = max(x.shape[-2:]) * float(np.finfo(x.dtype).eps)
    if isinstance(rtol, Array):
        rtol = rtol.astype(largest.dtype, copy=False)[..., None]
    return largest * rtol


def matrix_rank(x, /, *, rtol=None) -> Array:
    """How many singular values are greater than `rtol` times the greatest."""
    _checked("matrix_rank", x)
    if not x.size:
        return _in_app.call(np.zeros, x, x.shape[:-2], "int64")
    values = svdvals(x)
    limit = _relative_limit(x, rtol, _statistics.max(values, axis=-1, keepdims=True))
    return _statistics.sum(values > limit, axis=-1, dtype="int64")


def pinv(x, /, *, rtol=None) -> Array:
    """The pseudo-inverse: singular values of at most `rtol` times the greatest count as 0."""
    _checked("pinv", x)
    if not x.size:
        return _in_app.call(np.zeros, x, (*x.shape[:-2], x.shape[-1], x.shape[-2]), x.dtype)
    u, values, vh = svd(x, full_matrices=False)
    keeps = values > _relative_limit(x, rtol, _statistics.max(values, axis=-1, keepdims=True))
    inverse = where(keeps, 1 / where(keeps, values, 1), 0)
    return conj(matrix_transpose(vh)) @ (inverse[..., :, None] * conj(matrix_transpose(u)))


def matrix_power(x, n, /) -> Array:
    """The n-th power of a square matrix; of its inverse for an n below 0."""
    _checked("matrix_power", x, True)
    n = int(n)
    if n == 0:
        return eye(x.shape[-1], dtype=x.dtype, device=x.device).view_broadcast(x.shape).copy()
    base, made = (inv(x) if n < 0 else x), None
    n = n if n > 0 else -n
    while n:
        if n & 1:
            made = base if made is None else made @ base
        n >>= 1
        base = base @ base if n else base
    return made.copy() if made is x else made


def _magnitudes(x):
    return _abs(x)


def matrix_norm(x, /, *, keepdims=False, ord="fro") -> Array:
    """The norm of each matrix: `ord` is "fro", "nuc", 1, 2, inf, -1, -2 or -inf."""
    _checked("matrix_norm", x)
    if ord == "fro":
        return vector_norm(x, axis=(-2, -1), keepdims=keepdims)
    if ord in ("nuc", 2, -2):
        reduction = {"nuc": _statistics.sum, 2: _statistics.max, -2: _statistics.min}[ord]
        made = reduction(svdvals(x), axis=-1)
        return made[..., None, None] if keepdims else made
    if ord not in (1, -1, math.inf, -math.inf):
        raise ValueError(f"ord is {ord!r}; it can be 'fro', 'nuc', 1, 2, inf, -1, -2 or -inf")
    along = -2 if ord in (1, -1) else -1
    sums = _statistics.sum(_magnitudes(x), axis=along, keepdims=True)
    reduction = _statistics.max if ord > 0 else _statistics.min
    return reduction(sums, axis=(-2, -1), keepdims=keepdims)


def vector_norm(x, /, *, axis=None, keepdims=False, ord=2) -> Array:
    """The norm of all elements, or of those along axes; `ord` is any number, inf or -inf.

    >>> from troupe import array_api as xp
    >>> xp.linalg.vector_norm(xp.asarray([3., 4.]))
    Array(5., dtype=float64)
    """
    if x.dtype.kind not in "fc":
        raise TypeError(f"vector_norm takes floating numbers; these are {x.dtype}")
    axes = axes_of(axis, x.ndim)
    if ord == 2:
        return _core.reduce(_core.REDUCTION["norm"], x, axes, keepdims, -1)
    sizes = _magnitudes(x)
    how = {"axis": axes, "keepdims": keepdims}
    if ord == math.inf:
        return _statistics.max(sizes, **how)
    if ord == -math.inf:
        return _statistics.min(sizes, **how)
    if ord == 0:
        return _statistics.sum(sizes != 0, dtype="int64", **how).astype(sizes.dtype)
    if ord == 1:
        return _statistics.sum(sizes, **how)
    return _statistics.sum(sizes ** float(ord), **how) ** (1.0 / ord)


def outer(x1, x2, /) -> Array:
    """The products of all elements of two vectors."""
    if x1.ndim != 1 or x2.ndim != 1:
        raise ValueError(f"outer takes vectors; these are {list(x1.shape)} and {list(x2.shape)}")
    return x1[:, None] * x2[None, :]


def cross(x1, x2, /, *, axis=-1) -> Array:
    """The cross products of vectors of three elements."""
    if not -min(x1.ndim, x2.ndim) <= axis < min(x1.ndim, x2.ndim):
        raise ValueError(f"cross: axis {axis} is out of bounds for {list(x1.shape)} and {list(x2.shape)}")
    if x1.shape[axis] != 3 or x2.shape[axis] != 3:
        raise ValueError(f"cross takes vectors of three; these are {list(x1.shape)} and {list(x2.shape)}")
    return _in_app.call(lambda a, b: np.cross(*np.broadcast_arrays(a, b), axis=axis), x1, x1, x2)


def diagonal(x, /, *, offset=0) -> Array:
    """The diagonals of matrices; `offset` counts to the right."""
    return _in_app.call(lambda m: m.diagonal(offset, -2, -1), x, x)


def trace(x, /, *, offset=0, dtype=None) -> Array:
    """The sum of a diagonal."""
    return _statistics.sum(diagonal(x, offset=offset), axis=-1, dtype=dtype)


def vecdot(x1, x2, /, *, axis=-1) -> Array:
    """The sum of the products along an axis, which is counted from the end; the first operand is conjugated."""
    if not -min(x1.ndim, x2.ndim) <= axis < min(x1.ndim, x2.ndim) or x1.shape[axis] != x2.shape[axis]:
        raise ValueError(f"vecdot: the vectors of {list(x1.shape)} and {list(x2.shape)} along axis {axis} are not of "
                         "one length")
    axis = axis if axis < 0 else axis - x1.ndim
    dtype = result_type(x1, x2)
    return _statistics.sum((conj(x1) if x1.dtype.kind == "c" else x1) * x2, axis=axis, dtype=dtype)


def tensordot(x1, x2, /, *, axes=2) -> Array:
    """The sum of the products over the last axes of x1 and the first of x2, or over those that two lists name."""
    if isinstance(axes, int):
        left, right = tuple(range(x1.ndim - axes, x1.ndim)), tuple(range(axes))
    else:
        left, right = (tuple(one) for one in axes)
    left, right = axes_of(left, x1.ndim), axes_of(right, x2.ndim)
    sides = [x1.shape[axis] for axis in left]
    if sides != [x2.shape[axis] for axis in right]:
        raise ValueError(f"tensordot: {list(x1.shape)} and {list(x2.shape)} do not agree along {left} and {right}")
    rows = [axis for axis in range(x1.ndim) if axis not in left]
    columns = [axis for axis in range(x2.ndim) if axis not in right]
    shape = (*(x1.shape[axis] for axis in rows), *(x2.shape[axis] for axis in columns))
    a = reshape(permute_dims(x1, (*rows, *left)), (math.prod(x1.shape[axis] for axis in rows), math.prod(sides)))
    b = reshape(permute_dims(x2, (*right, *columns)), (math.prod(sides), math.prod(x2.shape[axis] for axis in columns)))
    return reshape(matmul(a, b), shape)


__all__ = ["cholesky", "cross", "det", "diagonal", "eigh", "eigvalsh", "inv", "matmul", "matrix_norm", "matrix_power",
           "matrix_rank", "matrix_transpose", "outer", "pinv", "qr", "slogdet", "solve", "svd", "svdvals", "tensordot",
           "trace", "vecdot", "vector_norm"]
