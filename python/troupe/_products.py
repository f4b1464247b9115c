"""Products of matrices and contractions."""
from __future__ import annotations

import numpy as np

from . import _core, _dtypes, _in_app
from ._array import Array, convert


def _both(a, b):
    if not isinstance(a, Array):
        a = convert(a, b)
    if not isinstance(b, Array):
        b = convert(b, a)
    return a, b


def _of_one_type(*arrays):
    number = arrays[0].dtype_number
    for array in arrays[1:]:
        number = _core.promoted(number, array.dtype_number)
    dtype = _dtypes.dtype_of(number)
    return [array.astype(dtype, copy=False) for array in arrays]


def matmul(x1, x2, /) -> Array:
    """The product of matrices: the last two axes are matrices, the others a batch; a vector is a row or a column.

    >>> troupe.eye(2) @ troupe.asarray([[1., 2.], [3., 4.]])
    Array([[1., 2.],
           [3., 4.]], dtype=float64)
    """
    a, b = _both(x1, x2)
    made = _core.product(a, b)
    if made is not None:
        return made
    if not a.ndim or not b.ndim:
        raise ValueError("matmul takes vectors and matrices; one of these has no axes")
    a, b = _of_one_type(a, b)
    if a.dtype.kind in "biu":
        return _in_app.call(np.matmul, a, a, b)
    row, column = a.ndim == 1, b.ndim == 1
    a, b = a[None, :] if row else a, b[:, None] if column else b
    made = _core.product(a, b) if a.dtype.kind != "c" else None
    if made is None:
        made = _complex_product(a, b)
    if row:
        made = made[..., 0, :]
    return made[..., 0] if column else made


def _complex_product(a, b):
    """By an einsum, whose letters are the batch axes."""
    if a.shape[-1] != b.shape[-2]:
        raise ValueError(f"matmul: a is {list(a.shape)} and b is {list(b.shape)}; the inner ones must agree")
    return _core.einsum("...ij,...jk->...ik", [a, b])


def einsum(subscripts, /, *operands) -> Array:
    """The sum over all letters that are not in the output: `einsum("ik,kj->ij", a, b)`, with up to 32 operands.

    >>> troupe.einsum("ii->", troupe.eye(3))
    Array(3., dtype=float64)
    """
    beside = next((x for x in operands if isinstance(x, Array)), None)
    if beside is None:
        raise TypeError("einsum: an operand must be an array")
    arrays = _of_one_type(*(x if isinstance(x, Array) else convert(x, beside) for x in operands))
    if arrays[0].dtype.kind in "biu":
        return _in_app.call(lambda *all_of_them: np.einsum(subscripts, *all_of_them), beside, *arrays)
    text = subscripts.replace(" ", "")
    if "->" not in text:
        letters = sorted(letter for letter in set(text) if letter.isalpha() and text.count(letter) == 1)
        text += "->" + ("..." if "..." in text else "") + "".join(letters)
    return _core.einsum(text, arrays)


def vecdot(x1, x2, /, *, axis=-1) -> Array:
    """The sum of the products along an axis; the first operand is conjugated."""
    a, b = _both(x1, x2)
    return ((a.conj() if a.dtype.kind == "c" else a) * b).sum(axis)


def layer_gradient(d, w, /, *, preactivation=None, activation="none", alpha=1.0, bias_gradient=None) -> Array:
    """What flows back through a layer: alpha d w, each element times the slope of the activation at `preactivation`.

    `bias_gradient` is an array that the sums of d's columns are written to.

    >>> troupe.layer_gradient(troupe.ones((1, 2)), troupe.eye(2), preactivation=troupe.asarray([[-1., 1.]]),
    ...                       activation="relu")
    Array([[0., 1.]], dtype=float64)
    """
    d, w = _of_one_type(*_both(d, w))
    out = _core.allocate(d.device_handle, (*d.shape[:-1], w.shape[-1]), d.dtype_number, 0)
    _core.layer_gradient(d, w, out, alpha, activation, preactivation, bias_gradient)
    return out


def layer(x, w, /, *, bias=None, activation="none", alpha=1.0, preactivation=None) -> Array:
    """activation(alpha x w + bias) in one op and one pass; the activation is "none", "relu" or "gelu_tanh". What it is
    given is written to `preactivation`, an array, when there is one.

    >>> troupe.layer(-troupe.eye(2), troupe.eye(2), activation="relu").sum()
    Array(0., dtype=float64)
    """
    x, w = _of_one_type(*_both(x, w))
    out = _core.allocate(x.device_handle, (*x.shape[:-1], w.shape[-1]), x.dtype_number, 0)
    _core.layer(x, w, out, alpha, activation, bias, preactivation)
    return out
