"""Trials: many candidates over the same sealed inputs, of which some fault, hang or fail; each costs only itself."""
from __future__ import annotations

import time
import typing

from . import _calls, _ops, _resources
from ._array import Array
from ._errors import Error


class Tried(typing.NamedTuple):
    """How a candidate did: what the function returned and in which time, or the error."""

    candidate: object
    value: object = None
    seconds: float | None = None
    error: Exception | None = None

    @property
    def ok(self) -> bool:
        """Whether it came to its end."""
        return self.error is None


def trial(function, candidates, *inputs, deadline=1.0, device=None) -> typing.Iterator[Tried]:
    """Calls `function(candidate, *inputs)` in a worker for each candidate, and yields a `Tried` for each, in order.

    deadline: how many seconds a candidate has
    Candidates may be functions, texts, numbers. Arrays among the inputs are sealed (copied once if they are not), so
    that no candidate changes what the next one sees. A candidate that crashes or hangs costs a worker, of which a
    device has only so many a minute: open it with `max_restarts` as large as that may be.

    >>> import numpy as np
    >>> def run(candidate, x):
    ...     return float(candidate(x))
    >>> device = troupe.device("host", python=True, max_restarts=1000)
    >>> x = troupe.arange(4, device=device)
    >>> [tried.value for tried in troupe.trial(run, [np.sum, np.max], x)]
    [6.0, 3.0]
    """
    op = function if isinstance(function, _ops.Op) else _ops.Op(function)
    is_torch = "torch" in op._frameworks.values()
    timed = _ops.Op(_timed, deadline=deadline, arrays="torch" if is_torch else "numpy", device=device)
    where = device or next((value.device for value in inputs if type(value) is Array), None)
    sealed = [_resources._sealed(value) if type(value) is Array else value for value in inputs]
    for candidate in candidates:
        try:
            seconds, value = timed(op, candidate, *sealed)
            yield Tried(candidate, value, seconds)
        except Exception as error:
            if isinstance(error, Error) and error.kind in ("stopped", "device_lost"):
                raise  # not the candidate's
            yield Tried(candidate, error=error)
            if isinstance(error, Error):
                _calls.nop(where).get()  # until a worker serves: the next one has all of its time


def _timed(function, candidate, *inputs):
    began = time.perf_counter()
    value = function(candidate, *inputs)
    synchronize = getattr(getattr(value, "device", None), "type", None) == "cuda"
    if synchronize:
        import torch
        torch.cuda.current_stream().synchronize()
    return time.perf_counter() - began, value
