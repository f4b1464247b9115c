"""Functions with PyTorch for the tests; workers import this module."""
import ctypes
import os

import numpy as np
import torch

import troupe

WIDTH = 16
DEATHS = {"host": ["segfault", "exit", "hang"],
          "cuda": ["segfault", "exit", "assert", "illegal address", "caught assert", "hang"]}


@troupe.op(writes="out")
def double(x, out):
    torch.mul(x, 2, out=out)


@troupe.op
def type_of(x):
    return str(x.dtype)


@troupe.op
def returned(x):
    return x.clone()


@troupe.op(arrays="numpy")
def annotated(x: torch.Tensor):
    return type(x).__name__


@troupe.op
def as_numpy(x: np.ndarray):
    return type(x).__name__


@troupe.op
def split(x):
    return list(x.chunk(2))


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.Sequential(torch.nn.Linear(WIDTH, WIDTH), torch.nn.ReLU(), torch.nn.Linear(WIDTH, 2))

    def forward(self, x):
        return self.layers(x)


@troupe.resource(warm=lambda net: net(torch.ones(1, WIDTH, device=next(net.parameters()).device)))
def model(weights):
    with torch.device("meta"):
        net = Net()
    net.load_state_dict(weights, assign=True)
    return net.eval()


@troupe.op
def infer(net, x):
    with torch.inference_mode():
        return net(x)


@troupe.op
def poison(net):
    with torch.no_grad():
        next(net.parameters()).zero_()
    if torch.cuda.is_available() and next(net.parameters()).is_cuda:
        torch.cuda.current_stream().synchronize()


@troupe.op
def process():
    return os.getpid()


@troupe.op
def mismatched():
    return torch.ones(2, 3) @ torch.ones(2, 3)


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


@troupe.op
def die_by(kind):
    if kind == "segfault":
        ctypes.string_at(0)
    elif kind == "exit":
        os._exit(3)
    elif kind == "hang" and not torch.cuda.is_available():
        while True:
            pass
    elif kind == "hang":
        torch.cuda._sleep(1 << 60)
        torch.cuda.current_stream().synchronize()
    elif kind == "illegal address":
        write_astray()
    else:
        try:
            torch.ones(4, device="cuda")[torch.tensor([1 << 20], device="cuda")].sum().item()
        except RuntimeError:
            if kind == "assert":
                raise
            return "caught"
