"""What the caller of a function is told when it ends badly: the function's own exception, or what became of its worker.

The worker's word is a claim. Nothing of it is executed here: an exception comes as names and text, and becomes an
instance of a class that this process has, without running its constructor unless it is one of Python's own.
"""
import builtins
import json
import sys

from . import _travel
from ._errors import BY_KIND, Error

_NEVER = (SystemExit, KeyboardInterrupt, GeneratorExit, StopIteration, StopAsyncIteration)


class RemoteTraceback(Exception):
    """The traceback in the worker, as text; the cause of the exception."""

    def __init__(self, text):
        super().__init__(text)
        self.text = text

    def __str__(self):
        return "\n" + self.text


def end_of(title, error, state, answer, stack, make=None):
    """(value, arrays that are to be filled, None) or (None, (), exception) of a call that ended with `error`, or None,
    and left that in its box."""
    if error is None:
        try:
            return *_travel.decoded_answer(answer if state == _travel.RETURNED else "", make), None
        except Error as no_room:
            return None, (), _again(no_room, f"{title}: an array that it returns: {no_room}", title)
        except ValueError as nonsense:
            return None, (), BY_KIND["internal"](f"{title}: {nonsense}", op=title)
    return None, (), _exception_of(title, error, state, answer, stack)


def _exception_of(title, error, state, answer, stack):
    if error.kind == "library_error" and state == _travel.RAISED:
        return _raised(title, answer, error)
    if error.kind == "invalid_argument" and state == _travel.REFUSED:
        return _again(error, f"{title}: {_printable(answer)}", title)
    text, stack = str(error), _own_frames(stack)
    if stack and error.kind in ("worker_crashed", "deadline_exceeded", "context_poisoned"):
        text += "\nwhere it was in Python:\n" + stack
    made = _again(error, text, title)
    made.python_stack = stack
    return made


def _own_frames(stack):
    """Without the frames of the worker's program."""
    ours = tuple(f'/troupe/{name}.py"' for name in ("_running", "_frameworks", "_worker"))
    return "\n".join(line for line in _printable(stack).splitlines() if not any(path in line for path in ours))


def _again(error, text, title):
    return type(error)(text, title, error.device, error.generation, error.library, error.native_code)


def _printable(text):
    return "".join(c if c.isprintable() or c in "\n\t" else "?" for c in text)


def _raised(title, answer, error):
    try:
        said = json.loads(answer)
        module, name, message, trace = (str(said[key]) for key in ("module", "name", "message", "traceback"))
        args = tuple(_travel._value(said["args"])) if said.get("args") is not None else (message,)
    except (ValueError, TypeError, KeyError, RecursionError):
        return _again(error, f"{title}: the worker's exception makes no sense", title)
    made = _instance(module, name, args)
    if made is None:
        made = _again(error, _printable(f"{module}.{name}: {message}"), title)
    made.__cause__ = RemoteTraceback(_printable(trace))
    return made


def _instance(module, name, args):
    """An exception of that class, if it is there and an ordinary one; None otherwise."""
    found = vars(builtins).get(name) if module == "builtins" else sys.modules.get(module)
    if module != "builtins":
        for part in name.split("."):
            found = vars(found).get(part) if found is not None and hasattr(found, "__dict__") else None
    if not isinstance(found, type) or not issubclass(found, Exception) or issubclass(found, _NEVER):
        return None
    try:
        if module == "builtins":
            return found(*args)
        if issubclass(found, Error):
            return found(str(args[0]) if args else "")
        made = found.__new__(found, *args)
        made.args = args
        return made
    except Exception:
        return None
