"""Properties of `troupe.array_api`, on arrays of any dtype and shape, with no axes and with no elements: what NumPy
gives where it keeps the standard, and the standard's own words elsewhere."""
import math

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from test_array_api import OF_ONE, OF_TWO

from troupe import array_api as xp

INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
FLOATS, COMPLEX = ["float32", "float64"], ["complex64", "complex128"]
NUMERIC, REAL = INTEGERS + FLOATS + COMPLEX, INTEGERS + FLOATS
ALL = ["bool", *NUMERIC]

quick = settings(max_examples=12, deadline=None, derandomize=True, database=None,
                 suppress_health_check=list(HealthCheck))


def shapes(**limits):
    return hnp.array_shapes(**{"min_dims": 0, "max_dims": 3, "min_side": 0, "max_side": 4} | limits)


def numbers(dtype, special=True):
    dtype = np.dtype(dtype)
    if dtype.kind in "iu" and special:
        return hnp.from_dtype(dtype)
    if dtype.kind in "iu":
        return st.integers(0 if dtype.kind == "u" else -9, 9)
    if dtype.kind == "b":
        return st.booleans()
    real = st.sampled_from([0.0, -0.0, 1.0, -1.0, 0.5, 3.0, -2.5, math.inf, -math.inf, math.nan, 1e-30]) if special \
        else st.integers(-8, 8).map(lambda n: n / 4)
    return real if dtype.kind == "f" else st.builds(complex, real, real)


def arrays(dtypes, shape=None, special=True):
    def of(dtype):
        return hnp.arrays(dtype, shapes() if shape is None else shape, elements=numbers(dtype, special))
    return st.sampled_from(dtypes).flatmap(of)


def expect(ours, theirs, tolerance=None):
    theirs = np.asarray(theirs)
    assert ours.shape == theirs.shape
    assert ours.dtype == theirs.dtype
    if tolerance is None:
        np.testing.assert_array_equal(ours.numpy(), theirs)
    else:
        tolerance = max(tolerance, 2e-5 if theirs.dtype.name in ("float32", "complex64") else 0)
        np.testing.assert_allclose(ours.numpy(), theirs, rtol=tolerance, atol=tolerance)


# ---- elements ----

KINDS = {
    "abs": NUMERIC, "bitwise_invert": ["bool", *INTEGERS], "ceil": REAL, "floor": REAL, "trunc": REAL, "round": NUMERIC,
    "isfinite": NUMERIC, "isinf": NUMERIC, "isnan": NUMERIC, "logical_not": ["bool"], "negative": NUMERIC,
    "positive": NUMERIC, "sign": NUMERIC, "square": NUMERIC, "signbit": FLOATS, "conj": NUMERIC, "real": NUMERIC,
    "imag": COMPLEX, "log1p": FLOATS + COMPLEX,
    **dict.fromkeys(["bitwise_and", "bitwise_or", "bitwise_xor"], ["bool", *INTEGERS]),
    **dict.fromkeys(["bitwise_left_shift", "bitwise_right_shift"], INTEGERS),
    **dict.fromkeys(["logical_and", "logical_or", "logical_xor"], ["bool"]),
    **dict.fromkeys(["equal", "not_equal"], ALL),
    **dict.fromkeys(["greater", "greater_equal", "less", "less_equal", "maximum", "minimum"], REAL),
    **dict.fromkeys(["add", "multiply", "subtract"], NUMERIC),
    **dict.fromkeys(["floor_divide", "remainder"], REAL),
    **dict.fromkeys(["atan2", "copysign", "hypot", "logaddexp", "nextafter"], FLOATS),
}
IN_NUMPY = {"acos": "arccos", "acosh": "arccosh", "asin": "arcsin", "asinh": "arcsinh", "atan": "arctan",
            "atanh": "arctanh", "atan2": "arctan2", "bitwise_invert": "invert", "round": "rint", "pow": "power",
            "bitwise_left_shift": "left_shift", "bitwise_right_shift": "right_shift"}
EXACT = {"abs", "ceil", "floor", "trunc", "round", "negative", "positive", "conj", "real", "imag", "signbit"}


def in_numpy(name):
    return getattr(np, IN_NUMPY.get(name, name))


