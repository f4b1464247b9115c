"""Functions for the tests of functions: good ones, and bad ones that crash, hang and exit. Workers import it."""
import ctypes
import os
import sys
import time

import numpy as np

import troupe

LIBC = ctypes.CDLL(None)
LIBC_WITH_LOCK = ctypes.PyDLL(None)  # keeps the interpreter lock


class Special(Exception):
    def __init__(self, code, text):
        super().__init__(code, text)


class Awkward(Exception):
    def __init__(self):
        raise RuntimeError("not in the app")


@troupe.op(writes=["out"])
def add(x, y, out):
    np.add(x, y, out=out)


@troupe.op(updates="x")
def grow(x, by=1):
    x += by


@troupe.op
def total(x):
    return float(x.sum())


@troupe.op
def echo(*args, **kwargs):
    return args, kwargs


@troupe.op
def write_to(x):
    x[...] = 0


@troupe.op
def flags_of(x):
    return x.flags.writeable, x.flags.owndata, x.strides, str(x.dtype)


@troupe.op
def only_by_position(a, /, *rest, key=3):
    return a, rest, key


@troupe.op
def give(what):
    return {"object": object(), "set": {1}, "huge": "x" * 100_000, "int": np.int32(4), "float": np.float32(0.5),
            "array": np.ones(3)}[what]


@troupe.op(writes=["out"])
def fail_as(kind, out=None):
    if out is not None:
        out[0] = 7
    if kind == "key":
        raise KeyError("no such key")
    if kind == "os":
        raise FileNotFoundError(2, "No such file or directory", "/nowhere")
    if kind == "special":
        raise Special(4, "my own")
    if kind == "awkward":
        raise Awkward.__new__(Awkward)
    if kind == "local":
        class Local(Exception):
            pass
        raise Local("only there")
    if kind == "exit":
        sys.exit(3)
    if kind == "interrupt":
        raise KeyboardInterrupt
    if kind == "unicode":
        b"\xff".decode("utf-8")
    if kind == "memory":
        bytearray(1 << 60)
    if kind == "deep":
        return fail_as.function("deep")


def deadlock(library):
    mutex = ctypes.create_string_buffer(128)
    library.pthread_mutex_lock(mutex)
    library.pthread_mutex_lock(mutex)


def below(kind):
    if kind == "segfault":
        ctypes.string_at(0)
    elif kind == "abort":
        LIBC.abort()
    elif kind == "exit":
        os._exit(5)
    elif kind == "loop":
        while True:
            pass
    elif kind == "loop in C":
        deadlock(LIBC)
    elif kind == "loop in C with the lock":
        deadlock(LIBC_WITH_LOCK)
    elif kind == "sleep":
        time.sleep(1000)


@troupe.op(writes=["out"], deadline=2)
def die_by(kind, out=None):
    if out is not None:
        out[0] = 7
    below(kind)


@troupe.op
def process():
    return os.getpid()


@troupe.op
def hold_the_lock(milliseconds):
    LIBC_WITH_LOCK.usleep(int(1000 * milliseconds))


@troupe.op
def nap(seconds, x=None):
    time.sleep(seconds)
    return None if x is None else float(x[0])


@troupe.op
def about():
    return {"path": sys.path, "directory": os.getcwd(), "main": getattr(sys.modules["__main__"], "__file__", None),
            "executable": sys.executable, "named": os.environ.get("TEST_NAMED"),
            "secret": os.environ.get("TEST_SECRET")}


@troupe.op
def fork():
    child = os.fork()
    if child == 0:
        return "child"
    os.waitpid(child, 0)
    return "parent"


@troupe.op
def leave_a_thread():
    import threading
    threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()
    return threading.active_count()


@troupe.op
def open_a_device():
    troupe.device()


@troupe.op
def call_another(x):
    return total(x) + 1


@troupe.op
def die_first_time(path, x):
    """Kills its worker unless the file is there, and makes it."""
    if not os.path.exists(path):
        open(path, "w").close()
        os.kill(os.getpid(), 9)
    return float(x.sum())


@troupe.resource
def squares(n):
    with open(os.environ.get("TEST_LOG", os.devnull), "a") as log:
        print(os.getpid(), file=log)
    return [i * i for i in range(n)]


@troupe.resource(warm=lambda made: made.append(-1))
def warmed(x):
    return list(x)


@troupe.resource
def cannot_be_made(x):
    raise LookupError("this cannot be made")


@troupe.resource
def of_weights(weights, scale=1):
    return {name: float(tensor.sum()) * scale for name, tensor in weights.items()}


@troupe.op
def pick(made, key):
    return made[key], os.getpid()


@troupe.op
def sum_of(weights, name):
    return float(weights[name].sum()), weights[name].flags.writeable


@troupe.op
def poke(weights, name):
    """Writes past NumPy's mark that the memory is read-only."""
    ctypes.memset(weights[name].ctypes.data, 0, weights[name].nbytes)


@troupe.op
def count(n, log=None):
    """0, 1, ... n - 1; says in a file that it was closed."""
    try:
        for i in range(n):
            yield i
        return "all"
    finally:
        if log is not None:
            with open(log, "a") as file:
                print("closed", file=file)


@troupe.op
def pieces(x, size):
    for begin in range(0, len(x), size):
        yield {"at": begin, "piece": x[begin:begin + size] * 2}


@troupe.op(writes=["out"])
def powers(x, out):
    for exponent in range(3):
        np.power(x, exponent, out=out)
        yield exponent


@troupe.op
def ends_badly(how, good=1):
    yield from range(good)
    if how == "raise":
        raise Special(3, "in the middle")
    below(how)


@troupe.op
def slow(seconds):
    for i in range(1000):
        time.sleep(seconds)
        yield i


@troupe.op
def random_number():
    return float(np.random.random())


@troupe.op
def leave_a_process():
    """The number of a process that is nobody's child and in no group of ours."""
    reading, writing = os.pipe()
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.write(writing, str(os.getpid()).encode())
            time.sleep(1000)
        os._exit(0)
    os.wait()
    return int(os.read(reading, 20))


@troupe.op(updates=["x"], writes=["out"], atomic=True)
def step(x, out, how=None, path=None):
    x += 1
    out[...] = x
    if how == "raise":
        raise Special(5, "half way")
    if how == "kill once" and not os.path.exists(path):
        open(path, "w").close()
        os.kill(os.getpid(), 9)
    below(how)
    return float(x[0])
