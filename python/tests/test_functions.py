"""Python functions as ops: what they get, what comes back, in which order, and what is refused."""
import asyncio
import os
import shutil
import subprocess
import sys
import textwrap
import threading
import time

import functions_here as here
import numpy as np
import pytest
from conftest import ROOT, same

import troupe


@pytest.fixture(scope="module")
def device():
    """A device whose workers run functions, shared by tests that do not kill them."""
    with troupe.System(logs=False) as system:
        yield system.device("host", python=True)


def test_a_function_writes_into_the_array_that_it_is_given(device):
    x, y = troupe.arange(5, device=device), troupe.ones(5, dtype="int64", device=device)
    out = troupe.empty(5, dtype="int64", device=device)
    assert here.add(x, y, out) is None
    same(out, np.arange(5) + 1)


def test_arrays_are_views_of_the_vaults_memory(device):
    x = troupe.zeros((2, 3), dtype="float32", device=device)
    assert here.flags_of.on(device)(x.T) == (False, False, (4, 12), "float32")
    here.grow(x.T[1:], by=2)
    same(x, np.array([[0, 2, 2], [0, 2, 2]], dtype="float32"))


def test_what_is_only_read_cannot_be_written(device):
    x = troupe.ones(3, device=device)
    with pytest.raises(ValueError, match="read-only"):
        here.write_to(x)
    same(x, np.ones(3))


def test_values_come_back_as_they_were(device):
    values = (None, True, 3, -1.5, "ä\n", b"\0\xff", [1, [2]], (1, (2,)), {"a": {1: (None,)}}, 2 + 3j, float("inf"), {})
    assert here.echo.on(device)(*values, key=values) == (values, {"key": values})
    back = here.echo.on(device)(float("nan"))[0][0]
    assert back != back


def test_numbers_of_numpy_come_back_as_pythons(device):
    assert here.give.on(device)("int") == 4 and here.give.on(device)("float") == 0.5


def test_parameters_may_be_of_any_kind(device):
    call = here.only_by_position.on(device)
    assert call(1) == (1, (), 3)
    assert call(1, 2, 3, key=4) == (1, (2, 3), 4)
    with pytest.raises(TypeError):
        call()


def test_arrays_may_be_inside_of_lists_and_dicts(device):
    code = troupe.op(lambda nest: float(nest["a"][0].sum() + nest["b"].sum()))
    x = troupe.ones(3, device=device)
    assert code({"a": [x], "b": x}) == 6