@pytest.mark.parametrize("name", OF_ONE)
@given(data=st.data())
@quick
def test_functions_of_one(name, data):
    x = data.draw(arrays(KINDS.get(name, FLOATS + COMPLEX)))
    expected = in_numpy(name)(x)
    if name in ("ceil", "floor", "trunc", "round") and x.dtype.kind in "iu":
        expected = x  # NumPy makes floats of them, which do not have all of 64 bits
    if x.dtype.kind == "c" and name not in EXACT | {"square", "sqrt", "isnan", "isinf", "isfinite"}:
        x = np.where(np.isfinite(x), x, 0).astype(x.dtype)
        expected = in_numpy(name)(x)
    expect(getattr(xp, name)(xp.asarray(x)), expected, None if name in EXACT else 1e-12)


def _of_two(name, a, b):
    if name == "pow" and a.dtype.kind in "iu":
        return a, b % np.asarray(5, b.dtype)
    if name in ("floor_divide", "remainder"):
        b = np.where(b == 0, 1, b).astype(b.dtype)
        if a.dtype.kind == "i":
            b = np.where(b == -1, 1, b).astype(b.dtype)
        elif a.dtype.kind == "f":  # infinities: among the special cases
            a = np.where(np.isfinite(a), a, 1).astype(a.dtype)
    if "shift" in name:
        b = b % np.asarray(a.dtype.itemsize * 8, b.dtype) if a.dtype != np.int8 else np.abs(b % np.asarray(7, b.dtype))
    if a.dtype.kind == "c":
        a, b = (np.where(np.isfinite(x), x, 1).astype(x.dtype) for x in (a, b))
        if name == "pow":
            a, b = np.where(a == 0, 1, a).astype(a.dtype), (b / 4).astype(b.dtype)
        if name == "divide":
            b = np.where(np.abs(b) < 1e-9, 1, b).astype(b.dtype)
    return a, b


@pytest.mark.parametrize("name", OF_TWO)
@given(data=st.data())
@quick
def test_functions_of_two(name, data):
    dtypes = KINDS.get(name, INTEGERS + FLOATS + COMPLEX if name == "pow" else FLOATS + COMPLEX)
    dtype = data.draw(st.sampled_from(dtypes))
    several = data.draw(hnp.mutually_broadcastable_shapes(num_shapes=2, max_dims=3, min_side=0, max_side=3))
    a, b = (data.draw(hnp.arrays(dtype, shape, elements=numbers(dtype))) for shape in several.input_shapes)
    a, b = _of_two(name, a, b)
    made = getattr(xp, name)(xp.asarray(a), xp.asarray(b))
    expect(made, in_numpy(name)(a, b), 1e-9)


@given(x=arrays(ALL), data=st.data())
@quick
def test_plain_numbers_are_weak(x, data):
    number = data.draw(st.booleans() if x.dtype.kind == "b" else st.integers(0, 9) if x.dtype.kind in "iu"
                       else st.floats(-9, 9, width=32))
    names = ["logical_and", "equal"] if x.dtype.kind == "b" else ["add", "multiply", "not_equal"]
    for name in names:
        expect(getattr(xp, name)(xp.asarray(x), number), in_numpy(name)(x, number), 1e-9)
        expect(getattr(xp, name)(number, xp.asarray(x)), in_numpy(name)(number, x), 1e-9)


@given(x=arrays(REAL), data=st.data())
@quick
def test_clip(x, data):
    bounds = sorted(data.draw(st.tuples(*[st.integers(0, 9)] * 2)))
    low, high = (data.draw(st.sampled_from([bound, np.asarray(bound, x.dtype), None])) for bound in bounds)
    ours = [xp.asarray(bound) if isinstance(bound, np.ndarray) else bound for bound in (low, high)]
    expected = x if low is None and high is None else np.clip(x, low, high)
    expect(xp.clip(xp.asarray(x), *ours), expected.astype(x.dtype))


@given(x=arrays(REAL + ["bool"], special=False), y=arrays(REAL + ["bool"], shape=(), special=False), data=st.data())
@quick
def test_where_and_promotion(x, y, data):
    mask = data.draw(hnp.arrays(bool, x.shape))
    expected = np.where(mask, x, y)
    expect(xp.where(xp.asarray(mask), xp.asarray(x), xp.asarray(y)), expected)
    assert xp.result_type(xp.asarray(x), xp.asarray(y)) == expected.dtype


