"""`Array`: an N-dimensional array on a device, as the array API standard and NumPy have it."""
from __future__ import annotations

import numpy as np

from . import _core, _dtypes, _in_app, _memory, _order, _sharing
from ._devices import Device
from ._operators import ArrayOperators


class Array(ArrayOperators):
    """An array of a device. Ops on it return at once; their errors surface when somebody looks at the result.

    >>> x = troupe.arange(6, dtype="float32").reshape(2, 3)
    >>> x + 1
    Array([[1., 2., 3.],
           [4., 5., 6.]], dtype=float32)
    >>> float((x @ x.T).sum())
    83.0
    """

    __slots__ = ()
    __array_priority__ = 1000

    def __init__(self):
        raise TypeError("make an array with troupe.asarray, troupe.zeros and the like")

    # ---- what it is (shape, ndim and size come from the handle) ----

    @property
    def dtype(self) -> np.dtype:
        """The type of its elements, a NumPy dtype."""
        return _dtypes.dtype_of(self.dtype_number)

    @property
    def itemsize(self) -> int:
        """Bytes of an element."""
        return self.dtype.itemsize

    @property
    def nbytes(self) -> int:
        """Bytes of all elements, without gaps."""
        return self.size * self.itemsize

    @property
    def strides(self) -> tuple[int, ...]:
        """Bytes between neighbours along each axis."""
        return tuple(self.itemsize * stride for stride in self.element_strides)

    @property
    def device(self) -> Device:
        """The device that computes with it."""
        return Device(self.device_handle)

    def __len__(self) -> int:
        if not self.ndim:
            raise TypeError("an array without axes has no length")
        return self.shape[0]

    # ---- looking at it: these wait for the ops that write it ----

    def numpy(self) -> np.ndarray:
        """A NumPy array: of the same memory where the app sees it (on the CPU), a copy elsewhere.

        >>> troupe.ones(2).numpy()
        array([1., 1.])
        """
        return _memory.fetched(self)

    def tolist(self) -> list:
        """Nested lists of Python's numbers."""
        return self.numpy().tolist()

    def item(self):
        """The only element, as a number of Python's."""
        if self.size != 1:
            raise ValueError(f"only an array of one element is a number; this one is {list(self.shape)}")
        number = self.first_element()
        return self.numpy().item() if number is None else number

    def __array__(self, dtype=None, copy=None):
        elements = self.numpy()
        if dtype is not None and np.dtype(dtype) != elements.dtype:
            if copy is False:
                raise ValueError(f"a conversion from {elements.dtype} to {np.dtype(dtype)} needs a copy")
            return elements.astype(dtype)
        return elements.copy() if copy else elements

    def __float__(self) -> float:
        return float(self.item())

    def __int__(self) -> int:
        return int(self.item())

    def __complex__(self) -> complex:
        return complex(self.item())

    def __bool__(self) -> bool:
        if self.size != 1:
            raise ValueError(f"an array {list(self.shape)} is neither true nor false; use any() or all()")
        return bool(self.item())

    def __index__(self) -> int:
        if _dtypes.kind_of(self.dtype_number) != "integer" or self.ndim:
            raise TypeError(f"only an integer array without axes is an index; this one is {self.dtype}")
        return int(self.item())

    def __iter__(self):
        if not self.ndim:
            raise TypeError("an array without axes has nothing to go through")
        return (self[i] for i in range(self.shape[0]))

    def __repr__(self) -> str:
        if not _is_whole(self):
            return f"Array(shape={self.shape}, dtype={self.dtype.name}, content {self.content})"
        body = np.array2string(self.numpy(), separator=", ", prefix="Array(")
        return f"Array({body}, dtype={self.dtype.name})"

    def __str__(self) -> str:
        return str(self.numpy())

    def __format__(self, how):
        return format(self.item(), how) if not self.ndim else format(str(self), how)

    __hash__ = None

    # ---- parts of it ----

    def __getitem__(self, key) -> Array:
        """Integers, slices, `...` and None give views; lists, arrays and masks give copies."""
        view = _core.basic_view(self, key)
        if view is not None:
            return view
        picked = _order.picked(self, key)
        return picked if picked is not None else _in_app.take(self, key)

    def __setitem__(self, key, value) -> None:
        view = _core.basic_view(self, key)
        if view is not None:
            _assign(view, value)
        elif not _order.put_where(self, key, value):
            _in_app.put(self, key, value)

    # ---- the same elements in another form ----

    def reshape(self, *shape, copy=None) -> Array:
        """The same elements in row-major order in another shape: a view of a contiguous array, else of a copy."""
        shape = shape[0] if len(shape) == 1 and not _is_integer(shape[0]) else shape
        shape = tuple(int(extent) for extent in shape) if not _is_integer(shape) else (int(shape),)
        if copy is False and not self.is_contiguous:
            raise ValueError("reshape: the array is not contiguous, so it needs a copy")
        source = self.copy() if copy else self
        if -1 in shape and 0 not in source.shape:
            known = int(np.prod([extent for extent in shape if extent != -1], dtype=np.int64))
            if shape.count(-1) == 1 and known and source.size % known == 0:
                shape = tuple(source.size // known if extent == -1 else extent for extent in shape)
        return source.view_reshaped(shape)

    def ravel(self) -> Array:
        """One axis with all elements in row-major order."""
        return self.reshape(-1) if self.size else self.reshape(0)

    def flatten(self) -> Array:
        """The same in memory of its own."""
        return self.copy().ravel()

    def transpose(self, *axes) -> Array:
        """A view with the axes in this order, or reversed."""
        axes = axes[0] if len(axes) == 1 and not _is_integer(axes[0]) else axes
        if not axes:
            return self.view_transposed()
        return self.view_permuted([axis + self.ndim if axis < 0 else axis for axis in axes])

    @property
    def T(self) -> Array:
        """The axes in reversed order."""
        return self.view_transposed()

    @property
    def mT(self) -> Array:
        """The last two axes exchanged."""
        if self.ndim < 2:
            raise ValueError("mT needs at least two axes")
        return self.view_permuted([*range(self.ndim - 2), self.ndim - 1, self.ndim - 2])

    def squeeze(self, axis=None) -> Array:
        """Without the axes of extent 1, or without these."""
        axes = range(self.ndim) if axis is None else [axis] if _is_integer(axis) else axis
        axes = {range(self.ndim)[a] for a in axes}
        if axis is None:
            axes = {a for a in axes if self.shape[a] == 1}
        for a in axes:
            if self.shape[a] != 1:
                raise ValueError(f"squeeze: axis {a} has an extent of {self.shape[a]}; it must be 1")
        return self[tuple(0 if a in axes else slice(None) for a in range(self.ndim))]

    def astype(self, dtype, copy=True) -> Array:
        """The elements converted to another type; the array itself when it has that type and need not be copied."""
        number = _dtypes.number_of(dtype)
        if number == self.dtype_number:
            return self.copy() if copy else self
        out = _core.allocate(self.device_handle, self.shape, number, _memory.USUAL)
        _core.cast(self, out)
        return out

    def copy(self) -> Array:
        """The same elements in memory of their own, side by side."""
        out = _core.allocate(self.device_handle, self.shape, self.dtype_number, _memory.USUAL)
        _core.copy(self, out)
        return out

    def to_device(self, device, /, *, stream=None) -> Array:
        """The array itself when it is there, else a copy on that device. Ops order themselves: there is no stream."""
        if stream is not None:
            raise ValueError(f"to_device: ops order themselves, so stream must be None; it is {stream!r}")
        if device == self.device:
            return self
        return _memory.sent(self.numpy(), device._core, self.dtype_number)

    def __array_namespace__(self, /, *, api_version=None):
        """`troupe.array_api`, the functions of the array API standard."""
        if api_version not in (None, "2021.12", "2022.12", "2023.12", "2024.12"):
            raise ValueError(f"the array API is that of 2024.12; api_version is {api_version!r}")
        from . import array_api
        return array_api

    # ---- its life ----

    def ready(self):
        """A call that ends when all ops submitted so far that write the array have ended.

        `await x.ready()` on an event loop, `x.ready().get()` in a thread.
        """
        from ._calls import Call
        return Call(_core.call_ready(self))

    def seal(self) -> Array:
        """From now on no worker can change the memory, whatever runs there. Needs an array of `troupe.sealable`."""
        _sharing.check_seal(self)
        _core.seal(self)
        return self

    def unseal(self) -> Array:
        """The memory can be written again."""
        _core.unseal(self)
        return self


def _is_integer(value):
    return hasattr(value, "__index__") and not getattr(value, "ndim", 0)


def _is_whole(array):
    try:
        array.wait()
    except Exception:  # noqa: BLE001 - whatever it was, the text of an array does not raise it
        return False
    return array.content == "whole"


def _assign(view, value):
    """Writes a value into a view, broadcast and converted as NumPy does."""
    if type(value) in (bool, int, float, complex):
        _check_number(view, value)
        return _core.fill(view, value)
    source = value if isinstance(value, Array) else convert(value, view)
    if source.is_same_memory(view):
        return None
    if source.dtype_number != view.dtype_number:
        source = source.astype(view.dtype)
    elif source.may_share_memory(view):
        source = source.copy()
    while source.ndim > view.ndim and source.shape[0] == 1:
        source = source[0]
    if source.shape != view.shape:
        source = source.view_broadcast(view.shape)
    return _core.copy(source, view)


def _check_number(view, value):
    kinds = ["bool", "integer", "floating", "complex"]
    if isinstance(value, complex) and kinds.index(_dtypes.kind_of(view.dtype_number)) < 3:
        raise TypeError(f"{value!r} is complex; the array is {view.dtype}")
    if type(value) is int and _dtypes.kind_of(view.dtype_number) == "integer":
        limits = np.iinfo(view.dtype)
        if not limits.min <= value <= limits.max:
            raise OverflowError(f"Python integer {value} out of bounds for {view.dtype}")


def convert(value, beside) -> Array:
    """An array of anything that NumPy takes, on the device of another array."""
    elements = np.asarray(value)
    return _memory.sent(elements, beside.device_handle, _dtypes.number_of(elements.dtype))
