"""Kernels of your own, in CUDA C++, compiled when they are first used: for a GPU by NVRTC, for the CPU by the system's
C++ compiler. Launches are ops like any other.

>>> @troupe.kernel
... def saxpy(n: "int", a: "float", x: "const float*", y: "float*"):
...     '''for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] += a * x[i];'''
>>> x, y = troupe.ones(1000, dtype="float32"), troupe.zeros(1000, dtype="float32")
>>> saxpy(1000, 2, x, y)
>>> y.sum()
Array(2000., dtype=float32)
"""
from __future__ import annotations

import inspect
import threading

import numpy as np

from . import _core, _dtypes
from ._array import Array
from ._creation import asarray, device_or_default
from ._devices import Device

# What a number becomes, by the parameter's type.
_NUMBERS = {
    "bool": "bool", "char": "int8", "signed char": "int8", "unsigned char": "uint8", "short": "int16",
    "unsigned short": "uint16", "int": "int32", "unsigned int": "uint32", "unsigned": "uint32", "long": "int64",
    "long long": "int64", "unsigned long": "uint64", "unsigned long long": "uint64",
    "float": "float32", "double": "float64",
}
_THREADS, _MOST_BLOCKS = 256, 65535


class Use:
    """An array as an argument of a launch, and what the kernel does with it."""

    __slots__ = ("word", "array")

    def __init__(self, word, array):
        self.word, self.array = word, array


def reads(array) -> Use:
    """The kernel only reads the array."""
    return Use("reads", array)


def writes(array) -> Use:
    """The kernel writes all of the array and reads nothing of it."""
    return Use("writes", array)


def updates(array) -> Use:
    """The kernel reads and writes the array, or writes a part of it."""
    return Use("updates", array)


class Program:
    """Compiled kernels for one device. `program["name"]` launches one:
    `program["saxpy"](n, 2.0, x, y, blocks=64, threads=256)`."""

    def __init__(self, core):
        self._core = core
        self._parameters = {}
        for signature in core.kernels:
            name, _, rest = str(signature).partition("(")
            self._parameters[name] = _split(rest[:-1]) if rest else None

    @property
    def kernels(self) -> list[str]:
        """The kernels and what they take; of one in an `extern "C"` block, the name alone."""
        return [str(signature) for signature in self._core.kernels]

    @property
    def log(self) -> str:
        """The compiler's warnings."""
        return self._core.log

    @property
    def device(self) -> Device:
        """The device that it is for."""
        return Device(self._core.device_handle)

    @property
    def variables(self) -> list[str]:
        """The names of its `__constant__` and `__device__` variables; compilers leave out those that no kernel uses."""
        return [str(name) for name in self._core.variables]

    @property
    def image(self) -> bytes:
        """The compiled image, of which `load` makes the same program."""
        return self._core.image

    def __getitem__(self, name) -> Kernel:
        return Kernel(self, name)

    def set(self, name, value) -> None:
        """Sets a variable from an array, a NumPy number or `bytes`, with as many bytes as it has. Kernels that are
        launched later see it, also when another worker has taken over."""
        if not isinstance(value, Array):
            value = np.frombuffer(value, np.uint8) if isinstance(value, bytes) else np.asarray(value)
            if value.dtype.fields is not None:
                value = np.ascontiguousarray(value).reshape(-1).view(np.uint8)
            value = asarray(value, device=self.device)
        self._core.set(name, value)

    def get(self, name, out) -> Array:
        """Copies into an array what a variable holds that was set, and gives the array."""
        self._core.get(name, out)
        return out

    def __repr__(self) -> str:
        return f"Program({', '.join(self.kernels)})"


class Kernel:
    """A kernel of a program. Numbers get the types of their parameters; an array is read where the parameter is
    `const`, and else updated, unless `reads(x)`, `writes(x)` or `updates(x)` says what is done with it."""

    def __init__(self, program, name):
        self._program, self._name, self._core = program, name, program._core.kernel(name)

    def __call__(self, *arguments, blocks=None, threads=_THREADS, shared_bytes=0, fills_device=False,
                 cooperative=False, cluster=1) -> None:
        """Launches it. Without `blocks`, there are as many threads as the largest array has elements; with
        `fills_device`, as many blocks as the device runs at once. All blocks of a `cooperative` launch are there at
        once, and those of a `cluster` share their shared memory; GPUs only."""
        types = self._program._parameters.get(self._name)
        if types is not None and len(types) != len(arguments):
            raise TypeError(f"{self._name} takes {len(types)} arguments ({', '.join(types)}), not {len(arguments)}")
        types = types or (None,) * len(arguments)
        told = [_argument(self._name, i, given, wanted) for i, (given, wanted) in enumerate(zip(arguments, types))]
        threads = _extents(threads)
        if blocks is None:
            blocks = _blocks_for(arguments, threads)
        self._core.launch(_extents(blocks), threads, shared_bytes, _extents(cluster), fills_device, cooperative, told)


