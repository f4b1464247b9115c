"""Resources and weights: made once per worker and ahead of time, sealed, and there again after each death."""
import json
import os
import signal
import time

import functions_here as here
import numpy as np
import pytest

import troupe


@pytest.fixture
def log(tmp_path):
    return tmp_path / "log"


@pytest.fixture
def logged(log, monkeypatch):
    """A device whose workers log which process has made a resource."""
    monkeypatch.setenv("TEST_LOG", str(log))
    with troupe.System(logs=False) as system:
        yield system.device("host", python=True, environment=["TEST_LOG"])


@pytest.fixture(scope="module")
def device():
    with troupe.System(logs=False) as system:
        yield system.device("host", python=True, max_restarts=10000)


def makers(log, count):
    """The workers that have made it, once there are so many."""
    until = time.monotonic() + 30
    while True:
        made = [pid for pid in log.read_text().split() if int(pid) != os.getpid()] if log.exists() else []
        if len(made) >= count or time.monotonic() > until:
            return made
        time.sleep(0.02)


def test_a_resource_is_made_once_per_worker_and_ahead_of_time(logged, log):
    made = here.squares.on(logged)(10)
    assert [here.pick.on(logged)(made, i)[0] for i in range(5)] == [0, 1, 4, 9, 16]
    serving = logged.worker_pid
    processes = makers(log, 2)  # the standby has it, too, and no call was there
    assert len(processes) == 2 == len(set(processes)) and str(serving) in processes
    os.kill(serving, signal.SIGKILL)
    value, pid = here.pick.on(logged)(made, 3)
    assert value == 9 and str(pid) in processes and pid != serving
    assert len(makers(log, 3)) == 3  # and so has the next one


def test_a_standby_has_the_module_of_a_function_before_its_first_call(log, tmp_path, monkeypatch):
    monkeypatch.setenv("TEST_LOG", str(log))
    # One that nobody knew when the device was opened: zygotes import those that are known.
    (tmp_path / "functions_once.py").write_text("""
import os
import troupe

print(os.getpid(), file=open(os.environ["TEST_LOG"], "a"), flush=True)

@troupe.op
def process():
    return os.getpid()
""")
    monkeypatch.syspath_prepend(str(tmp_path))
    with troupe.System(logs=False) as system:
        device = system.device("host", python=True, environment=["TEST_LOG"])
        import functions_once
        assert functions_once.process.on(device)() == device.worker_pid
        processes = makers(log, 2)  # the worker, and the standby, in which nothing was called
        assert len(set(processes)) == 2
        device.kill_worker()
        assert str(functions_once.process.on(device)()) in processes


def test_a_standby_has_a_function_without_a_module_before_its_first_call(logged, log):
    class Noted:
        def __reduce__(self):
            return exec, ("import os; print(os.getpid(), file=open(os.environ['TEST_LOG'], 'a'), flush=True)",)
    noted = Noted()
    assert troupe.op(lambda: noted is None).on(logged)()
    processes = makers(log, 2)
    assert len(set(processes)) == 2 and str(logged.worker_pid) in processes


def test_what_cannot_be_made_says_so_when_it_is_defined(device):
    with pytest.raises(LookupError, match="cannot be made") as caught:
        here.cannot_be_made(troupe.ones(1, device=device))
    assert "in cannot_be_made" in str(caught.value.__cause__)


def test_a_resource_is_warm_before_its_first_use(device):
    made = here.warmed(troupe.arange(3, device=device))
    assert here.pick.on(device)(made, -1)[0] == -1


def test_a_resource_keeps_what_its_arguments_were(device):
    x = troupe.arange(3, device=device)
    made = here.warmed(x)
    x[...] = 9
    device.kill_worker()
    take = troupe.op(lambda made, i: int(made[i])).on(device)
    assert [take(made, i) for i in range(3)] == [0, 1, 2]


def test_a_resource_goes_when_nobody_refers_to_it(device):
    is_there = troupe.op(lambda key: key in __import__("troupe")._running.CALLS._resources).on(device)
    made = here.squares.on(device)(3)
    key = made._key
    assert is_there(key)
    del made
    until = time.monotonic() + 20
    while is_there(key) and time.monotonic() < until:
        time.sleep(0.02)
    assert not is_there(key)


def test_resources_of_a_closed_device():
    with troupe.System(logs=False) as system:
        made = here.squares.on(device := system.device("host", python=True))(3)
        device.close()
        with pytest.raises(troupe.Error):
            here.pick.on(device)(made, 1)
        with pytest.raises(troupe.Error):
            here.squares.on(device)(3)


