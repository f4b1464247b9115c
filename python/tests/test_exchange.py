"""NumPy and DLPack, both ways: what shares memory, what is copied, who keeps it alive."""
import gc
import resource
import subprocess
import sys
import threading
import weakref

import numpy as np
import pytest
from conftest import same

import troupe


def test_numpy_shares_memory_with_an_array():
    x = troupe.arange(6, dtype="float32").reshape(2, 3)
    shared = x.numpy()
    x[0, 0] = 9
    x.wait()
    assert shared[0, 0] == 9
    shared[1, 1] = 5
    assert float(x[1, 1]) == 5
    assert np.shares_memory(shared, x.T.numpy())


@pytest.mark.parametrize("dtype", ["float64", "bfloat16"])
def test_numpy_keeps_the_memory_alive(dtype):
    if dtype == "bfloat16":
        pytest.importorskip("ml_dtypes")
    x = troupe.full(100_000, 3, dtype=dtype)
    address, shared = x.address, x.numpy()
    del x
    gc.collect()
    others = [troupe.full(100_000, 4, dtype=dtype) for _ in range(10)]
    others[-1].wait()
    assert (shared == 3).all() and address not in [other.address for other in others]


@pytest.mark.parametrize("layout", ["C", "F", "step", "reversed", "byteorder", "readonly", "empty", "scalar"])
def test_any_numpy_array_becomes_an_array(layout):
    source = np.arange(12, dtype="float32").reshape(3, 4)
    source = {"C": source, "F": np.asfortranarray(source), "step": source[:, ::2], "reversed": source[::-1, ::-1],
              "byteorder": source.astype(">f4"), "readonly": source.view(), "empty": source[:0],
              "scalar": source[1, 1]}[layout]
    if layout == "readonly":
        source.flags.writeable = False
    same(troupe.asarray(source), np.asarray(source).astype("float32"))


def test_buffers_become_arrays():
    same(troupe.asarray(memoryview(b"\1\2\3")), np.array([1, 2, 3], "uint8"))
    import array
    same(troupe.asarray(array.array("d", [1, 2])), np.array([1.0, 2.0]))


def test_numpy_functions_take_arrays():
    x = troupe.arange(4)
    assert np.asarray(x).tolist() == [0, 1, 2, 3]
    assert np.asarray(x, dtype="float32").dtype == np.float32
    assert np.array(x).base is None
    assert np.sum(np.asarray(x)) == 6
    with pytest.raises(ValueError):
        np.asarray(x).__class__ and x.__array__("float32", copy=False)


TYPES = ["bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16", "float32",
         "float64", "complex64", "complex128"]


@pytest.mark.parametrize("dtype", TYPES)
def test_dlpack_to_numpy_shares_memory(dtype):
    x = troupe.asarray(np.arange(6).astype(dtype).reshape(2, 3))
    shared = np.from_dlpack(x)
    same(x, shared)
    assert np.shares_memory(shared, x.numpy())
    assert np.from_dlpack(x.T[::-1]).strides == x.T[::-1].strides


@pytest.mark.parametrize("dtype", TYPES)
def test_dlpack_from_numpy(dtype):
    source = np.arange(6).astype(dtype).reshape(2, 3)
    same(troupe.from_dlpack(source), source)
    same(troupe.from_dlpack(source.T[::-1]), source.T[::-1])


def name_of(capsule):
    return str(capsule).split('"')[1]


def test_dlpack_capsules_are_of_the_version_asked_for():
    x = troupe.ones(3)
    assert name_of(x.__dlpack__()) == "dltensor"
    assert name_of(x.__dlpack__(max_version=(0, 8))) == "dltensor"
    assert name_of(x.__dlpack__(max_version=(1, 0))) == "dltensor_versioned"
    assert name_of(x.__dlpack__(max_version=(2, 0))) == "dltensor_versioned"
    assert x.__dlpack_device__() == (1, 0)


