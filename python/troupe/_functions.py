"""Functions of elements, and of whole arrays, by the names of the array API standard and NumPy."""
from __future__ import annotations

import numpy as np

from . import _core, _dtypes, _in_app, _order
from ._array import Array, convert
from ._creation import asarray
from ._expressions import Term, applied, chosen, combined
from ._operators import power

_UNARY, _BINARY, _TERNARY = _core.UNARY, _core.BINARY, _core.TERNARY

# Python's name, ours.
_UNARY_NAMES = {
    "negative": "neg", "square": "square", "sqrt": "sqrt", "rsqrt": "rsqrt", "reciprocal": "reciprocal", "exp": "exp",
    "log": "log", "sin": "sin", "cos": "cos", "tan": "tan", "tanh": "tanh", "expm1": "expm1", "log1p": "log1p",
    "erf": "erf", "relu": "relu", "sigmoid": "sigmoid", "silu": "silu", "gelu": "gelu", "gelu_tanh": "gelu_tanh",
    "softplus": "softplus", "floor": "floor", "ceil": "ceil", "round": "round", "bitwise_invert": "bit_not",
    "positive": "identity", "sign": "sign",
}
_BINARY_NAMES = {
    "add": "add", "subtract": "sub", "multiply": "mul", "divide": "div", "minimum": "min", "maximum": "max",
    "bitwise_and": "bit_and", "bitwise_or": "bit_or", "bitwise_xor": "bit_xor", "bitwise_left_shift": "shift_left",
    "bitwise_right_shift": "shift_right", "equal": "equal", "not_equal": "not_equal", "less": "less",
    "less_equal": "less_equal", "greater": "greater", "greater_equal": "greater_equal",
}
_FLOORS = {_UNARY[name] for name in ("floor", "ceil", "round")}
# What is computed in the app so far: with one array, and with two.
_IN_APP = [
    "sinh", "cosh", "asin", "acos", "atan", "asinh", "acosh", "atanh", "log2", "log10", "exp2", "trunc", "isnan",
    "isinf", "isfinite", "signbit", "real", "imag", "flip", "roll", "diff",
    "tril", "triu", "repeat", "tile", "count_nonzero",
]
_IN_APP_OF_TWO = [
    "floor_divide", "remainder", "atan2", "hypot", "copysign", "logaddexp", "nextafter",
]
_NUMPY_NAMES = {"asin": "arcsin", "acos": "arccos", "atan": "arctan", "asinh": "arcsinh", "acosh": "arccosh",
                "atanh": "arctanh", "atan2": "arctan2"}


def _first_array(*values):
    found = next((value for value in values if isinstance(value, Array)), None)
    return asarray(values[0]) if found is None else found


def _unary(name, number):
    def function(x, /):
        if type(x) is Term:
            return applied(number, x)
        x = asarray(x)
        if number in _FLOORS and x.dtype.kind == "b":
            return x.copy()
        return _core.unary(number, x)
    function.__doc__ = f"`{name}` of each element."
    return function


def _binary(name, number):
    def function(x1, x2, /, *, out=None):
        if type(x1) is Term or type(x2) is Term:
            return combined(number, x1, x2)
        if not isinstance(x1, Array) and not isinstance(x2, Array):
            x1 = asarray(x1)
        return _core.binary(number, x1, x2, out)
    function.__doc__ = f"`{name}` of pairs of elements."
    return function


def _computed_in_app(name):
    numpy_function = getattr(np, _NUMPY_NAMES.get(name, name))

    def function(*arguments, **options):
        beside = _first_array(*arguments)
        if isinstance(numpy_function, np.ufunc) and not options:
            has_array = any(isinstance(x, Array) for x in arguments)
            return _in_app.ufunc(numpy_function, *(arguments if has_array else (beside, *arguments[1:])))
        return _in_app.call(numpy_function, beside, *arguments, **options)
    function.__doc__ = f"NumPy's `{numpy_function.__name__}`, computed in the app."
    return function


def _named(name, function):
    function.__name__ = function.__qualname__ = name
    function.__module__ = "troupe"
    return function


MADE = {name: _named(name, _unary(name, _UNARY[ours])) for name, ours in _UNARY_NAMES.items()}
MADE |= {name: _named(name, _binary(name, _BINARY[ours])) for name, ours in _BINARY_NAMES.items()}
MADE |= {name: _named(name, _computed_in_app(name)) for name in _IN_APP + _IN_APP_OF_TWO}
globals().update(MADE)
pow = power


def abs(x, /) -> Array:
    """The absolute values."""
    if type(x) is Term:
        return applied(_UNARY["abs"], x)
    return _in_app.absolute(asarray(x))


def logical_not(x, /) -> Array:
    """Whether each element is 0."""
    return _core.binary(_BINARY["equal"], asarray(x), 0)


