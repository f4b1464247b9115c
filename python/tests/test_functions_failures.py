"""What becomes of a function that fails, crashes, hangs or ends its process; of its caller, and of everybody else."""
import gc
import os
import signal
import threading
import time

import functions_here as here
import numpy as np
import pytest
from conftest import same

import troupe
from troupe import _failures, _ops, _travel


@pytest.fixture(scope="module")
def device():
    with troupe.System(logs=False) as system:
        yield system.device("host", python=True, standbys=1, max_restarts=10000)


# ---- exceptions ----

@pytest.mark.parametrize("kind, expected, args", [
    ("key", KeyError, ("no such key",)),
    ("os", FileNotFoundError, (2, "No such file or directory")),
    ("special", here.Special, (4, "my own")),
    ("unicode", UnicodeDecodeError, None),
    ("deep", RecursionError, None),
    ("memory", MemoryError, None),
])
def test_an_exception_comes_back_as_itself(device, kind, expected, args):
    pid = here.process.on(device)()
    with pytest.raises(expected) as caught:
        here.fail_as.on(device)(kind)
    assert type(caught.value) is expected
    assert args is None or caught.value.args == args
    trace = str(caught.value.__cause__)
    assert "functions_here.py" in trace and "in fail_as" in trace and "_running.py" not in trace
    assert here.process.on(device)() == pid


@pytest.mark.parametrize("kind, name", [("local", "Local: only there"), ("exit", "SystemExit: 3"),
                                        ("interrupt", "KeyboardInterrupt")])
def test_an_exception_that_the_app_does_not_have_is_named(device, kind, name):
    with pytest.raises(troupe.LibraryError, match=name):
        here.fail_as.on(device)(kind)


def test_no_constructor_runs_in_the_app(device):
    with pytest.raises(here.Awkward):
        here.fail_as.on(device)("awkward")


def test_what_a_failed_function_was_writing_is_unknown(device):
    out, other = troupe.zeros(2, device=device), troupe.ones(2, device=device)
    with pytest.raises(KeyError):
        here.fail_as("key", out)
    with pytest.raises(troupe.Error):
        out.numpy()
    assert float(other.sum()) == 2
    out[...] = 3
    same(out, np.full(2, 3.0))


NONSENSE = ["", "[", "{}", "3", '{"module": 1}', '{"tuple": 3}', '{"a": 1, "b": 2}', "[" * 100_000,
            '{"module": "builtins", "name": "exec", "message": "", "args": ["raise SystemExit"], "traceback": ""}',
            '{"array": [0, 99, [1]]}', '{"array": [0, 1, [-1]]}', '{"array": [1, 1, [1]]}', '{"array": 3}',
            '{"module": "os", "name": "system", "message": "", "args": ["true"], "traceback": ""}',
            '{"module": "builtins", "name": "SystemExit", "message": "", "args": [0], "traceback": ""}']


@pytest.mark.parametrize("text", NONSENSE)
@pytest.mark.parametrize("state", range(4))
def test_a_worker_that_answers_nonsense_gets_nothing_executed(state, text):
    for error in (None, troupe.LibraryError("x"), troupe.InvalidArgument("x"), troupe.WorkerCrashed("x")):
        value, _, raised = _failures.end_of("f", error, state, text, "\x1b[31m", lambda *_: None)
        assert raised is None or isinstance(raised, troupe.Error)
        assert raised is None or "\x1b" not in str(raised)


def test_a_box_with_impossible_numbers_says_nothing():
    box = bytearray(b"\xff" * _travel.BOX_BYTES)
    state, answer, stack = _travel.read_box(box)
    assert (state, answer) == (_travel.NOTHING, "") and len(stack) < _travel.STACK_END


# ---- deaths ----

DEATHS = {"segfault": (troupe.WorkerCrashed, "SIGSEGV"), "abort": (troupe.WorkerCrashed, "SIGABRT"),
          "exit": (troupe.WorkerCrashed, "exit"), "loop": (troupe.DeadlineExceeded, "deadline"),
          "loop in C": (troupe.DeadlineExceeded, "deadline"),
          "loop in C with the lock": (troupe.DeadlineExceeded, "deadline"),
          "sleep": (troupe.DeadlineExceeded, "deadline")}


