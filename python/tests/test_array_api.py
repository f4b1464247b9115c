"""`troupe.array_api` has every name of the array API standard 2024.12, with its signature, dtypes and special cases."""
import inspect
import math

import numpy as np
import pytest
from conftest import same

import troupe
from troupe import array_api as xp

# The functions of the standard, as it has them.
SIGNATURES = """
__array_namespace_info__()
arange(start, /, stop=None, step=1, *, dtype=None, device=None)
asarray(obj, /, *, dtype=None, device=None, copy=None)
empty(shape, *, dtype=None, device=None)
empty_like(x, /, *, dtype=None, device=None)
eye(n_rows, n_cols=None, /, *, k=0, dtype=None, device=None)
from_dlpack(x, /, *, device=None, copy=None)
full(shape, fill_value, *, dtype=None, device=None)
full_like(x, /, fill_value, *, dtype=None, device=None)
linspace(start, stop, /, num, *, dtype=None, device=None, endpoint=True)
meshgrid(*arrays, indexing='xy')
ones(shape, *, dtype=None, device=None)
ones_like(x, /, *, dtype=None, device=None)
tril(x, /, *, k=0)
triu(x, /, *, k=0)
zeros(shape, *, dtype=None, device=None)
zeros_like(x, /, *, dtype=None, device=None)
astype(x, dtype, /, *, copy=True, device=None)
broadcast_arrays(*arrays)
broadcast_to(x, /, shape)
can_cast(from_, to, /)
finfo(type, /)
iinfo(type, /)
isdtype(dtype, kind)
result_type(*arrays_and_dtypes)
clip(x, /, min=None, max=None)
take(x, indices, /, *, axis=None)
take_along_axis(x, indices, /, *, axis=-1)
matmul(x1, x2, /)
matrix_transpose(x, /)
tensordot(x1, x2, /, *, axes=2)
vecdot(x1, x2, /, *, axis=-1)
concat(arrays, /, *, axis=0)
expand_dims(x, /, *, axis=0)
flip(x, /, *, axis=None)
moveaxis(x, source, destination, /)
permute_dims(x, /, axes)
repeat(x, repeats, /, *, axis=None)
reshape(x, /, shape, *, copy=None)
roll(x, /, shift, *, axis=None)
squeeze(x, /, axis)
stack(arrays, /, *, axis=0)
tile(x, repetitions, /)
unstack(x, /, *, axis=0)
argmax(x, /, *, axis=None, keepdims=False)
argmin(x, /, *, axis=None, keepdims=False)
count_nonzero(x, /, *, axis=None, keepdims=False)
nonzero(x, /)
searchsorted(x1, x2, /, *, side='left', sorter=None)
where(condition, x1, x2, /)
unique_all(x, /)
unique_counts(x, /)
unique_inverse(x, /)
unique_values(x, /)
argsort(x, /, *, axis=-1, descending=False, stable=True)
sort(x, /, *, axis=-1, descending=False, stable=True)
cumulative_prod(x, /, *, axis=None, dtype=None, include_initial=False)
cumulative_sum(x, /, *, axis=None, dtype=None, include_initial=False)
max(x, /, *, axis=None, keepdims=False)
mean(x, /, *, axis=None, keepdims=False)
min(x, /, *, axis=None, keepdims=False)
prod(x, /, *, axis=None, dtype=None, keepdims=False)
std(x, /, *, axis=None, correction=0.0, keepdims=False)
sum(x, /, *, axis=None, dtype=None, keepdims=False)
var(x, /, *, axis=None, correction=0.0, keepdims=False)
all(x, /, *, axis=None, keepdims=False)
any(x, /, *, axis=None, keepdims=False)
diff(x, /, *, axis=-1, n=1, prepend=None, append=None)
linalg.cholesky(x, /, *, upper=False)
linalg.cross(x1, x2, /, *, axis=-1)
linalg.det(x, /)
linalg.diagonal(x, /, *, offset=0)
linalg.eigh(x, /)
linalg.eigvalsh(x, /)
linalg.inv(x, /)
linalg.matmul(x1, x2, /)
linalg.matrix_norm(x, /, *, keepdims=False, ord='fro')
linalg.matrix_power(x, n, /)
linalg.matrix_rank(x, /, *, rtol=None)
linalg.matrix_transpose(x, /)
linalg.outer(x1, x2, /)
linalg.pinv(x, /, *, rtol=None)
linalg.qr(x, /, *, mode='reduced')
linalg.slogdet(x, /)
linalg.solve(x1, x2, /)
linalg.svd(x, /, *, full_matrices=True)
linalg.svdvals(x, /)
linalg.tensordot(x1, x2, /, *, axes=2)
linalg.trace(x, /, *, offset=0, dtype=None)
linalg.vecdot(x1, x2, /, *, axis=-1)
linalg.vector_norm(x, /, *, axis=None, keepdims=False, ord=2)
fft.fft(x, /, *, n=None, axis=-1, norm='backward')
fft.ifft(x, /, *, n=None, axis=-1, norm='backward')
fft.fftn(x, /, *, s=None, axes=None, norm='backward')
fft.ifftn(x, /, *, s=None, axes=None, norm='backward')
fft.rfft(x, /, *, n=None, axis=-1, norm='backward')
fft.irfft(x, /, *, n=None, axis=-1, norm='backward')
fft.rfftn(x, /, *, s=None, axes=None, norm='backward')
fft.irfftn(x, /, *, s=None, axes=None, norm='backward')
fft.hfft(x, /, *, n=None, axis=-1, norm='backward')
fft.ihfft(x, /, *, n=None, axis=-1, norm='backward')
fft.fftfreq(n, /, *, d=1.0, dtype=None, device=None)
fft.rfftfreq(n, /, *, d=1.0, dtype=None, device=None)
fft.fftshift(x, /, *, axes=None)
fft.ifftshift(x, /, *, axes=None)
""".strip().splitlines()
OF_ONE = """abs acos acosh asin asinh atan atanh bitwise_invert ceil conj cos cosh exp expm1 floor imag isfinite isinf
    isnan log log1p log2 log10 logical_not negative positive real reciprocal round sign signbit sin sinh square sqrt tan
    tanh trunc""".split()
