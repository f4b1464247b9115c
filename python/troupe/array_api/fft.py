"""Fourier transforms. Any number of axes, up to three of them at a time."""
from __future__ import annotations

import numpy as np

from .. import _in_app
from .. import fft as _fft
from .._array import Array
from ._creation import asarray
from ._elementwise import conj
from ._manipulation import axes_of

_AT_ONCE = 3
_OPPOSITE = {"backward": "forward", "forward": "backward", "ortho": "ortho"}


def _norm(norm):
    if norm not in _OPPOSITE:
        raise ValueError(f"norm is {norm!r}; it can be 'backward', 'ortho' or 'forward'")
    return norm


def _lengths(x, s, axes):
    """The axes, counted from 0, and how long each is; None: as it is."""
    if axes is None:
        axes = range(x.ndim) if s is None else range(x.ndim - len(s), x.ndim)
    axes = axes_of(tuple(axes), x.ndim)
    s = (None,) * len(axes) if s is None else tuple(None if n == -1 else n for n in s)
    if len(s) != len(axes):
        raise ValueError(f"there are {len(s)} lengths and {len(axes)} axes")
    return s, axes


def _along(name, x, s, axes, norm):
    """Of complex numbers, some axes after the others."""
    s, axes = _lengths(x, s, axes)
    if not axes:
        return x.copy()
    for begin in range(0, len(axes), _AT_ONCE):
        part = slice(begin, begin + _AT_ONCE)
        x = getattr(_fft, name)(x, s[part], axes[part], _norm(norm))
    return x


def fft(x, /, *, n=None, axis=-1, norm="backward") -> Array:
    """The spectrum along one axis.

    >>> from troupe import array_api as xp
    >>> xp.fft.fft(xp.asarray([1., 0, 0, 0]))
    Array([1.+0.j, 1.+0.j, 1.+0.j, 1.+0.j], dtype=complex128)
    """
    return _along("fftn", x, (n,), (axis,), norm)


def ifft(x, /, *, n=None, axis=-1, norm="backward") -> Array:
    """What x is the spectrum of."""
    return _along("ifftn", x, (n,), (axis,), norm)


def fftn(x, /, *, s=None, axes=None, norm="backward") -> Array:
    """The spectrum along several axes."""
    return _along("fftn", x, s, axes, norm)


def ifftn(x, /, *, s=None, axes=None, norm="backward") -> Array:
    """What x is the spectrum of."""
    return _along("ifftn", x, s, axes, norm)


def rfft(x, /, *, n=None, axis=-1, norm="backward") -> Array:
    """Half of the spectrum of real numbers: n / 2 + 1 of them."""
    return rfftn(x, s=(n,), axes=(axis,), norm=norm)


def rfftn(x, /, *, s=None, axes=None, norm="backward") -> Array:
    """The same along several axes; the last one has half of the spectrum."""
    s, axes = _lengths(x, s, axes)
    made = _fft.rfftn(x, s[-1:], axes[-1:], _norm(norm))
    return _along("fftn", made, s[:-1], axes[:-1], norm) if len(axes) > 1 else made


def irfft(x, /, *, n=None, axis=-1, norm="backward") -> Array:
    """The n real numbers whose half of the spectrum x is."""
    return irfftn(x, s=(n,), axes=(axis,), norm=norm)


def irfftn(x, /, *, s=None, axes=None, norm="backward") -> Array:
    """The same along several axes."""
    s, axes = _lengths(x, s, axes)
    if len(axes) > 1:
        x = _along("ifftn", x, s[:-1], axes[:-1], norm)
    return _fft.irfftn(x, s[-1:], axes[-1:], _norm(norm))


def hfft(x, /, *, n=None, axis=-1, norm="backward") -> Array:
    """The n real numbers that are the spectrum of a signal with Hermitian symmetry, whose half x is."""
    return irfft(conj(x), n=n, axis=axis, norm=_OPPOSITE[_norm(norm)])


def ihfft(x, /, *, n=None, axis=-1, norm="backward") -> Array:
    """Half of the signal with Hermitian symmetry whose spectrum is real."""
    return conj(rfft(x, n=n, axis=axis, norm=_OPPOSITE[_norm(norm)]))


def fftfreq(n, /, *, d=1.0, dtype=None, device=None) -> Array:
    """The frequencies of a spectrum of n numbers."""
    return asarray(np.fft.fftfreq(n, d), dtype=dtype, device=device)


def rfftfreq(n, /, *, d=1.0, dtype=None, device=None) -> Array:
    """Those of half a spectrum."""
    return asarray(np.fft.rfftfreq(n, d), dtype=dtype, device=device)


def _shifted(function, in_numpy, x, axes):
    axes = axes_of(axes, x.ndim)
    if not x.size or not axes:
        return _in_app.call(in_numpy, x, x, axes)
    return function(x, axes)


def fftshift(x, /, *, axes=None) -> Array:
    """Frequency 0 in the middle, along all axes or these."""
    return _shifted(_fft.fftshift, np.fft.fftshift, x, axes)


def ifftshift(x, /, *, axes=None) -> Array:
    """The way back."""
    return _shifted(_fft.ifftshift, np.fft.ifftshift, x, axes)


__all__ = ["fft", "fftfreq", "fftn", "fftshift", "hfft", "ifft", "ifftn", "ifftshift", "ihfft", "irfft", "irfftn",
           "rfft", "rfftfreq", "rfftn"]
