"""Functions in a worker: what a call says is turned into a function and its arguments, and its end into an answer.

Only workers import this.
"""
import collections
import contextlib
import faulthandler
import json
import os
import pickle
import signal
import sys
import threading
import traceback

import numpy as np

from . import _code, _devices, _frameworks, _memory, _travel

_STACK_SIGNAL = signal.SIGRTMAX - 3
_READ, _UPDATE = 0, 2
_MOST_TRACE = 20000


def begin(core):
    """Makes this process a worker; gives what runs a call."""
    _devices.be_worker()
    sys.stdout.reconfigure(line_buffering=True)
    file = os.memfd_create("stacks")
    faulthandler.register(_STACK_SIGNAL, file=file, all_threads=False)
    core.write_stacks_by(_STACK_SIGNAL, file)
    os._exit = core.exit
    os.register_at_fork(after_in_child=_be_fork)
    return CALLS.run


_is_fork = False


def _be_fork():
    global _is_fork
    _is_fork = True


class Calls:
    """Runs calls, on whichever threads they come."""

    def __init__(self):
        self._by_value = {}
        self._resources = {}
        self._streams = {}
        self._kept = collections.OrderedDict()  # arrays that calls returned, until the app has made room for them
        self._lock = threading.Lock()

    def run(self, title, parameters, arrays, lane):
        """None, or (whether nothing was written, why)."""
        box = _bytes_at(arrays[0])
        _in_call.lane = lane
        try:
            function, args, kwargs = self._unpacked(parameters, arrays, lane)
        except _code.CannotImport as error:
            return self._refused(box, str(error))
        except NotMade as error:
            return self._raised(box, error.__cause__, error.__cause__.__traceback__)
        except BaseException as error:
            return self._refused(box, f"the worker cannot unpack the arguments: {type(error).__name__}: {error}")
        try:
            with _frameworks.on_lane(lane), self._watched(parameters, arrays) as token:
                kept = []
                may_again = function != self._next and all(access != _UPDATE for *_, access in arrays)
                value = _frameworks.with_room(function, args, kwargs, may_again)
                answer = _travel.encoded_answer(value, lambda value: _described(kept, value))
                self._keep(token, kept)
        except _travel.CannotTravel as error:
            end = self._raised(box, TypeError(str(error)), None)
        except BaseException as error:
            end = self._raised(box, error, error.__traceback__)
        else:
            _travel.put_answer(box, _travel.RETURNED, answer)
            end = None
        if _is_fork:
            os._exit(0)  # a child that the function made, and that came back from it
        return end

    def _unpacked(self, parameters, arrays, lane):
        at = _travel.DEADLINE.size
        is_spilled, rest = parameters[at], parameters[at + 1:]
        first = 1
        if is_spilled:
            rest, first = bytes(_bytes_at(arrays[1])), 2
        decoder = _travel.Decoder(rest, self._finder(arrays[first:]))
        what, *about = decoder.about
        if what == "make":
            return self._prepared, (*about, arrays[first:]), {}
        if what == "have":
            return self._have, (*about, arrays[first:]), {}
        if what == "drop":
            return self._dropped, about, {}
        if what == "collect":
            return self._collected, (*about, arrays[first:]), {}
        if what == "close":
            return self._closed, about, {}
        reference, _in_call.token, _in_call.debugs, *more = about
        if what == "next":
            return self._next, self._stream(*more, lambda: self._loaded(decoder, reference, arrays[first:])), {}
        return self._loaded(decoder, reference, arrays[first:])

    def _stream(self, key, count, load):
        """(key, count) of the stream of that key, which begins now when `count` is 0."""
        if count == 0:
            function, args, kwargs = load()
            with self._lock:
                if len(self._streams) >= _MOST_STREAMS:
                    raise RuntimeError(f"the worker has {_MOST_STREAMS} streams, which is the most; close some")
                self._streams[key] = _Stream(function(*args, **kwargs))
        return key, count

    def _next(self, key, count):
        with self._lock:
            stream = self._streams.get(key)
        if stream is None:
            return "gone", None  # it was in another worker, or is closed
        with stream.lock:
            if stream.count != count:
                return "gone", None
            stream.count += 1
            try:
                return "item", next(stream.generator)
            except StopIteration as end:
                self._let_go(key)
                return "end", end.value
            except BaseException:
                self._let_go(key)
                raise

    def _closed(self, key):
        stream = self._let_go(key)
        if stream is not None:
            with stream.lock:
                stream.generator.close()

    def _let_go(self, key):
        with self._lock:
            return self._streams.pop(key, None)

    @contextlib.contextmanager
    def _watched(self, parameters, arrays):
        """Gives the call's token. In debug mode, finds what a function writes that it may only read, and undoes it."""
        token, debugs = vars(_in_call).pop("token", None), vars(_in_call).pop("debugs", False)
        before = [(place, view, view.copy()) for place, view in _read_views(arrays)] if debugs else ()
        try:
            yield token
        finally:
            for place, view, copy in before:
                if not np.array_equal(view.view("u1"), copy.view("u1")):
                    view[...] = copy
                    raise ValueError(f"array {place} of the call, counted as its arguments are, was written, and is "
                                     "not named in writes or updates")

    def _keep(self, token, kept):
        if not kept:
            return
        with self._lock:
            self._kept[token] = kept
            while len(self._kept) > _MOST_KEPT:
                self._kept.popitem(last=False)  # of calls that nobody waits for

    def _collected(self, token, framework, arrays):
        with self._lock:
            kept = self._kept.pop(token, None)
        if kept is None:
            return "gone"  # they died with another worker
        for value, array in zip(kept, arrays):
            target = _array(array, framework if framework == _frameworks.ON_GPU else _frameworks.framework_of(value))
            _frameworks.fill(target, value)

    def _finder(self, arrays):
        """What finds the arrays and resources that arguments name."""
        views = {}

        def find(what):
            kind, *about = what
            if kind == "resource":
                return self._resource(*about, arrays)
            if kind == "function":
                return self._function(about, arrays)
            if what not in views:
                views[what] = _FOUND[kind](*(arrays[place] for place in about[:-1]), about[-1])
            return views[what]
        return find

    def _loaded(self, decoder, reference, arrays):
        """(function, args, kwargs) of what the decoder has."""
        function = self._function(reference, arrays)
        named = {}
        while True:
            try:
                name, value = decoder.load()
            except EOFError:
                return function, *_bound(function, named)
            named[name] = value

    def _resource(self, key, spec, places, arrays):
        """The resource of that key, made now if this worker has not made it yet."""
        with self._lock:
            made = self._resources.setdefault(key, _Resource())
        with made.lock:
            if not made.is_there:
                try:
                    made.value = self._made(bytes(_bytes_at(arrays[spec])), [arrays[place] for place in places])
                except BaseException as error:
                    raise NotMade(key) from error
                made.is_there = True
        return made.value

    def _made(self, spec, arrays):
        decoder = _travel.Decoder(spec, self._finder(arrays))
        reference, warm = decoder.about
        function, args, kwargs = self._loaded(decoder, reference, arrays)
        with _frameworks.on_lane(_in_call.lane):  # not before: what uses the lane may have been imported just now
            value = function(*args, **kwargs)
            if warm is not None:
                self._function(warm, arrays)(value)
        _frameworks.finish()
        return value

    def _have(self, reference, arrays):
        self._function(reference, arrays)
        _frameworks.make_ready(_in_call.lane)

    def _prepared(self, *about):
        try:
            self._resource(*about)
        except NotMade as error:
            raise error.__cause__

    def _dropped(self, key):
        with self._lock:
            self._resources.pop(key, None)

    def _function(self, reference, arrays):
        if reference[0] == "name":
            return _plain_function(_code.imported(*reference[1:]))
        _, digest, place = reference
        with self._lock:
            if digest not in self._by_value:
                self._by_value[digest] = _plain_function(pickle.loads(bytes(_bytes_at(arrays[place]))))
            return self._by_value[digest]

    @staticmethod
    def _refused(box, why):
        _travel.put_answer(box, _travel.REFUSED, why[:_travel.MOST_ANSWER_BYTES // 4])
        return True, why

    @staticmethod
    def _raised(box, error, trace):
        kind = type(error)
        try:
            message = str(error)
        except Exception:
            message = ""
        try:
            is_of_file = isinstance(error, OSError) and error.filename is not None
            args = _travel._plain([*error.args, error.filename] if is_of_file else list(error.args), "")
        except Exception:
            args = None
        if len(json.dumps(args)) > _MOST_TRACE:
            args = None
        while trace is not None and trace.tb_frame.f_code.co_filename in _OUR_FILES:
            trace = trace.tb_next
        text = "".join(traceback.format_exception(kind, error, trace))
        said = {"module": kind.__module__, "name": kind.__qualname__, "message": message[:2000], "args": args,
                "traceback": text[-_MOST_TRACE // 4:]}
        _travel.put_answer(box, _travel.RAISED, json.dumps(said))
        return False, f"{kind.__qualname__}: {message}"[:1000]


CALLS = Calls()


_MOST_KEPT = 64
_MOST_STREAMS = 1024
_in_call = threading.local()


def _described(kept, value):
    number = _frameworks.number_of(value)
    if number is None:
        return None
    if len(kept) == _travel.MOST_RETURNED_ARRAYS:
        raise _travel.CannotTravel(f"it returns more than {_travel.MOST_RETURNED_ARRAYS} arrays, which is the most")
    kept.append(value)
    return [len(kept) - 1, number, list(value.shape)]


def _read_views(arrays):
    """The memory of the arrays that are only read; on the CPU."""
    for place, (address, number, shape, strides, access) in enumerate(arrays[1:]):
        if access == _READ and 0 not in shape:
            yield place, _memory.lent(None, address, np.dtype(f"V{_frameworks.item_bytes(number)}"), shape, strides)


_OUR_FILES = (__file__, _frameworks.__file__)


class NotMade(Exception):
    """A resource could not be made; its cause says why."""


class _Stream:
    """A generator, and how many items it was asked for."""

    def __init__(self, generator):
        self.lock = threading.Lock()
        self.generator = generator
        self.count = 0


class _Resource:
    def __init__(self):
        self.lock = threading.Lock()
        self.is_there = False
        self.value = None


def _plain_function(found):
    return getattr(found, "function", found) if type(found).__module__.startswith("troupe.") else found


def _bound(function, kwargs):
    """Positional and keyword arguments; a function may take some of them by position only, or any number."""
    import inspect
    parameters = inspect.signature(function).parameters
    if all(parameter.kind is parameter.POSITIONAL_OR_KEYWORD for parameter in parameters.values()):
        return (), kwargs
    bound = inspect.BoundArguments(inspect.signature(function), kwargs)
    return bound.args, bound.kwargs


def _array(array, framework):
    address, number, shape, strides, access = array
    return _frameworks.lent(framework, address, number, shape, strides, access == _READ)


def _weights(index, data, framework):
    address, _, _, _, access = data
    return {name: _frameworks.lent(framework, address + offset, number, shape, None, access == _READ)
            for name, number, shape, offset in json.loads(bytes(_bytes_at(index)))}


_FOUND = {"array": _array, "weights": _weights}


def _bytes_at(array):
    address, _, (size,), _, access = array
    if not size:
        return memoryview(b"")
    return memoryview(_memory.lent(None, address, np.dtype("u1"), (size,), None, access == _READ))