OF_TWO = """add atan2 bitwise_and bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor copysign divide equal
    floor_divide greater greater_equal hypot less less_equal logaddexp logical_and logical_or logical_xor maximum
    minimum multiply nextafter not_equal pow remainder subtract""".split()
SIGNATURES += [f"{name}(x, /)" for name in OF_ONE] + [f"{name}(x1, x2, /)" for name in OF_TWO]
OPERATORS = """abs add and bool complex dlpack dlpack_device eq float floordiv ge getitem gt index int invert le
    lshift lt matmul mod mul ne neg or pos pow rshift setitem sub truediv xor iadd isub imul itruediv
    ifloordiv ipow imod imatmul iand ior ixor ilshift irshift radd rsub rmul rtruediv rfloordiv rpow
    rmod rmatmul rand ror rxor rlshift rrshift array_namespace""".split()


def found(path):
    made = xp
    for word in path.split("."):
        made = getattr(made, word)
    return made


@pytest.mark.parametrize("signature", SIGNATURES)
def test_functions_have_the_standards_signatures(signature):
    path = signature.partition("(")[0]
    function = found(path)
    ours = inspect.signature(function).replace(return_annotation=inspect.Signature.empty)
    assert f"{path}{ours}" == signature
    assert function.__doc__ and function.__name__ == path.split(".")[-1]


def test_the_namespace_has_every_name_and_lists_it():
    top = {signature.partition("(")[0] for signature in SIGNATURES if "." not in signature.partition("(")[0]}
    constants = {"e", "inf", "nan", "newaxis", "pi", "__array_api_version__", "fft", "linalg"}
    dtypes = set(xp.__array_namespace_info__().dtypes())
    assert set(xp.__all__) == top | constants | dtypes
    assert {f"linalg.{name}" for name in xp.linalg.__all__} | {f"fft.{name}" for name in xp.fft.__all__} == {
        signature.partition("(")[0] for signature in SIGNATURES if "." in signature.partition("(")[0]}
    assert (xp.e, xp.pi, xp.inf, xp.newaxis) == (math.e, math.pi, math.inf, None) and math.isnan(xp.nan)
    assert xp.__array_api_version__ == "2024.12"


