"""A GPU's memory in this process, for other libraries here: on request, because it takes a CUDA context. Capsules for
DLPack, what `__cuda_array_interface__` says, and arrays that come in from a GPU."""
from __future__ import annotations

import threading

import numpy as np

from . import _core, _memory

_lock = threading.Lock()
_shared = {}  # this process's context on each GPU, by its UUID


def open_context(info):
    """Opens this process's context on a GPU, unless it is open."""
    with _lock:
        if info["id"] not in _shared:
            _shared[info["id"]] = _core.Sharing(info["id"])


def context_of(device_handle):
    """This process's context on the GPU of a device; None when nobody asked for one."""
    return _shared.get(device_handle.info["id"]) if _shared else None


def lent(array):
    """The array as this process's context sees it, complete; None without a context."""
    context = context_of(array.device_handle)
    if context is None:
        return None
    array.wait()
    return context.lend(array)


def check_seal(array):
    """A mapping's access cannot be changed under kernels that use it."""
    context = context_of(array.device_handle)
    if context is not None and context.can_be_written(array):
        raise BufferError("seal: another library in this process has this array by DLPack and could write it; "
                          "give up what it has first")


def interface_of(array):
    """What `__cuda_array_interface__` says; `AttributeError` for arrays that are not on a GPU of this process's."""
    made = lent(array)
    if made is None:
        raise AttributeError("__cuda_array_interface__ is there for arrays on a GPU, after device.share_memory()")
    if array.dtype.char not in np.typecodes["All"]:
        raise AttributeError(f"__cuda_array_interface__ has no name for {array.dtype}")
    _core.keep_lent(array, made)
    return {
        "version": 3, "shape": array.shape, "typestr": array.dtype.str, "strides": array.strides, "stream": None,
        "data": (made.address, made.is_read_only or _memory.repeats(array)),
    }


def _order_in_memory(shape, strides):
    """The axes from the outermost one in memory to the innermost; None when there are gaps."""
    if strides is None:
        return list(range(len(shape)))
    order = sorted(range(len(shape)), key=lambda axis: (-strides[axis], shape[axis] == 1))
    expected = 1
    for axis in reversed(order):
        if shape[axis] != 1 and strides[axis] != expected:
            return None
        expected *= shape[axis]
    return order


def taken(imported, device_handle):
    """A new array with the elements of one on a GPU: copied there, by this process's context."""
    context = context_of(device_handle)
    if context is None:
        raise BufferError("from_dlpack: the array is on a GPU, which this process's arrays are not: "
                          "device.share_memory() gives it a context there; or bring the array to the CPU")
    if imported.device[1] != context.ordinal:
        raise BufferError(f"from_dlpack: the array is on GPU {imported.device[1]}; troupe's device is GPU "
                          f"{context.ordinal}")
    shape = imported.shape
    order = list(range(len(shape))) if 0 in shape else _order_in_memory(shape, imported.element_strides)
    if order is None:
        raise BufferError("from_dlpack: the array on the GPU has gaps; make it contiguous first")
    array = _core.allocate(device_handle, [shape[axis] for axis in order], imported.dtype_number, _memory.DEVICE)
    context.copy_into(context.lend(array), imported.address, array.nbytes)
    return array.view_permuted([order.index(axis) for axis in range(len(shape))]) if order != sorted(order) else array
