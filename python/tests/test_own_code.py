"""Code of the user's own on a device: kernels from source, functions of arrays as one op."""
import shutil

import numpy as np
import pytest
from conftest import same

import troupe

needs_compiler = pytest.mark.skipif(shutil.which("g++") is None and shutil.which("c++") is None,
                                    reason="kernels for the CPU need a C++ compiler")

SOURCE = """
__global__ void saxpy(int n, float a, const float* x, float* y) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] += a * x[i];
}
template <class T> __global__ void fill(int n, T value, T* x) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = value;
}
extern "C" __global__ void plain(int n, double* x) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] += i;
}
"""


@pytest.fixture(scope="module")
def program(device):
    return troupe.jit.compile(SOURCE, instances="fill<double>, fill<long>")


@needs_compiler
def test_kernels_are_launched_with_arrays_and_numbers(program):
    assert any(text.startswith("saxpy(int, float") for text in program.kernels)
    x, y = troupe.arange(1000, dtype="float32"), troupe.ones(1000, dtype="float32")
    program["saxpy"](1000, 2, x, y)
    same(y, 2 * np.arange(1000, dtype="float32") + 1)
    program["saxpy"](10, np.float32(1), x, troupe.jit.updates(y), blocks=2, threads=(32, 1))
    assert float(y[9]) == 28
    z = troupe.empty(5)
    program["fill<double>"](5, 2.5, troupe.jit.writes(z))
    same(z, np.full(5, 2.5))
    program["plain"](np.int32(5), z, blocks=1)
    same(z, np.arange(5) + 2.5)


@needs_compiler
def test_wrong_launches_are_refused(program):
    x = troupe.ones(4, dtype="float32")
    for arguments, error in [((4, 1.0, x), TypeError), ((4.5, 1.0, x, x), TypeError),
                             ((4, 1.0, troupe.ones(4), x), troupe.InvalidArgument)]:
        with pytest.raises(error):
            program["saxpy"](*arguments)
    with pytest.raises((TypeError, troupe.InvalidArgument)):  # a compiler may keep the types of an `extern "C"` kernel
        program["plain"](4, x)
    with pytest.raises(troupe.InvalidArgument, match="saxpy"):
        program["sax"](np.int32(4), x)
    with pytest.raises(troupe.InvalidArgument, match="nonsense"):
        troupe.jit.compile("__global__ void f() { nonsense; }")


@needs_compiler
def test_a_function_becomes_a_kernel(fresh_device):
    @troupe.kernel
    def twice(n: "int", x: "double*"):
        """
        const int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i < n) x[i] *= 2;
        """

    assert twice.__name__ == "twice" and "__global__ void twice(int n, double* x)" in twice.source
    x = troupe.arange(5.0, device=fresh_device)
    twice(5, x)
    fresh_device.kill_worker()
    twice(5, x)
    same(x, 4 * np.arange(5.0))
    with pytest.raises(TypeError, match="type as a text"):
        troupe.kernel(lambda n: None)


def test_an_expression_is_one_op(device):
    @troupe.expression
    def gate(a, x, b):
        """A gate."""
        return troupe.tanh(a * x + b) / 2 - troupe.where(x > 0, x, -1.0) ** 2

    assert gate.__name__ == "gate" and gate.__doc__ == "A gate."
    x, b = np.linspace(-2, 2, 12).reshape(3, 4), np.arange(4.0)
    before = device.stats()["submitted"]
    ours = [troupe.asarray(x), troupe.asarray(b)]
    made = gate(2, *ours)
    assert device.stats()["submitted"] == before + 1
    expected = np.tanh(2 * x + b) / 2 - np.where(x > 0, x, -1) ** 2
    same(made, expected, 1e-12)
    same(gate.reduce("sum", 2, *ours, axis=1), expected.sum(1), 1e-12)
    same(gate.reduce("max", 2, *ours, keepdims=True), expected.max(keepdims=True), 1e-12)
    assert "tanh" in gate.text(2, *ours)