def test_arrays_have_every_attribute():
    x = xp.ones((2, 2))
    for name in OPERATORS:
        assert callable(getattr(x, f"__{name}__"))
    assert (x.ndim, x.shape, x.size, x.dtype, x.device) == (2, (2, 2), 4, xp.float64, troupe.device())
    assert x.T.shape == x.mT.shape == (2, 2)
    assert x.to_device(x.device, stream=None) is x
    assert x.__array_namespace__(api_version="2024.12") is xp is troupe.array_api
    with pytest.raises(ValueError, match="api_version"):
        x.__array_namespace__(api_version="1999.12")


def test_the_namespace_says_what_it_has():
    info = xp.__array_namespace_info__()
    capabilities = info.capabilities()
    assert capabilities == {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 8}
    assert info.default_device() in info.devices()
    assert xp.zeros((1,) * 8).ndim == 8
    defaults = info.default_dtypes(device=info.default_device())
    assert defaults == {"real floating": xp.float64, "complex floating": xp.complex128, "integral": xp.int64,
                        "indexing": xp.int64}
    assert len(info.dtypes()) == 13
    assert set(info.dtypes(kind=("bool", "complex floating"))) == {"bool", "complex64", "complex128"}
    for name, dtype in info.dtypes(kind="numeric").items():
        assert getattr(xp, name) == dtype == xp.zeros(1, dtype=dtype).dtype
    with pytest.raises(ValueError, match="kind"):
        info.dtypes(kind="imaginary")


def test_dtypes():
    assert xp.isdtype(xp.int8, "integral") and not xp.isdtype(xp.int8, ("bool", "unsigned integer"))
    assert xp.isdtype(xp.bool, (xp.bool, xp.int8)) and not xp.isdtype(xp.bool, "numeric")
    assert xp.can_cast(xp.int8, xp.int16) and not xp.can_cast(xp.ones(2), xp.float32)
    assert xp.result_type(xp.ones(1, dtype=xp.float32), 1.5) == xp.float32
    assert xp.result_type(xp.int32, 1j) == xp.complex128 and xp.result_type(xp.float32, 1j) == xp.complex64
    assert xp.result_type(xp.uint8, xp.int8, 2) == xp.int16 and xp.result_type(xp.bool, True) == xp.bool
    limits = xp.finfo(xp.complex64)
    assert (limits.bits, limits.dtype, type(limits.eps), limits.eps) == (32, xp.float32, float, 2.0 ** -23)
    assert xp.finfo(xp.ones(2)).smallest_normal == 2.0 ** -1022
    assert (xp.iinfo(xp.uint8).max, xp.iinfo(xp.int8).min, xp.iinfo(xp.int64).bits) == (255, -128, 64)
    for wrong in (lambda: xp.finfo(xp.int8), lambda: xp.iinfo(xp.float32), lambda: xp.isdtype(xp.int8, "number")):
        with pytest.raises(ValueError):
            wrong()


INTEGERS = [xp.int8, xp.int16, xp.int32, xp.int64, xp.uint8, xp.uint16, xp.uint32, xp.uint64]


@pytest.mark.parametrize("dtype", INTEGERS)
def test_sums_of_integers_have_64_bits(dtype):
    wide = xp.uint64 if dtype.kind == "u" else xp.int64
    x = xp.full((2, 3), 100, dtype=dtype)
    for function in (xp.sum, xp.prod):
        assert function(x).dtype == wide
        assert function(x, dtype=xp.float32).dtype == xp.float32
    assert xp.cumulative_sum(x, axis=0).dtype == xp.cumulative_prod(x, axis=1).dtype == wide
    assert int(xp.sum(x)) == 600
    assert int(xp.sum(x, dtype=dtype)) == int(np.full(6, 100, dtype).sum(dtype=dtype))
    assert xp.max(x).dtype == xp.diff(x).dtype == xp.sort(x).dtype == dtype
    assert xp.linalg.trace(x).dtype == wide and xp.vecdot(x, x).dtype == dtype


