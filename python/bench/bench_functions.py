"""The functions of functions.py, which workers import; as a program, what a process does that is started again."""
import ctypes
import os
import sys
import time

import numpy as np

try:
    import torch
except ImportError:
    torch = None
    import types

import troupe

WITH_LOCK = ctypes.PyDLL(None)


@troupe.op
def nothing():
    pass


@troupe.op
def hold_the_lock(milliseconds):
    WITH_LOCK.usleep(int(1000 * milliseconds))


class Net:
    """x @ w0 @ w1 ..., with numbers of bfloat16 that came as integers."""

    def __init__(self, weights):
        if torch:
            self.layers = [tensor.view(torch.bfloat16) for tensor in weights.values()]
        else:
            self.layers = list(weights.values())

    def __call__(self, seed):
        if not torch:
            return float(sum(int(layer[seed, ::7].sum()) for layer in self.layers))
        x = torch.full((8, self.layers[0].shape[0]), seed / 64, dtype=torch.bfloat16, device=self.layers[0].device)
        for layer in self.layers:
            x = torch.tanh(x @ layer / 64)
        return float(x.float().sum())


def warm(net):
    net(1)
    with open(os.environ["TROUPE_BENCH_READY"], "a") as file:
        print(os.getpid(), file=file)


@troupe.resource(warm=warm)
def model(weights):
    return Net(weights)


@troupe.op
def infer(net, seed):
    """What it computes, and when it began and ended."""
    began = time.perf_counter()
    value = net(seed)
    return value, began, time.perf_counter()


@troupe.op
def fail_by(kind):
    if kind == "segfault":
        ctypes.string_at(0)
    elif kind == "exit":
        os._exit(3)
    elif kind == "hang" and (torch is None or not torch.cuda.is_available()):
        while True:
            pass
    elif kind == "hang":
        torch.cuda._sleep(1 << 60)
        torch.cuda.current_stream().synchronize()
    elif kind == "assert":
        index = torch.tensor([1 << 20], device="cuda")
        torch.ones(4, device="cuda")[index].sum().item()
    elif kind == "illegal address":
        write_astray()


STRAY = b"""
.version 7.0
.target sm_75
.address_size 64
.visible .entry stray()
{
  .reg .b64 %at;
  .reg .b32 %one;
  mov.u64 %at, 16;
  mov.u32 %one, 1;
  st.global.u32 [%at], %one;
  ret;
}
"""


def write_astray():
    """A kernel writes where nothing is."""
    driver = ctypes.CDLL("libcuda.so.1")
    torch.ones(1, device="cuda")  # now this thread has a context
    module, kernel = ctypes.c_void_p(), ctypes.c_void_p()
    assert driver.cuModuleLoadData(ctypes.byref(module), STRAY) == 0
    assert driver.cuModuleGetFunction(ctypes.byref(kernel), module, b"stray") == 0
    assert driver.cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, None, None, None) == 0
    torch.cuda.synchronize()


def main(backend, count):
    piece = np.random.default_rng(1).integers(0x3800, 0x3C00, (4096, 4096), dtype=np.int16)
    if torch:
        made = {f"w{i}": torch.from_numpy(piece).to("cuda" if backend == "cuda" else "cpu", copy=True)
                for i in range(count)}
    else:
        made = {f"w{i}": piece.copy() for i in range(count)}
    Net(made)(3)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
