"""The examples of docstrings and of the pages about Python do what they say."""
import ast
import doctest
import importlib
import pkgutil
import shutil
import subprocess
import sys

import numpy
import pytest
from conftest import ROOT

import troupe

FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
NAMES = {"troupe": troupe, "numpy": numpy, "np": numpy}
has_compiler = shutil.which("g++") is not None or shutil.which("c++") is not None
MODULES = ["troupe", *(found.name for found in pkgutil.walk_packages(troupe.__path__, "troupe.")
                       if found.name != "troupe._core")]


@pytest.mark.parametrize("name", MODULES)
def test_docstrings(name, device):
    if name == "troupe.jit" and not has_compiler:
        pytest.skip("kernels for the CPU need a C++ compiler")
    ended = doctest.testmod(importlib.import_module(name), extraglobs=NAMES, optionflags=FLAGS)
    assert ended.failed == 0


@pytest.mark.parametrize("name", ["python.md", "python-functions.md"])
def test_the_page(device, name):
    page = ROOT / "docs" / name
    if not page.exists() or not has_compiler:
        pytest.skip("needs the documents, and a C++ compiler for their kernels")
    ended = doctest.testfile(str(page), module_relative=False, globs=dict(NAMES), optionflags=FLAGS)
    assert ended.attempted > 10 and ended.failed == 0


def test_the_readme(plugin, capsys):
    text = (ROOT / "README.md").read_text()
    program = text.split("```python\n")[1].split("```")[0]
    exec(program.replace('"libcareless.so"', repr(str(plugin))), {"troupe": troupe})
    printed = capsys.readouterr().out
    assert "SIGSEGV" in printed and "x is 13.0 long" in printed


def test_every_public_name_is_there_and_has_words():
    for name in troupe.__all__:
        found = getattr(troupe, name)
        assert not callable(found) or found.__doc__, name


def test_type_stubs_are_those_of_today(device):
    script = ROOT / "python" / "stubs.py"
    if not script.exists():
        pytest.skip("the sources are not here")
    ended = subprocess.run([sys.executable, str(script), "--check"], capture_output=True, text=True, timeout=60)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    for stub in (ROOT / "python" / "troupe").rglob("*.pyi"):
        ast.parse(stub.read_text())