def test_creation_has_the_default_dtypes():
    for made in (xp.zeros(2), xp.ones(()), xp.empty((2, 0)), xp.eye(2), xp.linspace(0, 1, 2), xp.asarray(1.5),
                 xp.full(2, 2.5), xp.arange(2.0), xp.fft.fftfreq(3)):
        assert made.dtype == xp.float64
    assert xp.asarray(1).dtype == xp.arange(3).dtype == xp.full(1, 7).dtype == xp.argmax(xp.ones(2)).dtype == xp.int64
    assert xp.asarray(True).dtype == xp.full(1, False).dtype == xp.bool
    assert xp.asarray(1j).dtype == xp.full(1, 1j).dtype == xp.linspace(0, 1j, 3).dtype == xp.complex128
    assert xp.arange(0, 1, 0.25, dtype=xp.float32).dtype == xp.fft.rfftfreq(3, dtype=xp.float32).dtype == xp.float32


def test_asarray_copies_as_it_is_told():
    x = xp.asarray([1, 2])
    assert xp.asarray(x) is x and xp.asarray(x, copy=False) is x
    assert xp.asarray(x, copy=True) is not x
    with pytest.raises(ValueError, match="copy"):
        xp.asarray(x, dtype=xp.float64, copy=False)
    with pytest.raises(ValueError, match="copy"):
        xp.asarray([1, 2], copy=False)
    assert xp.astype(x, xp.int64, copy=False) is x and xp.astype(x, xp.int64) is not x
    same(xp.asarray([[xp.asarray(1), 2], [3, 4]]), np.array([[1, 2], [3, 4]]))
    y = xp.reshape(x, (2, 1), copy=True)
    y[0, 0] = 9
    same(x, np.array([1, 2]))


def test_numbers_of_python():
    assert bool(xp.asarray(0.5)) and not bool(xp.asarray(0j))
    assert int(xp.asarray(-2.7)) == -2 and float(xp.asarray(3)) == 3.0 and complex(xp.asarray(1.5)) == 1.5
    assert [5, 6][xp.asarray(1, dtype=xp.uint8)] == 6
    for wrong in (lambda: float(xp.asarray(1j)), lambda: int(xp.asarray(1j)), lambda: (5, 6)[xp.asarray(True)],
                  lambda: (5, 6)[xp.asarray(1.0)], lambda: hash(xp.asarray(1))):
        with pytest.raises(TypeError):
            wrong()
    for wrong in (lambda: int(xp.asarray(xp.nan)), lambda: bool(xp.ones(2)), lambda: float(xp.ones(2))):
        with pytest.raises(ValueError):
            wrong()
    with pytest.raises(OverflowError):
        int(xp.asarray(xp.inf))


