"""Prints what Python costs on the CPU, beside NumPy: import, an op's way from Python to the queue, small and large
arrays, scalars, DLPack, and many calls on an event loop. `build/python/venv/bin/python python/bench/speed.py`"""
import asyncio
import os
import statistics
import subprocess
import sys
import time

os.environ.setdefault("TROUPE_DEVICE", "host")

import numpy as np

import troupe
from troupe import array_api as xp

UFUNCS_OF_ONE = """abs acos acosh asin asinh atan atanh ceil cos cosh exp expm1 floor isfinite isinf isnan log log1p
    log2 log10 negative positive reciprocal round sign signbit sin sinh square sqrt tan tanh trunc""".split()
UFUNCS_OF_TWO = """add atan2 copysign divide equal floor_divide hypot less logaddexp maximum minimum multiply nextafter
    pow remainder subtract""".split()
IN_NUMPY = {"acos": "arccos", "acosh": "arccosh", "asin": "arcsin", "asinh": "arcsinh", "atan": "arctan",
            "atanh": "arctanh", "atan2": "arctan2", "round": "rint", "pow": "power"}


def microseconds(call, repeats=7, seconds=0.02):
    """The median over some rounds of what one call takes."""
    call()
    began = time.perf_counter()
    call()
    count = max(1, int(seconds / max(1e-7, time.perf_counter() - began)))
    rounds = []
    for _ in range(repeats):
        began = time.perf_counter()
        for _ in range(count):
            call()
        rounds.append((time.perf_counter() - began) / count * 1e6)
    return statistics.median(rounds)


def line(name, ours, theirs=None):
    beside = "" if theirs is None else f"{theirs:12.2f} {ours / theirs:8.2f}"
    print(f"{name:32} {ours:12.2f} {beside}", flush=True)


def import_milliseconds(module):
    program = f"import time; t = time.perf_counter(); import {module}; print(time.perf_counter() - t)"
    times = [float(subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout)
             for _ in range(7)]
    return statistics.median(times) * 1e3


def small():
    for size in (10, 1024):
        x, y = np.ones(size), np.ones(size)
        ours, other = troupe.asarray(x), troupe.asarray(y)
        line(f"x + y, {size}, and wait", microseconds(lambda: (ours + other).wait()), microseconds(lambda: x + y))

        def chain():
            made = ours
            for _ in range(100):
                made = made + other
            made.wait()
        line(f"x + y, {size}, one of 100", microseconds(chain) / 100, microseconds(lambda: x + y))
    device = ours.device
    core = troupe._core

    def submit():
        return core.binary(0, ours, other)
    rounds = []
    for _ in range(20):
        troupe.nop(device).get()
        began = time.perf_counter()
        for _ in range(100):
            submit()
        rounds.append((time.perf_counter() - began) * 1e4)
    line("an op's way to the queue", statistics.median(rounds))
    line("float(x[0])", microseconds(lambda: float(ours[0])), microseconds(lambda: float(x[0])))
    line("np.from_dlpack(x)", microseconds(lambda: np.from_dlpack(ours)), microseconds(lambda: np.from_dlpack(x)))
    line("troupe.from_dlpack(x)", microseconds(lambda: troupe.from_dlpack(x)))
    a = np.ones((64, 64), "float32")
    b = troupe.asarray(a)
    line("a @ b, 64 x 64, and wait", microseconds(lambda: (b @ b).wait()), microseconds(lambda: a @ a))


def large(size=1_000_000):
    generator = np.random.default_rng(1)
    for dtype in ("float32", "float64"):
        x, y = (generator.uniform(0.1, 0.9, size).astype(dtype) for _ in range(2))
        ours = [xp.asarray(x), xp.asarray(y)]
        for names, count in ((UFUNCS_OF_ONE, 1), (UFUNCS_OF_TWO, 2)):
            for name in names:
                if name == "acosh":
                    theirs_in, ours_in = [x + 1], [ours[0] + 1]
                else:
                    theirs_in, ours_in = [x, y][:count], ours[:count]
                function = getattr(np, IN_NUMPY.get(name, name))
                line(f"{name}, {dtype}", microseconds(lambda: getattr(xp, name)(*ours_in).wait()),
                     microseconds(lambda: function(*theirs_in)))
        line(f"sum, {dtype}", microseconds(lambda: xp.sum(ours[0]).wait()), microseconds(lambda: np.sum(x)))


def awaited(count=10_000):
    async def main():
        calls = [troupe.nop() for _ in range(count)]
        began = time.perf_counter()
        await asyncio.gather(*calls)
        return count / (time.perf_counter() - began)
    print(f"{f'{count} awaited calls, a second':32} {asyncio.run(main()):12.0f}")


if __name__ == "__main__":
    print(f"{'import troupe (ms)':32} {import_milliseconds('troupe'):12.1f}"
          f" {import_milliseconds('numpy'):12.1f} (NumPy alone)")
    print(f"{'microseconds':32} {'troupe':>12} {'numpy':>12} {'ratio':>8}")
    small()
    awaited()
    if "--quick" not in sys.argv:
        large()
