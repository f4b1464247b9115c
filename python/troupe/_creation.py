"""Making arrays. `device` is where: a device of `troupe.device` or `System.device`; without it, the default one."""
from __future__ import annotations

import math

import numpy as np

from . import _core, _dtypes, _memory
from ._array import Array
from ._devices import device as default_device


def device_or_default(device):
    return default_device() if device is None else device


def _shape(shape):
    return (shape,) if hasattr(shape, "__index__") else tuple(shape)


def asarray(obj, /, *, dtype=None, device=None, copy=None) -> Array:
    """An array of nested lists, numbers, NumPy arrays, buffers, or anything else that NumPy takes; an `Array` of that
    type on that device is given back as it is.

    >>> troupe.asarray([[1, 2], [3, 4]], dtype="float32")
    Array([[1., 2.],
           [3., 4.]], dtype=float32)
    """
    if isinstance(obj, Array):
        is_other = dtype is not None and _dtypes.number_of(dtype) != obj.dtype_number
        if copy is False and (is_other or (device is not None and device != obj.device)):
            raise ValueError("asarray: another type or device needs a copy; copy is False")
        if device is not None and device != obj.device:
            obj, copy = obj.to_device(device), False
        return obj.astype(dtype, copy=bool(copy)) if dtype is not None else obj.copy() if copy else obj
    elements = _elements_of(obj, dtype)
    if copy is False:
        raise ValueError("asarray: workers see only the vault's memory, so this needs a copy; copy is False")
    number = _dtypes.number_of(elements.dtype if dtype is None else dtype)
    return _memory.sent(elements, device_or_default(device)._core, number)


def _elements_of(obj, dtype):
    if isinstance(obj, (list, tuple)) and any(isinstance(item, Array) for item in obj):
        obj = [item.numpy() if isinstance(item, Array) else item for item in obj]
    try:
        elements = np.asarray(obj)
        if dtype is not None and elements.dtype.kind == "O":
            elements = np.asarray(obj, dtype=_dtypes.dtype_of(_dtypes.number_of(dtype)))
    except ValueError as error:
        raise ValueError(f"asarray: {error}") from None
    if elements.dtype.kind in "OUSmM":
        raise TypeError(f"an array has numbers; these are {elements.dtype}")
    if elements.dtype not in _dtypes.NUMBERS and dtype is None and elements.dtype.kind in "iu":
        elements = elements.astype("int64")  # int and long long of one width
    return elements


def array(obj, dtype=None, *, device=None, copy=True) -> Array:
    """As `asarray`, but a copy."""
    return asarray(obj, dtype=dtype, device=device, copy=copy or None)


def from_numpy(elements, *, device=None) -> Array:
    """An array with the elements of a NumPy array."""
    return asarray(elements, device=device)


def empty(shape, *, dtype=None, device=None) -> Array:
    """An array whose content nobody has written."""
    number = _dtypes.F64 if dtype is None else _dtypes.number_of(dtype)
    return _core.allocate(device_or_default(device)._core, _shape(shape), number, _memory.USUAL)


def sealable(shape, *, dtype=None, device=None) -> Array:
    """An empty array that can be sealed: it has memory of its own, a multiple of 2 MiB.

    >>> weights = troupe.sealable(3)
    >>> weights[...] = [1, 2, 3]
    >>> weights.seal().is_sealed
    True
    """
    number = _dtypes.F64 if dtype is None else _dtypes.number_of(dtype)
    return _core.allocate(device_or_default(device)._core, _shape(shape), number, _memory.SEALABLE)


def full(shape, fill_value, *, dtype=None, device=None) -> Array:
    """An array full of a number.

    >>> troupe.full((2, 2), 7)
    Array([[7, 7],
           [7, 7]], dtype=int64)
    """
    if isinstance(fill_value, (Array, np.generic, np.ndarray)):
        dtype = fill_value.dtype if dtype is None else dtype
        fill_value = fill_value.item()
    out = empty(shape, dtype=np.asarray(fill_value).dtype if dtype is None else dtype, device=device)
    _core.fill(out, fill_value)
    return out


def zeros(shape, *, dtype=None, device=None) -> Array:
    """An array full of 0."""
    return full(shape, 0, dtype=_dtypes.float64 if dtype is None else dtype, device=device)


def ones(shape, *, dtype=None, device=None) -> Array:
    """An array full of 1."""
    return full(shape, 1, dtype=_dtypes.float64 if dtype is None else dtype, device=device)


def empty_like(x, /, *, dtype=None, device=None) -> Array:
    """As `empty`, with the shape, type and device of another array."""
    return empty(x.shape, dtype=x.dtype if dtype is None else dtype, device=_beside(x, device))


def zeros_like(x, /, *, dtype=None, device=None) -> Array:
    """As `zeros`, with the shape, type and device of another array."""
    return full_like(x, 0, dtype=dtype, device=device)


def ones_like(x, /, *, dtype=None, device=None) -> Array:
    """As `ones`, with the shape, type and device of another array."""
    return full_like(x, 1, dtype=dtype, device=device)


def full_like(x, /, fill_value, *, dtype=None, device=None) -> Array:
    """As `full`, with the shape, type and device of another array."""
    return full(x.shape, fill_value, dtype=x.dtype if dtype is None else dtype, device=_beside(x, device))


def _beside(x, device):
    return x.device if device is None and isinstance(x, Array) else device


def arange(start, /, stop=None, step=1, *, dtype=None, device=None) -> Array:
    """The numbers from `start`, or 0, to before `stop`.

    >>> troupe.arange(2, 10, 3)
    Array([2, 5, 8], dtype=int64)
    """
    start, stop = (0, start) if stop is None else (start, stop)
    count = max(0, math.ceil((stop - start) / step))
    elements = np.arange(start, stop, step)[:count] if dtype is not None \
        else (np.arange(count) * step + start).astype(np.asarray([start, stop, step]).dtype, copy=False)
    return asarray(elements, dtype=dtype, device=device)


def linspace(start, stop, /, num=50, *, dtype=None, device=None, endpoint=True) -> Array:
    """That many numbers from `start` to `stop`, equally far from each other."""
    return asarray(np.linspace(start, stop, num, endpoint=endpoint), dtype=dtype, device=device)


def eye(n_rows, n_cols=None, /, *, k=0, dtype=None, device=None) -> Array:
    """Ones on a diagonal, zeros elsewhere."""
    return asarray(np.eye(n_rows, n_cols, k), dtype=dtype, device=device)
