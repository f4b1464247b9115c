"""Weights: many named tensors in one sealed array, read straight from files, one copy for all workers of a device.

The array has the tensors one after another, each at a multiple of 256 bytes. An index beside it, which the app makes,
says where each of them is; functions get both as a dict from names to arrays or tensors of the same memory.
"""
from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping

import numpy as np

from . import _core, _dtypes, _memory
from ._errors import BY_KIND, Error

_U8 = 7
_ALIGNMENT = 256
_PIECE_BYTES = 16 << 20
_MOST_HEADER_BYTES = 100 << 20  # what the format's own readers allow

_SAFETENSORS_TYPES = {
    "F64": "f64", "F32": "f32", "F16": "f16", "BF16": "bf16", "F8_E4M3": "f8e4m3", "F8_E5M2": "f8e5m2", "I8": "i8",
    "U8": "u8", "I16": "i16", "I32": "i32", "U32": "u32", "I64": "i64", "U64": "u64", "BOOL": "bool", "C64": "c64",
}
_ITEM_BYTES = {"f64": 8, "f32": 4, "f16": 2, "bf16": 2, "f8e4m3": 1, "f8e5m2": 1, "i8": 1, "u8": 1, "i16": 2, "i32": 4,
               "u32": 4, "i64": 8, "u64": 8, "bool": 1, "c64": 8, "c128": 16}


class Weights(Mapping):
    """Named tensors on a device, which no worker can change; `troupe.load` makes them.

    In the app it maps each name to (type, shape); `numpy(name)` fetches one. A function gets a dict of tensors.
    """

    def __init__(self, device, index, data, entries):
        self._device, self._index, self._data, self._entries = device, index, data, entries

    def __getitem__(self, name):
        number, shape, _ = self._entries[name]
        return _dtypes.NAMES[number], shape

    def __iter__(self):
        return iter(self._entries)

    def __len__(self):
        return len(self._entries)

    @property
    def nbytes(self) -> int:
        """Bytes of all tensors with the gaps between them."""
        return self._data.size

    def numpy(self, name) -> np.ndarray:
        """A copy of a tensor."""
        number, shape, offset = self._entries[name]
        dtype = _dtypes.dtype_of(number)
        size = math.prod(shape) * dtype.itemsize
        return np.frombuffer(self._data[offset:offset + size].numpy().tobytes(), dtype).reshape(shape)

    def _packed_into(self, packing):
        places = packing.add_read(self._index), packing.add_read(self._data)
        return ("weights", *places, packing.framework())

    def __reduce__(self):
        raise TypeError("weights go to a worker as an argument of an op or a resource, not inside of something else")

    def __repr__(self):
        return f"<weights: {len(self)} tensors, {self.nbytes} bytes>"


class _Tensor:
    """One of those that are to be loaded: where its bytes come from."""

    def __init__(self, name, number, shape, fill):
        self.name, self.number, self.shape, self.fill = name, number, tuple(shape), fill
        self.size_bytes = math.prod(self.shape) * _ITEM_BYTES[_dtypes.NAMES[number]]


def load(device, source) -> Weights:
    """Loads weights onto a device and seals them: `.safetensors` files, a file of `torch.save`, or a dict.

    source: a path, several paths, or a dict from names to NumPy arrays or PyTorch tensors

    >>> import numpy as np
    >>> weights = troupe.load(troupe.device(), {"w": np.ones((2, 3), "float32")})
    >>> weights["w"], float(weights.numpy("w").sum())
    (('f32', (2, 3)), 6.0)
    """
    tensors = []
    if isinstance(source, Mapping):
        tensors = [_from_object(name, value) for name, value in source.items()]
    else:
        paths = [source] if isinstance(source, (str, os.PathLike)) else list(source)
        for path in paths:
            tensors += _from_file(os.fspath(path))
    names = [tensor.name for tensor in tensors]
    if not names or len(set(names)) < len(names):
        twice = next((name for name in names if names.count(name) > 1), None)
        raise _bad("there are no tensors" if twice is None else f"the name {twice!r} is there twice")
    return _placed(device._core, tensors)


def state_dict(module, device=None) -> Weights:
    """Loads the parameters and buffers of a PyTorch module onto a device and seals them."""
    from ._creation import device_or_default
    return load(device_or_default(device), dict(module.state_dict()))