# Special cases, in the standard's words: function, operands, result.
CASES = [
    ("acos", [xp.nan, 2.0, -2.0, 1.0], [xp.nan, xp.nan, xp.nan, 0.0]),
    ("acosh", [0.5, 1.0, xp.inf], [xp.nan, 0.0, xp.inf]),
    ("asin", [-0.0, 0.0, 2.0], [-0.0, 0.0, xp.nan]),
    ("asinh", [-0.0, xp.inf, -xp.inf], [-0.0, xp.inf, -xp.inf]),
    ("atan", [-0.0, xp.inf, -xp.inf], [-0.0, math.pi / 2, -math.pi / 2]),
    ("atanh", [-1.0, 1.0, 2.0, -0.0], [-xp.inf, xp.inf, xp.nan, -0.0]),
    ("abs", [-0.0, -xp.inf, xp.nan], [0.0, xp.inf, xp.nan]),
    ("ceil", [-0.5, -0.0, xp.inf], [-0.0, -0.0, xp.inf]),
    ("cos", [xp.inf, -0.0, xp.nan], [xp.nan, 1.0, xp.nan]),
    ("cosh", [-xp.inf, -0.0], [xp.inf, 1.0]),
    ("exp", [-xp.inf, 0.0, -0.0, xp.inf, xp.nan], [0.0, 1.0, 1.0, xp.inf, xp.nan]),
    ("expm1", [-xp.inf, -0.0, 0.0, xp.inf], [-1.0, -0.0, 0.0, xp.inf]),
    ("floor", [0.5, -0.0, -0.5, -xp.inf], [0.0, -0.0, -1.0, -xp.inf]),
    ("log", [-1.0, 0.0, -0.0, 1.0, xp.inf], [xp.nan, -xp.inf, -xp.inf, 0.0, xp.inf]),
    ("log1p", [-2.0, -1.0, -0.0, 0.0, xp.inf], [xp.nan, -xp.inf, -0.0, 0.0, xp.inf]),
    ("log2", [-1.0, 0.0, 1.0, xp.inf], [xp.nan, -xp.inf, 0.0, xp.inf]),
    ("log10", [-1.0, 0.0, 1.0, xp.inf], [xp.nan, -xp.inf, 0.0, xp.inf]),
    ("negative", [0.0, -0.0, xp.inf], [-0.0, 0.0, -xp.inf]),
    ("reciprocal", [0.0, -0.0, xp.inf, -xp.inf], [xp.inf, -xp.inf, 0.0, -0.0]),
    ("round", [0.5, 1.5, -0.5, -0.0, xp.inf], [0.0, 2.0, -0.0, -0.0, xp.inf]),
    ("sign", [-0.0, 0.0, -3.0, xp.inf, xp.nan], [0.0, 0.0, -1.0, 1.0, xp.nan]),
    ("sin", [-0.0, xp.inf, -xp.inf], [-0.0, xp.nan, xp.nan]),
    ("sinh", [-0.0, xp.inf, -xp.inf], [-0.0, xp.inf, -xp.inf]),
    ("sqrt", [-1.0, -0.0, 0.0, xp.inf], [xp.nan, -0.0, 0.0, xp.inf]),
    ("square", [-0.0, -xp.inf, xp.nan], [0.0, xp.inf, xp.nan]),
    ("tan", [-0.0, xp.inf], [-0.0, xp.nan]),
    ("tanh", [-0.0, xp.inf, -xp.inf], [-0.0, 1.0, -1.0]),
    ("trunc", [-0.5, 1.7, -xp.inf], [-0.0, 1.0, -xp.inf]),
    ("isnan", [xp.nan, xp.inf, 0.0], [True, False, False]),
    ("isinf", [xp.nan, -xp.inf, 0.0], [False, True, False]),
    ("isfinite", [xp.nan, -xp.inf, 0.0], [False, False, True]),
    ("signbit", [-0.0, 0.0, -xp.inf, -xp.nan], [True, False, True, math.copysign(1, -xp.nan) < 0]),
]
PAIRS = [
    ("add", [xp.inf, xp.inf, -0.0, 0.0], [-xp.inf, xp.inf, -0.0, -0.0], [xp.nan, xp.inf, -0.0, 0.0]),
    ("subtract", [xp.inf, 0.0, -0.0], [xp.inf, 0.0, 0.0], [xp.nan, 0.0, -0.0]),
    ("multiply", [xp.inf, -1.0, -2.0], [0.0, 0.0, -xp.inf], [xp.nan, -0.0, xp.inf]),
    ("divide", [0.0, 1.0, 1.0, xp.inf, -1.0], [0.0, 0.0, -0.0, xp.inf, xp.inf],
     [xp.nan, xp.inf, -xp.inf, xp.nan, -0.0]),
    ("floor_divide", [xp.inf, -xp.inf, xp.inf, 1.0, -1.0, 1.0, -1.0, 0.0, -0.0, 5.0, -5.0, 1.0, 0.0, xp.inf],
     [2.0, 2.0, -2.0, xp.inf, xp.inf, -xp.inf, -xp.inf, 2.0, 2.0, 2.0, 2.0, 0.0, 0.0, xp.inf],
     [xp.inf, -xp.inf, -xp.inf, 0.0, -1.0, -1.0, 0.0, 0.0, -0.0, 2.0, -3.0, xp.inf, xp.nan, xp.nan]),
    ("remainder", [0.0, -0.0, 0.0, 5.0, -5.0, 5.0, 1.0, 1.0, -1.0, xp.inf, 1.0],
     [2.0, 2.0, -2.0, 3.0, 3.0, -3.0, xp.inf, -xp.inf, xp.inf, 2.0, 0.0],
     [0.0, 0.0, -0.0, 2.0, 1.0, -1.0, 1.0, -xp.inf, xp.inf, xp.nan, xp.nan]),
    ("pow", [xp.nan, 0.0, -0.0, -0.0, 2.0, 0.5, -xp.inf, -8.0, 0.0, 1.0, xp.nan],
     [0.0, -1.0, -1.0, 3.0, -xp.inf, -xp.inf, 3.0, 0.5, 0.0, xp.inf, 1.0],
     [1.0, xp.inf, -xp.inf, -0.0, 0.0, xp.inf, -xp.inf, xp.nan, 1.0, 1.0, xp.nan]),
    ("atan2", [0.0, -0.0, 0.0, xp.inf], [-0.0, 1.0, 1.0, xp.inf], [math.pi, -0.0, 0.0, math.pi / 4]),
    ("copysign", [1.0, -1.0, 0.0], [-0.0, 0.0, -1.0], [-1.0, 1.0, -0.0]),
    ("hypot", [xp.inf, xp.nan, 3.0, -0.0], [xp.nan, xp.inf, 4.0, 0.0], [xp.inf, xp.inf, 5.0, 0.0]),
    ("logaddexp", [xp.inf, -xp.inf, xp.nan], [0.0, -xp.inf, xp.inf], [xp.inf, -xp.inf, xp.nan]),
    ("maximum", [xp.nan, 1.0, xp.inf], [1.0, xp.nan, -xp.inf], [xp.nan, xp.nan, xp.inf]),
    ("minimum", [xp.nan, 1.0, xp.inf], [1.0, xp.nan, -xp.inf], [xp.nan, xp.nan, -xp.inf]),
    ("nextafter", [0.0, 1.0, xp.nan], [0.0, 1.0, 1.0], [0.0, 1.0, xp.nan]),
    ("equal", [xp.nan, 0.0], [xp.nan, -0.0], [False, True]),
    ("not_equal", [xp.nan, 0.0], [xp.nan, -0.0], [True, False]),
    ("less", [xp.nan, 0.0, -xp.inf], [1.0, -0.0, xp.inf], [False, False, True]),
]