@given(x=arrays(ALL, special=False), dtype=st.sampled_from(ALL))
@quick
def test_astype(x, dtype):
    if x.dtype.kind == "c" and np.dtype(dtype).kind != "c" or np.dtype(dtype).kind == "u":
        x = np.abs(x) if x.dtype.kind != "b" else x
    expect(xp.astype(xp.asarray(x), getattr(xp, dtype)), x.astype(dtype))


# ---- reductions ----

def axis_of(data, x, several=True):
    axes = st.none()
    if x.ndim:
        axes |= st.integers(-x.ndim, x.ndim - 1)
    if several:
        axes |= st.sets(st.integers(0, x.ndim - 1)).map(tuple) if x.ndim else st.just(())
    return data.draw(axes)


@pytest.mark.parametrize("name", ["sum", "prod", "max", "min", "mean", "var", "std", "all", "any", "count_nonzero"])
@given(data=st.data(), keepdims=st.booleans())
@quick
def test_reductions(name, data, keepdims):
    dtypes = {"sum": NUMERIC, "prod": NUMERIC, "max": REAL, "min": REAL}.get(name, FLOATS)
    x = data.draw(arrays(ALL if name in ("all", "any", "count_nonzero") else dtypes, special=name in (
        "max", "min", "all", "any")))
    axis = axis_of(data, x)
    count = x.size if axis is None else math.prod(x.shape[a] for a in (axis if isinstance(axis, tuple) else (axis,)))
    if name in ("max", "min") and not count or name in ("mean", "var", "std") and not count:
        return
    wide = {"dtype": "u8" if x.dtype.kind == "u" else "i8"} if name in ("sum", "prod") and x.dtype.kind in "iu" else {}
    expected = getattr(np, name)(x, axis=axis, keepdims=keepdims, **wide)
    if name == "count_nonzero":
        expected = np.asarray(expected, "int64")
    expect(getattr(xp, name)(xp.asarray(x), axis=axis, keepdims=keepdims), expected, 1e-9)


@pytest.mark.parametrize("name", ["argmax", "argmin"])
@given(x=arrays(REAL, shapes(min_side=1), special=False), keepdims=st.booleans(), data=st.data())
@quick
def test_indices_of_extremes(name, x, keepdims, data):
    axis = axis_of(data, x, several=False)
    expect(getattr(xp, name)(xp.asarray(x), axis=axis, keepdims=keepdims),
           getattr(np, name)(x, axis=axis, keepdims=keepdims))


@pytest.mark.parametrize("name", ["cumulative_sum", "cumulative_prod"])
@given(x=arrays(NUMERIC, shapes(min_dims=1), special=False), initial=st.booleans(), data=st.data())
@quick
def test_cumulative(name, x, initial, data):
    axis = data.draw(st.integers(-x.ndim, x.ndim - 1))
    wide = {"dtype": "u8" if x.dtype.kind == "u" else "i8"} if x.dtype.kind in "iu" else {}
    function, first = {"cumulative_sum": (np.cumsum, 0), "cumulative_prod": (np.cumprod, 1)}[name]
    expected = function(x, axis=axis, **wide)
    if initial:
        shape = list(x.shape)
        shape[axis] = 1
        expected = np.concatenate([np.full(shape, first, expected.dtype), expected], axis)
    expect(getattr(xp, name)(xp.asarray(x), axis=axis, include_initial=initial), expected, 1e-6)


@given(x=arrays(NUMERIC, shapes(min_dims=1), special=False), n=st.integers(0, 3), data=st.data())
@quick
def test_diff(x, n, data):
    axis = data.draw(st.integers(-x.ndim, x.ndim - 1))
    expect(xp.diff(xp.asarray(x), axis=axis, n=n), np.diff(x, n, axis), 1e-9)
    expect(xp.diff(xp.asarray(x), axis=axis, prepend=xp.asarray(x)), np.diff(x, 1, axis, prepend=x), 1e-9)


# ---- sorts, searches, sets ----

