"""Writes the type stubs of the package: most functions of elements are made in a loop, which type checkers do not run.

`build/python/venv/bin/python python/stubs.py [--check]`, in the repository's folder, with the package installed.
"""
import inspect
import pathlib
import sys

FOLDER = pathlib.Path(__file__).resolve().parent / "troupe"
sys.path = [path for path in sys.path if path != str(FOLDER.parent)]  # the installed package, not its sources

import troupe  # noqa: E402
from troupe import _errors, array_api, blas  # noqa: E402

HEAD = '# Written by python/stubs.py: change that, or what it reads.\n'
CORE = HEAD + '''from typing import Any

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
'''


def is_written(module, name):
    """Whether the module's text defines the name, so that a type checker sees it there."""
    return any(line.startswith((f"def {name}(", f"class {name}(", f"class {name}:", f"{name}: "))
               for line in inspect.getsource(module).splitlines())


def signature_of(function):
    ours = inspect.signature(function)
    if ours.return_annotation is inspect.Signature.empty:
        ours = ours.replace(return_annotation="Array")
    return str(ours).replace("'", "") if "='" not in str(ours) else str(ours).replace("-> '", "-> ").rstrip("'")


def home(package, thing):
    """The module of the package whose text defines a thing, and None for what a loop made."""
    name = getattr(thing, "__name__", "")
    for module in (sys.modules.get(getattr(thing, "__module__", "") or ""), *SEARCHED):
        if module and module.__name__.startswith("troupe.") and getattr(module, name, None) is thing \
                and is_written(module, name):
            return module.__name__
    return None


SEARCHED = [module for name, module in sorted(sys.modules.items()) if name.startswith("troupe.") and
            getattr(module, "__file__", "").endswith(".py")]


def stub_of(package):
    imports, lines = ["from typing import Any", "import numpy as np"], []
    for name in sorted(set(package.__all__)):
        thing = getattr(package, name)
        if inspect.ismodule(thing):
            imports.append(f"from {thing.__name__.rpartition('.')[0]} import {name} as {name}")
        elif (found := home(package, thing)) and getattr(thing, "__name__", "") == name:
            imports.append(f"from {found} import {name} as {name}")
        elif inspect.isclass(thing) and issubclass(thing, Exception):
            bases = ", ".join(base.__name__ for base in thing.__bases__)
            lines.append(f"class {name}({bases}): ...")
        elif callable(thing):
            lines.append(f"def {name}{signature_of(thing)}: ...")
        elif isinstance(thing, (str, float, int)) or thing is None:
            lines.append(f"{name}: {type(thing).__name__ if thing is not None else 'None'}")
        else:
            lines.append(f"{name}: np.dtype")
    if not any(line.endswith(" Array as Array") for line in imports):
        imports.append("from troupe._array import Array as Array")
    return HEAD + "\n".join([*imports, "", *lines, ""])


STUBS = {"_core.pyi": lambda: CORE, "__init__.pyi": lambda: stub_of(troupe),
         "array_api/__init__.pyi": lambda: stub_of(array_api), "blas.pyi": lambda: stub_of(blas)}


def main(arguments):
    assert _errors.Error is troupe.Error
    old = [name for name, make in STUBS.items()
           if not (FOLDER / name).exists() or (FOLDER / name).read_text() != make()]
    if "--check" in arguments:
        for name in old:
            print(f"python/troupe/{name} is not what python/stubs.py writes; run it")
        return 1 if old else 0
    for name in old:
        (FOLDER / name).write_text(STUBS[name]())
        print(f"python/troupe/{name}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
