"""Functions of elements at every special value, and at every pair of them: infinities, NaN, both zeros, the least and
the greatest numbers, halves. Floats are compared with NumPy and complex numbers with Python's `cmath`, zeros with their
signs; views of every kind (reversed, with steps, transposed, repeated, empty) give what contiguous arrays give."""
import cmath
import itertools
import math

import numpy as np
import pytest
from test_array_api import OF_ONE, OF_TWO
from test_array_api_properties import FLOATS, INTEGERS, KINDS, in_numpy

from troupe import array_api as xp

# Within so many units in the last place of NumPy's; the others are exact. Complex quotients are further apart.
ULPS = dict.fromkeys("exp log sin cos tan tanh expm1 log1p log2 log10 pow hypot logaddexp square divide".split(), 4)


def special(dtype):
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return np.array([False, True])
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        wanted = {limits.min, limits.min + 1, -7, -2, -1, 0, 1, 2, 3, 7, 8, 15, 31, 63, limits.max - 1, limits.max}
        return np.array(sorted(n for n in wanted if limits.min <= n <= limits.max), dtype)
    limits = np.finfo(dtype)
    positive = [0, 0.25, 0.5, 1 - limits.eps / 2, 1, 1 + limits.eps, 1.5, 2, 2.5, 3, math.pi, 10, 88, 710, 1e6,
                limits.tiny, limits.eps, limits.max, math.inf]
    return np.array([*positive, *(-np.array(positive)), math.nan], dtype)


def differ(ours, theirs, ulps=0):
    """Where the elements are not the same: NaN equals NaN, and 0 is not -0."""
    equal = (ours == theirs) | ((ours != ours) & (theirs != theirs))
    if theirs.dtype.kind == "f":
        equal &= (np.signbit(ours) == np.signbit(theirs)) | (ours != ours)
        with np.errstate(all="ignore"):
            equal |= (theirs != 0) & (np.abs(ours - theirs) <= ulps * np.spacing(np.abs(theirs)))
    return ~equal


def expect(ours, theirs, ulps, *operands):
    theirs, ours = np.asarray(theirs), ours.numpy()
    assert (ours.shape, ours.dtype) == (theirs.shape, theirs.dtype)
    wrong = differ(ours, theirs, ulps)
    if wrong.any():
        at = tuple(np.argwhere(wrong)[0])
        of = [np.broadcast_to(x, theirs.shape)[at] for x in operands]
        pytest.fail(f"{wrong.sum()} of {wrong.size}; of {of} it is {ours[at]!r} and not {theirs[at]!r}")


def in_views(x):
    """Pairs of a view of ours and the same of NumPy's."""
    ours = xp.asarray(x)
    yield ours, x
    yield ours[::-1], x[::-1]
    yield ours[1::3], x[1::3]
    yield ours[0], x[0]
    yield xp.reshape(ours[:0], (0, 3)), x[:0].reshape(0, 3)
    yield xp.broadcast_to(ours, (2, x.size)), np.broadcast_to(x, (2, x.size))
    yield xp.asarray(np.stack([x, x])).T, np.stack([x, x]).T


def of_numpy(name, x):
    if name in ("ceil", "floor", "trunc", "round") and x.dtype.kind in "iu":
        return x  # whole numbers are what they are, also where NumPy makes floats of them
    return in_numpy(name)(x)


@pytest.mark.parametrize("name", OF_ONE)
def test_every_special_value_in_every_view(name):
    for dtype in KINDS.get(name, FLOATS):
        if np.dtype(dtype).kind == "c":
            continue
        for ours, x in in_views(special(dtype)):
            expect(getattr(xp, name)(ours), of_numpy(name, x), ULPS.get(name, 0), x)


def pairs_of(name):
    """Both operands, every value beside every other."""
    kinds = [kind for kind in KINDS.get(name, INTEGERS + FLOATS if name == "pow" else FLOATS)
             if np.dtype(kind).kind != "c"]
    for a, b in itertools.product(kinds, kinds):
        common = np.promote_types(a, b)
        if (np.dtype(a).kind in "iu") != (common.kind in "iu") or (np.dtype(b).kind in "iu") != (common.kind in "iu"):
            continue  # mixed kinds the standard leaves open
        x, y = special(a), special(b)
        if "shift" in name:
            y = y[(y >= 0) & (y < common.itemsize * 8)]
        if name == "pow" and common.kind in "iu":
            y = y[(y >= 0) & (y < 64)]
        if name in ("floor_divide", "remainder") and common.kind in "iu":
            y = y[y != 0]
        yield x[:, None], y[None, :]


def of_standard(name, x, y):
    """NumPy's result, but for infinite quotients, where the standard has another."""
    made = in_numpy(name)(x, y)
    if name == "floor_divide" and made.dtype.kind == "f":
        made = np.where(np.isinf(x) & np.isfinite(y), np.divide(x, y), made).astype(made.dtype)
    return made


@pytest.mark.parametrize("name", OF_TWO)
def test_every_pair_of_special_values(name):
    function, ulps = getattr(xp, name), ULPS.get(name, 0)
    for x, y in pairs_of(name):
        ours, other = xp.asarray(x), xp.asarray(y)
        expect(function(ours, other), of_standard(name, x, y), ulps, x, y)
        for view in (lambda a: a[::-1, ::-1], lambda a: a.T, lambda a: a[:1, :1]):
            expect(function(view(ours), view(other)), of_standard(name, view(x), view(y)), ulps, view(x), view(y))


