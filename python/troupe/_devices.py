"""Systems and devices, and the device that scripts use without naming one."""
from __future__ import annotations

import atexit
import contextlib
import os
import subprocess
import sys
import threading
import weakref

from . import _core
from ._errors import BY_KIND

_open_systems = weakref.WeakSet()


class System:
    """The actor system, with its threads and devices. A program usually has one.

    >>> with troupe.System() as system:
    ...     with system.device("host") as cpu:
    ...         print(troupe.arange(3, device=cpu).sum())
    3

    threads: how many threads its pool has; None is one for each core
    logs: whether warnings and errors go to standard error
    """

    def __init__(self, *, threads=None, logs=True):
        self._core = _core.OwnedSystem(threads, logs)
        self._process = os.getpid()
        _open_systems.add(self)

    def devices(self) -> list[dict]:
        """The devices of this machine, the best first; the last one is always the CPU."""
        return self._core.devices()

    def device(self, which=0, **options) -> Device:
        """Opens a device by its number (0 is the best), its backend ("host", "cuda") or its id.

        The options are those of C++'s `DeviceOptions`: standbys, cpu_threads, vault_limit_bytes, host_limit_bytes,
        worker_memory_limit_bytes, max_waiting, max_restarts, guard, await_each, silence_limit and start_timeout (in
        seconds), worker (the path of the executable), sandbox ("none", "standard", "strict"), environment,
        readable_paths, writable_paths; and standby=False for none. python=True makes the workers processes of this
        interpreter, which functions run in (`troupe.op`), python="..." of another one; without it they are that when a
        function has been defined.
        """
        if _in_worker:
            raise BY_KIND["unsupported"]("a function opens a device in its worker; a worker has none: pass it arrays")
        if os.getpid() != self._process:
            raise BY_KIND["stopped"]("this process was forked after the system was started; start one here")
        python = options.pop("python", None)
        if _defined if python is None and "worker" not in options else python:
            _add_python(options, python)
            device = Device(self._core.open(which, options), system=self)
            _run_functions.add(device._core.identity)
            return device
        options.setdefault("worker", _worker())
        device = Device(self._core.open(which, options), system=self)
        _run_functions.discard(device._core.identity)
        return device

    @property
    def is_closed(self) -> bool:
        return self._core.is_closed

    def close(self, timeout=5.0) -> None:
        """Ends the devices and their workers; what is under way has `timeout` seconds to end."""
        if os.getpid() == self._process:
            self._core.close(float(timeout))
            for forget in _at_close:
                forget()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __repr__(self) -> str:
        return "System(closed)" if self.is_closed else f"System({len(self.devices())} devices)"


class Device:
    """The stable address of an accelerator: it stays, whatever becomes of the workers behind it.

    `System.device` and `troupe.device` open one. Ops of an array run on the array's device.
    """

    def __init__(self, core, system=None):
        self._core = core
        self._system = system

    @property
    def info(self) -> dict:
        """What it is: a dict with index, backend, id, name, memory_bytes, capability, keeps_memory."""
        return self._core.info

    @property
    def backend(self) -> str:
        """"host" or "cuda"."""
        return self._core.info["backend"]

    @property
    def generation(self) -> int:
        """How many workers it has had."""
        return self._core.generation

    @property
    def worker_pid(self) -> int:
        """The process of the serving worker; 0 when there is none."""
        return self._core.worker_pid

    def stats(self) -> dict:
        """What it has counted: ops submitted, waiting and rerun, and culprits."""
        return self._core.stats()

    def kill_worker(self) -> bool:
        """Kills the serving worker as `kill -9` would, so that you can see what happens."""
        return self._core.kill_worker()

    def named(self, account) -> Device:
        """The same device for a caller of that name: the workers that its ops cost are charged to this name alone."""
        return Device(self._core.renamed(account), self._system)

    def share_memory(self) -> Device:
        """From now on other libraries of this process share the memory of its arrays, by DLPack and by
        `__cuda_array_interface__`. On the CPU they do anyway.

        On a GPU this opens a CUDA context in this process: the one that PyTorch, CuPy and JAX use. A kernel of theirs
        can then write what lies beside an array, and one that crashes takes this process's context with it, though no
        worker and no array. Sealed arrays are mapped for reading only.
        """
        if self.backend == "cuda":
            from ._sharing import open_context
            open_context(self.info)
        return self

    def close(self) -> None:
        """Ends the workers; whatever is under way ends in `Stopped`."""
        self._core.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __eq__(self, other) -> bool:
        return isinstance(other, Device) and self._core.identity == other._core.identity

    def __hash__(self) -> int:
        return hash(self._core.identity)

    def __repr__(self) -> str:
        info = self._core.info
        return f"Device({info['index']}: {info['backend']}, {info['name']})"