class Lender:
    """Speaks DLPack as a library does that knows no versions."""

    def __init__(self, array, **options):
        self.array, self.options = array, options

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()

    def __dlpack__(self, stream=None):
        return self.array.__dlpack__(**self.options)


@pytest.mark.parametrize("version", [None, (1, 0)])
def test_both_forms_come_back(version):
    x = troupe.arange(4)
    same(troupe.from_dlpack(Lender(x, max_version=version)), np.arange(4))
    assert np.from_dlpack(Lender(x, max_version=version)).tolist() == [0, 1, 2, 3]


def test_a_capsule_is_taken_once():
    capsule = troupe.arange(4).__dlpack__(max_version=(1, 0))

    class Once:
        def __dlpack__(self, **_):
            return capsule

    same(troupe.from_dlpack(Once()), np.arange(4))
    with pytest.raises(TypeError, match="taken once"):
        troupe.from_dlpack(Once())


def test_dlpack_copies_when_asked():
    x = troupe.ones(3)

    class Copier(Lender):
        def __dlpack__(self, **_):
            return self.array.__dlpack__(max_version=(1, 0), copy=True)

    copied = np.from_dlpack(Copier(x))
    x[...] = 2
    x.wait()
    assert copied.tolist() == [1, 1, 1]


def test_dlpack_options_are_checked():
    x = troupe.ones(3)
    with pytest.raises(BufferError):
        x.__dlpack__(dl_device=(2, 0))
    with pytest.raises(ValueError, match="stream"):
        x.__dlpack__(stream=1)
    x.__dlpack__(stream=-1, dl_device=(1, 0))
    with pytest.raises(BufferError):
        troupe.from_dlpack(np.ones(2), copy=False)


def test_streams_follow_the_standard():
    from troupe._dlpack import _check_stream
    gpu = (2, 0)
    for stream in (None, -1, 1, 2, 0x7F00_0000_1000):
        _check_stream(stream, gpu)
    for wrong in (-2, 1.0, "1", True):
        with pytest.raises(ValueError, match="stream"):
            _check_stream(wrong, gpu)
    with pytest.warns(UserWarning, match="taken for 1"):
        _check_stream(0, gpu)


def test_what_repeats_is_read_only():
    x = troupe.broadcast_to(troupe.ones(3), (2, 3))
    assert not x.numpy().flags.writeable and troupe.ones(3).numpy().flags.writeable
    with pytest.raises(BufferError, match="only be read"):
        x.__dlpack__()
    shared = np.from_dlpack(x)
    assert not shared.flags.writeable and shared.tolist() == [[1] * 3] * 2
    assert np.from_dlpack(Lender(x, copy=True)).tolist() == [[1] * 3] * 2


