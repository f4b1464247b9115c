"""Streams: the items of a generator function, one after another, each by an op of its own.

The generator stays in the worker, and goes on when the next item is asked for. Between two items other functions run.
"""
from __future__ import annotations

import itertools
import weakref

from . import _core, _devices, _memory, _ops, _travel
from ._errors import BY_KIND, Error

_keys = itertools.count(1)


class Stream:
    """What a call of a generator function gives: an iterator, and one for `async for`.

    An item is computed when it is asked for. The stream ends with the generator, with its exception, when it is closed,
    and when nobody refers to it any more. When its worker dies, the next item is `WorkerCrashed`: call the op again.

    >>> @troupe.op
    ... def count(n):
    ...     for i in range(n):
    ...         yield i
    >>> device = troupe.device("host", python=True)
    >>> list(count.on(device)(3))
    [0, 1, 2]
    """

    def __init__(self, op, args, kwargs):
        self._op = op
        self._deadline = op._deadline
        self._packing, self._reference = op._packed(args, kwargs)
        self._key = next(_keys)
        self._count = 0
        self._is_open = True
        self._abandoned = None

    def deadline(self, seconds) -> Stream:
        """Each item must be there within that time after it was asked for: else `DeadlineExceeded`."""
        self._deadline = _ops._checked_deadline(self._op._code.title, seconds)
        return self

    def __iter__(self):
        return self

    def __aiter__(self):
        return self

    def __next__(self):
        if not self._is_open:
            raise StopIteration
        try:
            found, value = self._taken(self._call().get())
        except BaseException as error:
            self._failed(error)
            raise
        if not found:
            raise StopIteration(value)
        return value

    async def __anext__(self):
        if not self._is_open:
            raise StopAsyncIteration
        try:
            found, value = self._taken(await self._call())
        except BaseException as error:
            self._failed(error)
            raise
        if not found:
            raise StopAsyncIteration
        return value

    def close(self) -> None:
        """Closes the generator, and waits until that has happened."""
        if self._begins_to_close():
            _ops.run(self._op._code.title, self._packing.device, ("close", self._key), [])

    async def aclose(self) -> None:
        """The same on an event loop."""
        if self._begins_to_close():
            await _ops.run_async(self._op._code.title, self._packing.device, ("close", self._key), [])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    async def __aenter__(self):
        return self

    async def __aexit__(self, *_):
        await self.aclose()

    def __repr__(self):
        return f"<stream of {self._op._code.title}, {self._count} items>"

    def _call(self):
        arguments = self._packing.bytes if self._count == 0 else b""
        if self._count == 0:
            self._abandoned = weakref.finalize(self, _abandon, self._packing.device, self._op._code.title, self._key)
            self._abandoned.atexit = False
        what, place = ("next", self._reference), (self._key, self._count)
        call = _ops.FunctionCall(self._op, self._packing, what, place, arguments, may_rerun=self._count == 0)
        self._count += 1
        return call.deadline(self._deadline)

    def _taken(self, answer):
        """(whether it is an item, the item or what the generator returned)."""
        what, value = answer
        if what == "gone":
            raise BY_KIND["worker_crashed"](
                f"{self._op._code.title}: the worker died after {self._count - 1} items, and the generator with it",
                self._op._code.title)
        if what == "end":
            self._ended()
        return what == "item", value

    def _begins_to_close(self):
        begun = self._is_open and self._count > 0
        self._ended()
        return begun

    def _failed(self, error):
        if not isinstance(error, Exception) and self._abandoned is not None:
            self._abandoned()  # the call was given up, and may still run
        self._ended()

    def _ended(self):
        self._is_open = False
        if self._abandoned is not None:
            self._abandoned.detach()


def _abandon(device, title, key):
    """Tells the workers that nobody wants more of it; nobody waits."""
    try:
        box = _core.allocate(device, (_travel.BOX_BYTES,), _ops._U8, _memory.APP)
        parameters = _ops.Parameters(("close", key), b"").inline()
        _core.forget(device, _core.prepare(device, _devices.functions_library(), title, [("writes", box)], parameters))
    except Error:
        pass  # the device is closed: there are no workers