def _worker():
    """The worker of this package, unless the environment names one."""
    if os.environ.get("TROUPE_WORKER"):
        return ""
    path = os.path.join(os.path.dirname(os.path.abspath(_core.__file__)), "troupe-worker")
    return path if os.access(path, os.X_OK) else ""


_at_close = []  # what lets go of the memory of closed systems
_FUNCTIONS_LIBRARY = "_worker_core.abi3.so"
_run_functions = set()  # which devices have Python workers
_defined = False        # whether this process has a function that wants one
_in_worker = False


def functions_are_defined():
    global _defined
    _defined = True


def be_worker():
    global _in_worker
    _in_worker = True


def at_close(forget):
    """`forget` is called when a system was closed."""
    _at_close.append(forget)


def is_in_worker():
    return _in_worker


def functions_library():
    return os.path.join(os.path.dirname(os.path.abspath(_core.__file__)), _FUNCTIONS_LIBRARY)


def check_runs_functions(device, title):
    if device.identity in _run_functions:
        return
    raise BY_KIND["unsupported"](
        f"{title}: the workers of this device run no Python functions, because none was defined when it was opened; "
        "open one with troupe.device(python=True), or define functions first")


def _modules():
    from . import _code
    return _code.modules()


def _add_python(options, python):
    """What a device is told so that its workers are processes of an interpreter."""
    if not os.access(functions_library(), os.R_OK):
        raise BY_KIND["unsupported"](f"Python functions need {functions_library()}, which is not there")
    program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "_worker.py")
    flags = subprocess._args_from_interpreter_flags()
    options["worker"] = python if isinstance(python, str) else sys.executable
    options["plugins_apart"] = True  # functions wait for each other's interpreter lock, and nobody else does
    options["worker_arguments"] = [*flags, program, functions_library(), *sys.path, "--can-fork", *_modules()]
    options["environment"] = [*options.get("environment", ()), *_PYTHON_VARIABLES]
    if options.get("sandbox") == "strict":
        readable = {sys.prefix, sys.base_prefix, os.path.dirname(program), *sys.path}
        options["readable_paths"] = [*options.get("readable_paths", ()), *sorted(filter(os.path.exists, readable))]


_PYTHON_VARIABLES = ("PYTHONHOME", "PYTHONHASHSEED", "PYTHONDONTWRITEBYTECODE", "PYTHONPYCACHEPREFIX", "VIRTUAL_ENV")

_default_lock = threading.Lock()
_default = None  # the device of this process, and the process


def device(which=None, **options) -> Device:
    """The device that scripts use, opened when it is first used: the best one, or that of $TROUPE_DEVICE.

    With arguments it opens another device of the same system, as `System.device` does.

    >>> troupe.device()
    Device(...)
    """
    global _default
    with _default_lock:
        if _default is None or _default[1] != os.getpid() or _default[0]._system.is_closed:
            name = os.environ.get("TROUPE_DEVICE", "0")
            _default = (System().device(int(name) if name.isdecimal() else name), os.getpid())
        default = _default[0]
    if which is None and not options:
        return default
    return default._system.device(0 if which is None else which, **options)


@contextlib.contextmanager
def strict():
    """In this block, each op of this thread waits for its end, and raises its own error.

    >>> with troupe.strict():
    ...     x = troupe.ones(3) + 1
    """
    before = _core.is_strict()
    _core.set_strict(True)
    try:
        yield
    finally:
        _core.set_strict(before)


@atexit.register
def _close_all():
    for system in list(_open_systems):
        system.close(0.5)
