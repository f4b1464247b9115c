"""What the wheel contains: the worker, found by itself and ready to run, types for checkers, a version."""
import importlib.metadata
import os
import pathlib
import subprocess

import pytest

import troupe

FOLDER = pathlib.Path(troupe.__file__).parent


def test_the_worker_is_inside_and_can_run(monkeypatch):
    monkeypatch.delenv("TROUPE_WORKER", raising=False)
    worker = FOLDER / "troupe-worker"
    assert os.access(worker, os.X_OK)
    with troupe.System(logs=False) as system:
        device = system.device("host", python=False)
        troupe.ones(3, device=device).wait()
        assert os.readlink(f"/proc/{device.worker_pid}/exe") == str(worker.resolve())


def test_types_and_version_are_inside():
    assert (FOLDER / "py.typed").exists() and (FOLDER / "__init__.pyi").exists()
    assert importlib.metadata.version("troupe").count(".") == 2


@pytest.mark.parametrize("file", ["troupe-worker", "_core.abi3.so"])
def test_nothing_of_cuda_is_linked(file):
    loaders = list(pathlib.Path("/lib64").glob("ld-linux*.so*")) + list(pathlib.Path("/lib").glob("ld-linux*.so*"))
    if not loaders:
        pytest.skip("needs the loader of glibc")
    listed = subprocess.run([loaders[0], "--list", FOLDER / file], capture_output=True, text=True, check=True)
    assert "libc.so" in listed.stdout and "cuda" not in listed.stdout and "cublas" not in listed.stdout
    assert "not found" not in listed.stdout
