"""The array API standard, version 2024.12, for the arrays of `troupe`: a namespace for code that is written for any
library of arrays. An array names it: `x.__array_namespace__()`.

>>> from troupe import array_api as xp
>>> x = xp.linspace(0, 1, 5)
>>> xp.sum(x), xp.astype(x, xp.float32).dtype
(Array(2.5, dtype=float64), dtype('float32'))
>>> x.__array_namespace__() is xp
True

Functions return at once; an error of an op surfaces when somebody looks at its result, or at once in
`with troupe.strict():`.
"""
from math import e, inf, nan, pi

from . import _creation, _dtypes, _elementwise, _manipulation, _searching, _statistics
from ._creation import (arange, asarray, empty, empty_like, eye, from_dlpack, full, full_like, linspace, meshgrid, ones,
                        ones_like, tril, triu, zeros, zeros_like)
from ._dtypes import (__array_namespace_info__, bool, can_cast, complex64, complex128, finfo, float32, float64, iinfo,
                      int8, int16, int32, int64, isdtype, result_type, uint8, uint16, uint32, uint64)
from . import fft, linalg
from .linalg import matmul, tensordot, vecdot

__array_api_version__ = "2024.12"
newaxis = None

__all__ = [
    "__array_api_version__", "__array_namespace_info__", "arange", "asarray", "bool", "can_cast", "complex128",
    "complex64", "e", "empty", "empty_like", "eye", "fft", "finfo", "float32", "float64", "from_dlpack", "full",
    "full_like", "iinfo", "inf", "int16", "int32", "int64", "int8", "isdtype", "linalg", "linspace", "matmul",
    "meshgrid", "nan", "newaxis", "ones", "ones_like", "pi", "result_type", "tensordot", "tril", "triu", "uint16",
    "uint32", "uint64", "uint8", "vecdot", "zeros", "zeros_like",
]
for _part in (_elementwise, _manipulation, _searching, _statistics):
    __all__ += _part.NAMES
    globals().update({_name: getattr(_part, _name) for _name in _part.NAMES})
del _part