def _placed(device, tensors):
    entries, end = {}, 0
    for tensor in tensors:
        entries[tensor.name] = (tensor.number, tensor.shape, end)
        end += -(-tensor.size_bytes // _ALIGNMENT) * _ALIGNMENT
    data = _core.allocate(device, (max(end, _ALIGNMENT),), _U8, _memory.SEALABLE)
    if not end:
        end = _ALIGNMENT
    pieces = _Pieces(device, data)
    for tensor in tensors:
        pieces.add(entries[tensor.name][2], tensor)
    pieces.fill_gaps(entries, tensors, end)
    data.seal()
    listed = json.dumps([(name, *entry) for name, entry in entries.items()]).encode()
    return Weights(device, _memory.sent(np.frombuffer(listed, "u1"), device, _U8, _memory.APP), data, entries)


class _Pieces:
    """Brings bytes into an array that the app does not see, by way of two arrays that it sees."""

    def __init__(self, device, data):
        self._data = data
        size = min(_PIECE_BYTES, data.size)
        self._staging = [_core.allocate(device, (size,), _U8, _memory.APP) for _ in range(2)]
        self._written = [None, None]  # what was copied from each of them last
        self._turn = 0

    def add(self, offset, tensor):
        done = 0
        while done < tensor.size_bytes:
            size = min(_PIECE_BYTES, self._staging[0].size, tensor.size_bytes - done)
            done += self._bring(offset + done, size, lambda memory, at=done: tensor.fill(at, memory))

    def fill_gaps(self, entries, tensors, end):
        """An array is sealed when it is whole."""
        ends = [(entries[tensor.name][2] + tensor.size_bytes) for tensor in tensors]
        starts = [entries[tensor.name][2] for tensor in tensors[1:]] + [end]
        for gap, next_start in zip(ends, starts):
            if gap < next_start:
                self._bring(gap, next_start - gap, lambda memory: memory.__setitem__(slice(None), 0))

    def _bring(self, offset, size, fill):
        turn = self._turn
        self._turn = 1 - turn
        if self._written[turn] is not None:
            self._written[turn].wait()
        staging, target = self._staging[turn][:size], self._data[offset:offset + size]
        fill(_memory.shared(staging))
        _core.copy(staging, target)
        self._written[turn] = target
        return size


# ---- where bytes come from ----

def _from_object(name, value):
    carrier, number = _elements(name, value)
    raw = np.ascontiguousarray(carrier).reshape(-1).view("u1")

    def fill(at, memory):
        memory[...] = raw[at:at + memory.size]
    return _Tensor(str(name), number, value.shape, fill)


def _elements(name, value):
    """(elements of a type of that size, the type's number)."""
    if type(value).__module__.startswith("torch"):
        import torch
        value = value.detach().cpu().contiguous()
        for number, short in enumerate(_dtypes.NAMES):
            long = {"bf16": "bfloat16", "f8e4m3": "float8_e4m3fn", "f8e5m2": "float8_e5m2"}.get(short)
            if long and value.dtype is getattr(torch, long, None):
                return value.view(torch.uint8 if short != "bf16" else torch.int16).numpy(), number
        value = value.numpy()
    try:
        value = np.asarray(value)
        return value, _dtypes.number_of(value.dtype)
    except TypeError as error:
        raise _bad(f"{name}: {error}") from None


def _from_file(path):
    try:
        with open(path, "rb") as file:
            start = file.read(9)
            size = os.fstat(file.fileno()).st_size
    except OSError as error:
        raise _bad(f"{path} cannot be read: {error.strerror}") from None
    if len(start) == 9 and start[8:] == b"{" and int.from_bytes(start[:8], "little") <= size - 8:
        return _from_safetensors(path, size)
    if start[:2] == b"PK" or start[:1] == b"\x80":
        return _from_torch(path)
    raise _bad(f"{path} is no file of safetensors, and none of torch.save")


def _from_torch(path):
    try:
        import torch
    except ImportError:
        raise BY_KIND["unsupported"](f"load: {path} is a file of torch.save, which only PyTorch reads; it is not here")
    found = torch.load(path, map_location="cpu", weights_only=True)
    if not isinstance(found, Mapping):
        raise _bad(f"{path} has a {type(found).__name__} and not a dict of tensors")
    return [_from_object(name, value) for name, value in found.items() if isinstance(value, torch.Tensor)]


def _from_safetensors(path, size):
    with open(path, "rb") as file:
        header_bytes = int.from_bytes(file.read(8), "little")
        if header_bytes > min(_MOST_HEADER_BYTES, size - 8):
            raise _bad(f"{path}: its header says {header_bytes} bytes; the file has {size}")
        try:
            header = json.loads(file.read(header_bytes))
            return [_described(path, name, said, 8 + header_bytes, size) for name, said in header.items()
                    if name != "__metadata__"]
        except Error:
            raise
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise _bad(f"{path}: its header cannot be read: {error}") from None


def _described(path, name, said, base, file_size):
    short = _SAFETENSORS_TYPES.get(said["dtype"])
    if short is None:
        raise _bad(f"{path}: {name} is of {said['dtype']}, which troupe has no arrays of")
    begin, end = (int(offset) for offset in said["data_offsets"])
    shape = [int(extent) for extent in said["shape"]]

    def fill(at, memory):
        with open(path, "rb", buffering=0) as file:
            file.seek(base + begin + at)
            if file.readinto(memory) != memory.size:
                raise _bad(f"{path} has become shorter while it was read")
    tensor = _Tensor(name, _dtypes.NAMES.index(short), shape, fill)
    if min(shape, default=0) < 0 or not 0 <= begin <= end <= file_size - base or end - begin != tensor.size_bytes:
        raise _bad(f"{path}: {name} says bytes {begin} to {end}; as {said['dtype']} {shape} it takes "
                   f"{tensor.size_bytes} of the {file_size - base} that there are")
    return tensor


def _bad(why):
    return BY_KIND["invalid_argument"](why if why.startswith("load") else f"load: {why}")