@pytest.mark.parametrize("kind", DEATHS)
def test_a_death_costs_its_caller_one_error_with_the_python_stack(device, kind):
    x, out = troupe.arange(4, device=device), troupe.zeros(2, device=device)
    expected, word = DEATHS[kind]
    with pytest.raises(expected, match=word) as caught:
        here.die_by.call(kind, out).deadline(0.4).get()
    assert caught.value.op == "functions_here.die_by"
    stack = caught.value.python_stack
    assert "in below" in stack and "in die_by" in stack and "functions_here.py" in stack
    assert "in below" in str(caught.value)
    assert here.total(x) == 6  # by the standby
    with pytest.raises(troupe.Error):
        out.numpy()


def test_a_call_does_not_wait_for_the_one_that_has_killed_the_worker_before(device):
    """Its caller is told before the worker is gone, and until then the call holds what it writes, its box too."""
    call = here.die_by.on(device).call("loop").deadline(0.3).submit()
    box = call._box
    with pytest.raises(troupe.DeadlineExceeded):
        call.get()
    assert all(idle is not box for idle in _ops._boxes._idle.get(device._core.identity, []))


def test_a_kill_from_outside_costs_nobody_anything(device):
    x = troupe.ones(3, device=device)
    naps = [here.nap.call(0.3, x).submit() for _ in range(3)]
    time.sleep(0.1)
    os.kill(device.worker_pid, signal.SIGKILL)
    assert [nap.get() for nap in naps] == [1.0] * 3


def test_a_function_that_updates_is_not_run_again(device):
    x = troupe.zeros(1, device=device)
    slow = troupe.op(lambda x: here.time.sleep(0.5) or x.__iadd__(1), updates="x")
    call = slow.call(x).submit()
    time.sleep(0.2)
    os.kill(device.worker_pid, signal.SIGKILL)
    with pytest.raises(troupe.WorkerCrashed):
        call.get()


def test_a_function_that_only_reads_is_run_again(device, tmp_path):
    assert here.die_first_time(str(tmp_path / "been"), troupe.ones(3, device=device)) == 3


def test_a_fork_inside_ends_by_itself(device):
    assert here.fork.on(device)() == "parent"
    assert here.total(troupe.ones(2, device=device)) == 2


def test_a_thread_left_behind_harms_nobody(device):
    here.leave_a_thread.on(device)()
    assert here.total(troupe.ones(2, device=device)) == 2


def test_memory_that_a_function_takes_is_limited():
    with troupe.System(logs=False) as system:
        small = system.device("host", python=True, worker_memory_limit_bytes=2 << 30)
        with pytest.raises(MemoryError):
            troupe.op(lambda: len(bytearray(3 << 30))).on(small)()
        assert here.total(troupe.ones(2, device=small)) == 2


def test_no_call_is_lost_while_workers_die(device):
    """Each call ends exactly once, with the right value."""
    x = troupe.arange(100, device=device)
    begun, ended, stop = [0] * 4, [[] for _ in range(4)], threading.Event()

    def work(seed):
        while not stop.is_set():
            y = x * seed
            begun[seed] += 1
            ended[seed].append(here.total(y))
            time.sleep(0.01)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for _ in range(8):
        generation, done = device.generation, len(ended[0])
        device.kill_worker()
        until = time.monotonic() + 60
        while (device.generation == generation or len(ended[0]) < done + 2) and time.monotonic() < until:
            time.sleep(0.01)
    stop.set()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()
    for seed in range(4):
        assert len(ended[seed]) == begun[seed] and set(ended[seed]) == {4950.0 * seed}


def test_generations_leave_nothing_behind():
    """`TROUPE_GENERATIONS=200` for as many as that."""
    wanted = int(os.environ.get("TROUPE_GENERATIONS", 8))
    with troupe.System(logs=False) as system:
        device = system.device("host", python=True, standbys=1, max_restarts=100_000)
        x = troupe.ones(8, device=device)

        def die():
            before = device.generation
            with pytest.raises(troupe.WorkerCrashed):
                here.die_by.on(device)("exit")
            assert here.total(x) == 8 and device.generation > before

        for _ in range(4):
            die()
        gc.collect()
        descriptors, threads = len(os.listdir("/proc/self/fd")), threading.active_count()
        for _ in range(wanted):
            die()
        until = time.monotonic() + 20
        while len(os.listdir("/proc/self/fd")) > descriptors and time.monotonic() < until:
            time.sleep(0.1)  # the last one is being reaped, and a standby made
        assert len(os.listdir("/proc/self/fd")) <= descriptors
        assert threading.active_count() == threads
