"""Supervised accelerators: arrays whose ops run in disposable worker processes.

A kernel that crashes or hangs costs its own caller one typed error; arrays stay, and the same program runs on the CPU
when there is no GPU.

>>> import troupe
>>> x = troupe.ones((2, 3), dtype="float32")
>>> (2 * x).sum()
Array(12., dtype=float32)
"""
from . import _core, _errors
from ._array import Array, convert
from ._errors import *  # noqa: F403
from ._calls import Call, call_plugin, nop
from ._creation import (arange, array, asarray, empty, empty_like, eye, from_numpy, full, full_like, linspace, ones,
                        ones_like, sealable, zeros, zeros_like)
from ._devices import Device, System, device, strict
from ._dlpack import from_dlpack
from ._dtypes import (bfloat16, bool_, complex64, complex128, float8_e4m3fn, float8_e5m2, float16, float32, float64,
                      int8, int16, int32, int64, uint8, uint16, uint32, uint64)
from ._expressions import expression
from ._functions import *  # noqa: F403
from ._functions import NAMES as _function_names
from ._products import einsum, layer, layer_gradient, matmul, vecdot
from ._reductions import NAMES as _reduction_names
from ._ops import FunctionCall, Op, op
from ._resources import Resource, resource
from ._streams import Stream
from ._trial import Tried, trial
from ._weights import Weights, load, state_dict
from ._order import NAMES as _order_names
from . import _functions, _order, _reductions, blas, fft, linalg, nn, primitives, random, sparse

_core.register_classes(Array, convert, _errors.BY_KIND)
for _name in _function_names:
    globals()[_name] = getattr(_functions, _name)
for _name in _reduction_names:
    globals()[_name] = getattr(_reductions, _name)
for _name in _order_names:
    globals()[_name] = getattr(_order, _name)
del _name


_LATER = {"array_api": "array_api", "jit": "jit", "kernel": "jit"}  # what is imported when it is used, and its module


def __getattr__(name):
    if name in _LATER:
        import importlib
        module = importlib.import_module(f"troupe.{_LATER[name]}")
        return module if name == _LATER[name] else getattr(module, name)
    raise AttributeError(f"module 'troupe' has no attribute {name!r}")


newaxis = None
e, inf, nan, pi = 2.718281828459045, float("inf"), float("nan"), 3.141592653589793

__all__ = [
    "Array", "Call", "Device", "FunctionCall", "Op", "Resource", "Stream", "System", "Tried", "Weights",
    "arange", "array", "array_api", "asarray", "bfloat16", "blas", "bool_",
    "call_plugin", "complex128", "complex64", "device", "e", "einsum", "empty", "empty_like", "expression", "eye",
    "fft", "float16", "float32", "float64", "float8_e4m3fn", "float8_e5m2", "from_dlpack", "from_numpy", "full",
    "full_like", "inf", "int16", "int32", "int64", "int8", "jit", "kernel", "layer", "layer_gradient", "linalg",
    "linspace", "load", "matmul", "nan", "newaxis", "nn", "nop", "ones", "ones_like", "op", "pi", "primitives",
    "random", "resource", "sealable", "sparse", "state_dict", "strict", "trial", "uint16", "uint32", "uint64", "uint8",
    "vecdot", "zeros", "zeros_like",
    *_errors.__all__, *_function_names, *_order_names, *_reduction_names,
]
