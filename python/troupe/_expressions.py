"""Expressions: a function of arrays that is computed element by element, in one op and one pass over memory."""
from __future__ import annotations

import functools

import numpy as np

from . import _core, _dtypes
from ._array import Array, convert

_UNARY, _BINARY, _TERNARY, _REDUCTION = _core.UNARY, _core.BINARY, _core.TERNARY, _core.REDUCTION
_COMPARISONS = {_BINARY[name] for name in ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal")}
_FRACTIONAL = {_UNARY[name] for name in (
    "sqrt", "rsqrt", "reciprocal", "exp", "log", "sin", "cos", "tanh", "expm1", "log1p", "tan", "erf", "sigmoid",
    "silu", "gelu", "softplus", "gelu_tanh")}


def _of(function):
    def operator(self, other):
        return combined(function, self, other)
    return operator


def _reflected(function):
    def operator(self, other):
        return combined(function, other, self)
    return operator


class Term:
    """What a parameter of an expression's function is while it runs: it notes what is done with it."""

    __slots__ = ("body", "dtype", "shape")
    __array_ufunc__ = None
    __hash__ = None

    def __init__(self, body, dtype, shape):
        self.body, self.dtype, self.shape = body, dtype, shape

    __add__, __radd__ = _of(_BINARY["add"]), _reflected(_BINARY["add"])
    __sub__, __rsub__ = _of(_BINARY["sub"]), _reflected(_BINARY["sub"])
    __mul__, __rmul__ = _of(_BINARY["mul"]), _reflected(_BINARY["mul"])
    __truediv__, __rtruediv__ = _of(_BINARY["div"]), _reflected(_BINARY["div"])
    __pow__, __rpow__ = _of(_BINARY["pow"]), _reflected(_BINARY["pow"])
    __lt__, __le__ = _of(_BINARY["less"]), _of(_BINARY["less_equal"])
    __gt__, __ge__ = _of(_BINARY["greater"]), _of(_BINARY["greater_equal"])
    __eq__, __ne__ = _of(_BINARY["equal"]), _of(_BINARY["not_equal"])

    def __neg__(self):
        return applied(_UNARY["neg"], self)

    def __abs__(self):
        return applied(_UNARY["abs"], self)

    def __bool__(self):
        raise TypeError("inside of an expression nothing is known yet; troupe.where chooses between two values")


def _result_type(*terms):
    return np.result_type(*(term.dtype if isinstance(term, Term) else term for term in terms))


def _term(value):
    """Body of a term or a number."""
    if isinstance(value, Term):
        return value.body
    if isinstance(value, Array):
        return _core.expression_of_array(value)
    if isinstance(value, (bool, int, float, complex, np.generic)):
        return _core.expression_of_number(complex(value))
    raise TypeError(f"an expression has arrays and numbers; this is {type(value).__name__}")


def _as_term(value):
    return Term(_core.expression_of_array(value), value.dtype, value.shape) if isinstance(value, Array) else value


def _shape(*terms):
    return np.broadcast_shapes(*(term.shape for term in terms if isinstance(term, Term)))


def applied(function, x) -> Term:
    """A function of one term."""
    dtype = np.result_type(x.dtype, np.float16) if function in _FRACTIONAL else x.dtype
    return Term(_core.expression_unary(function, x.body), dtype, x.shape)


def combined(function, a, b):
    """A function of two, of which one is a term."""
    a, b = _as_term(a), _as_term(b)
    dtype = np.dtype(bool) if function in _COMPARISONS else _result_type(a, b)
    if function == _BINARY["div"] and dtype.kind in "biu":
        dtype = np.dtype("float64")
    return Term(_core.expression_binary(function, _term(a), _term(b)), dtype, _shape(a, b))


def chosen(function, a, b, c):
    """A function of three, of which one is a term."""
    a, b, c = _as_term(a), _as_term(b), _as_term(c)
    typed = (b, c) if function == _TERNARY["select"] else (a, b, c)
    dtype = _result_type(*typed)
    return Term(_core.expression_ternary(function, _term(a), _term(b), _term(c)), dtype, _shape(a, b, c))


class ExpressionFunction:
    """A function of arrays as one op."""

    def __init__(self, function):
        functools.update_wrapper(self, function)
        self._function = function

    def _traced(self, arguments):
        beside = next((x for x in arguments if isinstance(x, Array)), None)
        if beside is None:
            raise TypeError(f"{self.__name__}: an argument must be an array")
        terms = [convert(x, beside) if isinstance(x, (list, np.ndarray)) else x for x in arguments]
        made = self._function(*(_as_term(x) for x in terms))
        if not isinstance(made, Term):
            raise TypeError(f"{self.__name__} gave {type(made).__name__}; it must give what it makes of its arrays")
        return beside, made

    def __call__(self, *arguments, out=None) -> Array:
        beside, made = self._traced(arguments)
        is_whole = out is None and made.dtype.kind in "iu"
        if out is None:
            dtype = np.dtype("float64") if is_whole else made.dtype  # integers are computed in float64
            out = _core.allocate(beside.device_handle, made.shape, _dtypes.number_of(dtype), 0)
        _core.evaluate(made.body, out)
        return out.astype(made.dtype) if is_whole else out

    def reduce(self, reduction, *arguments, axis=None, keepdims=False) -> Array:
        """The sum, product, mean, norm, min or max of what the function gives, which is stored nowhere."""
        beside, made = self._traced(arguments)
        rank = len(made.shape)
        axes = range(rank) if axis is None else axis if isinstance(axis, tuple) else (axis,)
        axes = tuple(range(rank)[a] for a in axes)
        shape = tuple(1 if a in axes else side for a, side in enumerate(made.shape) if keepdims or a not in axes)
        dtype = made.dtype if made.dtype.kind in "fc" else np.dtype("float64")
        out = _core.allocate(beside.device_handle, shape, _dtypes.number_of(dtype), 0)
        _core.evaluate_reduce(_REDUCTION["product" if reduction == "prod" else reduction], made.body, axes, out)
        return out

    def text(self, *arguments) -> str:
        """The expression as C++ prints it: "tanh(2 * x0 + x1)"."""
        return self._traced(arguments)[1].body.to_string()


def expression(function) -> ExpressionFunction:
    """Makes one op of a function of arrays: all of its steps are computed in one pass over memory. It may use
    operators, comparisons, numbers and the functions of elements of this package; up to 8 arrays and 64 steps.

    >>> @troupe.expression
    ... def gate(a, x, b):
    ...     return troupe.tanh(a * x + b) * troupe.where(x > 0, x, 0)
    >>> gate(2, troupe.asarray([-1., 0., 1.]), 1)
    Array([-0.        ,  0.        ,  0.99505475], dtype=float64)
    >>> gate.reduce("sum", 2, troupe.ones(4), 1)
    Array(3.98021901, dtype=float64)
    """
    return ExpressionFunction(function)
