"""Sorts, searches and sets."""
from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .. import _in_app, _order
from .._array import Array
from ._manipulation import axis_of, take


class UniqueAll(NamedTuple):
    """The values, where each is first, which of them each element is, and how often each is there."""

    values: Array
    indices: Array
    inverse_indices: Array
    counts: Array


class UniqueCounts(NamedTuple):
    """The values, and how often each is there."""

    values: Array
    counts: Array


class UniqueInverse(NamedTuple):
    """The values, and which of them each element is."""

    values: Array
    inverse_indices: Array


def sort(x, /, *, axis=-1, descending=False, stable=True) -> Array:
    """The elements of each row in order.

    >>> from troupe import array_api as xp
    >>> xp.sort(xp.asarray([3, 1, 2]), descending=True)
    Array([3, 2, 1], dtype=int64)
    """
    axis = axis_of(axis, x.ndim)
    return _order.sort(x, axis=axis, descending=descending) if x.size else x.copy()


def argsort(x, /, *, axis=-1, descending=False, stable=True) -> Array:
    """Where the elements are that `sort` puts into each place; equal ones in their order."""
    axis = axis_of(axis, x.ndim)
    return _order.argsort(x, axis=axis, descending=descending) if x.size else x.astype("int64")


def _reduced(x, axis, keepdims, greatest):
    if axis is not None:
        axis = axis_of(axis, x.ndim)
    return _order.arg_reduced(x, axis, keepdims, greatest)


def argmax(x, /, *, axis=None, keepdims=False) -> Array:
    """The index of the greatest element, the first one of several."""
    return _reduced(x, axis, keepdims, True)


def argmin(x, /, *, axis=None, keepdims=False) -> Array:
    """The index of the least element, the first one of several."""
    return _reduced(x, axis, keepdims, False)


def count_nonzero(x, /, *, axis=None, keepdims=False) -> Array:
    """How many elements are not 0."""
    from ._statistics import sum
    return sum(_order.truth(x), axis=axis, dtype="int64", keepdims=keepdims)


def nonzero(x, /) -> tuple[Array, ...]:
    """The indices of all elements that are not 0: for each axis an array. Waits for the elements."""
    if not x.ndim:
        raise ValueError("nonzero needs an array with axes")
    return _in_app.call(np.nonzero, x, x)


def searchsorted(x1, x2, /, *, side="left", sorter=None) -> Array:
    """Where each element of x2 could be put into the ascending vector x1: before its equals, or behind them."""
    if side not in ("left", "right"):
        raise ValueError(f"side is {side!r}; it can be 'left' or 'right'")
    if x1.ndim != 1:
        raise ValueError(f"searchsorted: x1 must be a vector; it is {list(x1.shape)}")
    if sorter is not None:
        x1 = take(x1, sorter)
    if not x1.size or not x2.size:
        return _in_app.call(np.searchsorted, x1, x1, x2, side)
    return _order.searchsorted(x1, x2, side=side)


def _unique(x):
    def found(elements):
        values, first, inverse, counts = np.unique(
            elements, return_index=True, return_inverse=True, return_counts=True, equal_nan=False)
        return values, first, inverse.reshape(elements.shape), counts
    return _in_app.call(found, x, x)


def unique_all(x, /) -> UniqueAll:
    """The different elements of an array, and all about them. Each NaN is different."""
    return UniqueAll(*_unique(x))


def unique_counts(x, /) -> UniqueCounts:
    """The different elements, and how often each is there."""
    values, _, _, counts = _unique(x)
    return UniqueCounts(values, counts)


def unique_inverse(x, /) -> UniqueInverse:
    """The different elements, and which of them each element is."""
    values, _, inverse, _ = _unique(x)
    return UniqueInverse(values, inverse)


def unique_values(x, /) -> Array:
    """The different elements of an array, in order.

    >>> from troupe import array_api as xp
    >>> xp.unique_values(xp.asarray([2, 1, 2]))
    Array([1, 2], dtype=int64)
    """
    return _in_app.call(lambda elements: np.unique(elements, equal_nan=False), x, x)


NAMES = ["argmax", "argmin", "argsort", "count_nonzero", "nonzero", "searchsorted", "sort", "unique_all",
         "unique_counts", "unique_inverse", "unique_values"]
