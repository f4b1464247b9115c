"""Steps that are whole or did not happen: what a call writes is copied before it, and put back when it fails."""
from __future__ import annotations

from . import _core, _memory, _ops
from ._errors import Error

_MOST_TRIES = 3  # of a step whose worker dies, and not by its doing


class AtomicCall:
    """A call of an op with `atomic=True`: as `FunctionCall`, and when it fails, its arrays are as they were before.

    They are put back by `get()` and `await`; before that, and when nobody waits, their content is unknown.
    """

    def __init__(self, op, args, kwargs):
        self._op = op
        self._packing, self._reference = op._packed(args, kwargs)
        self._deadline = op._deadline
        self._saved = [(array, None) for word, array in self._packing.uses if word != "reads"]
        self._call = None
        self._tries = 0

    def deadline(self, seconds) -> AtomicCall:
        """Each try of the call must end within that time after its submission."""
        self._deadline = _ops._checked_deadline(self._op._code.title, seconds)
        return self

    def submit(self) -> AtomicCall:
        """It begins as soon as its turn comes; `get()` waits for its end."""
        self._prepared().submit()
        return self

    def get(self):
        """Waits in this thread, and gives what the function returned."""
        call = self._call or self._prepared()
        while True:
            try:
                return call.get()
            except BaseException as error:
                self._put_back(error)
                if not self._may_try_again(error):
                    raise
            call = self._prepared()

    def __await__(self):
        return self._awaited().__await__()

    async def _awaited(self):
        while True:
            try:
                return await self._prepared()
            except BaseException as error:
                self._put_back(error)
                if not self._may_try_again(error):
                    raise

    def cancel(self) -> None:
        """Gives the call up: one that has not begun never begins."""
        if self._call is not None:
            self._call.cancel()

    @property
    def done(self) -> bool:
        """Whether a submitted call has ended, well or not."""
        return self._call is not None and self._call.done

    def _prepared(self):
        """The call, behind copies of what it writes."""
        if self._call is None:
            self._saved = [(array, _copy_of(array)) for array, _ in self._saved]
        self._tries += 1
        self._call = _ops.FunctionCall(self._op, self._packing, ("call", self._reference), (), self._packing.bytes)
        return self._call.deadline(self._deadline)

    def _put_back(self, error):
        if isinstance(error, Error) and error.kind == "buffer_tainted":
            return  # it has not begun
        for array, copy in self._saved:
            _core.copy(copy, array)

    def _may_try_again(self, error):
        """Whether its worker has died of something else: of that it says where it was itself."""
        return (isinstance(error, Error) and error.kind == "worker_crashed" and not getattr(error, "python_stack", "")
                and self._tries < _MOST_TRIES)


def _copy_of(array):
    copy = _core.allocate(array.device_handle, array.shape, array.dtype_number, _memory.USUAL)
    _core.copy(array, copy)
    return copy