@pytest.mark.parametrize("call, expected", [
    (lambda x, y: x + y, lambda x, y: x + y), (lambda x, y: 1 - x * y, lambda x, y: 1 - x * y),
    (lambda x, y: x / (y + 1), lambda x, y: x / (y + 1)), (lambda x, y: abs(-x) <= y, lambda x, y: abs(-x) <= y),
    (lambda x, y: troupe.exp(x) + troupe.maximum(x, y), lambda x, y: np.exp(x) + np.maximum(x, y)),
    (lambda x, y: troupe.clip(x, 0, 2), lambda x, y: np.clip(x, 0, 2)),
    (lambda x, y: troupe.fma(x, y, 1), lambda x, y: x * y + 1), (lambda x, y: 2 ** x, lambda x, y: 2 ** x),
])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_expressions_are_numpys(call, expected, dtype):
    x, y = np.array([-1.5, 0, 2, 3], dtype), np.array([[1], [2]], dtype)
    same(troupe.expression(call)(troupe.asarray(x), troupe.asarray(y)),
         np.broadcast_to(expected(x, y), (2, 4)) if expected(x, y).ndim > 1 else expected(x, y), 1e-6)


def test_expressions_of_several_types():
    x, n = np.array([0.5, 1.5], "float32"), np.array([1, 2])
    same(troupe.expression(lambda a, b: a * b)(troupe.asarray(x), troupe.asarray(n)), x * n, 1e-12)
    same(troupe.expression(lambda a: a + 1)(troupe.asarray(n)), n + 1)
    same(troupe.expression(lambda a: a / 2)(troupe.asarray(n)), n / 2)


def test_what_is_no_expression_is_refused():
    with pytest.raises(TypeError, match="must be an array"):
        troupe.expression(lambda x: x)(2)
    with pytest.raises(TypeError, match="where"):
        troupe.expression(lambda x: x if x > 0 else 0)(troupe.ones(2))
    with pytest.raises(TypeError, match="gave"):
        troupe.expression(lambda x: None)(troupe.ones(2))


@needs_compiler
def test_a_program_that_is_gone_leaves_nothing_behind(device):
    x = troupe.zeros(1)
    for i in range(3):
        unused = "".join(f"int unused{j}, " for j in range(i))
        program = troupe.jit.compile(f"__global__ void add{i}({unused}double* x) {{ x[0] += {i + 1}; }}")
        program[f"add{i}"](*[0] * i, x, blocks=1, threads=1)
        x.wait()
        del program
    assert float(x[0]) == 6


FILTER = """
#include "taps.cuh"
namespace mine { __constant__ float weights[TAPS]; }
struct Settings { int first; double scale; };
__constant__ Settings settings;
__device__ long long hits;
__global__ void weigh(const float* x, float* y) {
  const int i = threadIdx.x;
  y[i] = x[i] * mine::weights[i] + settings.first + float(settings.scale);
  atomicAdd(reinterpret_cast<unsigned long long*>(&hits), 1ull);
}
"""


@needs_compiler
def test_variables_are_set_and_survive_their_worker(fresh_device):
    on = {"device": fresh_device}
    program = troupe.jit.compile(FILTER, headers={"taps.cuh": "#define TAPS (COUNT)\n"}, flags=["-DCOUNT=(1 + 2)"],
                                 **on)
    assert sorted(program.variables) == ["hits", "mine::weights", "settings"]
    program.set("weights", np.array([1, 10, 100], "float32"))
    program.set("settings", np.array((2, 0.5), np.dtype([("first", "i4"), ("scale", "f8")], align=True)))
    program.set("hits", np.int64(5))
    x, y = troupe.asarray([1, 2, 3], dtype="float32", **on), troupe.empty(3, dtype="float32", **on)
    for count in (8, 11):
        program["weigh"](x, troupe.jit.writes(y), blocks=1, threads=3)
        same(y, np.array([3.5, 22.5, 302.5], "float32"))
        assert int(program.get("hits", troupe.empty(1, dtype="int64", **on))[0]) == count
        fresh_device.kill_worker()
    with pytest.raises(troupe.InvalidArgument, match="set: mine::weights has 12 bytes, and the array has 4"):
        program.set("weights", np.float32(1))
    with pytest.raises(troupe.InvalidArgument, match="get: settings"):
        troupe.jit.compile(FILTER, headers={"taps.cuh": "#define TAPS 3\n"}, **on).get("settings",
                                                                                      troupe.empty(2, **on))


@needs_compiler
def test_an_image_is_loaded_again(program):
    again = troupe.jit.load(program.image)
    assert again.kernels == program.kernels
    x, y = troupe.arange(100, dtype="float32"), troupe.zeros(100, dtype="float32")
    again["saxpy"](100, 2, x, y, fills_device=True, threads=32)
    same(y, 2 * np.arange(100, dtype="float32"))
    with pytest.raises(troupe.InvalidArgument, match="no cubin"):
        troupe.jit.load(b"nothing")
    with pytest.raises(troupe.Unsupported, match="a CPU runs no cooperative grid"):
        again["saxpy"](100, 2, x, y, cooperative=True)