COMPLEX_FUNCTIONS = ["acos", "acosh", "asin", "asinh", "atan", "atanh", "cos", "cosh", "exp", "log", "log10", "sin",
                     "sinh", "sqrt", "tan", "tanh"]


@pytest.mark.parametrize("name", COMPLEX_FUNCTIONS)
def test_complex_functions_are_those_of_cmath(name):
    parts = [0.0, -0.0, 0.5, -0.5, 1.0, -1.0, 2.5, -2.5, math.inf, -math.inf, math.nan]
    numbers = [complex(real, imaginary) for real in parts for imaginary in parts]
    for z, ours in zip(numbers, getattr(xp, name)(xp.asarray(np.array(numbers))).numpy()):
        try:
            theirs = getattr(cmath, name)(z)
        except (ValueError, OverflowError):  # a pole, which cmath refuses
            continue
        if not cmath.isfinite(theirs):  # C leaves open whether a part is NaN, and the sign of an infinity beside one
            assert not cmath.isfinite(complex(ours)) and cmath.isinf(complex(ours)) == cmath.isinf(theirs), (z, ours)
            continue
        for mine, its in ((ours.real, theirs.real), (ours.imag, theirs.imag)):
            assert math.isclose(mine, its, rel_tol=1e-13, abs_tol=1e-15), (z, ours, theirs)
            assert its != 0 or math.copysign(1, mine) == math.copysign(1, its) or not cmath.isfinite(z), (z, ours)


@pytest.mark.parametrize("name", [*COMPLEX_FUNCTIONS, "expm1", "log1p", "log2", "square", "reciprocal"])
def test_complex_functions_mirror_at_the_real_axis(name):
    parts = [0.0, 0.5, -0.5, 2.5, -2.5, 1e-9]
    z = np.array([complex(real, imaginary) for real in parts for imaginary in parts if imaginary])
    if name == "reciprocal":
        z = z[z != 0]
    up, down = (getattr(xp, name)(xp.asarray(x)).numpy() for x in (z, z.conj()))
    np.testing.assert_allclose(down, up.conj(), rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("name", ["add", "subtract", "multiply", "divide", "equal", "not_equal"])
def test_complex_arithmetic_of_finite_numbers(name, dtype):
    parts = np.array([0.0, -0.0, 0.5, 1, -1, 2.5, -3], np.dtype(dtype).type(0).real.dtype)
    z = (parts[:, None] + 1j * parts[None, :]).astype(dtype).ravel()
    x, y = z[:, None], z[None, z != 0] if name == "divide" else z[None, :]
    ours, theirs = getattr(xp, name)(xp.asarray(x), xp.asarray(y)).numpy(), in_numpy(name)(x, y)
    assert ours.dtype == theirs.dtype
    np.testing.assert_allclose(ours, theirs, rtol=1e-6 if dtype == "complex64" else 1e-14, atol=1e-7)


# ---- reductions ----

ROWS = [[-0.0], [-0.0, -0.0], [0.0, -0.0], [1.0, math.nan, 2.0], [math.nan, 1.0], [math.inf, -math.inf],
        [math.inf, 1.0], [-math.inf, 1.0], [1e30, 1e30, -1e30], [-1.0], [math.inf, 0.0]]


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", ["sum", "prod", "max", "min", "mean", "all", "any", "argmax", "argmin", "var", "std"])
def test_reductions_of_special_rows(name, dtype):
    for row in ROWS:
        x = np.array(row, dtype)
        for ours, theirs in ((xp.asarray(x), x), (xp.asarray(np.stack([x] * 3)), np.stack([x] * 3)),
                             (xp.asarray(np.stack([x] * 3, 1)).T, np.stack([x] * 3))):
            expected = np.asarray(getattr(np, name)(theirs, axis=-1))
            made = getattr(xp, name)(ours, axis=-1)
            zero_counts = name in ("max", "min")  # which of both zeros is the greater is left open
            assert made.dtype == expected.dtype and made.shape == expected.shape
            if zero_counts:
                np.testing.assert_array_equal(made.numpy(), expected)
            else:
                expect(made, expected, 4, np.broadcast_to(theirs[..., 0], expected.shape))


@pytest.mark.parametrize("dtype", FLOATS)
def test_orders_of_special_values(dtype):
    x = special(dtype)
    for ours, theirs in ((xp.asarray(x), x), (xp.asarray(x)[::-1], x[::-1])):
        expect(xp.sort(ours), np.sort(theirs, kind="stable"), 0, np.sort(theirs))
        expect(xp.argsort(ours), np.argsort(theirs, kind="stable"), 0, theirs)
        np.testing.assert_array_equal(xp.unique_values(ours).numpy(), np.unique(theirs, equal_nan=False))
    ordered = np.sort(x)
    for side in ("left", "right"):
        expect(xp.searchsorted(xp.asarray(ordered), xp.asarray(x), side=side),
               np.searchsorted(ordered, x, side), 0, x)
    for low, high in ((-1.0, 1.0), (-math.inf, 0.5), (0.0, math.inf), (math.nan, 1.0)):
        np.testing.assert_array_equal(xp.clip(xp.asarray(x), low, high).numpy(), np.clip(x, *x.dtype.type([low, high])))