def agree(ours, expected):
    """Numbers to a few roundings, zeros with their signs."""
    ours, expected = ours.numpy(), np.asarray(expected)
    np.testing.assert_allclose(ours, expected.astype(ours.dtype), rtol=1e-6, atol=0)
    zero = (expected == 0) & (expected.dtype.kind == "f")
    np.testing.assert_array_equal(np.signbit(ours.real)[zero], np.signbit(expected.real)[zero])


@pytest.mark.parametrize("dtype", [xp.float32, xp.float64])
@pytest.mark.parametrize("name, x, expected", CASES, ids=[case[0] for case in CASES])
def test_special_cases_of_one(name, x, expected, dtype):
    made = getattr(xp, name)(xp.asarray(x, dtype=dtype))
    assert made.dtype == (xp.bool if type(expected[0]) is bool else dtype)
    agree(made, expected)
    for number, value in zip(x, expected):  # and alone
        agree(getattr(xp, name)(xp.asarray(number, dtype=dtype)), value)


@pytest.mark.parametrize("dtype", [xp.float32, xp.float64])
@pytest.mark.parametrize("name, a, b, expected", PAIRS, ids=[case[0] for case in PAIRS])
def test_special_cases_of_two(name, a, b, expected, dtype):
    function, a, b = getattr(xp, name), xp.asarray(a, dtype=dtype), xp.asarray(b, dtype=dtype)
    agree(function(a, b), expected)
    assert function(a, b).dtype == (xp.bool if type(expected[0]) is bool else dtype)
    for i, value in enumerate(expected):
        agree(function(a[i], float(b[i])), value)
        agree(function(float(a[i]), b[i]), value)


