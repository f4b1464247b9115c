"""Workers that are forked from a process with the imports done: who they are, and that they end as all others do."""
import os
import shutil
import signal
import subprocess
import sys
import time

import functions_here as here
import functions_late
import pytest

import troupe


def parent_of(pid):
    with open(f"/proc/{pid}/stat") as file:
        return int(file.read().rpartition(")")[2].split()[1])


def zygote_of(pid):
    """The process that has forked the worker; None of one that was spawned. Between them is its keeper."""
    found = parent_of(parent_of(pid))
    with open(f"/proc/{found}/cmdline", "rb") as file:
        return found if b"\0--fork\0" in file.read() else None


def until(condition, seconds=30):
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.01)
    return condition()


def is_gone(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


def zygotes():
    found = set()
    for name in filter(str.isdecimal, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/cmdline", "rb") as file:
                if b"\0--fork\0" in file.read() and parent_of(parent_of(name)) == os.getpid():
                    found.add(int(name))
        except OSError:
            pass  # it has ended
    return found


zygotes_of_others = set()  # those of devices that other tests have opened, and keep


def forked_standbys(device):
    found = []
    ours = zygotes() - zygotes_of_others
    for name in filter(str.isdecimal, os.listdir("/proc")):
        try:
            if zygote_of(int(name)) in ours and int(name) != device.worker_pid:
                found.append(int(name))
        except OSError:
            pass  # it has ended
    return found


def next_worker(device, is_forked=True):
    """The one that serves after the death of the one that serves."""
    assert not is_forked or until(lambda: forked_standbys(device))
    generation = device.generation
    assert device.kill_worker()
    assert until(lambda: device.generation > generation and device.worker_pid)
    return here.process.on(device)()


@pytest.fixture
def open_device(tmp_path, monkeypatch):
    monkeypatch.setenv("TEST_IMPORTS", str(tmp_path / "imports"))

    def open_it(**options):
        zygotes_of_others.update(zygotes())
        return system.device("host", python=True, max_restarts=10000, **{"environment": ["TEST_IMPORTS"], **options})
    with troupe.System(logs=False) as system:
        yield open_it


def test_standbys_are_forked_and_import_nothing_again(open_device, tmp_path):
    device = open_device()
    assert functions_late.process.on(device)() == device.worker_pid
    assert zygote_of(device.worker_pid) is None  # the first one could not wait
    forked = [next_worker(device) for _ in range(3)]
    zygotes = {zygote_of(device.worker_pid)}
    assert None not in zygotes and len(set(forked)) == 3
    assert functions_late.process.on(device)() == forked[-1]
    importers = {int(pid) for pid in (tmp_path / "imports").read_text().split()}
    assert not importers & set(forked) and zygotes <= importers


def test_forked_workers_do_not_draw_the_same_numbers(open_device):
    device = open_device()
    next_worker(device)
    drawn = []
    for _ in range(3):
        drawn.append(here.random_number.on(device)())
        next_worker(device)
    assert len(set(drawn)) == 3


def test_a_forked_worker_ends_as_others_do(open_device):
    device = open_device()
    next_worker(device)
    for how, word in (("exit", "exited with code 5"), ("segfault", "SIGSEGV")):
        assert until(lambda: forked_standbys(device))
        assert zygote_of(device.worker_pid)
        with pytest.raises(troupe.WorkerCrashed, match=word):
            here.die_by.on(device)(how)
        assert here.process.on(device)() == device.worker_pid


def test_what_a_forked_worker_leaves_behind_is_ended(open_device):
    device = open_device()
    worker = next_worker(device)
    left = here.leave_a_process.on(device)()
    assert not is_gone(left)
    keeper = parent_of(worker)
    next_worker(device)
    assert until(lambda: is_gone(left)) and until(lambda: is_gone(keeper))


def test_forked_workers_end_with_their_keeper(open_device):
    device = open_device()
    worker = next_worker(device)
    os.kill(parent_of(worker), signal.SIGKILL)
    assert until(lambda: is_gone(worker))
    assert here.process.on(device)() != worker


def test_when_the_zygote_dies_others_go_on_in_its_place(open_device):
    device = open_device()
    x = troupe.arange(4, device=device)
    first = zygote_of(next_worker(device))
    call = here.nap.call(0.5, x).submit()
    os.kill(first, signal.SIGKILL)
    assert call.get() == 0.0  # run again
    assert here.total(x) == 6
    second = zygote_of(next_worker(device))
    assert second not in (first, None)


def test_closing_the_device_ends_them_all(open_device):
    device = open_device()
    worker = next_worker(device)
    everybody = [worker, parent_of(worker), zygote_of(worker)]
    device.close()
    assert until(lambda: all(map(is_gone, everybody)))


def test_they_end_with_the_app(tmp_path):
    program = tmp_path / "app.py"
    program.write_text(f"""
import os, sys
sys.path.insert(0, {os.path.dirname(os.path.abspath(__file__))!r})
from test_functions_forked import here, next_worker, parent_of, zygote_of
import troupe
device = troupe.System(logs=False).device("host", python=True)
worker = next_worker(device)
print(worker, parent_of(worker), zygote_of(worker), flush=True)
os.kill(os.getpid(), 9)
""")
    said = subprocess.run([sys.executable, str(program)], capture_output=True, text=True).stdout
    everybody = [int(pid) for pid in said.split()]
    assert len(everybody) == 3 and until(lambda: all(map(is_gone, everybody)))


def test_an_import_that_leaves_threads_behind_makes_no_zygote(open_device, monkeypatch):
    import functions_threads
    monkeypatch.setenv("TEST_THREADS", "workers")
    device = open_device(environment=["TEST_THREADS"])
    assert "left-behind" in functions_threads.threads.on(device)()
    next_worker(device, is_forked=False)
    assert zygote_of(device.worker_pid) is None
    assert "left-behind" in functions_threads.threads.on(device)()


def test_in_a_strict_sandbox_workers_are_spawned(open_device):
    try:
        device = open_device(sandbox="strict", readable_paths=[os.path.dirname(os.path.abspath(__file__))])
    except troupe.Unsupported as error:
        pytest.skip(f"no strict sandbox here: {error}")
    next_worker(device, is_forked=False)
    assert zygote_of(device.worker_pid) is None


DRIVER = 'extern "C" int cuDeviceGetCount(int* count) { *count = 1; return ANSWER; }'


@pytest.mark.parametrize("answer, can", [(3, True), (0, False)])
def test_a_process_that_has_initialized_cuda_is_no_zygote(tmp_path, answer, can):
    compiler = shutil.which("g++")
    if compiler is None:
        pytest.skip("needs g++, to make a driver")
    (tmp_path / "driver.cpp").write_text(DRIVER)
    library = tmp_path / "libcuda.so.1"
    subprocess.run([compiler, "-shared", "-fPIC", f"-DANSWER={answer}", "-Wl,-soname,libcuda.so.1",
                    str(tmp_path / "driver.cpp"), "-o", str(library)], check=True)
    code = f"import ctypes; ctypes.CDLL({str(library)!r}); from troupe import _zygote; print(_zygote.why_not())"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert (said == "\n") is can and ("CUDA" in said) is not can
