"""DLPack both ways, for `Array`: exchange of memory with NumPy, PyTorch, JAX and others, without a copy."""
from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

from . import _core, _dtypes, _memory, _sharing

if TYPE_CHECKING:
    from ._array import Array

_CPU, _CUDA = 1, 2
_DEFAULT_STREAM = 1


class ArrayExchange(_core.Handle):
    """The methods by which other libraries take an array."""

    __slots__ = ()

    def __dlpack_device__(self) -> tuple[int, int]:
        info = self.device.info
        if info["backend"] == "host" or not self.size or self.address:
            return (_CPU, 0)
        context = _sharing.context_of(self.device_handle)
        return (_CUDA, info["index"] if context is None else context.ordinal)

    @property
    def __cuda_array_interface__(self) -> dict:
        """The address of an array on a GPU, after `device.share_memory()`; see `__dlpack__`."""
        if self.__dlpack_device__()[0] != _CUDA:
            raise AttributeError("__cuda_array_interface__ is for arrays on a GPU")
        return _sharing.interface_of(self)

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        """A capsule of the array, complete: all ops that write it have ended.

        It is of the version that `max_version` asks for: from (1, 0) on one that has a version, before that and without
        it the older form. With `copy=True` it is a copy. A GPU's memory is shared after `device.share_memory()`; else,
        as what is sealed on the CPU, it goes out only by a copy on the CPU, so it needs `dl_device=(1, 0)`.
        """
        here = self.__dlpack_device__()
        _check_stream(stream, here)
        if dl_device is not None and tuple(dl_device) not in ((_CPU, 0), here):
            raise BufferError(f"an array goes to the CPU, (1, 0), or stays where it is, {here}; dl_device is "
                              f"{tuple(dl_device)}")
        has_version = max_version is not None and max_version[0] >= 1
        if here[0] == _CUDA and (dl_device is None or tuple(dl_device) == here):
            return self._gpu_capsule(has_version, copy)
        source, is_copied = self, False
        self.wait()
        if copy or (self.size and not self.address):
            if copy is False:
                raise BufferError("the app does not see this array's memory, so it needs a copy; copy is False")
            source, is_copied = _copied_for_the_app(self), True
        is_read_only = source.is_sealed or _memory.repeats(source)
        _check_read_only(is_read_only, has_version)
        return _core.to_capsule(source, has_version, is_copied, is_read_only)

    def _gpu_capsule(self, has_version, copy):
        source = self.copy() if copy else self
        lent = _sharing.lent(source)
        if lent is None:
            raise BufferError("a GPU's memory is the workers' alone, unless this process takes a context there by "
                              "device.share_memory(); dl_device=(1, 0) gives a copy on the CPU")
        is_read_only = lent.is_read_only or _memory.repeats(source)
        _check_read_only(is_read_only, has_version)
        ordinal = _sharing.context_of(self.device_handle).ordinal
        return _core.to_gpu_capsule(lent, ordinal, has_version, bool(copy), is_read_only)


def _check_read_only(is_read_only, has_version):
    if is_read_only and not has_version:
        raise BufferError("this array can only be read, and a capsule without a version cannot say so; ask for one "
                          "with max_version=(1, 0), or for a copy")


def _copied_for_the_app(array):
    copy = _core.allocate(array.device_handle, array.shape, array.dtype_number, _memory.APP)
    _core.copy(array, copy)
    copy.wait()
    return copy


def _check_stream(stream, device):
    """The standard's rules; there is nothing to order, because the array is complete."""
    if stream is None or (stream == -1 and type(stream) is int):
        return
    if device[0] == _CPU:
        raise ValueError(f"an array on the CPU has no stream; stream is {stream!r}, and must be None")
    if type(stream) is not int or stream < 0:
        raise ValueError(f"a stream is None, -1, 1, 2 or a handle; it is {stream!r}")
    if stream == 0:
        warnings.warn("a stream of 0 can mean two things; it is taken for 1, the default stream of old", stacklevel=3)


def _capsule_of(source):
    """On a GPU it is ordered before the default stream, on which it is copied."""
    device = getattr(source, "__dlpack_device__", None)
    stream = {"stream": _DEFAULT_STREAM} if device is not None and device()[0] == _CUDA else {}
    try:
        return source.__dlpack__(max_version=(1, 0), **stream)
    except TypeError:  # it knows nothing of versions
        return source.__dlpack__(**stream)


def from_dlpack(source, *, device=None, copy=None) -> Array:
    """A new array with the elements of any array that speaks DLPack. Workers see only the vault's memory, so it is
    copied once; an array of Troupe's is shared.

    >>> import numpy
    >>> troupe.from_dlpack(numpy.arange(3))
    Array([0, 1, 2], dtype=int64)
    """
    from ._array import Array
    from ._creation import device_or_default
    if isinstance(source, Array) and not copy and (device is None or device == source.device):
        return source
    if copy is False:
        raise BufferError("from_dlpack: workers see only the vault's memory, so this needs a copy; copy is False")
    taken = _core.Import(_capsule_of(source))
    if taken.dtype_number < 0:
        raise BufferError("from_dlpack: troupe has no such element type")
    if taken.device[0] == _CUDA:
        return _sharing.taken(taken, device_or_default(device)._core)
    if taken.device[0] != _CPU:
        raise BufferError(f"from_dlpack: the array is on device {taken.device}; it must be on the CPU, (1, 0), or on a "
                          "GPU, (2, n)")
    dtype = _dtypes.dtype_of(taken.dtype_number)
    elements = _memory.lent(taken, taken.address, dtype, taken.shape, taken.element_strides, taken.is_read_only)
    return _memory.sent(elements, device_or_default(device)._core, taken.dtype_number)
