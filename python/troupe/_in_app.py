"""What no op does yet: it is computed here, in the app, by NumPy, after a wait for the arrays. On a GPU that means
copies both ways. Each function goes from this file when its op comes; docs/python.md lists what is here."""
import functools

import numpy as np

from . import _core, _dtypes, _memory
from ._errors import BY_KIND

_NUMBERS = (int, float, complex)


def _elements(value):
    return value.numpy() if isinstance(value, _core.Handle) else value


def _check_devices(values):
    """Arrays of two devices do not meet, here as in an op."""
    arrays = [value for value in values if isinstance(value, _core.Handle)]
    if any(x.device_handle.identity != arrays[0].device_handle.identity for x in arrays[1:]):
        raise BY_KIND["invalid_argument"]("an operand is an array of another device; x.to_device(d) brings it there")


def _array(elements, device):
    elements = np.asarray(elements)
    if elements.dtype not in _dtypes.NUMBERS and elements.dtype.kind in "iu":
        elements = elements.astype("int64")
    return _memory.sent(elements, device, _dtypes.number_of(elements.dtype))


def call(function, beside, *arguments, **options):
    """A function of NumPy's, or one of its name, of arrays; the result is an array on the device of `beside`."""
    function = getattr(np, function) if isinstance(function, str) else function
    _check_devices(arguments)
    with np.errstate(all="ignore"):
        made = function(*map(_elements, arguments), **options)
    if isinstance(made, tuple):
        return tuple(_array(part, beside.device_handle) for part in made)
    return _array(made, beside.device_handle)


@functools.cache  # of a few functions, and of pairs of a few types
def _result_number(function, *kinds):
    """The dtype of a ufunc's result; None for one that Troupe has not, or where the function has none."""
    try:
        return _dtypes.NUMBERS[function.resolve_dtypes((*kinds, None))[-1]]
    except (KeyError, TypeError):
        return None


def ufunc(function, *operands, mend=None):
    """A function of NumPy's of elements, which writes where the result belongs when the app sees that memory. What is
    to be otherwise than NumPy has it, `mend(result, *elements)` writes there."""
    beside = next(x for x in operands if isinstance(x, _core.Handle))
    elements = [_elements(x) for x in operands]
    number = _result_number(function, *(type(x) if type(x) in _NUMBERS else np.asarray(x).dtype for x in elements))
    if number is None:
        return call(function, beside, *operands)
    if len(operands) > 1:
        _check_devices(operands)
        shape = np.broadcast_shapes(*(np.shape(x) for x in elements))
    else:
        shape = elements[0].shape
    out = _core.allocate(beside.device_handle, shape, number, _memory.USUAL)
    into = _memory.shared(out)
    with np.errstate(all="ignore"):
        made = np.asarray(function(*elements)) if into is None else function(*elements, out=into)
        if mend is not None:
            mend(made, *elements)
    return _array(made, beside.device_handle) if into is None else out


def has_no_power(array, a, b):
    """Whether a power is one that the devices do not compute: of integers, or of complex numbers."""
    kinds = {x.dtype.kind if hasattr(x, "dtype") else np.asarray(x).dtype.kind for x in (a, b)}
    return "c" in kinds or kinds <= set("biu") or array.dtype.kind in "biu"


def absolute(x):
    """The absolute values."""
    if x.dtype.kind in "cb":
        return ufunc(np.absolute, x)
    return _core.unary(_core.UNARY["abs"], x)


def _key(key):
    """Arrays of ours inside of an index become NumPy's."""
    if isinstance(key, tuple):
        return tuple(_key(part) for part in key)
    return _elements(key)


def take(array, key):
    """The elements at lists of indices or where a mask is true, as NumPy picks them: a copy."""
    return _array(array.numpy()[_key(key)], array.device_handle)


def put(array, key, value):
    """Writes such elements: into a copy, so that ops under way that read the array still see what they should."""
    elements = array.numpy().copy()
    elements[_key(key)] = _elements(value)
    _core.copy(_array(elements, array.device_handle), array)