@given(x=arrays(REAL, shapes(min_dims=1)), descending=st.booleans(), data=st.data())
@quick
def test_sorts(x, descending, data):
    x = np.where(np.isnan(x), 7, x).astype(x.dtype) + np.asarray(0, x.dtype)
    axis = data.draw(st.integers(-x.ndim, x.ndim - 1))
    ordered = np.sort(x, axis=axis)
    expect(xp.sort(xp.asarray(x), axis=axis, descending=descending), np.flip(ordered, axis) if descending else ordered)
    if descending:
        flipped = np.argsort(np.flip(x, axis), axis=axis, kind="stable")
        places = np.flip(x.shape[axis] - 1 - flipped, axis)
    else:
        places = np.argsort(x, axis=axis, kind="stable")
    expect(xp.argsort(xp.asarray(x), axis=axis, descending=descending), places)


@given(x=arrays(REAL, shapes(min_dims=1, max_dims=1), special=False), side=st.sampled_from(["left", "right"]),
       data=st.data())
@quick
def test_searchsorted(x, side, data):
    keys = data.draw(arrays([x.dtype], special=False))
    sorter = np.argsort(x, kind="stable")
    expected = np.asarray(np.searchsorted(x, keys, side, sorter))
    expect(xp.searchsorted(xp.asarray(x), xp.asarray(keys), side=side, sorter=xp.asarray(sorter)), expected)
    expect(xp.searchsorted(xp.asarray(x[sorter]), xp.asarray(keys), side=side), expected)


@given(x=arrays(ALL))
@quick
def test_sets(x):
    values, first, inverse, counts = np.unique(x, True, True, True, equal_nan=False)
    found = xp.unique_all(xp.asarray(x))
    for ours, theirs in zip(found, (values, first, inverse.reshape(x.shape), counts)):
        expect(ours, theirs)
    expect(xp.unique_values(xp.asarray(x)), values)
    expect(xp.unique_counts(xp.asarray(x)).counts, counts)
    expect(xp.unique_inverse(xp.asarray(x)).inverse_indices, inverse.reshape(x.shape))
    if x.ndim:
        for ours, theirs in zip(xp.nonzero(xp.asarray(x)), np.nonzero(x), strict=True):
            expect(ours, theirs)


# ---- forms ----

@given(x=arrays(ALL), data=st.data())
@quick
def test_forms(x, data):
    ours = xp.asarray(x)
    axis = axis_of(data, x)
    expect(xp.flip(ours, axis=axis), np.flip(x, axis))
    if not isinstance(axis, tuple):
        shift = data.draw(st.integers(-7, 7))
        expect(xp.roll(ours, shift, axis=axis), np.roll(x, shift, axis))
        expect(xp.repeat(ours, 2, axis=axis), np.repeat(x, 2, axis))
    places = tuple(data.draw(st.permutations(range(x.ndim))))
    expect(xp.permute_dims(ours, places), x.transpose(places))
    expect(xp.moveaxis(ours, tuple(range(x.ndim)), places), np.moveaxis(x, range(x.ndim), places))
    expect(xp.reshape(ours, (-1,) if x.size else (0,)), x.reshape(-1))
    expect(xp.expand_dims(ours, axis=-1), np.expand_dims(x, -1))
    expect(xp.squeeze(xp.expand_dims(ours, axis=0), 0), x)
    times = data.draw(st.lists(st.integers(0, 2), max_size=4).map(tuple))
    expect(xp.tile(ours, times), np.tile(x, times))
    expect(xp.stack([ours, ours], axis=0), np.stack([x, x]))
    expect(xp.broadcast_to(ours, (2, *x.shape)), np.broadcast_to(x, (2, *x.shape)))
    if x.ndim:
        along = data.draw(st.integers(-x.ndim, x.ndim - 1))
        expect(xp.concat([ours, ours], axis=along), np.concatenate([x, x], along))
        parts = xp.unstack(ours, axis=along)
        for part, theirs in zip(parts, np.moveaxis(x, along, 0), strict=True):
            expect(part, theirs)
    expect(xp.concat([ours, ours], axis=None), np.concatenate([x, x], None))


@given(x=arrays(ALL, shapes(min_dims=2)), k=st.integers(-4, 4))
@quick
def test_triangles(x, k):
    expect(xp.tril(xp.asarray(x), k=k), np.tril(x, k))
    expect(xp.triu(xp.asarray(x), k=k), np.triu(x, k))
    expect(xp.linalg.diagonal(xp.asarray(x), offset=k), x.diagonal(k, -2, -1))


