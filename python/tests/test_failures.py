"""What a caller is told when something fails, and what stays: exceptions, crashes, deaths of workers, the ends."""
import os
import pickle
import signal
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest
from conftest import same

import troupe

def test_there_is_a_class_for_each_kind():
    assert issubclass(troupe.OutOfMemory, MemoryError)
    assert issubclass(troupe.InvalidArgument, ValueError)
    assert issubclass(troupe.DeadlineExceeded, TimeoutError)
    assert issubclass(troupe.Unsupported, NotImplementedError)
    kinds = {kind for kind in troupe._errors.BY_KIND}
    assert len(kinds) == 20
    for kind, made in troupe._errors.BY_KIND.items():
        assert issubclass(made, troupe.Error) and made.kind == kind and getattr(troupe, made.__name__) is made


def test_errors_say_where_they_come_from():
    with pytest.raises(troupe.InvalidArgument) as caught:
        troupe.ones((2, 3)) @ troupe.ones((2, 3))
    assert str(caught.value) == "matmul: a and b are [2, 3] and [2, 3]; a has 3 columns and b 2 rows"
    again = pickle.loads(pickle.dumps(caught.value))
    assert type(again) is troupe.InvalidArgument and str(again) == str(caught.value)


def test_memory_that_is_not_there():
    with pytest.raises(MemoryError) as caught:
        troupe.empty(1 << 50)
    assert isinstance(caught.value, troupe.OutOfMemory)


def test_an_error_surfaces_at_the_next_look():
    x = troupe.linalg.solve(troupe.zeros((2, 2)), troupe.ones(2))  # returns at once
    y = x + 1
    with pytest.raises(troupe.NumericalError) as caught:
        x.numpy()
    assert caught.value.op == "solve"
    with pytest.raises(troupe.NumericalError):
        float(y[0])
    assert "content" in repr(y)


def test_strict_raises_at_once():
    with troupe.strict():
        with pytest.raises(troupe.NumericalError):
            troupe.linalg.solve(troupe.zeros((2, 2)), troupe.ones(2))
        same(troupe.ones(2) + 1, np.full(2, 2.0))


def test_arrays_outlive_their_worker(fresh_device):
    x = troupe.arange(1000, device=fresh_device)
    for generation in range(1, 4):
        assert fresh_device.generation == generation
        x.wait()
        os.kill(fresh_device.worker_pid, signal.SIGKILL)
        assert int((x + 1).sum()) == 500500
        while fresh_device.generation == generation:
            time.sleep(0.01)


def test_a_crash_costs_its_caller_one_error(fresh_device, plugin):
    x = troupe.ones(10, device=fresh_device)
    y = troupe.zeros(10, device=fresh_device)
    with pytest.raises(troupe.WorkerCrashed) as caught:
        troupe.call_plugin(plugin, "look_up", reads=[x], writes=[y]).get()
    assert "SIGSEGV" in str(caught.value)
    assert (caught.value.op, caught.value.device) == ("plugin.call look_up", 0)
    assert float(x.sum()) == 10
    with pytest.raises(troupe.WorkerCrashed):
        y.numpy()
    y[...] = 3
    assert float(y.sum()) == 30


def test_a_hang_ends_at_its_deadline(fresh_device, plugin):
    x = troupe.ones(10, device=fresh_device)
    with pytest.raises(TimeoutError) as caught:
        troupe.call_plugin(plugin, "hang", reads=[x]).deadline(0.2).get()
    assert isinstance(caught.value, troupe.DeadlineExceeded)
    assert float(x.sum()) == 10


def test_ctrl_c_ends_a_wait(fresh_device, plugin):
    x = troupe.ones(10, device=fresh_device)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # what runs in the background may ignore it
    timer = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        troupe.call_plugin(plugin, "hang", reads=[x]).deadline(20).get()
    timer.join()
    signal.signal(signal.SIGINT, before)


