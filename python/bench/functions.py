"""Prints what a Python function as an op costs, and how soon after a failure the next call is answered, beside a
process that is started again and loads its weights.

    python python/bench/functions.py [--device cuda] [--gib 8] [--failures 5]

With PyTorch the functions are PyTorch's, elsewhere NumPy's.
"""
import argparse
import ctypes
import os
import statistics
import subprocess
import sys
import tempfile
import time

os.environ.setdefault("TROUPE_DEVICE", "host")
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import numpy as np

import bench_functions as functions
import troupe

SIDE = 4096
PIECE_BYTES = SIDE * SIDE * 2
STANDBYS = 1
PF_EXITING = 4


def line(name, value, unit="us", beside=""):
    print(f"{name:58} {value:12.1f} {unit:5} {beside}", flush=True)


def quantile(values, q):
    return sorted(values)[min(len(values) - 1, int(q * len(values)))]


def small(device):
    nothing = functions.nothing.on(device)
    nothing()
    times = []
    for _ in range(1000):
        began = time.perf_counter()
        nothing()
        times.append((time.perf_counter() - began) * 1e6)
    line("a function that does nothing, there and back: p50", quantile(times, 0.5))
    line("  p99", quantile(times, 0.99))
    for _ in range(2):
        began = time.perf_counter()
        calls = [nothing.call().submit() for _ in range(1000)]
        for call in calls:
            call.get()
        took = time.perf_counter() - began
    line("1000 of them pipelined", 1000 / took, "per s")


def others(device):
    """Ops of C++ while a function holds the interpreter lock."""
    x = troupe.ones(1000, device=device)

    def sample(seconds):
        times, end = [], time.perf_counter() + seconds
        while time.perf_counter() < end:
            began = time.perf_counter()
            (x + 1).wait()
            times.append((time.perf_counter() - began) * 1e6)
        return quantile(times, 0.99), len(times)
    sample(0.2)
    alone, _ = sample(2)
    held = [functions.hold_the_lock.on(device).call(100).submit() for _ in range(20)]
    beside, count = sample(1.5)
    for call in held:
        call.get()
    line("x + 1 of another caller: p99", alone)
    line("  while functions hold the interpreter lock, 100 ms each", beside, "us",
         f"{beside / alone:.2f} times, {count} ops")


def made_weights(gib):
    pieces = max(1, round(gib * (1 << 30) / PIECE_BYTES))
    rng = np.random.default_rng(1)
    piece = rng.integers(0x3800, 0x3C00, (SIDE, SIDE), dtype=np.int16)  # small positive numbers of bfloat16
    return {f"w{i}": piece for i in range(pieces)}


def failures(device, gib, count):
    began = time.perf_counter()
    weights = troupe.load(device, made_weights(gib))
    line(f"{weights.nbytes / 2**30:.1f} GiB of weights loaded and sealed", (time.perf_counter() - began) * 1e3, "ms")
    net = functions.model(weights)
    right = functions.infer(net, 3)[0]

    def infer():
        """Milliseconds until it began, until it ended, and until its answer was here."""
        at = time.perf_counter()
        value, began, ended = functions.infer(net, 3)
        assert value == right
        return (began - at) * 1e3, (ended - at) * 1e3, (time.perf_counter() - at) * 1e3

    line("an inference", statistics.median(infer()[2] for _ in range(20)), "ms")
    began = time.perf_counter()
    value, _, _ = functions.infer(net, 5)
    line("  the first of another kind", (time.perf_counter() - began) * 1e3, "ms")
    on_gpu = ["assert", "illegal address"] if device.backend == "cuda" else []
    kinds = [*on_gpu, "hang", "segfault", "exit"]
    standby_after = []
    for kind in (*kinds, "kill -9"):
        known, answered = [], []
        for _ in range(count):
            standby_after.append(wait_for_standbys(device) * 1e3)
            began = time.perf_counter()
            if kind == "kill -9":
                device.kill_worker()
            else:
                try:
                    functions.fail_by.on(device).call(kind).deadline(0.3).get()
                    raise SystemExit(f"{kind} did not fail")
                except troupe.Error as error:
                    expected = (troupe.DeadlineExceeded,) if kind == "hang" else (troupe.WorkerCrashed,
                                                                                 troupe.ContextPoisoned)
                    assert isinstance(error, expected), error
            known.append((time.perf_counter() - began) * 1e3)
            answered.append(infer())
        line(f"{kind}: the caller knows", statistics.median(known), "ms")
        began, ended, here = (statistics.median(times) for times in zip(*answered))
        line("  the next answer after that, by the standby", here, "ms",
             f"begun after {began:.1f}, ended after {ended:.1f}; worst {max(times[2] for times in answered):.1f}")
    line("a standby is there again after", statistics.median(standby_after[1:]), "ms",
         "imports, a context, the model made and warm")
    assert all((weights.numpy(name) == np.frombuffer(weights.numpy("w0"), "i2").reshape(SIDE, SIDE)).all()
               for name in list(weights)[-1:])
    cold = []
    for _ in range(3):
        began = time.perf_counter()
        subprocess.run([sys.executable, os.path.join(os.path.dirname(os.path.abspath(__file__)), "bench_functions.py"),
                        device.backend, str(len(weights))], check=True)
        cold.append((time.perf_counter() - began) * 1e3)
    line("a process started again, to its first answer", statistics.median(cold), "ms",
         "weights from memory, not a disk")


def is_alive(pid):
    """Not one whose memory a driver is tearing down."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            return int(file.read().rpartition(")")[2].split()[6]) & PF_EXITING == 0
    except OSError:
        return False


def wait_for_standbys(device):
    """Waits until those that would take over have made the model, which they write down; gives the seconds."""
    wanted, began = STANDBYS + 1, time.monotonic()
    time.sleep(0.3)  # one that is poisoned lives on for a moment
    while time.monotonic() < began + 60:
        with open(os.environ["TROUPE_BENCH_READY"]) as file:
            if sum(is_alive(pid.strip()) for pid in file) >= wanted and device.worker_pid:
                took = time.monotonic() - began
                time.sleep(0.2)  # what it does after that
                return took
        time.sleep(0.02)
    raise SystemExit("there is no standby after a minute")


if __name__ == "__main__":
    options = argparse.ArgumentParser()
    options.add_argument("--device", default="host")
    options.add_argument("--gib", type=float, default=0.5)
    options.add_argument("--failures", type=int, default=3)
    given = options.parse_args()
    os.environ["TROUPE_BENCH_READY"] = tempfile.NamedTemporaryFile(prefix="ready").name
    with troupe.System(logs=False) as system:
        device = system.device(given.device, python=True, max_restarts=10_000, standbys=STANDBYS,
                               environment=["TROUPE_BENCH_READY"])
        print(f"{device}, {functions.torch and 'PyTorch ' + functions.torch.__version__ or 'NumPy ' + np.__version__}")
        small(device)
        others(device)
        failures(device, given.gib, given.failures)
