"""What no op does yet: it is computed here, in the app, by NumPy, after a wait for the arrays. On a GPU that means
copies both ways. Each function goes from this file when its op comes; docs/python.md lists what is here."""
import numpy as np

from . import _core, _dtypes, _memory


def _elements(value):
    return value.numpy() if isinstance(value, _core.Handle) else value


def _array(elements, device):
    elements = np.asarray(elements)
    if elements.dtype not in _dtypes.NUMBERS and elements.dtype.kind in "iu":
        elements = elements.astype("int64")
    return _memory.sent(elements, device, _dtypes.number_of(elements.dtype))


def call(function, beside, *arguments, **options):
    """A function of NumPy's, or one of its name, of arrays; the result is an array on the device of `beside`."""
    function = getattr(np, function) if isinstance(function, str) else function
    with np.errstate(all="ignore"):
        made = function(*map(_elements, arguments), **options)
    if isinstance(made, tuple):
        return tuple(_array(part, beside.device_handle) for part in made)
    return _array(made, beside.device_handle)


def has_no_power(array, a, b):
    """Whether a power is one that the devices do not compute: of integers, or of complex numbers."""
    kinds = {x.dtype.kind if hasattr(x, "dtype") else np.asarray(x).dtype.kind for x in (a, b)}
    return "c" in kinds or kinds <= set("biu") or array.dtype.kind in "biu"


def absolute(x):
    """The absolute values."""
    if x.dtype.kind in "cb":
        return call(np.abs, x, x)
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
    """Writes such elements."""
    elements = array.numpy()
    if array.address:
        elements[_key(key)] = _elements(value)
        return
    elements[_key(key)] = _elements(value)
    _core.copy(_array(elements, array.device_handle), array)
