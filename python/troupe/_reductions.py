"""Reductions: methods of `Array`, and functions of the same names."""
from __future__ import annotations

import math
from typing import TYPE_CHECKING

from . import _core, _dtypes, _in_app, _order
from ._dlpack import ArrayExchange

if TYPE_CHECKING:
    from ._array import Array

_REDUCTION = _core.REDUCTION


def _axes(axis):
    return None if axis is None else axis if isinstance(axis, tuple) else (int(axis),)


def _count(array, axis):
    """How many elements each result is made of."""
    return math.prod(array.shape if axis is None else (array.shape[a] for a in _axes(axis)))


def _reduce(name, array, axis, keepdims, dtype=None):
    """`dtype`: what the elements are converted to first."""
    if dtype is not None and _dtypes.number_of(dtype) != array.dtype_number:
        array = array.astype(dtype)
    number = -1 if dtype is None else array.dtype_number
    return _core.reduce(_REDUCTION[name], array, _axes(axis), keepdims, number)


class ArrayReductions(ArrayExchange):
    """Reductions along all axes, or along those that `axis` names: one, or a tuple of them. With `keepdims` the axes
    stay, with an extent of 1."""

    __slots__ = ()

    def sum(self, axis=None, dtype=None, keepdims=False) -> Array:
        """The sum; of integers and bools in 64 bits.

        >>> troupe.arange(6).reshape(2, 3).sum(axis=0)
        Array([3, 5, 7], dtype=int64)
        """
        return _reduce("sum", self, axis, keepdims, dtype)

    def prod(self, axis=None, dtype=None, keepdims=False) -> Array:
        """The product; of integers and bools in 64 bits."""
        return _reduce("product", self, axis, keepdims, dtype)

    def mean(self, axis=None, keepdims=False) -> Array:
        """The mean; of integers and bools in float64; NaN of nothing."""
        if not self.size and not _count(self, axis):
            return self.sum(axis, "float64" if self.dtype.kind in "biu" else None, keepdims) / 0
        return _reduce("mean", self, axis, keepdims)

    def min(self, axis=None, keepdims=False) -> Array:
        """The least element; NaN when any is NaN."""
        return _reduce("min", self, axis, keepdims)

    def max(self, axis=None, keepdims=False) -> Array:
        """The greatest element; NaN when any is NaN."""
        return _reduce("max", self, axis, keepdims)

    def any(self, axis=None, keepdims=False) -> Array:
        """Whether some element is not 0."""
        return _reduce("any", _order.truth(self), axis, keepdims)

    def all(self, axis=None, keepdims=False) -> Array:
        """Whether no element is 0."""
        return _reduce("all", _order.truth(self), axis, keepdims)

    def var(self, axis=None, correction=0, keepdims=False) -> Array:
        """The variance: the mean of the squares of the distances from the mean, with n - `correction` for n."""
        array = self if self.dtype.kind in "fcV" else self.astype("float64")
        count = _count(self, axis)
        distances = array - array.mean(axis, keepdims=True)
        squares = distances * distances if array.dtype.kind != "c" else _in_app.absolute(distances) ** 2
        return squares.sum(axis, keepdims=keepdims) / float(count - correction if count > correction else 0)

    def std(self, axis=None, correction=0, keepdims=False) -> Array:
        """The square root of the variance."""
        return _core.unary(_core.UNARY["sqrt"], self.var(axis, correction, keepdims))

    def argmax(self, axis=None, keepdims=False) -> Array:
        """The index of the greatest element, the first one of several."""
        return _order.arg_reduced(self, axis, keepdims, True)

    def argmin(self, axis=None, keepdims=False) -> Array:
        """The index of the least element, the first one of several."""
        return _order.arg_reduced(self, axis, keepdims, False)

    def conj(self) -> Array:
        """The conjugates."""
        return _core.unary(_core.UNARY["conj"], self)


def _function(name):
    def function(x, *arguments, **options):
        from ._creation import asarray
        return getattr(asarray(x), name)(*arguments, **options)
    function.__name__ = function.__qualname__ = name
    function.__doc__ = getattr(ArrayReductions, name).__doc__
    return function


NAMES = ["sum", "prod", "mean", "min", "max", "any", "all", "var", "std", "argmax", "argmin", "conj"]
globals().update({name: _function(name) for name in NAMES})