def test_reductions_of_nothing_and_of_nan():
    nothing = xp.zeros((0, 2))
    same(xp.sum(nothing, axis=0), np.zeros(2))
    same(xp.prod(nothing), np.ones(()))
    same(xp.all(nothing), np.True_)
    same(xp.any(nothing), np.False_)
    same(xp.count_nonzero(nothing, axis=1), np.zeros(0, "int64"))
    assert math.isnan(xp.mean(nothing)) and math.isnan(xp.var(xp.ones(1), correction=1))
    for function in (xp.max, xp.min, xp.argmax):
        with pytest.raises(ValueError):
            function(nothing)
    x = xp.asarray([1.0, xp.nan, 3.0])
    for function in (xp.sum, xp.prod, xp.mean, xp.max, xp.min, xp.std):
        assert math.isnan(function(x))
    assert xp.all(x) and xp.any(x)
    same(xp.std(xp.arange(4.0), correction=1), np.std(np.arange(4.0), ddof=1))


def test_sets_count_each_nan():
    x = xp.asarray([[2.0, xp.nan], [xp.nan, 2.0]])
    found = xp.unique_all(x)
    assert found._fields == ("values", "indices", "inverse_indices", "counts")
    same(found.values, np.array([2, xp.nan, xp.nan]))
    same(found.counts, np.array([2, 1, 1]))
    assert found.inverse_indices.shape == (2, 2)
    same(xp.unique_values(x), np.array([2, xp.nan, xp.nan]))
    assert xp.unique_counts(xp.asarray([])).counts.shape == (0,)
    assert xp.unique_inverse(xp.asarray(5)).inverse_indices.shape == ()


@pytest.mark.parametrize("call, error", [
    (lambda x: xp.sum(x, axis=2), ValueError), (lambda x: xp.sum(x, axis=(0, 0)), ValueError),
    (lambda x: xp.expand_dims(x, axis=5), IndexError), (lambda x: xp.squeeze(x, 0), ValueError),
    (lambda x: xp.take(x, xp.asarray([0])), ValueError), (lambda x: xp.cumulative_sum(x), ValueError),
    (lambda x: xp.concat([x, xp.ones(2)]), ValueError), (lambda x: xp.matmul(x, xp.asarray(1.0)), ValueError),
    (lambda x: xp.linalg.inv(x), ValueError), (lambda x: xp.linalg.cross(x, x, axis=0), ValueError),
    (lambda x: xp.searchsorted(x, x), ValueError), (lambda x: xp.vecdot(x, xp.ones(2)), ValueError),
    (lambda x: xp.meshgrid(x[0], indexing="kj"), ValueError), (lambda x: xp.nonzero(xp.asarray(1)), ValueError),
    (lambda x: x[xp.asarray([True])], IndexError), (lambda x: xp.add(1, 2), TypeError),
    (lambda x: xp.linalg.svd(xp.ones((2, 2), dtype=xp.int8)), TypeError),
    (lambda x: xp.permute_dims(x, (0,)), ValueError),
    (lambda x: xp.broadcast_to(x, (2, 4)), ValueError), (lambda x: xp.triu(x[0]), ValueError),
    (lambda x: xp.fft.fft(x, norm="forwards"), ValueError), (lambda x: xp.linalg.matrix_norm(x, ord=3), ValueError),
])
def test_wrong_arguments_are_refused(call, error):
    with pytest.raises(error):
        call(xp.ones((2, 3)))


def test_in_place_operators_keep_their_array():
    for operator in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow"):
        x = xp.asarray([7.0, 8.0], dtype=xp.float32)
        expected = getattr(np.array([7, 8], "float32"), f"__i{operator}__")(np.array([2, 3], "float32"))
        same(getattr(x, f"__i{operator}__")(xp.asarray([2.0, 3.0], dtype=xp.float32)), expected)
        same(x, expected)
    x = kept = xp.asarray([True, False])
    x |= True
    assert x is kept and xp.all(x)
    with pytest.raises(ValueError):
        x = xp.ones(2)
        x += xp.ones((3, 2))


def test_masked_writes_do_not_reach_ops_that_were_before():
    x = xp.ones(1 << 16)
    sums = []
    for i in range(20):
        sums.append(xp.sum(x * 1))
        x[x > 0] = float(i)
        x[xp.asarray([0, 1])] = float(i) + 1
    assert float(sums[0]) == 1 << 16
    assert float(sums[1]) == 2
    assert float(x[0]) == 20