def _truth(x):
    return _order.truth(asarray(x))


def logical_and(x1, x2, /) -> Array:
    """Whether both elements are not 0."""
    return _truth(x1) & _truth(x2)


def logical_or(x1, x2, /) -> Array:
    """Whether one of both elements is not 0."""
    return _truth(x1) | _truth(x2)


def logical_xor(x1, x2, /) -> Array:
    """Whether just one of both elements is not 0."""
    return _truth(x1) ^ _truth(x2)


def where(condition, x1, x2, /) -> Array:
    """x1 where the condition is true, x2 elsewhere.

    >>> x = troupe.arange(4)
    >>> troupe.where(x > 1, x, 0)
    Array([0, 0, 2, 3], dtype=int64)
    """
    if Term in (type(condition), type(x1), type(x2)):
        return chosen(_TERNARY["select"], condition, x1, x2)
    condition = _truth(condition)
    if not isinstance(x1, Array) and not isinstance(x2, Array):
        x1 = convert(x1, condition)
    return _core.ternary(_TERNARY["select"], condition, x1, x2)


def fma(x1, x2, x3, /) -> Array:
    """x1 x2 + x3 in one op."""
    if Term in (type(x1), type(x2), type(x3)):
        return chosen(_TERNARY["fma"], x1, x2, x3)
    return _core.ternary(_TERNARY["fma"], x1, x2, x3)


def clip(x, /, min=None, max=None) -> Array:
    """Each element, but at least `min` and at most `max`."""
    if type(x) is Term:
        return chosen(_TERNARY["clamp"], x, -np.inf if min is None else min, np.inf if max is None else max)
    if min is not None:
        x = _core.binary(_BINARY["max"], x, min)
    return x.copy() if max is None and min is None else x if max is None else _core.binary(_BINARY["min"], x, max)


# ---- whole arrays ----

def reshape(x, /, shape, *, copy=None) -> Array:
    """`x.reshape(shape)`."""
    return x.reshape(shape, copy=copy)


def permute_dims(x, /, axes) -> Array:
    """A view with the axes in this order."""
    return x.transpose(tuple(axes))


def expand_dims(x, /, *, axis=0) -> Array:
    """A view with one more axis, of extent 1."""
    axis = range(x.ndim + 1)[axis]
    return x[(slice(None),) * axis + (None,)]


def squeeze(x, /, axis=None) -> Array:
    """A view without axes of extent 1."""
    return x.squeeze(axis)


def broadcast_to(x, /, shape) -> Array:
    """A view that repeats what has an extent of 1, for reading."""
    return asarray(x).view_broadcast(tuple(shape))


def concat(arrays, /, *, axis=0) -> Array:
    """The arrays one behind the other along an axis, or all of their elements (`axis=None`).

    >>> troupe.concat([troupe.zeros(2), troupe.ones(1)])
    Array([0., 0., 1.], dtype=float64)
    """
    arrays = [asarray(x) for x in arrays]
    if axis is None:
        arrays, axis = [x.ravel() for x in arrays], 0
    number = arrays[0].dtype_number
    for x in arrays[1:]:
        number = _core.promoted(number, x.dtype_number)
    axis = range(arrays[0].ndim)[axis]
    shape = list(arrays[0].shape)
    for i, x in enumerate(arrays):
        if x.ndim != len(shape) or any(x.shape[a] != shape[a] for a in range(x.ndim) if a != axis):
            raise ValueError(f"concat: array {i} is {list(x.shape)} and array 0 is {list(arrays[0].shape)}; "
                             f"all but axis {axis} must be equal")
    shape[axis] = sum(x.shape[axis] for x in arrays)
    out = _core.allocate(arrays[0].device_handle, shape, number, 0)
    begin = 0
    for x in arrays:
        end = begin + x.shape[axis]
        out[(slice(None),) * axis + (slice(begin, end),)] = x
        begin = end
    return out


def stack(arrays, /, *, axis=0) -> Array:
    """The arrays along a new axis."""
    arrays = [asarray(x) for x in arrays]
    return concat([expand_dims(x, axis=axis) for x in arrays], axis=range(arrays[0].ndim + 1)[axis])


def result_type(*arrays_and_dtypes) -> np.dtype:
    """The dtype that these are promoted to."""
    numbers = [x.dtype_number if isinstance(x, Array) else _dtypes.number_of(x) for x in arrays_and_dtypes]
    number = numbers[0]
    for other in numbers[1:]:
        number = _core.promoted(number, other)
    return _dtypes.dtype_of(number)


NAMES = [*MADE, "pow", "abs", "logical_not", "logical_and", "logical_or", "logical_xor", "where", "fma", "clip",
         "reshape", "permute_dims", "expand_dims", "squeeze", "broadcast_to", "concat", "stack", "result_type"]
