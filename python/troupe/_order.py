"""Sorts, scans, searches, and what is picked by indices and masks: the family `primitives`. Complex numbers have no
order, and NumPy does them in the app."""
from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from . import _core, _dtypes, _in_app

if TYPE_CHECKING:
    from ._array import Array


def _new(x, shape, number):
    return _core.allocate(x.device_handle, tuple(shape), number, 0)


def _row(x, axis):
    """The array with its axis, counted from 0; without an axis it is all elements in one row."""
    if axis is None:
        return x.ravel(), 0
    if not -x.ndim <= axis < x.ndim:
        raise ValueError(f"axis {axis} is out of bounds for an array of dimension {x.ndim}")
    return x, axis % x.ndim


def truth(x) -> Array:
    """Whether each element is not 0."""
    return x if x.dtype_number == _dtypes.BOOL else _core.binary(_core.BINARY["not_equal"], x, 0)


def _has_order(x):
    return x.dtype.kind != "c"


def sort(x, /, *, axis=-1, descending=False, stable=True) -> Array:
    """The elements of each row in order, NaN last.

    >>> troupe.sort(troupe.asarray([3, 1, 2]))
    Array([1, 2, 3], dtype=int64)
    """
    if not _has_order(x):
        return _in_app.call(np.sort, x, x, axis=axis)
    x, axis = _row(x, axis)
    out = _new(x, x.shape, x.dtype_number)
    _core.sort(x, out, axis, descending)
    return out


def argsort(x, /, *, axis=-1, descending=False, stable=True) -> Array:
    """Where the elements are that `sort` puts into each place; equal ones in their order."""
    if not _has_order(x):
        return _in_app.call(np.argsort, x, x, axis=axis)
    x, axis = _row(x, axis)
    out = _new(x, x.shape, _dtypes.I64)
    _core.argsort(x, out, axis, descending)
    return out


def top_k(x, k, /, *, axis=-1, largest=True) -> tuple[Array, Array]:
    """The k greatest elements of each row, the greatest first, and where they are; or the least.

    >>> troupe.top_k(troupe.asarray([3., 1., 2.]), 2)
    (Array([3., 2.], dtype=float64), Array([0, 2], dtype=int64))
    """
    x, axis = _row(x, axis)
    shape = (*x.shape[:axis], k, *x.shape[axis + 1:])
    best, indices = _new(x, shape, x.dtype_number), _new(x, shape, _dtypes.I64)
    _core.top_k(x, best, indices, axis, largest)
    return best, indices


def arg_reduced(x, axis, keepdims, greatest) -> Array:
    """The index of the greatest or the least element of each row."""
    if not _has_order(x) or not x.size:
        return _in_app.call("argmax" if greatest else "argmin", x, x, axis=axis, keepdims=keepdims)
    rank = x.ndim
    x, row = _row(x, axis)
    if not x.ndim:
        x = x.reshape(1)
    shape = (*x.shape[:row], *x.shape[row + 1:])
    out = _new(x, shape, _dtypes.I64)
    _core.arg_reduce(x, out, row, greatest)
    if not keepdims:
        return out
    return out.reshape((1,) * rank if axis is None else (*x.shape[:row], 1, *x.shape[row + 1:]))


def _scanned(function, x, axis, dtype):
    if dtype is not None:
        x = x.astype(dtype, copy=False)
    if x.dtype.kind == "c":
        return _in_app.call({"sum": np.cumsum, "product": np.cumprod}[function], x, x, axis=axis)
    x, axis = _row(x, axis)
    number = x.dtype_number
    if dtype is None and x.dtype.kind in "biu":
        number = _dtypes.number_of("uint64" if x.dtype.kind == "u" else "int64")
    out = _new(x, x.shape, number)
    _core.scan(function, x, out, axis, False)
    return out


def cumsum(x, /, axis=None, dtype=None) -> Array:
    """The sums of the first elements of each row: of one, of two, and so on.

    >>> troupe.cumsum(troupe.arange(5))
    Array([ 0,  1,  3,  6, 10], dtype=int64)
    """
    return _scanned("sum", x, axis, dtype)


def cumprod(x, /, axis=None, dtype=None) -> Array:
    """The same of products."""
    return _scanned("product", x, axis, dtype)