@given(x=arrays(ALL, shapes(min_dims=1, min_side=1)), data=st.data())
@quick
def test_take(x, data):
    axis = data.draw(st.integers(-x.ndim, x.ndim - 1))
    side = x.shape[axis]
    places = data.draw(hnp.arrays("int64", shapes(min_dims=1, max_dims=1), elements=st.integers(0, side - 1)))
    expect(xp.take(xp.asarray(x), xp.asarray(places), axis=axis), np.take(x, places, axis))
    along = data.draw(hnp.arrays("int64", x.shape, elements=st.integers(0, side - 1)))
    expect(xp.take_along_axis(xp.asarray(x), xp.asarray(along), axis=axis), np.take_along_axis(x, along, axis))


@given(several=hnp.mutually_broadcastable_shapes(num_shapes=3, max_dims=3, max_side=3), data=st.data())
@quick
def test_broadcasts_and_grids(several, data):
    x = [data.draw(hnp.arrays("float32", shape, elements=numbers("float32"))) for shape in several.input_shapes]
    for ours, theirs in zip(xp.broadcast_arrays(*map(xp.asarray, x)), np.broadcast_arrays(*x), strict=True):
        expect(ours, theirs)
    vectors = [part.ravel()[:3] for part in x]
    indexing = data.draw(st.sampled_from(["xy", "ij"]))
    for ours, theirs in zip(xp.meshgrid(*map(xp.asarray, vectors), indexing=indexing),
                            np.meshgrid(*vectors, indexing=indexing), strict=True):
        expect(ours, theirs)


@given(start=st.integers(-20, 20), stop=st.integers(-20, 20), step=st.integers(1, 4) | st.integers(-4, -1),
       num=st.integers(0, 9), endpoint=st.booleans(), dtype=st.sampled_from(FLOATS))
@quick
def test_ranges(start, stop, step, num, endpoint, dtype):
    expect(xp.arange(start, stop, step), np.arange(start, stop, step))
    expect(xp.arange(start / 4, stop / 4, step / 4, dtype=getattr(xp, dtype)),
           np.arange(start / 4, stop / 4, step / 4, dtype=dtype))
    expect(xp.linspace(start, stop, num, endpoint=endpoint, dtype=getattr(xp, dtype)),
           np.linspace(start, stop, num, endpoint=endpoint, dtype=dtype))


# ---- indexing ----

@given(x=arrays(ALL), data=st.data())
@quick
def test_masks(x, data):
    ours = xp.asarray(x)
    mask = data.draw(hnp.arrays(bool, st.sampled_from([x.shape[:n] for n in range(x.ndim + 1)])))
    expect(ours[xp.asarray(mask)], x[mask])
    written, expected = xp.asarray(x, copy=True), x.copy()
    value = data.draw(numbers(x.dtype))
    written[xp.asarray(mask)], expected[mask] = xp.asarray(value, dtype=ours.dtype), value
    expect(written, expected)
    expect(ours, x)


@given(x=arrays(ALL, shapes(min_dims=1, min_side=1)), data=st.data())
@quick
def test_keys_of_arrays_and_numbers(x, data):
    key = data.draw(hnp.integer_array_indices(x.shape) | hnp.basic_indices(x.shape, allow_newaxis=True))
    parts = tuple(xp.asarray(part) if isinstance(part, np.ndarray) else part
                  for part in (key if isinstance(key, tuple) else (key,)))
    expect(xp.asarray(x)[parts], x[key])
    value, written = data.draw(numbers(x.dtype)), xp.asarray(x)
    expected = x.copy()
    written[parts], expected[key] = value, value
    expect(written, expected)


# ---- linear algebra and spectra ----

def matrices(data, dtype, rows, columns):
    batch = data.draw(st.sampled_from([(), (2,), (0,), (2, 3), (1, 2, 1)]))
    return data.draw(hnp.arrays(dtype, (*batch, rows, columns), elements=numbers(dtype, False)))


