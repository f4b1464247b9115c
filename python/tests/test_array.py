"""An array: what it is, its views, its operators, and what it says when something is wrong."""
import operator

import numpy as np
import pytest
from conftest import same

import troupe

X = np.arange(24, dtype="float32").reshape(2, 3, 4)


def test_says_what_it_is():
    x = troupe.asarray(X)
    assert (x.shape, x.ndim, x.size, x.dtype, x.itemsize, x.nbytes) == ((2, 3, 4), 3, 24, np.float32, 4, 96)
    assert x.strides == X.strides
    assert len(x) == 2
    assert x.device == troupe.device()
    assert x.tolist() == X.tolist()


def test_repr_shows_the_values():
    assert repr(troupe.asarray([1.5, 2])) == "Array([1.5, 2. ], dtype=float64)"
    assert repr(troupe.asarray([[1, 2], [3, 4]])) == "Array([[1, 2],\n       [3, 4]], dtype=int64)"
    assert str(troupe.asarray([True, False])) == "[ True False]"
    assert f"{troupe.asarray(2.5):.2f}" == "2.50"


@pytest.mark.parametrize("key", [
    0, -1, (1, 2, 3), slice(None), slice(None, None, -1), slice(5, 1), (0, slice(None, None, 2)), ..., (..., 1),
    (..., slice(None, None, -2)), None, (None, 0, None), (slice(None), None, 1), (1, ..., None, 2), np.int64(1),
    (slice(None), slice(2, 0, -1)), (slice(-2, None), 0), (), (slice(0, 0),), (slice(10, None, -1),),
])
def test_basic_indices_are_numpys(key):
    same(troupe.asarray(X)[key], X[key])


def test_views_share_memory():
    x = troupe.asarray(X)
    x[0, 1, ::2] = -1
    expected = X.copy()
    expected[0, 1, ::2] = -1
    same(x, expected)
    row = x[1, 0]
    row += 1
    expected[1, 0] += 1
    same(x, expected)


@pytest.mark.parametrize("key", [
    [0, 1, 0], np.array([1, 0]), (slice(None), [2, 0]), ([0, 1], [2, 2]), X[0] > 3, X > 5,
    (X[:, 0, 0] > 3, 1), np.array([[0, 1], [1, 0]]),
])
def test_lists_and_masks_are_numpys(key):
    if isinstance(key, np.ndarray) and key.shape == (3, 4):
        key = (0, key)
    same(troupe.asarray(X)[key], X[key])
    expected, x = X.copy(), troupe.asarray(X)
    expected[key] = 7
    x[key] = 7
    same(x, expected)


def test_a_mask_of_ours_selects():
    x = troupe.arange(6)
    same(x[x > 2], np.array([3, 4, 5]))


@pytest.mark.parametrize("key, error", [
    (2, IndexError), ((0, 0, 0, 0), IndexError), ((..., ...), IndexError), (-3, IndexError), ("a", IndexError),
    (1.5, IndexError),
])
def test_wrong_indices_are_refused(key, error):
    with pytest.raises(error):
        troupe.asarray(X)[key]


@pytest.mark.parametrize("value", [1, 2.5, np.ones(4), np.ones((3, 1)), [1, 2, 3, 4], troupe.float32.type(3)])
def test_assignment_broadcasts_and_converts(value):
    expected, x = X.copy(), troupe.asarray(X)
    expected[1], x[1] = value, value
    same(x, expected)


def test_assignment_of_an_overlapping_view():
    expected, x = np.arange(6), troupe.arange(6)
    expected[1:], x[1:] = expected[:-1].copy(), x[:-1]
    same(x, expected)


def test_forms():
    x = troupe.asarray(X)
    same(x.T, X.T)
    same(x.mT, np.swapaxes(X, 1, 2))
    same(x.transpose(1, 0, 2), X.transpose(1, 0, 2))
    same(x.transpose((-1, 0, 1)), X.transpose(-1, 0, 1))
    same(x.reshape(4, 6), X.reshape(4, 6))
    same(x.reshape((3, -1)), X.reshape(3, -1))
    same(x.T.reshape(-1), X.T.reshape(-1))
    same(x.T.ravel(), X.T.ravel())
    same(x[:, :1].squeeze(1), X[:, :1].squeeze(1))
    same(troupe.broadcast_to(x[0, 0], (5, 4)), np.broadcast_to(X[0, 0], (5, 4)))
    same(troupe.concat([x, x[:, :1]], axis=1), np.concatenate([X, X[:, :1]], axis=1))
    same(troupe.stack([x[0], x[1]], axis=-1), np.stack([X[0], X[1]], axis=-1))
    same(troupe.expand_dims(x, axis=-1), X[..., None])
    assert [float(row[0, 0]) for row in x] == [0, 12]


