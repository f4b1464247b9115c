"""Python functions as ops: declared, checked, ordered, stopped, blamed and run again like any other op.

The function runs in the device's Python worker. Whatever becomes of that process, its caller gets one error, and the
next call is answered by the standby.
"""
from __future__ import annotations

import functools
import inspect
import itertools
import pickle
import time
import types
import weakref

import numpy as np

from . import _calls, _core, _devices, _failures, _frameworks, _memory, _travel
from ._array import Array
from ._code import Code
from ._errors import BY_KIND, Error

_U8 = 7
_MOST_ARRAYS = 16
_MOST_TRIES = 3  # of a call whose worker dies before what it returned is fetched
_tokens = itertools.count(1)
_MOST_IDLE_BOXES = 64
_SAID_BY_WORKERS = ("library_error", "invalid_argument")


def invalid(sentence):
    return BY_KIND["invalid_argument"](sentence)


class _Boxes:
    """Boxes that no call uses, by device. A box comes back when the worker has said that its call has ended. A caller
    who is told that the worker died is told before that worker is gone: until then it holds the box, and a call that
    took it over would wait."""

    def __init__(self):
        self._idle = {}

    def take(self, device):
        idle = self._idle.get(device.identity)
        if idle:
            array, memory = idle.pop()
        else:
            array = _core.allocate(device, (_travel.BOX_BYTES,), _U8, _memory.APP)
            memory = memoryview(_memory.shared(array))
        _travel.clear(memory)
        return array, memory

    def give_back(self, device, box, error):
        """`error` is how the call has ended, by the device's word; None is well."""
        idle = self._idle.setdefault(device.identity, [])
        if len(idle) < _MOST_IDLE_BOXES and (error is None or error.kind in _SAID_BY_WORKERS):
            idle.append(box)

    def forget(self):
        self._idle.clear()


_boxes = _Boxes()


_devices.at_close(_boxes.forget)


class Op:
    """A function that runs in the device's Python worker; `troupe.op` makes it.

    Calling it waits and gives what it returns. `async_` gives something to await, `call` a call that is submitted once.
    All three give a stream of the items, if it is a generator function.
    """

    def __init__(self, function, *, deadline=None, writes=(), updates=(), arrays=None, debug=False, atomic=False,
                 device=None):
        if not inspect.isroutine(function):
            raise invalid(f"op: {function!r} is no function")
        functools.update_wrapper(self, function)
        self.function = function
        self._signature = inspect.signature(function)
        self._frameworks = _frameworks.of_parameters(function, self._signature, arrays)
        self._deadline = _checked_deadline(self.__name__, deadline)
        self._access = {}
        for word, names in (("writes", writes), ("updates", updates)):
            for name in (names,) if isinstance(names, str) else names:
                if name not in self._signature.parameters:
                    raise invalid(f"op {self.__name__}: {word} names {name!r}, which is no parameter of the function")
                self._access[name] = word
        self._device = device
        self._debugs = bool(debug)
        self._yields = inspect.isgeneratorfunction(function)
        self._is_atomic = bool(atomic)
        if self._yields and self._is_atomic:
            raise invalid(f"op {self.__name__}: a generator function cannot be atomic: each of its items is a step")
        self._code = Code(function, self)
        self._positional = [name for name, parameter in self._signature.parameters.items()
                            if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)]
        _devices.functions_are_defined()

    def __call__(self, *args, **kwargs):
        if _devices.is_in_worker():
            return self.function(*args, **kwargs)
        call = self.call(*args, **kwargs)
        return call if self._yields else call.get()

    def call(self, *args, **kwargs) -> FunctionCall | Stream | AtomicCall:
        """A call with these arguments, which are taken as they are now. It is submitted once."""
        if self._yields:
            from ._streams import Stream
            return Stream(self, args, kwargs)
        if self._is_atomic:
            from ._atomic import AtomicCall
            return AtomicCall(self, args, kwargs)
        packing, reference = self._packed(args, kwargs)
        return FunctionCall(self, packing, ("call", reference), (), packing.bytes)

    def async_(self, *args, **kwargs) -> FunctionCall | Stream | AtomicCall:
        """The same for an event loop: `await step.async_(x, out)`."""
        return self.call(*args, **kwargs)

    def on(self, device) -> Op:
        """The same on that device, for calls without arrays."""
        made = _op_again(self.function, self._deadline, self._access, self._frameworks, self._is_atomic)
        made._device, made._code, made._debugs = device, self._code, self._debugs
        return made

    def __reduce__(self):
        return _op_again, (self.function, self._deadline, dict(self._access), dict(self._frameworks), self._is_atomic)

    def __repr__(self):
        return f"<op {self._code.title}>"

    def _named(self, args, kwargs):
        """(parameter, argument) of each argument."""
        if not kwargs and len(args) == len(self._signature.parameters) == len(self._positional):
            return zip(self._positional, args)
        return self._signature.bind(*args, **kwargs).arguments.items()

    def _packed(self, args, kwargs):
        """The arrays and arguments of a call, and which function it is."""
        device = None if self._device is None else self._device._core
        packing = Packing(self._code.title, self._named(args, kwargs), self._access, self._frameworks, device)
        if packing.device is None:
            packing.device = _devices.device()._core
        _devices.check_runs_functions(packing.device, self._code.title)
        reference = self._code.reference(packing.device, packing.add_read)
        _prepare(self._code, packing.device)
        return packing, reference


