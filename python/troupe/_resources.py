"""Resources: what costs time to make (modules, tables, compiled code), made once in each worker, ahead of time in the
standby, and again in each worker that comes later."""
from __future__ import annotations

import functools
import inspect
import pickle
import uuid
import weakref

import numpy as np

from . import _core, _devices, _frameworks, _memory, _ops, _travel
from ._array import Array
from ._code import Code
from ._ops import invalid

_U8 = 7


class Resource:
    """What `troupe.resource` functions give: the name of a thing that each worker has one of. Pass it to ops.

    It is there until nobody refers to it any more.
    """

    def __init__(self, title, device, spec, arrays):
        self._title = title
        self._key = uuid.uuid4().hex
        self._device = device
        self._spec = spec
        self._arrays = arrays
        uses = [("reads", spec), *(("reads", array) for array in arrays)]
        make = ("make", self._key, 0, tuple(range(1, len(uses))))
        _ops.run(title, device, make, uses)
        box = _core.allocate(device, (_travel.BOX_BYTES,), _U8, _memory.APP)  # nobody reads what is in it
        parameters = _ops.Parameters(make, b"").inline()
        number = _core.prepare(device, _devices.functions_library(), title, [("writes", box), *uses], parameters)
        weakref.finalize(self, _drop, title, device, self._key, number, box, (spec, *arrays)).atexit = False

    def _packed_into(self, packing):
        spec = packing.add_read(self._spec)
        return ("resource", self._key, spec, tuple(packing.add_read(array) for array in self._arrays))

    def __reduce__(self):
        raise TypeError("a resource goes to a worker as an argument of an op, not inside of something else")

    def __repr__(self):
        return f"<resource {self._title}>"


def _drop(title, device, key, number, box, _kept):
    """Tells the workers that nobody needs it any more."""
    try:
        _core.forget(device, number)
        parameters = _ops.Parameters(("drop", key), b"").inline()
        _core.forget(device, _core.prepare(device, _devices.functions_library(), title, [("writes", box)], parameters))
    except Exception:
        pass  # the device is closed: there are no workers


def resource(function=None, *, warm=None, arrays=None, device=None):
    """Makes a maker of resources of a function: what it returns stays in the worker, for ops that get it.

    warm: a function that is called with what was made, so that its first use costs nothing: `lambda net: net(example)`
    arrays: "numpy" or "torch", as for `troupe.op`
    device: where, when no argument is an array
    Arrays among the arguments are sealed: those that are not are copied once. What fails, fails when it is defined.

    >>> @troupe.resource
    ... def table(n):
    ...     return {i: i * i for i in range(n)}
    >>> @troupe.op
    ... def look_up(table, i):
    ...     return table[i]
    >>> device = troupe.device("host", python=True)
    >>> squares = table.on(device)(10)
    >>> look_up.on(device)(squares, 7)
    49
    """
    if function is None:
        return functools.partial(resource, warm=warm, arrays=arrays, device=device)
    return Maker(function, warm, arrays, device)


class Maker:
    """A function that makes a resource; `troupe.resource` makes it."""

    def __init__(self, function, warm=None, arrays=None, device=None):
        if not inspect.isroutine(function):
            raise invalid(f"resource: {function!r} is no function")
        functools.update_wrapper(self, function)
        self.function = function
        self._signature = inspect.signature(function)
        self._frameworks = _frameworks.of_parameters(function, self._signature, arrays)
        self._code = Code(function, self)
        self._warm = None if warm is None else Code(warm, warm)
        self._device = device
        _devices.functions_are_defined()

    def on(self, device) -> Maker:
        """The same on that device, for calls without arrays."""
        made = Maker(self.function, device=device)
        made._frameworks, made._code, made._warm = self._frameworks, self._code, self._warm
        return made

    def __reduce__(self):
        return Maker, (self.function,)

    def __call__(self, *args, **kwargs):
        if _devices.is_in_worker():
            return self.function(*args, **kwargs)
        title = self._code.title
        named = [(name, _sealed(value)) for name, value in self._signature.bind(*args, **kwargs).arguments.items()]
        packing = _ops.Packing(title, named, {}, self._frameworks)
        device = packing.device
        if device is None:
            device = (_devices.device() if self._device is None else self._device)._core
        _devices.check_runs_functions(device, title)
        references = (self._code.reference(device, packing.add_read),
                      self._warm and self._warm.reference(device, packing.add_read))
        spec = pickle.dumps(references, protocol=5) + packing.bytes
        return Resource(title, device, _memory.sent(np.frombuffer(spec, "u1"), device, _U8, _memory.APP),
                        [array for _, array in packing.uses])


def _sealed(value):
    """The same with arrays that nobody can write."""
    if type(value) is Array:
        if value.is_sealed:
            return value
        copy = _core.allocate(value.device_handle, value.shape, value.dtype_number, _memory.SEALABLE)
        _core.copy(value, copy)
        copy.seal()
        return copy
    if type(value) in (list, tuple):
        return type(value)(_sealed(item) for item in value)
    if type(value) is dict:
        return {key: _sealed(item) for key, item in value.items()}
    return value
