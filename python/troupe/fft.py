"""Fourier transforms: `troupe.fft`, with NumPy's names. One to three axes are transformed at a time."""
from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from . import _core, _dtypes
from ._creation import asarray

if TYPE_CHECKING:
    from ._array import Array


def _complex(x):
    x = asarray(x)
    if x.dtype.kind == "c":
        return x
    return x.astype("complex64" if x.dtype.name in ("float16", "float32", "bfloat16") else "complex128")


def _real(x):
    x = asarray(x)
    if x.dtype.kind == "c":
        raise TypeError("rfft takes real numbers; these are complex")
    return x if x.dtype.name in ("float32", "float64") else x.astype("float64")


def _fitted(x, lengths, axes):
    """Cut, or filled with zeros, to these lengths."""
    for length, axis in zip(lengths, axes):
        axis = range(x.ndim)[axis]
        if length is None or x.shape[axis] == length:
            continue
        part = (slice(None),) * axis + (slice(0, min(length, x.shape[axis])),)
        shape = (*x.shape[:axis], length, *x.shape[axis + 1:])
        out = _core.allocate(x.device_handle, shape, x.dtype_number, 0)
        _core.fill(out, 0)
        out[part] = x[part]
        x = out
    return x


def _run(x, shape, number, axes, norm, inverse):
    out = _core.allocate(x.device_handle, tuple(shape), number, 0)
    _core.fft(x, out, tuple(axes), norm, inverse)
    return out


def _complex_transform(x, lengths, axes, norm, inverse):
    x = _fitted(_complex(x), lengths, axes)
    return _run(x, x.shape, x.dtype_number, axes, norm, inverse)


def fft(x, n=None, axis=-1, norm="backward") -> Array:
    """The spectrum along one axis.

    >>> troupe.fft.fft(troupe.asarray([1., 0, 0, 0]))
    Array([1.+0.j, 1.+0.j, 1.+0.j, 1.+0.j], dtype=complex128)
    """
    return _complex_transform(x, (n,), (axis,), norm, False)


def ifft(x, n=None, axis=-1, norm="backward") -> Array:
    """What x is the spectrum of."""
    return _complex_transform(x, (n,), (axis,), norm, True)


def _axes(x, s, axes):
    axes = tuple(range(-(len(s) if s is not None else asarray(x).ndim), 0)) if axes is None else tuple(axes)
    return (None,) * len(axes) if s is None else s, axes


def fftn(x, s=None, axes=None, norm="backward") -> Array:
    """The spectrum along several axes, up to three."""
    return _complex_transform(x, *_axes(x, s, axes), norm, False)


def ifftn(x, s=None, axes=None, norm="backward") -> Array:
    """What x is the spectrum of."""
    return _complex_transform(x, *_axes(x, s, axes), norm, True)


def rfft(x, n=None, axis=-1, norm="backward") -> Array:
    """Half of the spectrum of real numbers: n / 2 + 1 of them."""
    return rfftn(x, (n,), (axis,), norm)


def rfftn(x, s=None, axes=None, norm="backward") -> Array:
    """The same along several axes; the last one has half of the spectrum."""
    lengths, axes = _axes(x, s, axes)
    x = _fitted(_real(x), lengths, axes)
    shape = list(x.shape)
    last = range(x.ndim)[axes[-1]]
    shape[last] = shape[last] // 2 + 1
    number = _dtypes.number_of("complex64" if x.dtype.name == "float32" else "complex128")
    return _run(x, shape, number, axes, norm, False)


def irfft(x, n=None, axis=-1, norm="backward") -> Array:
    """The n real numbers whose half of the spectrum x is."""
    x = _complex(x)
    n = 2 * (x.shape[axis] - 1) if n is None else n
    return irfftn(x, (n,), (axis,), norm)


def irfftn(x, s=None, axes=None, norm="backward") -> Array:
    """The same along several axes."""
    x = _complex(x)
    lengths, axes = _axes(x, s, axes)
    lengths = list(lengths)
    if lengths[-1] is None:
        lengths[-1] = 2 * (x.shape[axes[-1]] - 1)
    x = _fitted(x, (*lengths[:-1], lengths[-1] // 2 + 1), axes)
    shape = list(x.shape)
    shape[range(x.ndim)[axes[-1]]] = lengths[-1]
    number = _dtypes.number_of("float32" if x.dtype.name == "complex64" else "float64")
    return _run(x, shape, number, axes, norm, True)


def fftfreq(n, d=1.0, *, device=None) -> Array:
    """The frequencies of a spectrum of n numbers."""
    return asarray(np.fft.fftfreq(n, d), device=device)


def rfftfreq(n, d=1.0, *, device=None) -> Array:
    """Those of half a spectrum."""
    return asarray(np.fft.rfftfreq(n, d), device=device)


def _shifted(x, axes, is_inverse):
    x = asarray(x)
    out = _core.allocate(x.device_handle, x.shape, x.dtype_number, 0)
    axes = range(x.ndim) if axes is None else axes if isinstance(axes, (tuple, list)) else (axes,)
    _core.fftshift(x, out, tuple(axes), is_inverse)
    return out


def fftshift(x, axes=None) -> Array:
    """Frequency 0 in the middle, along all axes or these."""
    return _shifted(x, axes, False)


def ifftshift(x, axes=None) -> Array:
    """The way back."""
    return _shifted(x, axes, True)
