"""LSTM and GRU: the part of `troupe.nn` that is recurrent, as PyTorch defines the layers (docs/dnn.md).

x is `[tokens, batch, features]`; with `batch_first` x and what is of its kind are `[batch, tokens, ...]`. `weights` is
a flat list: for each layer, and in it for each direction, w_ih `[gates * hidden, features]`, w_hh `[gates * hidden,
hidden]`, b_ih and b_hh `[gates * hidden]`. States are `[layers * directions, batch, hidden]`.
"""
from __future__ import annotations

from collections import namedtuple

from . import _core, _dtypes
from ._order import _new

Recurrent = namedtuple("Recurrent", "values h c kept")
RecurrentGradients = namedtuple("RecurrentGradients", "x h0 c0 weights")


def _turned(x, batch_first):
    return x.transpose((1, 0, 2)) if batch_first else x


def _given(**options):
    return {name: value for name, value in options.items() if value is not None}


def _forward(cell, x, weights, h0, c0, lengths, bidirectional, bias, batch_first, keep):
    weights = list(weights)
    runs = len(weights) // (4 if bias else 2)
    hidden = weights[1].shape[-1] if runs else 1  # the op refuses what cannot be
    first, second = (*x.shape, 1, 1)[:2]
    y = _new(x, (first, second, hidden * (2 if bidirectional else 1)), x.dtype_number)
    tokens, batch = (second, first) if batch_first else (first, second)
    state = (runs, batch, hidden)
    h_n = _new(x, state, x.dtype_number)
    c_n = _new(x, state, x.dtype_number) if cell == "lstm" else None
    number = x.dtype_number if x.dtype_number == _dtypes.F64 else _dtypes._BY_NAME["f32"]
    kept = _new(x, (runs, tokens, batch, 5 * hidden), number) if keep else None
    _core.dnn_recurrent(cell, _turned(x, batch_first), weights, _turned(y, batch_first),
                        _given(bias=bias, bidirectional=bidirectional, lengths=lengths, h0=h0, c0=c0, h_n=h_n, c_n=c_n,
                               kept=kept))
    return Recurrent(y, h_n, c_n, kept)


def _backward(cell, dy, x, weights, kept, h0, c0, dh, dc, lengths, bidirectional, bias, batch_first):
    weights = list(weights)
    dx = _new(x, x.shape, x.dtype_number)
    state = (kept.shape[0], kept.shape[2], kept.shape[3] // 5)
    dh0 = _new(x, state, x.dtype_number)
    dc0 = _new(x, state, x.dtype_number) if cell == "lstm" else None
    dweights = [_new(x, w.shape, x.dtype_number) for w in weights]
    _core.dnn_recurrent_gradient(cell, _turned(dy, batch_first), _turned(x, batch_first), weights, kept,
                                 _turned(dx, batch_first), dweights,
                                 _given(bias=bias, bidirectional=bidirectional, lengths=lengths, h0=h0, c0=c0, dh_n=dh,
                                        dc_n=dc, dh0=dh0, dc0=dc0))
    return RecurrentGradients(dx, dh0, dc0, dweights)


def lstm(x, weights, *, h0=None, c0=None, lengths=None, bidirectional=False, bias=True, batch_first=False,
         keep=False) -> Recurrent:
    """Layers of LSTMs; gates are i, f, g, o. `lengths` are those of the sequences: behind their ends values are 0. With
    `keep` there is what `lstm_gradient` needs.

    >>> ones = [troupe.ones(shape) for shape in ((4, 1), (4, 1), (4,), (4,))]
    >>> troupe.nn.lstm(troupe.zeros((2, 1, 1)), ones, lengths=troupe.asarray([0])).values
    Array([[[0.]],
    <BLANKLINE>
           [[0.]]], dtype=float64)
    """
    return _forward("lstm", x, weights, h0, c0, lengths, bidirectional, bias, batch_first, keep)


def gru(x, weights, *, h0=None, lengths=None, bidirectional=False, bias=True, batch_first=False,
        keep=False) -> Recurrent:
    """Layers of GRUs; gates are r, z, n. The rest is as of `lstm`; there is no c."""
    return _forward("gru", x, weights, h0, None, lengths, bidirectional, bias, batch_first, keep)


def lstm_gradient(dy, x, weights, kept, *, h0=None, c0=None, dh=None, dc=None, lengths=None, bidirectional=False,
                  bias=True, batch_first=False) -> RecurrentGradients:
    """Those of x, h0, c0 and all weights, from those of the values and, where there are any, of the last state."""
    return _backward("lstm", dy, x, weights, kept, h0, c0, dh, dc, lengths, bidirectional, bias, batch_first)


def gru_gradient(dy, x, weights, kept, *, h0=None, dh=None, lengths=None, bidirectional=False, bias=True,
                 batch_first=False) -> RecurrentGradients:
    """Those of x, h0 and all weights."""
    return _backward("gru", dy, x, weights, kept, h0, None, dh, None, lengths, bidirectional, bias, batch_first)