# ---- weights ----

def write_safetensors(path, tensors, **metadata):
    names = {np.dtype("f4"): "F32", np.dtype("i8"): "I64", np.dtype("u1"): "U8", np.dtype("?"): "BOOL"}
    header, body = {"__metadata__": metadata} if metadata else {}, b""
    for name, tensor in tensors.items():
        raw = tensor.tobytes()
        header[name] = {"dtype": names[tensor.dtype], "shape": tensor.shape,
                        "data_offsets": [len(body), len(body) + len(raw)]}
        body += raw
    text = json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + body)
    return path


TENSORS = {"a": np.arange(6, dtype="f4").reshape(2, 3), "b.c": np.arange(3, dtype="i8"), "none": np.zeros((0, 4), "f4"),
           "one": np.array(7, dtype="u1"), "mask": np.array([True, False])}


def test_safetensors_are_loaded(device, tmp_path):
    weights = troupe.load(device, write_safetensors(tmp_path / "m.safetensors", TENSORS, format="pt"))
    assert set(weights) == set(TENSORS) and weights["a"] == ("f32", (2, 3))
    for name, tensor in TENSORS.items():
        assert weights.numpy(name).dtype == tensor.dtype
        np.testing.assert_array_equal(weights.numpy(name), tensor)
    assert here.sum_of(weights, "a") == (15.0, False)


def test_several_files_make_one(device, tmp_path):
    one = write_safetensors(tmp_path / "1", {"a": TENSORS["a"]})
    other = write_safetensors(tmp_path / "2", {"b": TENSORS["b.c"]})
    assert set(troupe.load(device, [one, other])) == {"a", "b"}
    with pytest.raises(troupe.InvalidArgument, match="'a' is there twice"):
        troupe.load(device, [one, one])


def test_tensors_larger_than_a_piece(device):
    large = np.random.default_rng(1).integers(0, 255, (5, 7 << 20), dtype="u1")
    weights = troupe.load(device, {"small": np.ones(3), "large": large, "last": np.full(2, 4.0)})
    np.testing.assert_array_equal(weights.numpy("large"), large)
    assert here.sum_of(weights, "last")[0] == 8 and here.sum_of(weights, "small")[0] == 3


HEADERS = [b"", b"{", b'{"a": 3}', b'{"a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 4]}}',
           b'{"a": {"dtype": "F32", "shape": [1], "data_offsets": [4, 8]}}',
           b'{"a": {"dtype": "F32", "shape": [-1], "data_offsets": [4, 0]}}',
           b'{"a": {"dtype": "F99", "shape": [1], "data_offsets": [0, 4]}}', b"[" * 50_000]


@pytest.mark.parametrize("header", HEADERS)
def test_files_that_are_wrong(device, tmp_path, header):
    path = tmp_path / "wrong"
    path.write_bytes(len(header).to_bytes(8, "little") + header + b"1234")
    with pytest.raises(troupe.InvalidArgument, match="wrong"):
        troupe.load(device, path)


def test_files_that_are_nothing(device, tmp_path):
    (tmp_path / "text").write_text("hello, world")
    for path in ("text", "nowhere"):
        with pytest.raises(troupe.InvalidArgument, match=path):
            troupe.load(device, tmp_path / path)
    with pytest.raises(troupe.InvalidArgument, match="no tensors"):
        troupe.load(device, {})
    with pytest.raises(troupe.InvalidArgument, match="a: "):
        troupe.load(device, {"a": np.array(["text"])})


def test_weights_are_sealed(device):
    weights = troupe.load(device, TENSORS)
    with pytest.raises(troupe.WorkerCrashed, match="SIGSEGV") as caught:
        here.poke(weights, "a")
    assert "in poke" in caught.value.python_stack
    np.testing.assert_array_equal(weights.numpy("a"), TENSORS["a"])


def test_resources_are_made_of_weights(device):
    made = here.of_weights(troupe.load(device, TENSORS), scale=2)
    assert here.pick.on(device)(made, "a")[0] == 30
    device.kill_worker()
    assert here.pick.on(device)(made, "b.c")[0] == 6


def test_weights_may_be_inside_of_a_list(device):
    assert troupe.op(lambda nest: float(nest[0]["a"].sum()))([troupe.load(device, TENSORS)]) == 15
