"""What travels between the app and a Python worker: arguments there, answers back.

Arguments are pickled, since the worker trusts its app; arrays in them travel as places in the list of the call. Answers
are JSON, since the app does not trust a worker, which may have run anything. They come back in the call's *box*: an
array that the app sees, which is the first one of the call. It begins with a head and the Python stack (see
python/worker/running_calls.hpp), and then has the answer.
"""
import base64
import io
import json
import pickle
import struct

from . import _dtypes
from ._errors import Error

STACK_END = 4096
BOX_BYTES = 64 << 10
MOST_ANSWER_BYTES = BOX_BYTES - STACK_END
MOST_ARGUMENT_BYTES = 16 << 20
MOST_RETURNED_ARRAYS = 15
_HEAD = struct.Struct("<IIII")
NOTHING, RETURNED, RAISED, REFUSED = range(4)

DEADLINE = struct.Struct("<q")  # at the start of a call's parameters, in nanoseconds of the monotonic clock; 0 is none
MOST_INLINE_BYTES = 4096 - DEADLINE.size  # what does not fit travels as an array


# ---- the box ----

def clear(box):
    box[:_HEAD.size] = bytes(_HEAD.size)


def put_answer(box, state, text):
    """Worker: lays an answer down. The state comes last, so that an answer that was cut off is none."""
    encoded = text.encode()
    box[STACK_END:STACK_END + len(encoded)] = encoded
    _, _, stack_bytes, _ = _HEAD.unpack_from(box)
    _HEAD.pack_into(box, 0, state, len(encoded), stack_bytes, 0)


def read_box(box):
    """App: (state, answer, stack). Believes no number that a worker wrote."""
    head = bytes(box[:_HEAD.size])
    state, answer_bytes, stack_bytes, _ = _HEAD.unpack(head)
    stack = bytes(box[_HEAD.size:_HEAD.size + min(stack_bytes, STACK_END - _HEAD.size)])
    if state not in (RETURNED, RAISED, REFUSED) or answer_bytes > MOST_ANSWER_BYTES:
        return NOTHING, "", stack.decode(errors="replace")
    answer = bytes(box[STACK_END:STACK_END + answer_bytes])
    return state, answer.decode(errors="replace"), stack.decode(errors="replace")


# ---- answers ----

class CannotTravel(Exception):
    """Why a value cannot go where it should."""


def encoded_answer(value, keep):
    """Worker: a value as JSON. `keep` says of an array what the app needs to make room for it, and keeps it until then;
    of anything else it says None."""
    if value is None:
        return ""
    text = json.dumps(_plain(value, "what it returns", keep))
    if len(text.encode()) > MOST_ANSWER_BYTES:
        raise CannotTravel(f"what it returns takes {len(text.encode())} bytes by value; the most is "
                           f"{MOST_ANSWER_BYTES}. Write it into an array of the call, or return an array")
    return text


def _plain(value, where, keep=lambda value: None):
    kind = type(value)
    if value is None or kind in (bool, int, float, str):
        return value
    if kind is list:
        return [_plain(item, where, keep) for item in value]
    if kind is tuple:
        return {"tuple": [_plain(item, where, keep) for item in value]}
    if kind is dict:
        return {"dict": [[_plain(key, where), _plain(item, where, keep)] for key, item in value.items()]}
    if kind in (bytes, bytearray):
        return {"bytes": base64.b64encode(value).decode()}
    if kind is complex:
        return {"complex": [value.real, value.imag]}
    if hasattr(value, "item") and getattr(value, "ndim", None) == 0:
        return _plain(value.item(), where)
    kept = keep(value)
    if kept is not None:
        return {"array": kept}
    if isinstance(value, (int, float, str)):  # of a class that the app does not know
        return _plain(next(base for base in (int, float, str) if isinstance(value, base))(value), where)
    raise CannotTravel(f"{where} has a {kind.__module__}.{kind.__qualname__}, which does not travel by value; numbers, "
                       "strings, bytes, lists, tuples and dicts do, and arrays")


def decoded_answer(text, make):
    """App: the value, with an array of `make(number, shape)` in the place of each that the worker keeps, and these.
    `ValueError` for what no worker of ours writes."""
    arrays = []

    def made(place, number, shape):
        if place != len(arrays) or type(number) is not int or not 0 <= number < len(_dtypes.NAMES):
            raise ValueError("an array of no type, or out of turn")
        if len(arrays) >= MOST_RETURNED_ARRAYS or not all(type(extent) is int and extent >= 0 for extent in shape):
            raise ValueError("too many arrays, or one of no shape")
        arrays.append(make(number, tuple(shape)))
        return arrays[-1]

    if not text:
        return None, arrays
    try:
        return _value(json.loads(text), made), arrays
    except Error:
        raise  # there is no room for it
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise ValueError(f"the worker's answer makes no sense: {error}") from None


def _value(plain, made=None):
    if isinstance(plain, list):
        return [_value(item, made) for item in plain]
    if not isinstance(plain, dict):
        return plain
    (kind, content), = plain.items()
    if kind == "tuple":
        return tuple(_value(item, made) for item in content)
    if kind == "dict":
        return {_value(key): _value(item, made) for key, item in content}
    if kind == "array":
        return made(*content)
    if kind == "bytes":
        return base64.b64decode(content)
    if kind == "complex":
        return complex(*content)
    raise ValueError(kind)


# ---- arguments ----

class Encoder(pickle.Pickler):
    """App: pickles arguments one after another. `replace(object)` gives what the worker looks up instead, or None."""

    def __init__(self, replace):
        self._file = io.BytesIO()
        super().__init__(self._file, protocol=5)
        self.persistent_id = replace

    def finished(self):
        return self._file.getvalue()


class Decoder(pickle.Unpickler):
    """Worker: loads them again. `find(what)` gives the object that stands for what `replace` gave.

    `about` is what was pickled in front of them.
    """

    def __init__(self, data, find):
        file = io.BytesIO(data)
        self.about = pickle.load(file)
        super().__init__(file)
        self.persistent_load = find
