"""The same elements in other forms and places."""
from __future__ import annotations

import numpy as np

from .. import _functions, _in_app
from .._array import Array
from .._functions import concat  # noqa: F401
from .._order import take as _take


def axis_of(axis, rank, error=ValueError) -> int:
    """An axis counted from 0."""
    if not -rank <= axis < rank:
        raise error(f"axis {axis} is out of bounds for an array of dimension {rank}")
    return axis % rank


def axes_of(axis, rank) -> tuple[int, ...]:
    """Axes counted from 0: all of them, one, or several different ones."""
    if axis is None:
        return tuple(range(rank))
    axes = tuple(axis_of(one, rank) for one in (axis if isinstance(axis, (tuple, list)) else (axis,)))
    if len(set(axes)) != len(axes):
        raise ValueError(f"the axes {axis} name one axis twice")
    return axes


def astype(x, dtype, /, *, copy=True, device=None) -> Array:
    """The elements converted to another dtype."""
    made = x.astype(dtype, copy=copy)
    return made if device is None else made.to_device(device)


def reshape(x, /, shape, *, copy=None) -> Array:
    """The same elements in row-major order in another shape; one extent can be -1."""
    return x.reshape(tuple(shape), copy=copy)


def broadcast_to(x, /, shape) -> Array:
    """A view that repeats what has an extent of 1, for reading."""
    return _functions.broadcast_to(x, shape)


def broadcast_arrays(*arrays) -> list[Array]:
    """The arrays as views of one shape."""
    shape = np.broadcast_shapes(*(x.shape for x in arrays))
    return [x.view_broadcast(shape) for x in arrays]


def expand_dims(x, /, *, axis=0) -> Array:
    """A view with one more axis, of extent 1."""
    return _functions.expand_dims(x, axis=axis_of(axis, x.ndim + 1, IndexError))


def squeeze(x, /, axis) -> Array:
    """A view without these axes, which must have an extent of 1."""
    return x.squeeze(axes_of(axis, x.ndim))


def permute_dims(x, /, axes) -> Array:
    """A view with the axes in this order."""
    axes = axes_of(tuple(axes), x.ndim)
    if len(axes) != x.ndim:
        raise ValueError(f"permute_dims needs all {x.ndim} axes; these are {axes}")
    return x.view_permuted(list(axes))


def moveaxis(x, source, destination, /) -> Array:
    """A view with some axes at other places; the others stay in their order."""
    sources, places = axes_of(source, x.ndim), axes_of(destination, x.ndim)
    if len(sources) != len(places):
        raise ValueError(f"moveaxis: there are {len(sources)} axes and {len(places)} places")
    order = [axis for axis in range(x.ndim) if axis not in sources]
    for place, axis in sorted(zip(places, sources)):
        order.insert(place, axis)
    return x.view_permuted(order)


def matrix_transpose(x, /) -> Array:
    """A view with the last two axes exchanged."""
    return x.mT


def flip(x, /, *, axis=None) -> Array:
    """A view with the elements in reversed order along all axes, or along these."""
    axes = axes_of(axis, x.ndim)
    return x[tuple(slice(None, None, -1) if a in axes else slice(None) for a in range(x.ndim))]


def roll(x, /, shift, *, axis=None) -> Array:
    """The elements moved on along axes; what leaves one end comes in at the other.

    >>> from troupe import array_api as xp
    >>> xp.roll(xp.arange(5), 2)
    Array([3, 4, 0, 1, 2], dtype=int64)
    """
    if axis is None:
        return roll(x.ravel(), sum(shift) if isinstance(shift, tuple) else shift, axis=0).reshape(x.shape)
    axes = axis if isinstance(axis, tuple) else (axis,)
    shifts = shift if isinstance(shift, tuple) else (shift,) * len(axes)
    if len(axes) == 1:
        axes *= len(shifts)
    made = x
    for by, a in zip(shifts, axes):
        a = axis_of(a, x.ndim)
        cut = -int(by) % x.shape[a] if x.shape[a] else 0
        front = (slice(None),) * a
        made = concat([made[(*front, slice(cut, None))], made[(*front, slice(0, cut))]], axis=a)
    return made.copy() if made is x else made


def stack(arrays, /, *, axis=0) -> Array:
    """The arrays along a new axis."""
    arrays = list(arrays)
    axis = axis_of(axis, arrays[0].ndim + 1)
    return concat([_functions.expand_dims(x, axis=axis) for x in arrays], axis=axis)


def unstack(x, /, *, axis=0) -> tuple[Array, ...]:
    """Views of the parts along an axis."""
    front = (slice(None),) * axis_of(axis, x.ndim)
    return tuple(x[(*front, i)] for i in range(x.shape[len(front)]))


def repeat(x, repeats, /, *, axis=None) -> Array:
    """Each element several times: as often as a number says, or an array with one for each of them."""
    if axis is None:
        x, axis = x.ravel(), 0
    axis = axis_of(axis, x.ndim)
    times = repeats.numpy() if isinstance(repeats, Array) else repeats
    return take(x, _in_app.call(lambda: np.repeat(np.arange(x.shape[axis]), times), x), axis=axis)


def tile(x, repetitions, /) -> Array:
    """The whole array several times along each axis."""
    times = tuple(repetitions)
    x = x[(None,) * (len(times) - x.ndim)] if len(times) > x.ndim else x.copy()
    for axis, count in enumerate((1,) * (x.ndim - len(times)) + times):
        if count != 1:
            x = concat([x] * count, axis=axis) if count else x[(slice(None),) * axis + (slice(0, 0),)]
    return x.copy()


def take(x, indices, /, *, axis=None) -> Array:
    """The parts with these indices along an axis; a vector needs none named."""
    if axis is None:
        if x.ndim != 1:
            raise ValueError(f"take needs an axis of an array of dimension {x.ndim}")
        axis = 0
    axis = axis_of(axis, x.ndim)
    if 0 in x.shape or 0 in indices.shape:
        return _in_app.call(np.take, x, x, indices, axis)
    return _take(x, indices, axis=axis)


def take_along_axis(x, indices, /, *, axis=-1) -> Array:
    """The elements with these indices along an axis, one index for each of them."""
    axis = axis_of(axis, x.ndim)
    shape = np.broadcast_shapes(x.shape[:axis] + x.shape[axis + 1:], indices.shape[:axis] + indices.shape[axis + 1:])

    def picked(elements, places):
        def fit(a):
            return np.broadcast_to(a, (*shape[:axis], a.shape[axis], *shape[axis:]))
        return np.take_along_axis(fit(elements), fit(places), axis)
    return _in_app.call(picked, x, x, indices)


NAMES = ["astype", "broadcast_arrays", "broadcast_to", "concat", "expand_dims", "flip", "matrix_transpose", "moveaxis",
         "permute_dims", "repeat", "reshape", "roll", "squeeze", "stack", "take", "take_along_axis", "tile", "unstack"]
