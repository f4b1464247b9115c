"""Prints how many candidates a second `troupe.trial` evaluates, of which 5 % fault and 2 % hang, over the same inputs,
beside a pool that starts its process again, and its inputs with it, at each fault.

    python python/bench/trials.py [--device cuda] [--candidates 1000] [--gib 8] [--deadline 0.3]
"""
import argparse
import multiprocessing
import os
import sys
import tempfile
import time

os.environ.setdefault("TROUPE_DEVICE", "host")
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import numpy as np

import bench_trials
import troupe

ROW_ELEMENTS = 1 << 20


def inputs(gib):
    rows = max(1, round(gib * (1 << 30) / 4 / ROW_ELEMENTS))
    return np.arange(rows, dtype="i4").repeat(ROW_ELEMENTS).reshape(rows, ROW_ELEMENTS)


def by_trial(device, given, x):
    ours = troupe.from_numpy(x, device=device)
    rows = x.shape[0]
    counts = {}
    function = bench_trials.candidate_for(device.backend)
    assert list(troupe.trial(function, [0], ours, deadline=60, device=device))[0].ok  # now a worker has its imports
    began = time.perf_counter()
    for tried in troupe.trial(function, range(given.candidates), ours, deadline=given.deadline, device=device):
        kind = bench_trials.kind_of(tried.candidate)
        assert tried.ok == (kind is None), tried
        assert not tried.ok or tried.value == tried.candidate % rows * ROW_ELEMENTS, tried
        counts[kind] = counts.get(kind, 0) + 1
    took = time.perf_counter() - began
    assert int(ours.sum()) == int(x.sum(dtype="i8")), "the inputs have changed"
    return took, counts


class Pool:
    """One process, which is started again when a candidate has killed it or takes too long."""

    def __init__(self, backend, path, shape):
        self.about = backend, path, shape
        self.context = multiprocessing.get_context("spawn")
        self.process = None

    def run(self, number, deadline):
        if self.process is None:
            self.pipe, theirs = self.context.Pipe()
            self.process = self.context.Process(target=bench_trials.serve, args=(theirs, *self.about), daemon=True)
            self.process.start()
            theirs.close()
            self.pipe.send(0)
            self.pipe.recv()  # it is there, and has the inputs
        self.pipe.send(number)
        try:
            if self.pipe.poll(deadline):
                return self.pipe.recv()
        except EOFError:
            pass
        self.process.kill()
        self.process.join()
        self.process = None


def by_pool(backend, given, x):
    with tempfile.NamedTemporaryFile(dir="/dev/shm") as file:
        x.tofile(file)
        pool = Pool(backend, file.name, x.shape)
        pool.run(0, 60)
        began = time.perf_counter()
        for number in range(given.candidates):
            found = pool.run(number, given.deadline)
            assert (found is None) == (bench_trials.kind_of(number) is not None), number
        return time.perf_counter() - began


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--device", default="host")
    options.add_argument("--candidates", type=int, default=1000)
    options.add_argument("--gib", type=float, default=0.25)
    options.add_argument("--deadline", type=float, default=0.3)
    given = options.parse_args()
    x = inputs(given.gib)
    with troupe.System(logs=False) as system:
        device = system.device(given.device, python=True, max_restarts=10_000, standbys=2)
        took, counts = by_trial(device, given, x)
        print(f"{device}, {given.candidates} candidates, {given.gib} GiB of inputs: "
              f"{counts.get('fault', 0)} fault, {counts.get('hang', 0)} hang", flush=True)
        print(f"troupe.trial                          {given.candidates / took:8.1f} candidates per s", flush=True)
        backend = device.backend
    took = by_pool(backend, given, x)
    print(f"a process that is started again       {given.candidates / took:8.1f} candidates per s", flush=True)


if __name__ == "__main__":
    main()
