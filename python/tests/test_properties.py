"""Random arrays against NumPy: functions of elements with their special values, reductions, indices, products."""
import operator

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import troupe

settings.register_profile("troupe", max_examples=60, deadline=None, derandomize=True,
                          suppress_health_check=list(HealthCheck))
settings.load_profile("troupe")

REALS = ["float32", "float64"]
INTEGERS = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]
SPECIAL = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 1e-40, 3.4e38, 0.5]
SHAPES = hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=5)


def elements(dtype):
    kind = np.dtype(dtype).kind
    if kind == "f":
        width = np.dtype(dtype).itemsize * 8
        return st.one_of(st.floats(-50, 50, width=width), st.sampled_from(SPECIAL).map(np.dtype(dtype).type))
    if kind in "iu":
        limits = np.iinfo(dtype)
        return st.integers(max(limits.min, -100), min(limits.max, 100)) | st.sampled_from([limits.min, limits.max])
    return hnp.from_dtype(np.dtype(dtype), allow_nan=False, allow_infinity=False, max_magnitude=50) \
        if kind == "c" else st.booleans()


@st.composite
def plain_arrays(draw, dtypes, shape=SHAPES):
    dtype = draw(st.sampled_from(dtypes))
    return draw(hnp.arrays(dtype, shape, elements=elements(dtype)))


@st.composite
def arrays(draw, dtypes, shape=SHAPES):
    made = draw(plain_arrays(dtypes, shape))
    if made.ndim > 1 and draw(st.booleans()):
        made = made.T
    return made[::-1] if made.ndim and draw(st.booleans()) else made


def expect(ours, theirs, tolerance=0.0):
    theirs = np.asarray(theirs)
    assert (ours.shape, ours.dtype) == (theirs.shape, theirs.dtype)
    np.testing.assert_allclose(ours.numpy(), theirs, rtol=tolerance, atol=tolerance)


UNARY = ["negative", "square", "sqrt", "exp", "log", "sin", "cos", "tanh", "expm1", "log1p", "floor", "ceil", "abs",
         "sign", "isnan", "isfinite", "reciprocal", "positive", "tan"]


@pytest.mark.parametrize("name", UNARY)
@given(x=arrays(REALS))
@settings(max_examples=25)
def test_functions_of_floats(name, x):
    expect(getattr(troupe, name)(troupe.asarray(x)), getattr(np, name)(x), 2e-6 if x.dtype == np.float32 else 1e-12)


@pytest.mark.parametrize("name", ["negative", "square", "abs", "sign", "floor", "positive"])
@given(x=arrays(INTEGERS))
@settings(max_examples=25)
def test_functions_of_integers(name, x):
    expect(getattr(troupe, name)(troupe.asarray(x)), getattr(np, name)(x).astype(x.dtype))


BINARY = ["add", "subtract", "multiply", "minimum", "maximum", "equal", "not_equal", "less", "less_equal", "greater",
          "greater_equal"]


@pytest.mark.parametrize("name", BINARY)
@given(shapes=hnp.mutually_broadcastable_shapes(num_shapes=2, max_dims=3, max_side=4), data=st.data())
@settings(max_examples=40)
def test_functions_of_two_arrays(name, shapes, data):
    x, y = (data.draw(plain_arrays(REALS + INTEGERS, shape)) for shape in shapes.input_shapes)
    if {np.dtype("int64"), np.dtype("uint64")} == {x.dtype, y.dtype}:
        x, y = x.astype("float64"), y.astype("float64")  # NumPy 2 compares these exactly, and computes in f64 else
    expect(getattr(troupe, name)(troupe.asarray(x), troupe.asarray(y)), getattr(np, name)(x, y))


@given(x=arrays(REALS), number=st.floats(-4, 4) | st.integers(-4, 4))
def test_numbers_beside_floats(x, number):
    ours = troupe.asarray(x)
    expect(ours + number, x + number)
    expect(number - ours, number - x)
    expect(ours * number, x * number)
    expect(ours < number, x < number)
    if number:
        expect(ours / number, x / number, 1e-6)