@given(dtype=st.sampled_from(FLOATS + COMPLEX), n=st.integers(0, 4), columns=st.integers(0, 3), data=st.data())
@quick
def test_matrices_that_can_be_inverted(dtype, n, columns, data):
    x = matrices(data, dtype, n, n) + (20 * np.eye(n)).astype(dtype)
    ours, linalg = xp.asarray(x), xp.linalg
    expect(linalg.inv(ours), np.linalg.inv(x), 1e-6)
    expect(linalg.det(ours), np.linalg.det(x), 2e2 if "64" not in dtype or dtype == "complex64" else 1e-4)
    for part, theirs in zip(linalg.slogdet(ours), np.linalg.slogdet(x)):
        expect(part, theirs, 1e-6)
    b = matrices(data, dtype, n, columns)
    if x.shape[:-2] == b.shape[:-2] or b.ndim == 2:
        expect(linalg.solve(ours, xp.asarray(b)), np.linalg.solve(x, b), 1e-6)
    vector = np.ones(n, dtype)
    expect(linalg.solve(ours, xp.asarray(vector)), np.linalg.solve(x, vector[:, None])[..., 0], 1e-6)
    for power in (-1, 0, 1, 3):
        expect(linalg.matrix_power(ours, power) / 20.0 ** 3, np.linalg.matrix_power(x, power) / 20.0 ** 3, 1e-4)
    positive = x @ np.conj(np.swapaxes(x, -1, -2))
    lower = linalg.cholesky(xp.asarray(positive))
    expect(lower @ xp.conj(lower.mT) / 400.0, positive / 400.0, 1e-4)
    expect(linalg.cholesky(xp.asarray(positive), upper=True), np.conj(np.swapaxes(lower.numpy(), -1, -2)), 1e-3)
    hermitian = (x + np.conj(np.swapaxes(x, -1, -2))).astype(dtype)
    expect(linalg.eigvalsh(xp.asarray(hermitian)), np.linalg.eigvalsh(hermitian), 1e-3)
    values, vectors = linalg.eigh(xp.asarray(hermitian))
    expect(xp.asarray(hermitian) @ vectors, vectors.numpy() * values.numpy()[..., None, :], 1e-3)


@given(dtype=st.sampled_from(FLOATS + COMPLEX), rows=st.integers(1, 4), columns=st.integers(1, 4), data=st.data())
@quick
def test_matrices_of_any_form(dtype, rows, columns, data):
    x = matrices(data, dtype, rows, columns)
    ours, linalg = xp.asarray(x), xp.linalg
    for mode in ("reduced", "complete"):
        q, r = linalg.qr(ours, mode=mode)
        assert q.shape[-1] == (rows if mode == "complete" else min(rows, columns))
        expect(q @ r, x, 1e-4)
    for full in (True, False):
        u, s, vh = linalg.svd(ours, full_matrices=full)
        k = min(rows, columns)
        assert (u.shape[-1], vh.shape[-2]) == ((rows, columns) if full else (k, k))
        expect(u[..., :k] @ (s[..., None] * vh[..., :k, :]), x, 1e-4)
    expect(linalg.svdvals(ours), np.linalg.svd(x, compute_uv=False), 1e-4)
    expect(linalg.matrix_rank(ours), np.asarray(np.linalg.matrix_rank(x), "int64"))
    expect(ours @ linalg.pinv(ours) @ ours, x, 1e-3)
    keepdims = data.draw(st.booleans())
    for order in ("fro", "nuc", 1, 2, -1, -2, math.inf, -math.inf):
        expected = np.linalg.norm(x, order, axis=(-2, -1), keepdims=keepdims)
        expect(linalg.matrix_norm(ours, ord=order, keepdims=keepdims), expected, 1e-4)
    expect(linalg.trace(ours), np.trace(x, axis1=-2, axis2=-1), 1e-6)


@given(x=arrays(FLOATS + COMPLEX, shapes(min_side=1), special=False), keepdims=st.booleans(), data=st.data())
@quick
def test_norms_of_vectors(x, keepdims, data):
    axis = axis_of(data, x)
    for order in (0, 1, 2, 3, -1, 0.5, math.inf, -math.inf):
        sizes, axes = np.abs(x), tuple(range(x.ndim)) if axis is None else axis
        with np.errstate(all="ignore"):
            expected = {0: lambda: np.sum(sizes != 0, axis=axes, keepdims=keepdims).astype(sizes.dtype),
                        math.inf: lambda: np.max(sizes, axis=axes, keepdims=keepdims),
                        -math.inf: lambda: np.min(sizes, axis=axes, keepdims=keepdims)}.get(
                order, lambda: np.sum(sizes ** order, axis=axes, keepdims=keepdims) ** (1 / order))()
        expect(xp.linalg.vector_norm(xp.asarray(x), axis=axis, keepdims=keepdims, ord=order), expected, 1e-4)


