"""The exceptions: one class for each kind of error, all of them `troupe.Error`.

A class is also the exception of Python's that means the same, so `except MemoryError` sees an `OutOfMemory`.
"""
from . import _core


class Error(Exception):
    """What went wrong. The message is a sentence; the attributes say where it came from.

    op: the op under way, such as "blas.gemm"; empty when there is none
    device: the device's number, or None
    generation: of the device's workers, or None
    library: the library that answered, such as "cublas"; empty when there is none
    native_code: that library's own code, 0 when there is none
    kind: the name of the kind, such as "out_of_memory"
    """

    kind = ""

    def __init__(self, message="", op="", device=None, generation=None, library="", native_code=0):
        super().__init__(message)
        self.op = op
        self.device = device
        self.generation = generation
        self.library = library
        self.native_code = native_code

    def __reduce__(self):
        return type(self), (*self.args, self.op, self.device, self.generation, self.library, self.native_code)


_ALSO = {
    "invalid_argument": (ValueError,),
    "out_of_memory": (MemoryError,),
    "unsupported": (NotImplementedError,),
    "buffer_stale": (BufferError,),
    "buffer_tainted": (BufferError,),
    "deadline_exceeded": (TimeoutError,),
    "timeout": (TimeoutError,),
    "numerical_error": (ArithmeticError,),
}


def _class_name(kind):
    return "".join(word.capitalize() for word in kind.split("_"))


def _make(kind):
    name = _class_name(kind)
    words = kind.replace("_", " ")
    body = {"kind": kind, "__doc__": f"An error of the kind {words!r}.", "__module__": "troupe"}
    return type(name, (Error, *_ALSO.get(kind, ())), body)


BY_KIND = {kind: _make(kind) for kind in _core.kinds_of_errors()}
globals().update({_class_name(kind): made for kind, made in BY_KIND.items()})
__all__ = ["Error", *sorted(_class_name(kind) for kind in BY_KIND)]
Error.__module__ = "troupe"