@pytest.mark.parametrize("call", [
    lambda x: x.reshape(5), lambda x: x + troupe.ones(3), lambda x: x.squeeze(0), lambda x: x.sum(axis=3),
    lambda x: x.transpose(0, 0, 1), lambda x: bool(x), lambda x: x.item(), lambda x: troupe.broadcast_to(x, (2, 3)),
    lambda x: x @ x, lambda x: troupe.concat([x, x[0]]),
])
def test_shapes_that_do_not_fit_are_value_errors(call):
    with pytest.raises(ValueError):
        call(troupe.asarray(X))


@pytest.mark.parametrize("name", ["add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and", "or", "xor"])
def test_in_place_operators_take_what_numpy_takes(name):
    operands = [True, 2, 2.5, 2j, *(np.array([1, 2], dtype) for dtype in TYPES)]
    for dtype in TYPES:
        for other in operands:
            x, taken = np.array([1, 3], dtype), True
            ours = troupe.asarray(x)
            beside = troupe.asarray(other) if isinstance(other, np.ndarray) else other
            try:
                getattr(operator, f"i{name}")(x, other)
            except (TypeError, ValueError):
                taken = False
            if taken:
                same(getattr(operator, f"i{name}")(ours, beside), x, 1e-3)
            else:
                with pytest.raises((TypeError, NotImplementedError, ValueError)):
                    getattr(operator, f"i{name}")(ours, beside)
                same(ours, np.array([1, 3], dtype))  # as it was


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int64", "float32", "float64", "complex64"])
def test_means_of_nothing_are_nan(dtype):
    x = np.zeros((2, 0, 3), dtype)
    for name in ("mean", "var", "std"):
        for axis in (None, 1, (0, 1), 0):
            same(getattr(troupe.asarray(x), name)(axis=axis), getattr(np, name)(x, axis=axis))


NUMBERS = [True, 3, 2.5, 1 + 2j]
TYPES = ["bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16", "float32",
         "float64", "complex64", "complex128"]


@pytest.mark.parametrize("a", TYPES)
@pytest.mark.parametrize("b", TYPES)
def test_types_are_promoted_as_numpy_does(a, b):
    x, y = np.ones(3, a), np.ones(3, b)
    same(troupe.asarray(x) + troupe.asarray(y), x + y)
    same(troupe.asarray(x) / troupe.asarray(y), (x / y).astype(_quotient(a, b)))
    same(troupe.asarray(x) == troupe.asarray(y), x == y)


def _quotient(a, b):
    """Of integers always f64; NumPy has smaller types for small integers of one kind only."""
    common = np.result_type(a, b)
    return np.float64 if common.kind in "biu" else common


@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize("dtype", TYPES)
def test_plain_numbers_are_weak(number, dtype):
    x = np.ones(3, dtype)
    same(troupe.asarray(x) + number, x + number)
    same(number * troupe.asarray(x), number * x)


def test_numpy_scalars_are_strong():
    x = np.ones(3, "float32")
    same(troupe.asarray(x) + np.float64(2), x + np.float64(2))
    same(troupe.asarray(x) * np.arange(3), x * np.arange(3))
    same(np.float64(2) * troupe.asarray(x), np.float64(2) * x)


def test_integers_out_of_range():
    with pytest.raises(OverflowError, match="Python integer 300 out of bounds"):
        troupe.ones(3, dtype="uint8") + 300
    assert (troupe.ones(3, dtype="uint8") < 300).all()
    with pytest.raises(OverflowError):
        troupe.ones(3, dtype="uint8")[0] = 300


def test_updates_in_place():
    x = troupe.asarray(X)
    same_object = x
    x += 1
    x *= troupe.asarray(X[0])
    x /= 2
    x -= x[0].copy()
    assert x is same_object
    expected = X.copy()
    expected += 1
    expected *= X[0]
    expected /= 2
    expected -= expected[0].copy()
    same(x, expected)
    with pytest.raises(TypeError, match="without a loss"):
        n = troupe.arange(3)
        n += 1.5
    square = troupe.asarray(np.arange(9.0).reshape(3, 3))
    square += square.T
    same(square, np.arange(9.0).reshape(3, 3) + np.arange(9.0).reshape(3, 3).T)


