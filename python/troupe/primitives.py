"""Building blocks of programs over many elements: `troupe.primitives`. `troupe.sort`, `cumsum`, `take` and their like
are the same ops under NumPy's names; docs/primitives.md says what each does.

`function` is "sum", "product", "min", "max", "bit_and", "bit_or" or "bit_xor". Segments of a vector are given by n + 1
offsets, which ascend from 0 to its length.
"""
from __future__ import annotations

from . import _core, _dtypes
from ._array import Array
from ._order import _new, _row


def _result_of(function, x):
    """Sums and products of integers and bools have 64 bits."""
    if function in ("sum", "product") and x.dtype.kind in "biu":
        return _dtypes.number_of("uint64" if x.dtype.kind == "u" else "int64")
    return x.dtype_number


def reduce(function, x, /, *, axis=-1) -> Array:
    """Each row put together.

    >>> troupe.primitives.reduce("bit_xor", troupe.asarray([5, 3]))
    Array(6, dtype=int64)
    """
    x, axis = _row(x, axis)
    out = _new(x, x.shape[:axis] + x.shape[axis + 1:], _result_of(function, x))
    _core.reduce_rows(function, x, out, axis)
    return out


def scan(function, x, /, *, axis=-1, exclusive=False) -> Array:
    """The first elements of each row put together: one, two, and so on; with `exclusive`, none, one, and so on."""
    x, axis = _row(x, axis)
    out = _new(x, x.shape, _result_of(function, x))
    _core.scan(function, x, out, axis, exclusive)
    return out


def segmented_reduce(function, offsets, x, /) -> Array:
    """Each segment put together.

    >>> troupe.primitives.segmented_reduce("sum", troupe.asarray([0, 2, 2, 3]), troupe.asarray([1., 2., 5.]))
    Array([3., 0., 5.], dtype=float64)
    """
    out = _new(x, (offsets.shape[0] - 1,), _result_of(function, x))
    _core.segmented_reduce(function, offsets, x, out)
    return out


def segmented_scan(function, offsets, x, /, *, exclusive=False) -> Array:
    """A scan that begins anew with each segment."""
    out = _new(x, x.shape, _result_of(function, x))
    _core.segmented_scan(function, offsets, x, out, exclusive)
    return out


def segmented_sort(offsets, keys, /, *, descending=False) -> Array:
    """Each segment sorted."""
    out = _new(keys, keys.shape, keys.dtype_number)
    _core.segmented_sort(offsets, keys, out, descending)
    return out


def sort_by_key(keys, values, /, *, axis=-1, descending=False) -> tuple[Array, Array]:
    """The keys of each row in order, and the values where their keys went."""
    keys, axis = _row(keys, axis)
    ordered, moved = _new(keys, keys.shape, keys.dtype_number), _new(values, values.shape, values.dtype_number)
    _core.sort_with_values(keys, values, ordered, moved, axis, descending)
    return ordered, moved


def scatter(x, indices, out, /, *, axis=0, duplicates="last") -> Array:
    """out[.., indices[.., i, ..], ..] = x[.., i, ..]. Of several elements for one place, the last stays; or they are
    put together with what is there: `duplicates` is "last", "add", "min" or "max".

    >>> troupe.primitives.scatter(troupe.ones(3), troupe.asarray([0, 2, 0]), troupe.zeros(3), duplicates="add")
    Array([2., 0., 1.], dtype=float64)
    """
    _core.scatter(x, indices, out, duplicates, axis)
    return out


def histogram(x, low, high, bins, /) -> Array:
    """How many elements are in each of so many equal bins between `low` and `high`; the last one has `high`, too."""
    counts = _new(x, (bins,), _dtypes.I64)
    _core.histogram_between(x, float(low), float(high), counts)
    return counts


def _counted(x, length, number, call):
    out, count = _new(x, (length,), number), _new(x, (1,), _dtypes.I64)
    call(out, count)
    return out, count


def partition(x, flags, /) -> tuple[Array, Array]:
    """The elements of a vector whose flag is set and behind them the others, and how many are set."""
    return _counted(x, x.shape[0], x.dtype_number, lambda out, count: _core.partition(x, flags, out, count))


def positions(flags, /) -> Array:
    """Where flags are set. Waits, because only the flags say how many they are."""
    out, count = _counted(flags, flags.shape[0], _dtypes.I64, lambda out, count: _core.positions(flags, out, count))
    return out[:int(count)]


def run_lengths(x, /) -> tuple[Array, Array]:
    """The first of each run of equal elements, and how long the run is. Waits for the elements.

    >>> troupe.primitives.run_lengths(troupe.asarray([7, 7, 5, 7]))
    (Array([7, 5, 7], dtype=int64), Array([2, 1, 1], dtype=int64))
    """
    lengths = _new(x, x.shape, _dtypes.I64)
    out, count = _counted(x, x.shape[0], x.dtype_number, lambda out, count: _core.run_lengths(x, out, lengths, count))
    return out[:int(count)], lengths[:int(count)]


def sets(operation, a, b, /) -> Array:
    """What two ascending vectors make: "unite", "intersect", "difference" or "symmetric_difference". Waits.

    >>> troupe.primitives.sets("intersect", troupe.asarray([1, 2, 4]), troupe.asarray([2, 3, 4]))
    Array([2, 4], dtype=int64)
    """
    out, count = _counted(a, a.shape[0] + b.shape[0], a.dtype_number,
                          lambda out, count: _core.sets(operation, a, b, out, count))
    return out[:int(count)]


__all__ = ["histogram", "partition", "positions", "reduce", "run_lengths", "scan", "scatter", "segmented_reduce",
           "segmented_scan", "segmented_sort", "sets", "sort_by_key"]
