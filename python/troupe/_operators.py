"""The operators of `Array`."""
import numpy as np

from . import _core, _dtypes, _in_app
from ._reductions import ArrayReductions

_BINARY, _UNARY = _core.BINARY, _core.UNARY
_binary, _unary = _core.binary, _core.unary
_ADD, _SUB, _MUL, _DIV, _POW = (_BINARY[name] for name in ("add", "sub", "mul", "div", "pow"))
_AND, _OR, _XOR = (_BINARY[name] for name in ("bit_and", "bit_or", "bit_xor"))
_LEFT, _RIGHT = _BINARY["shift_left"], _BINARY["shift_right"]
_EQ, _NE, _LT, _LE, _GT, _GE = (
    _BINARY[name] for name in ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal"))
_NEG, _NOT, _SQUARE = _UNARY["neg"], _UNARY["bit_not"], _UNARY["square"]

_WEAK = (bool, int, float, complex)
_NUMBERS = (_core.Handle, int, float, complex, np.generic, np.ndarray)


def _forward(function):
    def operator(self, other):
        return _binary(function, self, other) if isinstance(other, _NUMBERS) else NotImplemented
    return operator


def _reflected(function):
    def operator(self, other):
        return _binary(function, other, self) if isinstance(other, _NUMBERS) else NotImplemented
    return operator


def _updating(function):
    def operator(self, other):
        if not isinstance(other, _NUMBERS):
            return NotImplemented
        _check_update(self, other)
        return _binary(function, self, other, self)
    return operator


def _check_update(array, other):
    """NumPy's rule, for what the result is promoted to. A plain number has the array's type, unless it is of a higher
    kind."""
    if isinstance(other, _core.Handle):
        if other.dtype_number != array.dtype_number:
            _check_result(array, _dtypes.dtype_of(_core.promoted(array.dtype_number, other.dtype_number)))
    else:
        _check_result(array, np.result_type(_plain(array.dtype), other if type(other) in _WEAK else np.asarray(other)))


def _plain(dtype):
    """What NumPy knows to promote: the small floats are not its own."""
    return np.dtype("float32") if dtype.kind == "V" else dtype


def _check_result(array, made):
    """Whether a result of that type may be put into the array."""
    if made != array.dtype and not np.can_cast(_plain(made), _plain(array.dtype), "same_kind"):
        raise TypeError(f"{made.name} numbers cannot be put into an array of {array.dtype.name} without a loss")


def _updated(array, made):
    _check_result(array, made.dtype)
    array[...] = made
    return array


def power(a, b):
    """a to the power of b."""
    array = a if isinstance(a, _core.Handle) else b
    if type(b) is int and b == 2 and isinstance(a, _core.Handle):
        return _unary(_SQUARE, a) if a.dtype.kind != "b" else _in_app.ufunc(np.power, a, b)
    if _in_app.has_no_power(array, a, b):
        return _in_app.ufunc(np.power, a, b)
    return _binary(_POW, a, b)


def _in_app_operator(function, is_reflected=False):
    def operator(self, other):
        if not isinstance(other, _NUMBERS):
            return NotImplemented
        return _in_app.ufunc(function, *((other, self) if is_reflected else (self, other)))
    return operator


class ArrayOperators(ArrayReductions):
    """What an array does with `+` and the like. Types are promoted as NumPy 2 does."""

    __slots__ = ()

    __add__, __radd__, __iadd__ = _forward(_ADD), _reflected(_ADD), _updating(_ADD)
    __sub__, __rsub__, __isub__ = _forward(_SUB), _reflected(_SUB), _updating(_SUB)
    __mul__, __rmul__, __imul__ = _forward(_MUL), _reflected(_MUL), _updating(_MUL)
    __truediv__, __rtruediv__ = _forward(_DIV), _reflected(_DIV)
    __and__, __rand__, __iand__ = _forward(_AND), _reflected(_AND), _updating(_AND)
    __or__, __ror__, __ior__ = _forward(_OR), _reflected(_OR), _updating(_OR)
    __xor__, __rxor__, __ixor__ = _forward(_XOR), _reflected(_XOR), _updating(_XOR)
    __lshift__, __rlshift__, __ilshift__ = _forward(_LEFT), _reflected(_LEFT), _updating(_LEFT)
    __rshift__, __rrshift__, __irshift__ = _forward(_RIGHT), _reflected(_RIGHT), _updating(_RIGHT)
    __eq__, __ne__ = _forward(_EQ), _forward(_NE)
    __lt__, __le__, __gt__, __ge__ = _forward(_LT), _forward(_LE), _forward(_GT), _forward(_GE)
    __floordiv__, __rfloordiv__ = _in_app_operator(np.floor_divide), _in_app_operator(np.floor_divide, True)
    __mod__, __rmod__ = _in_app_operator(np.remainder), _in_app_operator(np.remainder, True)

    def __itruediv__(self, other):
        if self.dtype.kind in "iub":
            raise TypeError(f"a quotient is floating; it cannot be put into an array of {self.dtype.name}")
        _check_update(self, other)
        return _binary(_DIV, self, other, self)

    def __pow__(self, other):
        return power(self, other) if isinstance(other, _NUMBERS) else NotImplemented

    def __rpow__(self, other):
        return power(other, self) if isinstance(other, _NUMBERS) else NotImplemented

    def __ipow__(self, other):
        return _updated(self, power(self, other)) if isinstance(other, _NUMBERS) else NotImplemented

    def __ifloordiv__(self, other):
        return _updated(self, self // other) if isinstance(other, _NUMBERS) else NotImplemented

    def __imod__(self, other):
        return _updated(self, self % other) if isinstance(other, _NUMBERS) else NotImplemented

    def __neg__(self):
        return _unary(_NEG, self)

    def __pos__(self):
        return self.copy()

    def __invert__(self):
        return _unary(_NOT, self)

    def __abs__(self):
        return _in_app.absolute(self)

    def __matmul__(self, other):
        from ._products import matmul
        return matmul(self, other) if isinstance(other, _NUMBERS) else NotImplemented

    def __rmatmul__(self, other):
        from ._products import matmul
        return matmul(other, self) if isinstance(other, _NUMBERS) else NotImplemented

    def __imatmul__(self, other):
        return _updated(self, self @ other) if isinstance(other, _NUMBERS) else NotImplemented