def _op_again(function, deadline, access, frameworks, is_atomic):
    made = Op(function, deadline=deadline, atomic=is_atomic)
    made._access, made._frameworks = access, frameworks
    return made


def _checked_deadline(title, seconds):
    if seconds is not None and not 0 < float(seconds) < 1e9:
        raise invalid(f"op {title}: deadline is {seconds!r}; it must be a positive number of seconds")
    return None if seconds is None else float(seconds)


class Packing:
    """The arrays of a call and its arguments in bytes."""

    def __init__(self, title, named, access, frameworks, device=None):
        self.uses = []
        self.device = device
        self._device_name = None
        self._title = title
        self._access = access
        self._frameworks = frameworks
        self._name = None
        self._places = {}
        named = list(named)
        self._others = [value for _, value in named] + [value for _, given in named if type(given) is tuple
                                                        for value in given]
        encoder = _travel.Encoder(self._replace)
        for name, value in named:
            self._name = name
            self._encode(encoder, (name, value))
        self.bytes = encoder.finished()
        if len(self.bytes) > _travel.MOST_ARGUMENT_BYTES:
            raise invalid(f"{title}: the arguments take {len(self.bytes)} bytes by value; the most is "
                          f"{_travel.MOST_ARGUMENT_BYTES}. Pass large ones as arrays")

    def _encode(self, encoder, value):
        try:
            encoder.dump(value)
        except BY_KIND["invalid_argument"]:
            raise
        except Exception as error:
            raise invalid(f"{self._title}: {self._name} cannot go to the worker: "
                          f"{type(error).__name__}: {error}") from error

    def _replace(self, value):
        kind = type(value)
        if kind is Array:
            place = self._place_of(value, self._access.get(self._name, "reads"))
            return ("array", place, self.framework())
        if hasattr(kind, "_packed_into"):
            return value._packed_into(self)
        if kind is types.FunctionType or kind is Op:
            return self._code_of(value)
        return None

    def _code_of(self, function):
        """A function among the arguments: by its name or by value, as the op itself goes."""
        code = function._code if type(function) is Op else Code(function, function)
        if self.device is None:
            self.device = next((other.device_handle for other in self._others if type(other) is Array),
                               None) or _devices.device()._core
        if type(function) is Op:
            _prepare(code, self.device)
        return ("function", *code.reference(self.device, self.add_read))

    def framework(self):
        """As what the argument at hand gets its arrays."""
        framework = self._frameworks.get(self._name, "numpy")
        return _frameworks.of_array(framework, self.device, self._title, self._name)

    def _place_of(self, array, word="reads"):
        place = self._places.get(id(array))
        if place is not None and self.uses[place][0] == word:
            return place
        device = array.device_handle
        if self.device is None:
            self.device, self._device_name = device, self._name
        elif device.identity != self.device.identity:
            other = "that of the call" if self._device_name is None else self._device_name
            raise invalid(f"{self._title}: {self._name} is an array of another device than {other}")
        self._places[id(array)] = len(self.uses)
        self.uses.append((word, array))
        return len(self.uses) - 1

    def add_read(self, array):
        """The place of an array that the call reads."""
        return self._place_of(array)


