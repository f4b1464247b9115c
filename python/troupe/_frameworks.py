"""As what a function gets its arrays: NumPy's or PyTorch's, over the vault's memory, without a copy."""
from __future__ import annotations

import contextlib
import sys
import types
import warnings

import numpy as np

from . import _dtypes, _memory
from ._errors import BY_KIND

KNOWN = ("numpy", "torch")
ON_GPU = "torch on a GPU"


# ---- in the app ----

def of_parameters(function, signature, arrays):
    """The framework of each parameter: what its annotation says, else `arrays`, else whether its module has torch."""
    if arrays is not None and arrays not in KNOWN:
        raise BY_KIND["invalid_argument"](f"op {function.__name__}: arrays is {arrays!r}; it can be "
                                          f"{' or '.join(map(repr, KNOWN))}")
    usual = arrays or ("torch" if _uses_torch(function) else "numpy")
    return {name: _annotated(parameter.annotation) or usual for name, parameter in signature.parameters.items()}


def _uses_torch(function):
    found = getattr(function, "__globals__", {}).get("torch")
    return isinstance(found, types.ModuleType) and found.__name__ == "torch"


def _annotated(annotation):
    text = annotation if isinstance(annotation, str) else \
        f"{getattr(annotation, '__module__', '')}.{getattr(annotation, '__qualname__', '')}"
    if text.endswith("Tensor") and ("torch" in text or text == "Tensor"):
        return "torch"
    return "numpy" if text.endswith("ndarray") else None


def of_array(framework, device, title, name):
    """What the worker is told of an array of that device."""
    if device.info["backend"] != "cuda":
        return framework
    if framework != "torch":
        raise BY_KIND["invalid_argument"](f"{title}: {name} is on a GPU, where a function gets tensors: say "
                                          "arrays=\"torch\", and NumPy's functions do not take them")
    return ON_GPU


# ---- in the worker ----

def lent(framework, address, number, shape, element_strides, is_read_only):
    """The elements at that address, as that framework has them."""
    if framework == ON_GPU:
        return _lent_on_gpu(address, number, shape, element_strides)
    if framework == "torch":
        return _as_tensor(address, number, shape, element_strides)
    return _memory.lent(None, address, _dtypes.dtype_of(number), tuple(shape), element_strides, is_read_only)


_TORCH_NAMES = {"bf16": ("i16", "bfloat16"), "f8e4m3": ("u8", "float8_e4m3fn"), "f8e5m2": ("u8", "float8_e5m2")}


def _carrier(number):
    """The number of a type that NumPy has and that is as large, and PyTorch's name of the type."""
    carrier, name = _TORCH_NAMES.get(_dtypes.NAMES[number], (None, None))
    return (number, None) if carrier is None else (_dtypes.NAMES.index(carrier), name)


def _as_tensor(address, number, shape, element_strides):
    """PyTorch has no read-only tensors, so what is only read must be left alone; `debug=True` finds who does not."""
    import torch
    carrier, name = _carrier(number)
    elements = _memory.lent(None, address, _dtypes.dtype_of(carrier), tuple(shape), element_strides)
    tensor = torch.from_numpy(elements)
    return tensor if name is None else tensor.view(getattr(torch, name))


def framework_of(value):
    return "torch" if hasattr(value, "copy_") else "numpy"


def number_of(value):
    """The number of an array's type; None for what is no array."""
    if isinstance(value, np.ndarray):
        return _dtypes.NUMBERS.get(value.dtype.newbyteorder("="))
    torch = sys.modules.get("torch")
    if torch is None or not isinstance(value, torch.Tensor):
        return None
    name = str(value.dtype).removeprefix("torch.")
    for number, dtype in enumerate(_dtypes.DTYPES):
        if _TORCH_NAMES.get(_dtypes.NAMES[number], (None, dtype and dtype.name))[1] == name:
            return number
    return None


def item_bytes(number):
    return _dtypes.dtype_of(_carrier(number)[0]).itemsize


def fill(target, value):
    if not hasattr(target, "copy_"):
        return np.copyto(target, value)
    import torch
    value = torch.as_tensor(value)
    target.copy_(value)
    if value.is_cuda:
        value.record_stream(torch.cuda.current_stream())  # its memory is free when this lane has copied it


def with_room(function, args, kwargs, may_again):
    """Calls it; once more, when PyTorch had no memory left and has given back what it only kept."""
    try:
        return function(*args, **kwargs)
    except Exception as error:
        if type(error).__name__ != "OutOfMemoryError" or not may_again:
            raise
    import torch
    torch.cuda.empty_cache()
    return function(*args, **kwargs)


def make_ready(lane):
    """Has PyTorch make what it makes at its first use of a GPU, if it is here."""
    torch = sys.modules.get("torch")
    if not lane or torch is None:
        return
    with on_lane(lane):
        x = torch.ones((8, 8), device="cuda")
        (x @ x).sum().item()


def finish():
    """Waits for what was made on whichever stream PyTorch chose."""
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_initialized():
        torch.cuda.synchronize()


class _OnGpu:
    """Lends an address of a GPU to PyTorch and CuPy."""

    def __init__(self, address, dtype, shape, element_strides):
        strides = element_strides and tuple(dtype.itemsize * stride for stride in element_strides)
        self.__cuda_array_interface__ = {"version": 3, "data": (address, False), "shape": tuple(shape),
                                         "strides": strides, "typestr": dtype.str, "stream": None}


def _lent_on_gpu(address, number, shape, element_strides):
    import torch
    carrier, name = _carrier(number)
    if 0 in shape:
        return torch.empty(tuple(shape), dtype=getattr(torch, name or _dtypes.dtype_of(carrier).name), device="cuda")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tensor = torch.as_tensor(_OnGpu(address, _dtypes.dtype_of(carrier), shape, element_strides), device="cuda")
    return tensor if name is None else tensor.view(getattr(torch, name))


@contextlib.contextmanager
def on_lane(lane):
    """PyTorch's work goes to the lane's stream, so that it keeps the order of the ring."""
    if not lane or "torch" not in sys.modules:
        yield
        return
    import torch
    with torch.cuda.stream(torch.cuda.ExternalStream(lane)):
        yield
