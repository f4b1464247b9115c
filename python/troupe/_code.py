"""How a function gets into a worker: by its name where it has one, and otherwise as it is (cloudpickle).

A name means the same in both processes only as long as the file is the same: the app notes what the file was when the
function was defined, and the worker refuses one that has changed since.
"""
from __future__ import annotations

import hashlib
import importlib
import sys
import warnings
import weakref

from . import _core, _devices, _memory
from ._errors import BY_KIND

MUCH_CODE_BYTES = 1 << 20  # beyond it, there is a warning that names the variable
MOST_CODE_BYTES = 64 << 20
_digests = {}
_all = weakref.WeakSet()


@_devices.at_close
def _forget():
    for code in _all:
        code._arrays.clear()
        code.prepared_on.clear()


def digest_of(module):
    """What the module's file is now, or None when it has none."""
    path = getattr(module, "__file__", None)
    if not path or not path.endswith(".py"):
        return None
    try:
        with open(path, "rb") as file:
            return hashlib.blake2b(file.read(), digest_size=16).hexdigest()
    except OSError:
        return None


def _first_digest(module):
    """What the module's file was when it was first asked for, which is while the module was being imported."""
    name = module.__name__
    if name not in _digests:
        _digests[name] = digest_of(module)
    return _digests[name]


def look_up(module, qualname):
    found = module
    for part in qualname.split("."):
        found = getattr(found, part)
    return found


def modules():
    """The modules that give functions by their names, and PyTorch, where it is used."""
    names = {code.module_name for code in list(_all)} - {None}
    return sorted(names | ({"torch"} & sys.modules.keys()))


class Code:
    """A function, as calls refer to it. `wrapper` is what stands in its module under its name."""

    def __init__(self, function, wrapper):
        self.function = function
        self._wrapper = wrapper
        self._blob = None
        self._arrays = {}  # of the blob, by device
        self.prepared_on = set()  # the devices whose later workers have it ahead of time
        _all.add(self)
        module = sys.modules.get(function.__module__ or "")
        self._module = module
        if module is not None and function.__module__ != "__main__":
            _first_digest(module)

    @property
    def title(self):
        module = self.function.__module__
        return self.function.__qualname__ if module in (None, "__main__") else f"{module}.{self.function.__qualname__}"

    @property
    def module_name(self):
        """The module that gives it by its name; None for one that goes by value."""
        return self._module.__name__ if self._blob is None and self.has_name() else None

    def has_name(self):
        """Whether the module gives it by its name. Not known before the module is imported."""
        if self._module is None or self._module.__name__ == "__main__" or "<" in self.function.__qualname__:
            return False
        try:
            found = look_up(self._module, self.function.__qualname__)
        except AttributeError:
            return False
        return found is self._wrapper or found is self.function

    def reference(self, device, add_array):
        """What a call says of it; `add_array` gives the place of an array that the call reads."""
        if self._blob is None and self.has_name():
            return ("name", self._module.__name__, self.function.__qualname__, _first_digest(self._module))
        if self._blob is None:
            self._blob = self._pickled()
        identity = device.identity
        if identity not in self._arrays:
            import numpy as np
            self._arrays[identity] = _memory.sent(np.frombuffer(self._blob, "u1"), device, 7, _memory.APP)
        return ("value", hashlib.blake2b(self._blob, digest_size=16).hexdigest(), add_array(self._arrays[identity]))

    def _pickled(self):
        try:
            import cloudpickle
        except ImportError:
            raise BY_KIND["unsupported"](
                f"{self.title}: a function without a module of its own goes to the worker by value, which needs the "
                "package cloudpickle; install it, or put the function into a module") from None
        try:
            blob = cloudpickle.dumps(self.function)
        except Exception as error:
            raise BY_KIND["invalid_argument"](
                f"{self.title}: {self._largest(cloudpickle)[2]} cannot go to the worker: {error}. Pass it as an "
                "argument, or put the function into a module") from error
        if len(blob) > MUCH_CODE_BYTES:
            what, size, _ = self._largest(cloudpickle)
            sentence = (f"{self.title}: the function takes {len(blob)} bytes to the worker, {size} of them are {what}; "
                        "pass that as an array")
            if len(blob) > MOST_CODE_BYTES:
                raise BY_KIND["invalid_argument"](f"{sentence}. The most is {MOST_CODE_BYTES}")
            warnings.warn(sentence, stacklevel=6)
        return blob

    def _largest(self, cloudpickle):
        """(its name, its bytes, the name of one that cannot be pickled) of what the function uses from outside."""
        import inspect
        used = inspect.getclosurevars(self.function)
        sizes, bad = [("the function", 0)], None
        for name, value in {**used.globals, **used.nonlocals}.items():
            try:
                sizes.append((f"the variable {name!r}", len(cloudpickle.dumps(value))))
            except Exception:
                bad = bad or f"the variable {name!r}, which it uses,"
        return (*max(sizes, key=lambda entry: entry[1]), bad or "the function")


# ---- in the worker ----

class CannotImport(Exception):
    """Why the worker does not have the function."""


_known = {}  # what the files of modules were when they were imported here


def import_module(name):
    """The module, and a note of what its file is."""
    module = sys.modules.get(name)
    if module is None or name not in _known:
        module = importlib.import_module(name)
        _known[name] = digest_of(module)
    return module


def imported(module_name, qualname, digest):
    """The function of that name, as its module has it, unless its file is another one than the app's."""
    try:
        module = import_module(module_name)
    except BaseException as error:
        raise CannotImport(
            f"the worker cannot import the module {module_name}: {type(error).__name__}: {error}. Its path is that "
            "of the app when the device was opened; what a module needs must be there too") from error
    if digest is not None and _known[module_name] != digest:
        raise CannotImport(f"{module.__file__} has changed since the app imported it, so the worker's function would "
                           "be another one; start the app again")
    try:
        return look_up(module, qualname)
    except AttributeError:
        raise CannotImport(f"the module {module_name} has no {qualname} in the worker") from None