def test_numbers_of_one_element():
    x = troupe.asarray([[4]])
    assert (int(x), float(x), complex(x), bool(x), x.item()) == (4, 4.0, 4 + 0j, True, 4)
    assert [10, 20, 30][troupe.asarray(1)] == 20
    for dtype in TYPES:
        number = np.asarray(3 if dtype != "bool" else True, dtype)
        ours = troupe.asarray(number).item()
        assert (type(ours), ours) == (type(number.item()), number.item())
    assert troupe.asarray([1.5]).astype("bf16").item() == 1.5
    with pytest.raises(TypeError):
        len(troupe.asarray(1))
    with pytest.raises(TypeError):
        hash(x)


def test_reductions_have_methods_and_functions():
    x = troupe.asarray(X)
    for name in ("sum", "prod", "mean", "min", "max", "any", "all", "var", "std"):
        for options in ({}, {"axis": 1}, {"axis": (0, -1)}, {"axis": 2, "keepdims": True}):
            expected = getattr(np, name)(X, **options)
            same(getattr(x, name)(**options), expected, 1e-5)
            same(getattr(troupe, name)(x, **options), expected, 1e-5)
    same(x.argmax(), np.argmax(X))
    same(x.argmin(axis=1), np.argmin(X, axis=1))


def test_products():
    a, b = np.arange(6.0).reshape(2, 3), np.arange(12.0).reshape(3, 4)
    ours = [troupe.asarray(m) for m in (a, b)]
    same(ours[0] @ ours[1], a @ b)
    same(ours[0] @ ours[1][:, 0], a @ b[:, 0])
    same(ours[0][0] @ ours[1], a[0] @ b)
    same(ours[0][0] @ ours[0][1], a[0] @ a[1])
    same(a @ ours[1], a @ b)
    same(ours[0].astype("int64") @ ours[1].astype("int32"), a.astype("int64") @ b.astype("int32"))
    same(ours[0].astype("complex128") @ ours[1], a.astype("complex128") @ b)
    batch = np.arange(24.0).reshape(2, 4, 3)
    same(troupe.asarray(batch) @ ours[1], batch @ b)
    same(troupe.einsum("ij,jk->ki", *ours), np.einsum("ij,jk->ki", a, b))
    same(troupe.einsum("ij,jk", *ours), np.einsum("ij,jk", a, b))


def test_creation():
    same(troupe.zeros((2, 3)), np.zeros((2, 3)))
    same(troupe.ones(3, dtype="int8"), np.ones(3, "int8"))
    same(troupe.full((2, 2), 7), np.full((2, 2), 7))
    same(troupe.full(2, 1.5, dtype="float32"), np.full(2, 1.5, "float32"))
    same(troupe.arange(5), np.arange(5))
    same(troupe.arange(1, 2, 0.25), np.arange(1, 2, 0.25))
    same(troupe.arange(5, 0, -2), np.arange(5, 0, -2))
    same(troupe.linspace(0, 1, 5), np.linspace(0, 1, 5))
    same(troupe.eye(3, 4, k=1), np.eye(3, 4, k=1))
    same(troupe.zeros_like(troupe.ones(2, dtype="int32")), np.zeros(2, "int32"))
    same(troupe.full_like(troupe.ones(2), 3), np.full(2, 3.0))
    assert troupe.empty((0, 3)).tolist() == []
    assert troupe.empty_like(troupe.ones(4)).shape == (4,)


@pytest.mark.parametrize("what, error", [
    ([[1, 2], [3]], ValueError), (["a"], TypeError), ([object()], TypeError),
    (np.array(["2020"], "datetime64"), TypeError),
])
def test_what_is_no_array_is_refused(what, error):
    with pytest.raises(error):
        troupe.asarray(what)
    with pytest.raises(TypeError):
        troupe.zeros(2, dtype="float128")


def test_small_floats():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    x = np.arange(4).astype(ml_dtypes.bfloat16)
    same(troupe.asarray(x), x)
    same(troupe.asarray(x) + troupe.asarray(x), x + x)
    same(troupe.asarray([1.5]).astype("bf16"), np.array([1.5]).astype(ml_dtypes.bfloat16))
    assert troupe.asarray([1.0], dtype=troupe.float8_e4m3fn).astype("float32").tolist() == [1.0]


def test_sealed_arrays_refuse_writes():
    x = troupe.sealable((2, 3), dtype="float32")
    x[...] = 1
    x.seal()
    assert x.is_sealed
    with pytest.raises(troupe.InvalidArgument, match="sealed"):
        x[0] = 2
    same(x + 1, np.full((2, 3), 2, "float32"))
    x.unseal()
    x[0] = 2
    assert float(x.sum()) == 9
    with pytest.raises(troupe.InvalidArgument):
        troupe.ones(3).seal()
