"""Calls: what is waited for in a thread, or awaited on an event loop."""
from __future__ import annotations

import asyncio
import itertools
import weakref

from . import _core

_loops = weakref.WeakKeyDictionary()


class Call:
    """An op that is submitted once: by `submit()`, by `get()`, which waits in this thread, or by `await`.

    Cancelling the task that awaits it gives the call up: an op that has not begun never begins.

    >>> troupe.nop().get()
    """

    __slots__ = ("_held",)

    def __init__(self, held):
        self._held = held

    def deadline(self, seconds) -> Call:
        """The op must end within that time after its submission, or it is stopped: `DeadlineExceeded`."""
        self._held.deadline(seconds)
        return self

    def submit(self) -> None:
        """Nobody waits for its end: its errors show in what it writes."""
        self._held.submit()

    def get(self) -> None:
        """Waits in this thread, without the interpreter lock. Ctrl-C ends the wait and gives the call up."""
        self._held.get()

    def __await__(self):
        return _Bell.of(asyncio.get_running_loop()).wait(self._held).__await__()


class _Bell:
    """What a loop has for all calls that are awaited on it: one descriptor, and the future of each call."""

    def __init__(self, loop):
        self._core = _core.LoopBell()
        self._tickets = itertools.count()
        self._futures = {}
        loop.add_reader(self._core.descriptor(), self._answer)

    @classmethod
    def of(cls, loop):
        bell = _loops.get(loop)
        if bell is None:
            bell = _loops[loop] = cls(loop)
        return bell

    def _answer(self):
        for ticket, error in self._core.answer():
            future = self._futures.pop(ticket, None)
            if future is None or future.done():
                continue
            if error is None:
                future.set_result(None)
            else:
                future.set_exception(error)

    async def wait(self, held):
        ticket = next(self._tickets)
        future = asyncio.get_running_loop().create_future()
        self._futures[ticket] = future
        try:
            waiting = held.start(self._core, ticket)
        except BaseException:
            del self._futures[ticket]
            raise
        try:
            await future
        except asyncio.CancelledError:
            self._futures.pop(ticket, None)
            waiting.give_up()
            raise


def nop(device=None) -> Call:
    """A call that does nothing: a round trip to the worker and back."""
    from ._creation import device_or_default
    return Call(_core.call_nop(device_or_default(device)._core))


def call_plugin(path, function, *, reads=(), writes=(), updates=(), parameters=b"", device=None) -> Call:
    """A call of a function of a plugin, a shared object that the worker loads; see docs/plugins.md."""
    uses = [(word, array) for word, arrays in (("reads", reads), ("writes", writes), ("updates", updates))
            for array in arrays]
    from ._creation import device_or_default
    handle = uses[0][1].device_handle if uses and device is None else device_or_default(device)._core
    return Call(_core.call_plugin(handle, str(path), function, uses, bytes(parameters)))