@pytest.mark.parametrize("count", [10, 100_000])
def test_arguments_may_be_large(device, count):
    assert here.echo.on(device)(list(range(count // 100)), "x" * count)[0][1] == "x" * count if count < 1000 else \
        troupe.op(len).on(device)("x" * count) == count


def test_arguments_have_a_limit(device):
    with pytest.raises(troupe.InvalidArgument, match="the most is"):
        here.echo.on(device)("x" * (17 << 20))


def test_what_cannot_travel_is_named(device):
    with pytest.raises(troupe.InvalidArgument, match="by cannot go to the worker"):
        here.grow(troupe.ones(2, device=device), threading.Lock())


@pytest.mark.parametrize("what, why", [("object", "builtins.object"), ("set", "builtins.set"),
                                       ("huge", "takes 100002 bytes")])
def test_what_cannot_come_back_is_said(device, what, why):
    with pytest.raises(TypeError, match=why):
        here.give.on(device)(what)


@troupe.op
def halves(x):
    return {"low": x[x < 2], "rest": (x[x >= 2].astype("float32"), [np.zeros((0, 3)), np.arange(6).reshape(2, 3).T])}


def test_arrays_of_any_shape_come_back_as_arrays(device):
    x = troupe.arange(5, device=device)
    made = halves(x)
    same(made["low"], np.arange(2))
    same(made["rest"][0], np.array([2, 3, 4], dtype="float32"))
    same(made["rest"][1][0], np.zeros((0, 3)))
    same(made["rest"][1][1], np.arange(6).reshape(2, 3).T)
    assert made["low"].device == device and float((made["rest"][0] + 1).sum()) == 12

    async def main():
        return await halves.async_(x)
    same(asyncio.run(main())["low"], np.arange(2))


def test_a_function_returns_some_arrays_only(device):
    with pytest.raises(TypeError, match="more than 15 arrays"):
        troupe.op(lambda: [np.zeros(1)] * 16).on(device)()


def test_an_array_that_there_is_no_room_for(device):
    with pytest.raises(troupe.OutOfMemory, match="an array that it returns"):
        troupe.op(lambda: np.broadcast_to(np.zeros(1, "u1"), (1 << 50,))).on(device)()


def test_functions_may_be_arguments(device):
    apply = troupe.op(lambda f, *rest: f(*rest)).on(device)
    assert apply(lambda a: a + 1, 2) == 3
    assert apply(here.echo, 5) == ((5,), {})


def test_debug_mode_finds_writes_to_what_is_only_read(device):
    @troupe.op(debug=True, writes="out")
    def careless(x, y, out):
        here.ctypes.memset(y.ctypes.data, 0xff, 4)
        out[...] = x
    x, y, out = (troupe.arange(4, dtype="int32", device=device) for _ in range(3))
    with pytest.raises(ValueError, match="was written, and is not named"):
        careless(x, y, out)
    same(y, np.arange(4, dtype="int32"))
    clean = troupe.op(lambda x, y: int(x.sum() + y.sum()), debug=True)
    assert clean(x, y) == 12


def test_calls_keep_their_order(device):
    x = troupe.zeros(1, device=device)
    calls = [here.grow.call(x, i).submit() for i in range(50)]
    x += 1
    assert float(x[0]) == sum(range(50)) + 1
    for call in calls:
        assert call.get() is None


def test_a_call_is_submitted_once(device):
    call = here.grow.call(troupe.zeros(1, device=device)).submit()
    assert call.get() is None and call.get() is None and call.done
    with pytest.raises(troupe.InvalidArgument, match="submitted once"):
        call.submit()


def test_functions_are_awaited(device):
    async def main():
        x = troupe.ones(4, device=device)
        assert await here.total.async_(x) == 4
        totals = await asyncio.gather(*(here.total.async_(x * i) for i in range(20)))
        with pytest.raises(KeyError):
            await here.fail_as.on(device).async_("key")
        return totals
    assert asyncio.run(main()) == [4.0 * i for i in range(20)]


def test_functions_call_each_other_as_functions(device):
    assert here.call_another(troupe.ones(3, device=device)) == 4


def test_other_ops_go_on_while_functions_hold_the_interpreter_lock(device):
    x = troupe.ones(10, device=device)
    held = [here.hold_the_lock.on(device).call(300).submit() for _ in range(8)]  # more than there are lanes for them
    for _ in range(20):
        assert float((x + 1).sum()) == 20
    assert not held[-1].done
    for call in held:
        call.get()


# ---- which function it is ----

def test_lambdas_and_closures_go_by_value(device):
    offset = 5
    assert troupe.op(lambda x: float(x.sum()) + offset)(troupe.ones(2, device=device)) == 7

    @troupe.op
    def local(n):
        return here.LIBC is not None and n * offset
    assert local.on(device)(3) == 15


def test_code_that_drags_in_much_is_named(device):
    ballast = np.zeros(300_000)

    @troupe.op
    def heavy(n):
        return n + ballast.size
    with pytest.warns(UserWarning, match="'ballast'"):
        assert heavy.on(device)(1) == 300_001


def test_code_that_cannot_travel_is_named(device):
    lock = threading.Lock()
    with pytest.raises(troupe.InvalidArgument, match="'lock'"):
        troupe.op(lambda: lock).on(device)()


def test_an_array_in_a_closure_is_refused(device):
    x = troupe.ones(3, device=device)
    with pytest.raises(troupe.InvalidArgument, match="'x'.*Pass it as an argument"):
        troupe.op(lambda: x).on(device)()


def test_the_worker_has_the_apps_path_and_directory(device):
    about = here.about.on(device)()
    assert about["path"] == sys.path and about["directory"] == os.getcwd()
    assert about["executable"] == sys.executable and about["main"].endswith("_worker.py")


def test_the_worker_has_the_variables_that_are_named(monkeypatch):
    monkeypatch.setenv("TEST_NAMED", "yes")
    monkeypatch.setenv("TEST_SECRET", "no")
    with troupe.System(logs=False) as system:
        about = here.about.on(system.device("host", python=True, environment=["TEST_NAMED"]))()
    assert (about["named"], about["secret"]) == ("yes", None)


def run(program, folder, **files):
    for name, text in {"program": program, **files}.items():
        (folder / f"{name}.py").write_text(textwrap.dedent(text))
    environment = dict(os.environ, TROUPE_DEVICE="host", PYTHONDONTWRITEBYTECODE="1")
    ended = subprocess.run([sys.executable, "program.py"], cwd=folder, env=environment, timeout=120, text=True,
                           capture_output=True)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


def test_the_users_main_is_not_imported_in_a_worker(tmp_path):
    printed = run("""
        import troupe
        print("once")
        factor = 3
        @troupe.op
        def times(x):
            return float(x.sum()) * factor
        print(times(troupe.ones(2)))
        """, tmp_path)
    assert printed.split() == ["once", "6.0"]


IN_WORKER = 'import sys\nif sys.argv[0] == "troupe-worker":\n    raise ImportError("not here")\n'


def test_a_module_that_cannot_be_imported_is_final(tmp_path):
    printed = run("""
        import troupe, missing
        device = troupe.device()
        for _ in range(2):
            try:
                missing.f()
            except troupe.InvalidArgument as error:
                print(error)
        print(device.generation, device.stats()["reruns"])
        """, tmp_path, missing=IN_WORKER + "import troupe\n@troupe.op\ndef f():\n    pass\n")
    first, second, last = printed.splitlines()
    assert first == second and "cannot import the module missing: ImportError: not here" in first
    assert last == "1 0"


def test_a_change_on_disk_is_refused(tmp_path):
    printed = run("""
        import pathlib, time, troupe, changing
        device = troupe.device()
        pathlib.Path("changing.py").write_text(pathlib.Path("changing.py").read_text() + "# another one")
        try:
            changing.f()
        except troupe.InvalidArgument as error:
            print(error)
        """, tmp_path, changing="import troupe\n@troupe.op\ndef f():\n    return 1\n")
    assert "changing.py has changed since the app imported it" in printed


# ---- trials ----

def test_a_trial_tells_how_each_candidate_did():
    ways = {"right": lambda x: float(x.sum()), "raises": lambda x: 1 / 0, "crashes": lambda x: here.ctypes.string_at(0),
            "hangs": lambda x: here.below("loop"), "spoils": here.write_to.function, "last": lambda x: float(x.max())}
    with troupe.System(logs=False) as system:
        device = system.device("host", python=True, max_restarts=1000)
        x = troupe.arange(4, device=device)
        tried = list(troupe.trial(lambda way, x: way(x), ways.values(), x, deadline=4))
    assert [one.candidate for one in tried] == list(ways.values())
    assert [type(one.error).__name__ for one in tried] == ["NoneType", "ZeroDivisionError", "WorkerCrashed",
                                                           "DeadlineExceeded", "ValueError", "NoneType"]
    assert (tried[0].value, tried[-1].value) == (6, 3) and tried[0].ok and 0 <= tried[0].seconds < 4


# ---- what is refused ----

def test_a_device_without_python_workers_says_so():
    with troupe.System(logs=False) as system:
        with pytest.raises(troupe.Unsupported, match="python=True"):
            here.total(troupe.ones(2, device=system.device("host", python=False)))


def test_arrays_of_two_devices_do_not_mix(device):
    with troupe.System(logs=False) as system:
        other = troupe.ones(2, device=system.device("host", python=True))
        with pytest.raises(troupe.InvalidArgument, match="y is an array of another device than x"):
            here.add(troupe.ones(2, device=device), other, troupe.empty(2, device=device))


@pytest.mark.parametrize("wrong", [dict(deadline=0), dict(deadline=-1), dict(writes=["nothing"]), dict(updates="z"),
                                   dict(arrays="jax")])
def test_declarations_are_checked_at_once(wrong):
    with pytest.raises(troupe.InvalidArgument):
        troupe.op(lambda x: None, **wrong)


def test_only_functions_become_ops():
    with pytest.raises(troupe.InvalidArgument):
        troupe.op(3)


def test_arrays_that_overlap_are_refused(device):
    x = troupe.ones(4, device=device)
    with pytest.raises(troupe.InvalidArgument):
        here.add(x[:2], x[1:3], x[1:3])


def test_a_call_has_room_for_some_arrays_only(device):
    with pytest.raises(troupe.InvalidArgument, match="there are 16 arrays; a function takes at most 15"):
        here.echo(*(troupe.ones(1, device=device) for _ in range(16)))


def test_a_function_opens_no_device(device):
    with pytest.raises(troupe.Unsupported, match="a worker has none"):
        here.open_a_device.on(device)()


def test_a_closed_device_says_so():
    with troupe.System(logs=False) as system:
        x = troupe.ones(2, device=system.device("host", python=True))
        x.wait()
    with pytest.raises(troupe.Stopped):
        here.total(x)


def test_a_worker_that_cannot_start_says_why(tmp_path):
    with troupe.System(logs=False) as system:
        with pytest.raises(troupe.Error):
            system.device("host", python=str(tmp_path / "no-python"))
    assert ROOT.exists()


@pytest.mark.skipif(not (shutil.which("g++") or shutil.which("clang++")), reason="needs a compiler, for kernels")
def test_a_device_with_python_workers_compiles_kernels(device):
    program = troupe.jit.compile("__global__ void twice(float* x) { x[threadIdx.x] *= 2; }", device=device)
    x = troupe.ones(4, dtype="float32", device=device)
    program["twice"](troupe.jit.updates(x), blocks=1, threads=4)
    assert x.numpy().tolist() == [2, 2, 2, 2]