def searchsorted(sorted, keys, /, *, side="left") -> Array:
    """Where each key could be put into an ascending vector: before its equals, or behind them with side="right"."""
    number = _core.promoted(sorted.dtype_number, keys.dtype_number)
    dtype = _dtypes.dtype_of(number)
    out = _new(keys, keys.shape, _dtypes.I64)
    _core.search(sorted.astype(dtype, copy=False), keys.astype(dtype, copy=False), out, side == "right")
    return out


def unique_values(x, /) -> Array:
    """Each element once, in order. Waits, because only the elements say how many they are.

    >>> troupe.unique_values(troupe.asarray([2, 1, 2]))
    Array([1, 2], dtype=int64)
    """
    if not _has_order(x) or not x.size:
        return _in_app.call(np.unique, x, x)
    ordered = sort(x, axis=None)
    out, count = _new(x, ordered.shape, x.dtype_number), _new(x, (1,), _dtypes.I64)
    _core.unique(ordered, out, count)
    return out[:int(count)]


def histogram(x, bounds, /) -> Array:
    """How many elements are between each two neighbours of the ascending bounds, the last one included."""
    counts = _new(x, (bounds.shape[0] - 1,), _dtypes.I64)
    _core.histogram(x, bounds.astype(x.dtype, copy=False), counts)
    return counts


def take(x, indices, /, *, axis=0) -> Array:
    """The elements, or parts, with these indices along an axis; those below 0 are counted from the end.

    >>> troupe.take(troupe.arange(10, 20), [0, -1, 3])
    Array([10, 19, 13], dtype=int64)
    """
    x, axis = _row(x, axis)
    indices = _indices(indices, x, axis)
    flat = indices.ravel()
    out = _new(x, (*x.shape[:axis], flat.shape[0], *x.shape[axis + 1:]), x.dtype_number)
    _core.gather(x, flat, out, axis)
    return out.reshape(*x.shape[:axis], *indices.shape, *x.shape[axis + 1:])


def _indices(indices, x, axis):
    """An array of i32 or i64 without negative ones."""
    extent = x.shape[axis]
    if not isinstance(indices, _core.Handle):
        from ._creation import asarray
        known = np.asarray(indices)
        if known.size and not (-extent <= known.min() and known.max() < extent):
            outside = known[(known < -extent) | (known >= extent)].flat[0]
            raise IndexError(f"index {outside} is out of bounds for axis {axis} with size {extent}")
        return asarray(np.where(known < 0, known + extent, known).astype("int64"), device=x.device)
    if indices.dtype.name not in ("int32", "int64"):
        indices = indices.astype("int64")
    below = _core.binary(_core.BINARY["less"], indices, 0)
    return _core.ternary(_core.TERNARY["select"], below, indices + extent, indices)


def selected(x, mask) -> Array:
    """The elements of a vector where a mask of its shape is true. Waits, because only the mask says how many."""
    out, count = _new(x, x.shape, x.dtype_number), _new(x, (1,), _dtypes.I64)
    _core.select(x, mask, out, count)
    return out[:int(count)]


def put_where(x, key, value) -> bool:
    """Writes one number where a mask of the array's shape is true; False when key or value is something else."""
    if not (isinstance(key, _core.Handle) and key.dtype_number == _dtypes.BOOL and key.shape == x.shape):
        return False
    if isinstance(value, _core.Handle):
        if value.ndim:
            return False
        number = value.astype(x.dtype, copy=False)
    elif type(value) in (bool, int, float, complex):
        number = _core.allocate(x.device_handle, (), x.dtype_number, 0)
        number[...] = value
    else:
        return False
    _core.copy(_core.ternary(_core.TERNARY["select"], key, number, x), x)
    return True


def picked(x, key) -> Array | None:
    """What an index of lists, arrays or masks picks, by an op where there is one; None where there is none."""
    if isinstance(key, tuple) or not x.ndim or not x.size:
        return None
    if not isinstance(key, _core.Handle):
        key = np.asarray(key)
        if key.dtype.kind not in "biu" or not key.ndim:
            return None
    if key.dtype.kind in "iu":
        return take(x, key)
    if key.shape != x.shape or x.dtype.kind == "c":
        return None
    if isinstance(key, np.ndarray):
        from ._creation import asarray
        key = asarray(key, device=x.device)
    return selected(x.ravel(), key.ravel())


NAMES = ["sort", "argsort", "top_k", "cumsum", "cumprod", "searchsorted", "unique_values", "histogram", "take"]