class FunctionCall:
    """A call of an op: submitted once, by `submit()`, by `get()`, which waits in this thread, or by `await`.

    `submit()` gives the call back, so that its value can be fetched later.
    """

    def __init__(self, op, packing, what, more, arguments, may_rerun=True):
        self._op = op
        self._box_word = "writes" if may_rerun else "updates"  # who updates is not run again
        self._deadline = op._deadline
        self._device = packing.device
        self._uses = packing.uses
        self._token = next(_tokens)
        self._parameters = Parameters((*what, self._token, op._debugs, *more), arguments)
        extra = 1 + self._parameters.is_spilled
        if len(self._uses) + extra > _MOST_ARRAYS:
            raise invalid(f"{op._code.title}: there are {len(self._uses)} arrays; a function takes at most "
                          f"{_MOST_ARRAYS - extra}")
        self._box = None
        self._begun = None
        self._end = None
        self._tries = 0

    def deadline(self, seconds) -> FunctionCall:
        """The call must end within that time after its submission, or its worker is stopped: `DeadlineExceeded`."""
        self._deadline = _checked_deadline(self._op._code.title, seconds)
        return self

    def submit(self) -> FunctionCall:
        """It begins as soon as its turn comes; `get()` waits for its end."""
        self._check_new()
        self._begun = self._held().begin()
        return self

    def _check_new(self):
        if self._begun is not None or self._box is not None or self._end is not None:
            raise invalid(f"{self._op._code.title}: the call was submitted before; a call is submitted once")

    def get(self):
        """Waits in this thread, without the interpreter lock, and gives what the function returned."""
        if self._end is None:
            if self._begun is None:
                self.submit()
            self._ended(_waited(self._begun))
            while self._missing:
                collection = self._collection()
                self._collected(_waited(collection.begin()))
                if self._end is None:
                    self._ended(_waited(self._held().begin()))
        return self._given()

    def cancel(self) -> None:
        """Gives the call up: one that has not begun never begins."""
        if self._begun is not None:
            self._begun.give_up()

    @property
    def done(self) -> bool:
        """Whether a submitted call has ended."""
        return self._end is not None or (self._begun is not None and self._begun.has_ended)

    def __await__(self):
        return self._awaited().__await__()

    async def _awaited(self):
        import asyncio
        if self._end is None:
            self._check_new()
            bell = _calls._Bell.of(asyncio.get_running_loop())
            self._ended(await _awaited(bell, self._held()))
            while self._missing:
                collection = self._collection()
                self._collected(await _awaited(bell, collection))
                if self._end is None:
                    self._ended(await _awaited(bell, self._held()))
        return self._given()

    def _held(self):
        self._box = _boxes.take(self._device)
        uses = [(self._box_word, self._box[0])]
        parameters, spilled = self._parameters.at(self._device, self._deadline)
        if spilled is not None:
            uses.append(("reads", spilled))
        uses += self._uses
        held = _core.call_plugin(self._device, _devices.functions_library(), self._op._code.title, uses, parameters)
        if self._deadline is not None:
            held.deadline(self._deadline)
        return held

    def _ended(self, error):
        state, answer, stack = _travel.read_box(self._box[1])
        _boxes.give_back(self._device, self._box, error)
        self._box = None
        value, self._missing, error = _failures.end_of(
            self._op._code.title, error, state, answer, stack,
            lambda number, shape: _core.allocate(self._device, shape, number, _memory.USUAL))
        self._end = value, error
        if not self._missing:
            self._uses = self._parameters = None

    def _collection(self):
        """A call that fetches the arrays that the function returned from the worker that keeps them."""
        self._box = _boxes.take(self._device)
        framework = _frameworks.ON_GPU if self._device.info["backend"] == "cuda" else "numpy"
        what = ("collect", self._token, framework)
        uses = [("writes", self._box[0]), *(("writes", array) for array in self._missing)]
        return _core.call_plugin(self._device, _devices.functions_library(), self._op._code.title, uses,
                                 Parameters(what, b"").inline())

    def _collected(self, error):
        """When the worker died in between, its call is made again, if it may be."""
        state, answer, stack = _travel.read_box(self._box[1])
        _boxes.give_back(self._device, self._box, error)
        self._box, self._missing = None, ()
        value, _, error = _failures.end_of(self._op._code.title, error, state, answer, stack)
        if error is None and value is None:
            return
        self._tries += 1
        if error is None and self._tries < _MOST_TRIES and all(word != "updates" for word, _ in self._uses):
            self._end = None
            return
        self._end = None, error or BY_KIND["worker_crashed"](
            f"{self._op._code.title}: the worker died before the arrays were fetched that the function returned",
            self._op._code.title)

    def _given(self):
        value, error = self._end
        if error is not None:
            raise error
        return value


def _waited(begun):
    try:
        begun.wait()
    except BY_KIND_BASE as error:
        return error


async def _awaited(bell, held):
    try:
        await bell.wait(held)
    except BY_KIND_BASE as error:
        return error