def test_other_libraries_give_memory_back_in_any_thread():
    x = troupe.ones(1000)
    keeps = [np.from_dlpack(x) for _ in range(20)] + [x.__dlpack__() for _ in range(20)]
    watched = weakref.ref(x)
    del x
    threads = [threading.Thread(target=keeps.pop) for _ in range(len(keeps))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    gc.collect()
    assert not keeps and watched() is None


def test_other_libraries_give_memory_back_after_the_interpreters_end():
    ended = subprocess.run([sys.executable, "-c", """
import ctypes, troupe
capsule = troupe.ones(1000).__dlpack__(max_version=(1, 0))
api = ctypes.pythonapi
api.PyCapsule_GetPointer.restype = ctypes.c_void_p
api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
api.PyCapsule_SetName.argtypes = [ctypes.py_object, ctypes.c_char_p]
managed = api.PyCapsule_GetPointer(capsule, b"dltensor_versioned")
used = ctypes.create_string_buffer(b"used_dltensor_versioned")
ctypes.pythonapi.Py_IncRef(ctypes.py_object(used))
api.PyCapsule_SetName(capsule, used)
deleter = ctypes.c_void_p.from_address(managed + 16).value  # behind the version and the owner
assert ctypes.CDLL(None).__cxa_atexit(ctypes.c_void_p(deleter), ctypes.c_void_p(managed), None) == 0
"""], timeout=60, capture_output=True, text=True)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")


@pytest.mark.parametrize("dtype", ["float32", "int64", "bool", "complex64", "bfloat16"])
def test_pytorch_and_we_exchange(dtype):
    torch = pytest.importorskip("torch", reason="needs PyTorch")
    if dtype == "bfloat16":
        pytest.importorskip("ml_dtypes")
    x = troupe.asarray([[1, 0], [1, 1]]).astype(dtype if dtype != "bfloat16" else "bf16")
    theirs = torch.from_dlpack(x)
    assert theirs.tolist() == x.tolist()
    theirs[0, 0] = 0
    assert x.tolist()[0] == [0, 0]  # one memory
    back = troupe.from_dlpack(theirs.T)
    assert back.tolist() == theirs.T.tolist() and back.dtype == x.dtype


@pytest.mark.parametrize("dtype", ["float32", "int32", "uint16", "bool", "complex64"])
def test_jax_and_we_exchange(dtype):
    jax = pytest.importorskip("jax", reason="needs JAX")
    x = troupe.asarray(np.arange(6).astype(dtype).reshape(2, 3))
    theirs = jax.dlpack.from_dlpack(x)
    assert theirs.tolist() == x.tolist() and theirs.dtype == x.dtype
    same(troupe.from_dlpack(theirs + theirs), x.numpy() + x.numpy())
    if theirs.unsafe_buffer_pointer() == x.address:  # it copies what is not aligned as it wants it
        watched = weakref.ref(x)
        del x
        gc.collect()
        assert watched() is None and theirs.tolist() == np.arange(6).astype(dtype).reshape(2, 3).tolist()


def test_read_only_arrays_come_in():
    source = np.arange(3.0)
    source.flags.writeable = False
    same(troupe.from_dlpack(source), source)


def test_what_is_sealed_goes_out_as_a_copy():
    x = troupe.sealable(3, dtype="float32")
    x[...] = 1
    x.seal()
    with pytest.raises(BufferError):
        x.__dlpack__(max_version=(1, 0), copy=False)
    assert x.numpy().tolist() == [1, 1, 1]
    assert np.from_dlpack(Lender(x, max_version=(1, 0), copy=True)).tolist() == [1, 1, 1]


def test_dlpack_leaks_nothing(device):
    def exchange():
        x = troupe.ones(1000)
        np.from_dlpack(x)
        x.__dlpack__()  # never taken
        x.__dlpack__(max_version=(1, 0))
        troupe.from_dlpack(np.ones(1000))

    watched = []
    for _ in range(100):
        exchange()
    x = troupe.ones(10)
    watched.append(weakref.ref(x))
    keeps = np.from_dlpack(x)
    del x
    gc.collect()
    assert watched[0]() is None  # the capsule holds the memory, not the object
    assert keeps.tolist() == [1] * 10


def resident_mib():
    pages = int(open("/proc/self/statm").read().split()[1])
    return pages * resource.getpagesize() / 2**20


def test_memory_comes_back_from_every_exchange():
    def exchange():
        x = troupe.from_dlpack(np.ones(1 << 20, "float32"))  # 4 MiB
        kept = [x.numpy(), np.from_dlpack(x), x.__dlpack__(), x.__dlpack__(max_version=(1, 0)), (x + 1).numpy(),
                x.astype("float64").numpy()]
        return kept[-1][0]

    for _ in range(5):
        exchange()
    gc.collect()
    before = resident_mib()
    for _ in range(100):
        exchange()
    gc.collect()
    assert resident_mib() - before < 100  # 100 rounds of 16 MiB each, if one of them were kept


def test_an_array_is_complete_before_it_goes_out():
    x = troupe.ones(1 << 20, dtype="float32")
    for _ in range(20):
        x = x + 1
    assert (np.from_dlpack(x) == 21).all()
