"""A process that has imported what functions need, and forks workers (troupe/wire/zygote.hpp)."""
import ctypes
import gc
import os
import signal
import sys
import threading

from . import _code, _devices, _running  # noqa: F401

_NOT_INITIALIZED = 3  # the driver's answer before anybody has called cuInit


def serve(core, socket, modules):
    """Serves the app until it hangs up: False then, True in each worker."""
    _devices.be_worker()
    os.environ.setdefault("PYTORCH_NVML_BASED_CUDA_CHECK", "1")  # so that `torch.cuda.is_available()` leaves CUDA alone
    for module in modules:
        try:
            _code.import_module(module)
        except BaseException:
            pass  # whoever calls its functions is told
    why = why_not()
    if not why:
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the app hears of their end by itself
        gc.collect()
        gc.freeze()
    if not core.be_zygote(socket, why, os.fork):
        return False
    _be_worker()
    return True


def why_not():
    """Why this process cannot fork workers; empty when it can."""
    if _has_touched_cuda():
        return "an import has initialized CUDA, which does not survive a fork"
    child = os.fork()  # libraries that know of forks (OpenBLAS) end their threads then
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
    others = [thread for thread in os.listdir("/proc/self/task") if int(thread) != os.getpid()]
    if not others:
        return ""
    names = [thread.name for thread in threading.enumerate() if thread is not threading.main_thread()] or others
    return "an import has left threads behind, which a fork does not have: " + ", ".join(names)


def _has_touched_cuda():
    try:
        driver = ctypes.CDLL("libcuda.so.1", mode=os.RTLD_NOLOAD | os.RTLD_NOW)
    except OSError:
        return False  # it is not even loaded
    return driver.cuDeviceGetCount(ctypes.byref(ctypes.c_int())) != _NOT_INITIALIZED


def _be_worker():
    """What a new interpreter would have of its own."""
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed()
