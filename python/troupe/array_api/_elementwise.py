"""Functions of elements. What an op computes runs on the device; the rest is computed in the app by NumPy."""
from __future__ import annotations

import numpy as np

from .. import _core, _dtypes, _in_app
from .._array import Array, convert
from .._functions import logical_and, logical_not, logical_or, logical_xor, where
from .._operators import power

_UNARY, _BINARY, _SELECT = _core.UNARY, _core.BINARY, _core.TERNARY["select"]
_NUMPY = {"acos": "arccos", "acosh": "arccosh", "asin": "arcsin", "asinh": "arcsinh", "atan": "arctan",
          "atanh": "arctanh", "atan2": "arctan2", "bitwise_invert": "invert", "round": "rint", "pow": "power",
          "bitwise_left_shift": "left_shift", "bitwise_right_shift": "right_shift", "abs": "absolute"}

# Of one array: the op, and the kinds of NumPy's dtypes that it computes; NumPy computes the others.
_OF_ONE = {
    "abs": ("abs", "iuf"), "acos": ("", ""), "acosh": ("", ""), "asin": ("", ""), "asinh": ("", ""), "atan": ("", ""),
    "atanh": ("", ""), "bitwise_invert": ("bit_not", "biu"), "ceil": ("ceil", "iuf"), "cos": ("cos", "f"),
    "cosh": ("", ""), "exp": ("exp", "f"), "expm1": ("expm1", "f"), "floor": ("floor", "iuf"), "isfinite": ("", ""),
    "isinf": ("", ""), "log": ("log", "f"), "log1p": ("log1p", "f"), "log10": ("", ""), "log2": ("", ""),
    "negative": ("neg", "iufc"), "positive": ("identity", "biufc"), "reciprocal": ("reciprocal", "f"),
    "sign": ("sign", "iu"), "signbit": ("", ""), "sin": ("sin", "f"), "sinh": ("", ""), "sqrt": ("sqrt", "f"),
    "square": ("square", "iufc"), "tan": ("tan", "f"), "tanh": ("tanh", "f"), "trunc": ("", ""),
}
_OF_TWO = {
    "add": ("add", "iufc"), "bitwise_and": ("bit_and", "biu"), "bitwise_left_shift": ("shift_left", "iu"),
    "bitwise_or": ("bit_or", "biu"), "bitwise_right_shift": ("shift_right", "iu"), "bitwise_xor": ("bit_xor", "biu"),
    "divide": ("div", "iufc"), "equal": ("equal", "biufc"), "greater": ("greater", "biuf"),
    "greater_equal": ("greater_equal", "biuf"), "less": ("less", "biuf"), "less_equal": ("less_equal", "biuf"),
    "maximum": ("max", "iuf"), "minimum": ("min", "iuf"), "multiply": ("mul", "iufc"),
    "not_equal": ("not_equal", "biufc"), "subtract": ("sub", "iufc"), "atan2": ("", ""), "copysign": ("", ""),
    "hypot": ("", ""), "logaddexp": ("", ""), "nextafter": ("", ""), "remainder": ("", ""),
}


def _kind(x):
    kind = x.dtype.kind
    return "f" if kind == "V" else kind


def _array_of(*values):
    """The first array of these."""
    for value in values:
        if isinstance(value, Array):
            return value
    raise TypeError("an operand must be an array")


def _of_one(name, op, kinds):
    number, in_numpy = _UNARY.get(op), getattr(np, _NUMPY.get(name, name))

    def function(x, /):
        if _kind(_array_of(x)) in kinds:
            return _core.unary(number, x)
        if name in ("ceil", "floor", "trunc", "round") and x.dtype.kind in "biu":
            return x.copy()
        return _in_app.ufunc(in_numpy, x)
    return function


def _of_two(name, op, kinds):
    number, in_numpy = _BINARY.get(op), getattr(np, _NUMPY.get(name, name))

    def function(x1, x2, /):
        beside = _array_of(x1, x2)
        if _kind(beside) in kinds and (beside is x2 or not isinstance(x2, Array) or _kind(x2) in kinds):
            return _core.binary(number, x1, x2)
        return _in_app.ufunc(in_numpy, x1, x2)
    return function


def _made(function, name, words):
    function.__name__ = function.__qualname__ = name
    function.__module__ = "troupe.array_api"
    function.__doc__ = words
    return function


for _name, (_op, _kinds) in _OF_ONE.items():
    globals()[_name] = _made(_of_one(_name, _op, _kinds), _name, f"`{_name}` of each element.")
for _name, (_op, _kinds) in _OF_TWO.items():
    globals()[_name] = _made(_of_two(_name, _op, _kinds), _name, f"`{_name}` of pairs of elements.")


def isnan(x, /) -> Array:
    """Whether each element is NaN.

    >>> from troupe import array_api as xp
    >>> xp.isnan(xp.asarray([1., xp.nan]))
    Array([False,  True], dtype=bool)
    """
    return _core.binary(_BINARY["not_equal"], _array_of(x), x)


def round(x, /) -> Array:
    """Each element rounded to the nearest integer, ties to the even one."""
    if _kind(_array_of(x)) in "iuf":
        return _core.unary(_UNARY["round"], x)
    return _in_app.ufunc(np.rint, x)


def pow(x1, x2, /) -> Array:
    """x1 to the power of x2."""
    _array_of(x1, x2)
    return power(x1, x2)


def conj(x, /) -> Array:
    """The complex conjugates; of real numbers, a copy."""
    return _core.unary(_UNARY["conj" if _kind(_array_of(x)) == "c" else "identity"], x)


def real(x, /) -> Array:
    """The real parts."""
    return _in_app.call(np.real, x, x) if _kind(_array_of(x)) == "c" else x.copy()


def imag(x, /) -> Array:
    """The imaginary parts; of real numbers, zeros."""
    return _in_app.call(np.imag, _array_of(x), x)


def floor_divide(x1, x2, /) -> Array:
    """The greatest integer that is not above each quotient, with the quotient's type.

    An infinity divided by a finite number is an infinity, as the standard says; NumPy's `//` gives NaN.
    """
    return _in_app.ufunc(np.floor_divide, x1, x2, mend=_mend_endless)


def _mend_endless(floors, a, b):
    if floors.dtype.kind == "f":
        endless = np.isinf(a) & np.isfinite(b)
        if np.any(endless):
            np.copyto(floors, np.divide(a, b), where=endless)


def _bound(bound, x):
    """A bound of the array's type; None when it is below, or above, all of its numbers."""
    if isinstance(bound, Array):
        return bound.astype(x.dtype, copy=False)
    if type(bound) is int and x.dtype.kind in "iu":
        limits = np.iinfo(x.dtype)
        return convert(np.asarray(min(max(bound, limits.min), limits.max), x.dtype), x)
    return convert(np.asarray(bound, x.dtype), x)


def clip(x, /, min=None, max=None) -> Array:
    """Each element, but at least `min` and at most `max`, with the array's dtype.

    >>> from troupe import array_api as xp
    >>> xp.clip(xp.arange(5), 1, 3)
    Array([1, 1, 2, 3, 3], dtype=int64)
    """
    made = _array_of(x)
    if min is not None:
        made = maximum(made, _bound(min, x))  # noqa: F821 - made above
    if max is not None:
        made = minimum(made, _bound(max, x))  # noqa: F821
    return made.copy() if made is x else made


NAMES = [*_OF_ONE, *_OF_TWO, "isnan", "round", "pow", "conj", "real", "imag", "floor_divide", "clip", "logical_and",
         "logical_not", "logical_or", "logical_xor", "where"]
