"""Making arrays."""
from __future__ import annotations

import numpy as np

from .. import _creation, _dlpack
from .._array import Array
from .._creation import empty, empty_like, full_like, ones, ones_like, zeros, zeros_like  # noqa: F401
from ._dtypes import result_type


def asarray(obj, /, *, dtype=None, device=None, copy=None) -> Array:
    """An array of a number, of nested sequences, of an array, or of what has a buffer or speaks DLPack."""
    if hasattr(obj, "__dlpack__") and not isinstance(obj, (Array, np.ndarray, np.generic)):
        obj = from_dlpack(obj, device=device, copy=copy)
        copy = None
    return _creation.asarray(obj, dtype=dtype, device=device, copy=copy)


def from_dlpack(x, /, *, device=None, copy=None) -> Array:
    """An array with the elements of any array that speaks DLPack."""
    return _dlpack.from_dlpack(x, device=device, copy=copy)


def arange(start, /, stop=None, step=1, *, dtype=None, device=None) -> Array:
    """The numbers from `start`, or 0, to before `stop`."""
    start, stop = (0, start) if stop is None else (start, stop)
    return asarray(np.arange(start, stop, step, dtype=dtype), device=device)


def linspace(start, stop, /, num, *, dtype=None, device=None, endpoint=True) -> Array:
    """That many numbers from `start` to `stop`, equally far from each other."""
    return asarray(np.linspace(start, stop, num, endpoint=endpoint, dtype=dtype), device=device)


def eye(n_rows, n_cols=None, /, *, k=0, dtype=None, device=None) -> Array:
    """Ones on a diagonal, zeros elsewhere."""
    return asarray(np.eye(n_rows, n_cols, k, dtype=dtype or "float64"), device=device)


def full(shape, fill_value, *, dtype=None, device=None) -> Array:
    """An array full of a number."""
    return _creation.full(shape, fill_value, dtype=dtype, device=device)


def tril(x, /, *, k=0) -> Array:
    """The lower triangle of each matrix, up to diagonal k; zeros elsewhere."""
    return _triangle(x, np.tri(*_sides(x), k=k, dtype=bool))


def triu(x, /, *, k=0) -> Array:
    """The upper triangle of each matrix, from diagonal k; zeros elsewhere."""
    return _triangle(x, ~np.tri(*_sides(x), k=k - 1, dtype=bool))


def _sides(x):
    if x.ndim < 2:
        raise ValueError(f"a triangle is one of a matrix; this is {list(x.shape)}")
    return x.shape[-2:]


def _triangle(x, mask):
    from .._functions import where
    return where(asarray(mask, device=x.device), x, zeros((), dtype=x.dtype, device=x.device))


def meshgrid(*arrays, indexing="xy") -> list[Array]:
    """Coordinates of a grid: for each vector an array with all its axes.

    >>> from troupe import array_api as xp
    >>> [list(x.shape) for x in xp.meshgrid(xp.ones(2), xp.ones(3))]
    [[3, 2], [3, 2]]
    """
    if indexing not in ("xy", "ij"):
        raise ValueError(f"indexing is {indexing!r}; it can be 'xy' or 'ij'")
    if len(arrays) > 1:
        dtype = result_type(*arrays)
        arrays = [x.astype(dtype, copy=False) for x in arrays]
    order = list(range(len(arrays)))
    if indexing == "xy" and len(arrays) > 1:
        order[:2] = 1, 0
    places = {axis: place for place, axis in enumerate(order)}
    sides = [arrays[axis].size for axis in order]
    made = []
    for axis, x in enumerate(arrays):
        shape = [1] * len(arrays)
        shape[places[axis]] = x.size
        made.append(x.reshape(tuple(shape)).view_broadcast(tuple(sides)).copy())
    return made