class Parameters:
    """What a call has besides its arrays: which function it is, and the other arguments."""

    def __init__(self, what, arguments):
        self._all = pickle.dumps(what, protocol=5) + arguments
        self.is_spilled = len(self._all) > _travel.MOST_INLINE_BYTES - 1

    def at(self, device, deadline):
        """The bytes now, and the array that has the rest of them, or None."""
        due = 0 if deadline is None else time.monotonic_ns() + int(deadline * 1e9)
        head = _travel.DEADLINE.pack(due) + bytes([self.is_spilled])
        if not self.is_spilled:
            return head + self._all, None
        return head, _memory.sent(np.frombuffer(self._all, "u1"), device, _U8, _memory.APP)

    def inline(self):
        """The same for a call without a deadline that is known to be small."""
        return self.at(None, None)[0]


def run(title, device, what, uses):
    """Has the worker do what is no call of a function, and waits."""
    box, held = _held_of(title, device, what, uses)
    _ended_of(title, device, box, _waited(held.begin()))


async def run_async(title, device, what, uses):
    """The same on an event loop."""
    import asyncio
    box, held = _held_of(title, device, what, uses)
    _ended_of(title, device, box, await _awaited(_calls._Bell.of(asyncio.get_running_loop()), held))


def _held_of(title, device, what, uses):
    box = _boxes.take(device)
    return box, _core.call_plugin(device, _devices.functions_library(), title, [("writes", box[0]), *uses],
                                  Parameters(what, b"").inline())


def _ended_of(title, device, box, error):
    state, answer, stack = _travel.read_box(box[1])
    _boxes.give_back(device, box, error)
    error = _failures.end_of(title, error, state, answer, stack)[2]
    if error is not None:
        raise error


BY_KIND_BASE = tuple({kind.__mro__[1] for kind in BY_KIND.values()})


_have = {}  # by device: which modules later workers import ahead of time, and the box that nobody reads


@_devices.at_close
def _forget():
    _have.clear()


def _prepare(code, device):
    """Later workers have the function before its next call; the one that serves gets it with this one."""
    if device.identity in code.prepared_on:
        return
    code.prepared_on.add(device.identity)
    if device.identity not in _have:
        _have[device.identity] = set(), _core.allocate(device, (_travel.BOX_BYTES,), _U8, _memory.APP)
    modules, box = _have[device.identity]
    module = code.module_name
    if module in modules:
        return
    if module is not None:
        modules.add(module)
    read = []
    reference = code.reference(device, lambda array: read.append(array) or len(read) - 1)
    parameters = Parameters(("have", reference), b"")
    if parameters.is_spilled:
        return
    try:
        number = _core.prepare(device, _devices.functions_library(), code.title,
                               [("writes", box), *(("reads", array) for array in read)], parameters.inline())
    except Error:
        return  # there are too many: it will be late, and right
    if module is None:
        weakref.finalize(code, _core.forget, device, number).atexit = False


def op(function=None, *, deadline=None, writes=(), updates=(), arrays=None, debug=False, atomic=False):
    """Makes an op of a function: it runs in the device's Python worker, with arrays as NumPy arrays of the same memory.

    deadline: seconds after which the worker is stopped, and the call ends in `DeadlineExceeded`
    writes: the names of parameters whose arrays the function writes whole, without reading them
    updates: the names of those that it reads and writes; such a call is not run again when its worker dies
    arrays: what the function gets its arrays as, "numpy" or "torch"; else what their parameters are annotated with says
        so, or that the function's module has imported torch
    debug: finds what the function writes that it may only read, undoes that, and raises `ValueError`; on the CPU
    atomic: a call is whole or did not happen: when it fails, what it writes is as it was before. It is tried again when
        its worker dies of something else. This costs a copy of what it writes
    All other arrays are read, and cannot be written through their NumPy array. See docs/python-functions.md.

    >>> import numpy as np
    >>> @troupe.op(writes=["out"], deadline=10)
    ... def cumulate(x, out):
    ...     np.cumsum(x, out=out)
    ...     return float(out[-1])
    >>> device = troupe.device("host", python=True)
    >>> out = troupe.empty(4, device=device)
    >>> cumulate(troupe.ones(4, device=device), out)
    4.0
    """
    if function is None:
        return functools.partial(op, deadline=deadline, writes=writes, updates=updates, arrays=arrays, debug=debug,
                                 atomic=atomic)
    return Op(function, deadline=deadline, writes=writes, updates=updates, arrays=arrays, debug=debug, atomic=atomic)