def test_waits_release_the_interpreter_lock(fresh_device, plugin):
    counted = []
    x = troupe.ones(10, device=fresh_device)
    done = threading.Event()

    def count():
        while not done.is_set():
            counted.append(1)
            time.sleep(0.005)

    thread = threading.Thread(target=count)
    thread.start()
    with pytest.raises(TimeoutError):
        troupe.call_plugin(plugin, "hang", updates=[x]).deadline(0.3).get()
    done.set()
    thread.join()
    assert len(counted) > 10


def test_systems_and_devices_end():
    with troupe.System(logs=False) as system:
        assert system.devices()[-1]["backend"] == "host"
        with system.device("host") as device:
            x = troupe.ones(3, device=device)
            assert x.device == device and x.device != troupe.device()
            assert float(x.sum()) == 3
        with pytest.raises(troupe.Stopped):
            (x + 1).numpy()
        with pytest.raises(troupe.InvalidArgument, match="no option"):
            system.device(colour="red")
        with pytest.raises(troupe.InvalidArgument):
            system.device("quantum")
    assert system.is_closed
    with pytest.raises(troupe.Stopped):
        system.device("host")
    system.close()


def test_two_systems_do_not_mix():
    with troupe.System(logs=False) as one, troupe.System(logs=False) as other:
        x = troupe.ones(3, device=one.device("host"))
        y = troupe.ones(3, device=other.device("host"))
        with pytest.raises(troupe.InvalidArgument, match="another device"):
            x + y
        assert float((x + y.to_device(x.device)).sum()) == 6


def run(program, **options):
    environment = dict(os.environ, TROUPE_DEVICE="host")
    return subprocess.run([sys.executable, "-c", textwrap.dedent(program)], env=environment, timeout=60,
                          capture_output=True, text=True, **options)


def test_the_interpreter_ends_quietly_with_ops_under_way():
    ended = run("""
        import troupe
        x = troupe.ones(1 << 20)
        for _ in range(50):
            x = x + 1
        keep = x.numpy
        """)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")


def test_a_fork_after_the_start_is_told_so():
    ended = run("""
        import os, troupe
        x = troupe.ones(3)
        x.wait()
        if os.fork() == 0:
            try:
                x + 1
            except troupe.Error as error:
                print(error.kind, flush=True)
            os._exit(0)
        os.wait()
        print(float((x + 1).sum()))
        """)
    assert ended.stdout.split() == ["stopped", "6.0"], ended


def test_workers_ignore_ctrl_c_of_the_terminal():
    ended = run("""
        import os, signal, time, troupe
        device = troupe.device()
        x = troupe.ones(3)
        x.wait()
        pid = device.worker_pid
        try:
            os.killpg(os.getpgid(0), signal.SIGINT)  # as the terminal does: to all of the group
            time.sleep(5)
        except KeyboardInterrupt:
            pass
        print(float((x + 1).sum()), device.worker_pid == pid, device.generation)
        """, start_new_session=True)
    assert ended.stdout.split() == ["6.0", "True", "1"], ended


def test_sub_interpreters_are_refused():
    ended = run("""
        try:
            import _interpreters as interpreters
        except ImportError:
            import _xxsubinterpreters as interpreters
        import sys
        made = interpreters.create()
        program = f"import sys; sys.path[:] = {sys.path!r}; import troupe"
        try:
            told = interpreters.run_string(made, program)
            print(told.type.__name__ if told else None, told.msg if told else None)
        except Exception as error:
            print(error)
        """)
    assert "interpreter" in ended.stdout and "None" not in ended.stdout, ended


def test_a_system_outlives_the_thread_that_started_it():
    ended = run("""
        import threading, troupe
        made = []
        thread = threading.Thread(target=lambda: made.append(troupe.ones(3)))
        thread.start()
        thread.join()
        print(float((made[0] + 1).sum()))
        """)
    assert ended.stdout == "6.0\n", ended


def test_many_threads_compute_at_once():
    results = []

    def work(seed):
        x = troupe.full(1000, seed)
        for _ in range(50):
            x = x + 1
        results.append(int(x.sum()) == 1000 * (seed + 50))

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [True] * 8
