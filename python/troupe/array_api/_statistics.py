"""Sums and what is made of them; logical reductions; differences."""
from __future__ import annotations

import math

from .. import _core, _dtypes, _in_app
from .._array import Array
from .._creation import full
from .._functions import concat
from .._order import cumprod, cumsum
from .._reductions import ArrayReductions
from ._manipulation import axes_of, axis_of

_MINUS, _NOT_EQUAL = _core.BINARY["sub"], _core.BINARY["not_equal"]


def _axis(axis, x):
    return axes_of(axis, x.ndim)


def sum(x, /, *, axis=None, dtype=None, keepdims=False) -> Array:
    """The sum; of integers in 64 bits, unless a dtype is named, to which the elements are converted first.

    >>> from troupe import array_api as xp
    >>> xp.sum(xp.ones(3, dtype=xp.uint8))
    Array(3, dtype=uint64)
    """
    return ArrayReductions.sum(x, _axis(axis, x), dtype, keepdims)


def prod(x, /, *, axis=None, dtype=None, keepdims=False) -> Array:
    """The product; its dtype is as that of `sum`."""
    return ArrayReductions.prod(x, _axis(axis, x), dtype, keepdims)


def _nothing(x, axes, keepdims):
    """NaN, in the shape of a reduction along these axes."""
    shape = tuple(1 if a in axes else side for a, side in enumerate(x.shape) if keepdims or a not in axes)
    return full(shape, math.nan, dtype=x.dtype if x.dtype.kind in "fc" else "float64", device=x.device)


def mean(x, /, *, axis=None, keepdims=False) -> Array:
    """The mean; NaN of nothing."""
    if not math.prod(x.shape[a] for a in _axis(axis, x)):
        return _nothing(x, _axis(axis, x), keepdims)
    return ArrayReductions.mean(x, _axis(axis, x), keepdims)


def _extreme(name, x, axis, keepdims):
    axes = _axis(axis, x)
    if math.prod(x.shape[a] for a in axes) == 0:
        raise ValueError(f"{name}: the array is {list(x.shape)}; there is none of no elements")
    if x.dtype.kind in "bc":
        return _in_app.call(name, x, x, axis=axes, keepdims=keepdims)
    return getattr(ArrayReductions, name)(x, axes, keepdims)


def max(x, /, *, axis=None, keepdims=False) -> Array:
    """The greatest element; NaN when any is NaN."""
    return _extreme("max", x, axis, keepdims)


def min(x, /, *, axis=None, keepdims=False) -> Array:
    """The least element; NaN when any is NaN."""
    return _extreme("min", x, axis, keepdims)


def var(x, /, *, axis=None, correction=0.0, keepdims=False) -> Array:
    """The mean of the squares of the distances from the mean, with n - `correction` for n; NaN where that is no more
    than 0."""
    axes = _axis(axis, x)
    count = math.prod(x.shape[a] for a in axes)
    if count - correction <= 0:
        return _nothing(x, axes, keepdims)
    return ArrayReductions.var(x, axes, correction, keepdims)


def std(x, /, *, axis=None, correction=0.0, keepdims=False) -> Array:
    """The square root of `var`."""
    return _core.unary(_core.UNARY["sqrt"], var(x, axis=axis, correction=correction, keepdims=keepdims))


def all(x, /, *, axis=None, keepdims=False) -> Array:
    """Whether no element is 0."""
    return ArrayReductions.all(x, _axis(axis, x), keepdims)


def any(x, /, *, axis=None, keepdims=False) -> Array:
    """Whether some element is not 0."""
    return ArrayReductions.any(x, _axis(axis, x), keepdims)


def _cumulative(function, first, x, axis, dtype, include_initial):
    if axis is None:
        if x.ndim != 1:
            raise ValueError(f"an array of dimension {x.ndim} needs an axis; only a vector needs none")
        axis = 0
    axis = axis_of(axis, x.ndim)
    if dtype is None and x.dtype.kind in "iu":
        dtype = "uint64" if x.dtype.kind == "u" else "int64"
    made = function(x, axis, dtype) if x.size else x.astype(dtype or x.dtype)
    if not include_initial:
        return made
    shape = (*x.shape[:axis], 1, *x.shape[axis + 1:])
    return concat([full(shape, first, dtype=made.dtype, device=x.device), made], axis=axis)


def cumulative_sum(x, /, *, axis=None, dtype=None, include_initial=False) -> Array:
    """The sums of the first elements: of one, of two, and so on; of none before, with `include_initial`.

    >>> from troupe import array_api as xp
    >>> xp.cumulative_sum(xp.asarray([1, 2, 3]), include_initial=True)
    Array([0, 1, 3, 6], dtype=int64)
    """
    return _cumulative(cumsum, 0, x, axis, dtype, include_initial)


def cumulative_prod(x, /, *, axis=None, dtype=None, include_initial=False) -> Array:
    """The same of products."""
    return _cumulative(cumprod, 1, x, axis, dtype, include_initial)


def diff(x, /, *, axis=-1, n=1, prepend=None, append=None) -> Array:
    """The differences of neighbours along an axis, n times."""
    axis = axis_of(axis, x.ndim)
    if n < 0:
        raise ValueError(f"diff: n is {n}; it must not be less than 0")
    if n == 0:
        return x.copy()
    parts = [part for part in (prepend, x, append) if part is not None]
    made = concat(parts, axis=axis) if len(parts) > 1 else x
    front = (slice(None),) * axis
    function = _MINUS if _dtypes.kind_of(made.dtype_number) != "bool" else _NOT_EQUAL
    for _ in range(n):
        made = _core.binary(function, made[(*front, slice(1, None))], made[(*front, slice(0, -1))])
    return made


NAMES = ["all", "any", "cumulative_prod", "cumulative_sum", "diff", "max", "mean", "min", "prod", "std", "sum", "var"]