@given(x=arrays(INTEGERS), number=st.integers(0, 100))
def test_numbers_beside_integers(x, number):
    ours = troupe.asarray(x)
    expect(ours + number, x + number)
    expect(ours * number, x * number)
    expect(ours // max(1, number), x // max(1, number))
    expect(ours % max(1, number), x % max(1, number))
    expect(ours & number, x & number)
    expect(ours ** 2, x ** 2)


@given(x=arrays(["bool"]), y=st.booleans())
def test_bools(x, y):
    ours = troupe.asarray(x)
    expect(ours & y, x & y)
    expect(ours | ~ours, x | ~x)
    expect(ours ^ y, x ^ y)
    expect(ours.sum(), x.sum())
    expect(ours.any(), x.any())
    expect(ours.all(), x.all())


@given(x=arrays(REALS + INTEGERS + ["bool"], hnp.array_shapes(min_dims=1, max_dims=3, min_side=1, max_side=5)),
       keepdims=st.booleans(), data=st.data())
@settings(max_examples=150)
def test_reductions(x, keepdims, data):
    axes = st.none() | st.integers(-x.ndim, x.ndim - 1) | st.sets(st.integers(0, x.ndim - 1)).map(tuple)
    axis = data.draw(axes)
    x = np.clip(x, -100, 100) if x.dtype.kind == "f" else x
    ours = troupe.asarray(x)
    names = ["min", "max", "any", "all"] if x.dtype.kind == "b" else ["sum", "prod", "min", "max", "any", "all", "mean"]
    for name in names:
        if name == "mean" and x.dtype.kind in "iu":  # NumPy's sum of large numbers wraps, or rounds in another order
            x = np.clip(x, 0, 100)
            ours = troupe.asarray(x)
        expected = getattr(np, name)(x, axis=axis, keepdims=keepdims)
        expect(getattr(ours, name)(axis=axis, keepdims=keepdims), expected, 2e-5 if x.dtype == np.float32 else 1e-9)


@given(x=arrays(["float32", "int64"], hnp.array_shapes(min_dims=1, max_dims=4, min_side=0, max_side=5)), data=st.data())
@settings(max_examples=200)
def test_basic_indices(x, data):
    key = data.draw(hnp.basic_indices(x.shape, allow_newaxis=True))
    expect(troupe.asarray(x)[key], x[key])


@given(x=arrays(["float32"], hnp.array_shapes(min_dims=1, max_dims=3, min_side=1, max_side=5)), data=st.data())
def test_assignments(x, data):
    key = data.draw(hnp.basic_indices(x.shape))
    ours, theirs = troupe.asarray(x), x.copy()
    value = data.draw(hnp.arrays("float32", np.shape(theirs[key]), elements=st.floats(-9, 9, width=32)))
    ours[key], theirs[key] = value, value
    expect(ours, theirs)


@given(x=arrays(["float32"], hnp.array_shapes(min_dims=1, max_dims=3, min_side=1, max_side=5)), data=st.data())
def test_integer_array_indices(x, data):
    key = data.draw(hnp.integer_array_indices(x.shape))
    expect(troupe.asarray(x)[key], x[key])
    mask = data.draw(hnp.arrays(bool, x.shape))
    expect(troupe.asarray(x)[mask], x[mask])


@given(x=arrays(REALS + INTEGERS + ["bool", "complex64"]), dtype=st.sampled_from(REALS + INTEGERS + ["bool"]))
def test_conversions_there_and_back(x, dtype):
    expect(troupe.asarray(x).copy(), x)
    expect(troupe.from_dlpack(x), x)
    if np.can_cast(x.dtype, dtype):
        expect(troupe.asarray(x).astype(dtype), x.astype(dtype))


@given(sides=st.tuples(*[st.integers(0, 5)] * 3), dtype=st.sampled_from(REALS + ["complex128"]),
       batch=hnp.array_shapes(min_dims=0, max_dims=2, max_side=3), data=st.data())
def test_products(sides, dtype, batch, data):
    rows, depth, columns = sides
    a = data.draw(hnp.arrays(dtype, (*batch, rows, depth), elements=st.integers(-9, 9)))
    b = data.draw(hnp.arrays(dtype, (depth, columns), elements=st.integers(-9, 9)))
    expect(troupe.asarray(a) @ troupe.asarray(b), a @ b, 1e-5)


@given(condition=arrays(["bool"], (3, 4)), x=arrays(REALS + INTEGERS, (4,)), number=st.integers(0, 9))
def test_where(condition, x, number):
    x = np.resize(x, 4)
    condition = np.resize(condition, (3, 4))
    expect(troupe.where(troupe.asarray(condition), troupe.asarray(x), number), np.where(condition, x, number))


ALL = ["bool", *INTEGERS, "float16", *REALS, "complex64", "complex128"]


def views(x, ours, random):
    """The same view of both, by some steps."""
    for _ in range(random.randint(0, 2)):
        step = random.randint(0, 3)
        if step == 0 and x.ndim:
            x, ours = x[::-1], ours[::-1]
        elif step == 1:
            x, ours = x.T, ours.T
        elif step == 2 and x.ndim:
            x, ours = x[..., ::2], ours[..., ::2]
        elif x.ndim < 4:
            x, ours = x[None], ours[None]
    return x, ours


def index_of(shape, random):
    """Integers, slices, new axes, lists, masks and an ellipsis, one beside the other."""
    key = []
    for side in shape:
        kind = random.randint(0, 6)
        ends = [None if random.random() < 0.4 else random.randint(-side - 2, side + 2) for _ in range(2)]
        if kind == 0 and side:
            key.append(random.randint(-side, side - 1))
        elif kind == 1:
            key.append(slice(*ends, random.choice([None, 1, 2, -1, -2])))
        elif kind == 2:
            key += [None, slice(None)]
        elif kind == 3 and side:
            key.append([random.randint(-side, side - 1) for _ in range(random.randint(1, 3))])
        elif kind == 4:
            key.append(np.array([random.random() > 0.5 for _ in range(side)], bool))
        else:
            key.append(slice(None))
    if random.random() < 0.3:
        key = [*key[:random.randint(0, len(key))], Ellipsis]
    return tuple(key)


@given(x=plain_arrays(ALL, hnp.array_shapes(min_dims=1, max_dims=3, min_side=0, max_side=4)),
       random=st.randoms(use_true_random=False), data=st.data())
@settings(max_examples=150)
def test_any_index_of_any_view(x, random, data):
    theirs, ours = views(x, troupe.asarray(x), random)
    key = index_of(theirs.shape, random)
    try:
        expected = theirs[key]
    except (IndexError, ValueError):  # lists that do not broadcast, a mask too many
        with pytest.raises((IndexError, ValueError)):
            ours[key].wait()
        return
    expect(ours[key], expected)
    written, other = theirs.copy(), ours.copy()
    value = data.draw(hnp.arrays(x.dtype, random.choice([(), np.shape(expected)]), elements=elements(x.dtype)))
    written[key], other[key] = value, random.choice([value, troupe.asarray(value)])
    expect(other, written)


OPERATORS = ["add", "sub", "mul", "floordiv", "mod", "eq", "and_", "or_", "xor", "lshift"]


@pytest.mark.parametrize("name", OPERATORS)
@given(shapes=hnp.mutually_broadcastable_shapes(num_shapes=2, max_dims=3, min_side=0, max_side=3),
       random=st.randoms(use_true_random=False), data=st.data())
@settings(max_examples=40)
def test_operators_of_views_of_any_types(name, shapes, random, data):
    small = {"b": st.booleans(), "u": st.integers(0, 9), "i": st.integers(-9, 9), "f": st.integers(-9, 9),
             "c": st.builds(complex, st.integers(-3, 3), st.integers(-3, 3))}
    a, b = (data.draw(hnp.arrays(dtype, shape, elements=small[np.dtype(dtype).kind])) for dtype, shape in
            zip(random.choices(INTEGERS if name == "lshift" else ALL, k=2), shapes.input_shapes))
    if name in ("floordiv", "mod"):
        b = np.where(b == 0, 1, b).astype(b.dtype)
    if name == "lshift":
        b = np.abs(b) if b.dtype.kind == "i" else b
    if a.shape == b.shape and random.random() < 0.5:
        a, b = a.T, b.T
    try:
        expected = getattr(operator, name)(a, b)
    except TypeError:
        with pytest.raises((TypeError, NotImplementedError)):
            getattr(operator, name)(troupe.asarray(a.T).T, troupe.asarray(b)).wait()
        return
    expect(getattr(operator, name)(troupe.asarray(a.T).T, troupe.asarray(b)), expected, 1e-2)
