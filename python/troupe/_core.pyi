# Written by python/stubs.py: change that, or what it reads.
from typing import Any

class Handle:
    shape: tuple[int, ...]
    ndim: int
    size: int
    dtype_number: int
    element_strides: tuple[int, ...]
    is_contiguous: bool
    is_sealed: bool
    content: str
    address: int
    def wait(self) -> None: ...

def __getattr__(name: str) -> Any: ...
