"""The element types: NumPy's names for them, and the numbers by which the C++ side knows them."""
import numpy as np

from . import _core

_NUMPY_NAMES = {
    "f64": "float64", "f32": "float32", "f16": "float16", "i8": "int8", "u8": "uint8", "i16": "int16",
    "u16": "uint16", "i32": "int32", "u32": "uint32", "i64": "int64", "u64": "uint64", "bool": "bool",
    "c64": "complex64", "c128": "complex128",
}
# These are not NumPy's own.
_SMALL_FLOATS = {"bf16": "bfloat16", "f8e4m3": "float8_e4m3fn", "f8e5m2": "float8_e5m2"}


def _numpy_type(name):
    if name in _NUMPY_NAMES:
        return np.dtype(_NUMPY_NAMES[name])
    try:
        import ml_dtypes
    except ImportError:
        return None
    return np.dtype(getattr(ml_dtypes, _SMALL_FLOATS[name]))


NAMES = [str(name) for name in _core.element_types()]
DTYPES = [_numpy_type(name) for name in NAMES]
NUMBERS = {dtype: number for number, dtype in enumerate(DTYPES) if dtype is not None}
_BY_NAME = {name: number for number, name in enumerate(NAMES)}
_BY_NAME.update({long: _BY_NAME[short] for short, long in _SMALL_FLOATS.items()})

BOOL, I64, F64, C128 = (_BY_NAME[name] for name in ("bool", "i64", "f64", "c128"))


def number_of(dtype):
    """The C++ side's number of a dtype; `TypeError` for one that Troupe has not."""
    if isinstance(dtype, str) and dtype in _BY_NAME:
        return _BY_NAME[dtype]
    found = NUMBERS.get(np.dtype(dtype).newbyteorder("="))
    if found is None:
        raise TypeError(f"troupe has no arrays of {np.dtype(dtype)}; it has {', '.join(NAMES)}")
    return found


def dtype_of(number):
    """The NumPy dtype of a number of the C++ side."""
    dtype = DTYPES[number]
    if dtype is None:
        raise TypeError(f"NumPy has no {NAMES[number]}: install ml_dtypes")
    return dtype


def kind_of(number):
    """"bool", "integer", "floating" or "complex"."""
    name = NAMES[number]
    return {"b": "bool", "i": "integer", "u": "integer", "f": "floating", "c": "complex"}[name[0]] \
        if name not in _SMALL_FLOATS else "floating"


bool_ = np.dtype("bool")
int8, int16, int32, int64 = (np.dtype(f"int{bits}") for bits in (8, 16, 32, 64))
uint8, uint16, uint32, uint64 = (np.dtype(f"uint{bits}") for bits in (8, 16, 32, 64))
float16, float32, float64 = (np.dtype(f"float{bits}") for bits in (16, 32, 64))
complex64, complex128 = np.dtype("complex64"), np.dtype("complex128")
bfloat16, float8_e4m3fn, float8_e5m2 = (_numpy_type(name) for name in _SMALL_FLOATS)