def _split(text):
    """The types between the commas that are not inside of brackets."""
    types, depth, begin = [], 0, 0
    for i, letter in enumerate(text):
        depth += letter in "<(["
        depth -= letter in ">)]"
        if letter == "," and not depth:
            types.append(text[begin:i].strip())
            begin = i + 1
    last = text[begin:].strip()
    return [*types, last] if last else types


def _extents(given):
    return tuple(given) if isinstance(given, (tuple, list)) else (int(given),)


def _blocks_for(arguments, threads):
    """Enough that each element of the largest array has a thread."""
    arrays = [x.array if isinstance(x, Use) else x for x in arguments]
    most = max((x.size for x in arrays if isinstance(x, Array)), default=1)
    return (max(1, min(_MOST_BLOCKS, -(-most // int(np.prod(threads))))),)


def _argument(kernel, place, given, wanted):
    if given is None:
        return None
    if isinstance(given, Use):
        return given.word, given.array
    if isinstance(given, Array):
        return ("reads" if wanted is not None and "const" in wanted.split("*")[0].split() else "updates"), given
    if isinstance(given, np.generic):
        return _dtypes.number_of(given.dtype), given.tobytes()
    dtype = _NUMBERS.get(" ".join(word for word in (wanted or "").split() if word != "const"))
    if dtype is None:
        raise TypeError(f"{kernel}: argument {place + 1} is {given!r}; a parameter of type {wanted or 'unknown'} needs "
                        "an array or a NumPy number, such as np.int32(5)")
    if isinstance(given, float) and dtype[0] not in "f":
        raise TypeError(f"{kernel}: argument {place + 1} is {given!r}; the parameter is {wanted}")
    return _dtypes.number_of(dtype), np.asarray(given).astype(dtype).tobytes() if isinstance(given, (bool, float)) \
        else np.array(given, dtype).tobytes()


def compile(source, /, *, flags="", headers=None, instances="", timeout=60.0, cached=True, device=None) -> Program:
    """Compiles CUDA C++ for a device. `flags` are NVRTC's, as a text or as a list of flags; `headers` has the texts of
    what the source includes, by name: {"tile.cuh": text}. `instances` names the kernels to make of templates,
    "scale<float>, scale<double>". `InvalidArgument` has the compiler's words when the source is wrong.

    >>> program = troupe.jit.compile('''
    ... template <class T> __global__ void twice(int n, T* x) {
    ...   int i = blockIdx.x * blockDim.x + threadIdx.x;
    ...   if (i < n) x[i] *= 2;
    ... }''', instances="twice<double>")
    >>> x = troupe.arange(3, dtype="float64")
    >>> program["twice<double>"](3, x)
    >>> x
    Array([0., 2., 4.], dtype=float64)
    """
    given = list((headers or {}).items())
    return Program(_core.compile(device_or_default(device)._core, source, flags, given, instances, float(timeout),
                                 cached))


def load(image, /, *, device=None) -> Program:
    """A program of an image that was compiled before: `Program.image`, or a cubin, a fatbin or PTX for a GPU."""
    return Program(_core.load_program(device_or_default(device)._core, bytes(image)))


class OwnKernel:
    """A kernel made of a function's name, its annotated parameters and its docstring."""

    def __init__(self, function, flags=""):
        self.__name__, self._flags = function.__name__, flags
        parameters = inspect.signature(function).parameters.values()
        for parameter in parameters:
            if not isinstance(parameter.annotation, str):
                raise TypeError(f"{function.__name__}: parameter {parameter.name} needs its type as a text, such as "
                                f'{parameter.name}: "const float*"')
        body = inspect.getdoc(function)
        if not body:
            raise TypeError(f"{function.__name__}: the body of the kernel is its docstring, and there is none")
        types = ", ".join(f"{_unquoted(parameter.annotation)} {parameter.name}" for parameter in parameters)
        self.source = f"__global__ void {function.__name__}({types}) {{\n{body}\n}}\n"
        self.__doc__ = self.source
        self._programs = {}
        self._lock = threading.Lock()

    def _program(self, device):
        with self._lock:
            found = self._programs.get(device)
            if found is None:
                found = self._programs[device] = compile(self.source, flags=self._flags, device=device)
        return found

    def __call__(self, *arguments, blocks=None, threads=_THREADS, shared_bytes=0) -> None:
        arrays = (x.array if isinstance(x, Use) else x for x in arguments)
        device = next((x.device for x in arrays if isinstance(x, Array)), None)
        program = self._program(device_or_default(device))
        program[self.__name__](*arguments, blocks=blocks, threads=threads, shared_bytes=shared_bytes)


def _unquoted(text):
    """With `from __future__ import annotations`, a text that is an annotation is a text in quotation marks."""
    return text[1:-1] if text[:1] in "'\"" else text


def kernel(function=None, /, *, flags=""):
    """Makes a kernel of a function: its parameters are annotated with their types in C++, its docstring is the body.

    Calls launch it: `f(*arguments, blocks=..., threads=256)`, without `blocks` for as many threads as the largest array
    has elements.
    """
    if function is None:
        return lambda decorated: OwnKernel(decorated, flags)
    return OwnKernel(function, flags)


__all__ = ["Kernel", "Program", "compile", "kernel", "load", "reads", "updates", "writes"]
