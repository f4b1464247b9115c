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
import time

os.environ.setdefault("TROUPE_DEVICE", "host")
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import numpy as np

import bench_functions as functions
import troupe

SIDE = 4096
PIECE_BYTES = SIDE * SIDE * 2


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
    right = functions.infer(net, 3)
    began = time.perf_counter()
    assert functions.infer(net, 3) == right
    line("an inference", (time.perf_counter() - began) * 1e3, "ms")
    on_gpu = ["assert", "illegal address"] if device.backend == "cuda" else []
    kinds = [*on_gpu, "hang", "segfault", "exit"]
    for kind in (*kinds, "kill -9"):
        known, answered = [], []
        for _ in range(count):
            wait_for_standby(device)
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
            began = time.perf_counter()
            assert functions.infer(net, 3) == right
            answered.append((time.perf_counter() - began) * 1e3)
        line(f"{kind}: the caller knows", statistics.median(known), "ms")
        line("  the next answer after that, by the standby", statistics.median(answered), "ms",
             f"worst {max(answered):.1f}, of {count}")
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


def wait_for_standby(device):
    """Until the worker that would take over has had time to be ready; the app is not told."""
    time.sleep(6 if functions.torch and device.backend == "cuda" else 2)


if __name__ == "__main__":
    options = argparse.ArgumentParser()
    options.add_argument("--device", default="host")
    options.add_argument("--gib", type=float, default=0.5)
    options.add_argument("--failures", type=int, default=3)
    given = options.parse_args()
    with troupe.System(logs=False) as system:
        device = system.device(given.device, python=True, max_restarts=10_000)
        print(f"{device}, {functions.torch and 'PyTorch ' + functions.torch.__version__ or 'NumPy ' + np.__version__}")
        small(device)
        others(device)
        failures(device, given.gib, given.failures)
