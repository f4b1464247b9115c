"""Between arrays and NumPy: an array's memory as a NumPy array, without a copy where the app sees that memory."""
import numpy as np

from . import _core
from ._dtypes import NUMBERS, dtype_of

USUAL, APP, DEVICE, SEALABLE = range(4)

# The types that NumPy takes by a capsule with a version, which is quicker than by an interface of Python's.
_BY_CAPSULE = frozenset(number for dtype, number in NUMBERS.items() if dtype.kind in "biufc" and dtype.isbuiltin == 1
                        ) if np.lib.NumpyVersion(np.__version__) >= "2.1.0" else frozenset()


class _Memory:
    """Lends an address to NumPy, and keeps what it belongs to alive."""

    __slots__ = ("__array_interface__", "owner")

    def __init__(self, owner, address, dtype, shape, strides, is_read_only):
        self.owner = owner
        self.__array_interface__ = {
            "version": 3, "data": (address, is_read_only), "shape": shape, "strides": strides, "typestr": dtype,
        }


def lent(owner, address, dtype, shape, element_strides, is_read_only=False):
    """The elements at `address` as a NumPy array that keeps `owner` alive."""
    if 0 in shape or address == 0:
        return np.empty(shape, dtype)
    size = dtype.itemsize
    strides = None if element_strides is None else tuple(size * stride for stride in element_strides)
    own_name = dtype.str if dtype.kind != "V" else f"|u{size}"
    if own_name[1] == "V" or dtype.char not in np.typecodes["All"]:
        own_name = f"<u{size}" if size > 1 else "|u1"
    made = np.asarray(_Memory(owner, address, own_name, shape, strides, is_read_only))
    return made if made.dtype == dtype else made.view(dtype)


def repeats(array):
    """Whether elements lie in one place, as those of a broadcast do: then the array can only be read."""
    return any(not stride and side > 1 for stride, side in zip(array.element_strides, array.shape))


def shared(array):
    """The array's own memory; None when the app does not see it. Does not wait."""
    if array.dtype_number in _BY_CAPSULE and (shown := _core.shown(array)) is not None:
        return np.from_dlpack(shown)
    if array.size and not array.address:
        return None
    return lent(array, array.address, dtype_of(array.dtype_number), array.shape, array.element_strides, repeats(array))


def fetched(array):
    """A NumPy array with the elements, when all ops that write them have ended; its memory is the array's where the app
    sees that, and a copy elsewhere."""
    array.wait()
    own = shared(array)
    if own is not None:
        return own
    copy = _core.allocate(array.device_handle, array.shape, array.dtype_number, APP)
    _core.copy(array, copy)
    copy.wait()
    return shared(copy)


def sent(elements, device, number, place=USUAL):
    """A new array with the elements of a NumPy array, converted to the dtype of that number."""
    array = _core.allocate(device, elements.shape, number, place)
    if not elements.size:
        return array
    own = shared(array)
    if own is not None:
        np.copyto(own, elements, casting="unsafe")
        return array
    staging = _core.allocate(device, elements.shape, number, APP)
    np.copyto(shared(staging), elements, casting="unsafe")
    _core.copy(staging, array)
    return array