@given(dtype=st.sampled_from(NUMERIC), sides=st.tuples(*[st.integers(0, 3)] * 4), data=st.data())
@quick
def test_products(dtype, sides, data):
    i, j, k, n = sides
    a = data.draw(hnp.arrays(dtype, (n, i, j), elements=numbers(dtype, False)))
    b = data.draw(hnp.arrays(dtype, (j, k), elements=numbers(dtype, False)))
    expect(xp.matmul(xp.asarray(a), xp.asarray(b)), a @ b, 1e-6)
    expect(xp.tensordot(xp.asarray(a), xp.asarray(b), axes=1), np.tensordot(a, b, 1), 1e-6)
    expect(xp.tensordot(xp.asarray(a), xp.asarray(a), axes=((2, 0), (2, 0))),
           np.tensordot(a, a, ((2, 0), (2, 0))), 1e-6)
    expect(xp.tensordot(xp.asarray(a), xp.asarray(b), axes=0), np.tensordot(a, b, 0), 1e-6)
    expect(xp.vecdot(xp.asarray(a), xp.asarray(a), axis=-2), np.sum(np.conj(a) * a, -2, dtype=dtype), 1e-6)
    expect(xp.linalg.outer(xp.asarray(a.ravel()), xp.asarray(b.ravel())), np.outer(a, b), 1e-6)
    if k:
        three = data.draw(hnp.arrays(dtype, (n, 3, k), elements=numbers(dtype, False)))
        expect(xp.linalg.cross(xp.asarray(three), xp.asarray(three[:1] if n else three), axis=-2),
               np.cross(*np.broadcast_arrays(three, three[:1] if n else three), axis=-2), 1e-6)


@given(x=arrays(FLOATS + COMPLEX, shapes(min_dims=1, max_dims=4, min_side=1), special=False),
       norm=st.sampled_from(["backward", "ortho", "forward"]), data=st.data())
@quick
def test_spectra(x, norm, data):
    ours, axis = xp.asarray(x), data.draw(st.integers(-x.ndim, x.ndim - 1))
    n = data.draw(st.none() | st.integers(1, 6))
    wide = x.astype("complex128" if x.dtype.name in ("float64", "complex128") else "complex64")
    names = ["fft", "ifft"] + (["rfft", "ihfft"] if x.dtype.kind == "f" else [])
    for name in names:
        expected = getattr(np.fft, name)(x, n, axis, norm).astype(wide.dtype)
        expect(getattr(xp.fft, name)(ours, n=n, axis=axis, norm=norm), expected, 1e-4)
    real = wide.real.dtype
    if x.dtype.kind == "c":
        n = n or max(1, 2 * (x.shape[axis] - 1))
        for name in ("irfft", "hfft"):
            expected = getattr(np.fft, name)(x, n, axis, norm).astype(real)
            expect(getattr(xp.fft, name)(ours, n=n, axis=axis, norm=norm), expected, 1e-4)
    axes = data.draw(st.none() | st.sets(st.integers(0, x.ndim - 1), min_size=1).map(tuple))
    expect(xp.fft.fftn(ours, axes=axes, norm=norm), np.fft.fftn(x, None, axes, norm).astype(wide.dtype), 1e-4)
    expect(xp.fft.ifftn(ours, axes=axes, norm=norm), np.fft.ifftn(x, None, axes, norm).astype(wide.dtype), 1e-4)
    if x.dtype.kind == "f":
        half = np.fft.rfftn(x, None, axes, norm).astype(wide.dtype)
        expect(xp.fft.rfftn(ours, axes=axes, norm=norm), half, 1e-4)
        sides = [x.shape[a] for a in (axes or range(x.ndim))]
        expect(xp.fft.irfftn(xp.asarray(half), s=sides, axes=axes or tuple(range(x.ndim)), norm=norm), x, 1e-3)
    expect(xp.fft.fftshift(ours, axes=axes), np.fft.fftshift(x, axes))
    expect(xp.fft.ifftshift(ours, axes=axes), np.fft.ifftshift(x, axes))
