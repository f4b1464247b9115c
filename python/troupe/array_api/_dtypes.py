"""Element types: what the standard asks about them, and what this library says of itself."""
from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .. import _core, _dtypes
from .._array import Array
from .._devices import device as default_device
from .._dtypes import (complex64, complex128, float32, float64, int8, int16, int32, int64, uint8, uint16,  # noqa: F401
                       uint32, uint64)
from .._dtypes import bool_ as bool

_KINDS = {
    "bool": ("bool",),
    "signed integer": ("int8", "int16", "int32", "int64"),
    "unsigned integer": ("uint8", "uint16", "uint32", "uint64"),
    "real floating": ("float32", "float64"),
    "complex floating": ("complex64", "complex128"),
}
_KINDS["integral"] = _KINDS["signed integer"] + _KINDS["unsigned integer"]
_KINDS["numeric"] = _KINDS["integral"] + _KINDS["real floating"] + _KINDS["complex floating"]
_ALL = _KINDS["bool"] + _KINDS["numeric"]
_MAX_DIMENSIONS = 8


def _names_of_kinds(kind):
    kinds = kind if isinstance(kind, tuple) else (kind,)
    for one in kinds:
        if one not in _KINDS:
            raise ValueError(f"kind is {one!r}; it can be {', '.join(map(repr, _KINDS))}")
    return {name for one in kinds for name in _KINDS[one]}


def isdtype(dtype, kind) -> bool:
    """Whether a dtype is of a kind, is that dtype, or is one of several.

    >>> from troupe import array_api as xp
    >>> xp.isdtype(xp.float32, "real floating"), xp.isdtype(xp.int8, (xp.int16, "bool"))
    (True, False)
    """
    if isinstance(kind, tuple):
        return any(isdtype(dtype, one) for one in kind)
    if isinstance(kind, str):
        return np.dtype(dtype).name in _names_of_kinds(kind)
    return np.dtype(dtype) == np.dtype(kind)


def _dtype_of(x):
    return x.dtype if isinstance(x, Array) else _dtypes.dtype_of(_dtypes.number_of(x))


def can_cast(from_, to, /) -> bool:
    """Whether every number of a dtype, or of an array's, is one of the other dtype too."""
    return np.can_cast(_dtype_of(from_), _dtype_of(to)) is True


def result_type(*arrays_and_dtypes) -> np.dtype:
    """What these are promoted to. Plain numbers are weak: they have the type of the arrays and dtypes beside them.

    >>> from troupe import array_api as xp
    >>> xp.result_type(xp.int8, xp.uint8, 1)
    dtype('int16')
    """
    numbers = [x for x in arrays_and_dtypes if type(x) in (int, float, complex)]
    others = [np.dtype("bool") if type(x) is type(True) else _dtype_of(x) for x in arrays_and_dtypes
              if type(x) not in (int, float, complex)]
    if not others:
        raise ValueError("result_type needs an array or a dtype")
    number = _dtypes.number_of(others[0])
    for other in others[1:]:
        number = _core.promoted(number, _dtypes.number_of(other))
    return np.result_type(_dtypes.dtype_of(number), *numbers) if numbers else _dtypes.dtype_of(number)


class FloatInfo(NamedTuple):
    """Limits of a floating dtype; of a complex one, those of its parts."""

    bits: int
    eps: float
    max: float
    min: float
    smallest_normal: float
    dtype: np.dtype


class IntegerInfo(NamedTuple):
    """Limits of an integer dtype."""

    bits: int
    max: int
    min: int
    dtype: np.dtype


def finfo(type, /) -> FloatInfo:
    """The limits of a floating dtype, or of an array's."""
    dtype = _dtype_of(type)
    if dtype.kind not in "fc":
        raise ValueError(f"finfo needs a floating dtype; this is {dtype}")
    limits = np.finfo(dtype)
    return FloatInfo(limits.bits, float(limits.eps), float(limits.max), float(limits.min),
                     float(limits.smallest_normal), np.dtype(limits.dtype))


def iinfo(type, /) -> IntegerInfo:
    """The limits of an integer dtype, or of an array's."""
    dtype = _dtype_of(type)
    if dtype.kind not in "iu":
        raise ValueError(f"iinfo needs an integer dtype; this is {dtype}")
    limits = np.iinfo(dtype)
    return IntegerInfo(limits.bits, int(limits.max), int(limits.min), dtype)


class Info:
    """What `__array_namespace_info__` gives."""

    def capabilities(self) -> dict:
        """What shapes there can be. A function whose result's shape depends on elements waits for them."""
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": _MAX_DIMENSIONS}

    def default_device(self):
        """The device of arrays that name none."""
        return default_device()

    def devices(self) -> list:
        """The devices that are open: the default one."""
        return [default_device()]

    def default_dtypes(self, *, device=None) -> dict:
        """The dtypes of arrays that name none."""
        return {"real floating": float64, "complex floating": complex128, "integral": int64, "indexing": int64}

    def dtypes(self, *, device=None, kind=None) -> dict:
        """The dtypes of the standard that there are, by their names.

        >>> from troupe import array_api as xp
        >>> list(xp.__array_namespace_info__().dtypes(kind="unsigned integer"))
        ['uint8', 'uint16', 'uint32', 'uint64']
        """
        wanted = set(_ALL) if kind is None else _names_of_kinds(kind)
        return {name: np.dtype(name) for name in _ALL if name in wanted}


def __array_namespace_info__() -> Info:
    """What this library says of itself: its dtypes, devices and limits."""
    return Info()
