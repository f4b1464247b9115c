"""What the tests share: the CPU as the device, and how an array is compared with NumPy's."""
import os
import pathlib
import shutil
import subprocess

os.environ.setdefault("TROUPE_DEVICE", "host")
os.environ.setdefault("SCIPY_ARRAY_API", "1")  # SciPy reads it when it is imported

import numpy as np
import pytest

import troupe


@pytest.fixture(scope="session")
def device():
    return troupe.device()


@pytest.fixture
def fresh_device():
    """A device of a system of its own, for tests that kill its workers."""
    with troupe.System(logs=False) as system:
        yield system.device("host")


def same(ours, theirs, tolerance=None):
    """Shape, type and elements are NumPy's; with a tolerance, so nearly."""
    theirs = np.asarray(theirs)
    assert isinstance(ours, troupe.Array)
    assert ours.shape == theirs.shape
    assert ours.dtype == theirs.dtype
    if tolerance is None:
        np.testing.assert_array_equal(ours.numpy(), theirs)
    else:
        np.testing.assert_allclose(ours.numpy(), theirs, rtol=tolerance, atol=tolerance)


ROOT = pathlib.Path(__file__).resolve().parents[2]
PLUGIN = r"""
#include <unistd.h>
#include "troupe/plugin.h"
TroupeStatus look_up(const TroupeCall*) {
  const volatile int* volatile nowhere = nullptr;
  return *nowhere;
}
TroupeStatus hang(const TroupeCall*) {
  for (;;) pause();
}
constexpr TroupeFunction kFunctions[] = {{"look_up", look_up}, {"hang", hang}};
constexpr TroupePlugin kPlugin = {TROUPE_PLUGIN_MAGIC, TROUPE_PLUGIN_ABI_VERSION, "careless", 2, kFunctions};
extern "C" const TroupePlugin* troupe_plugin(void) { return &kPlugin; }
"""


@pytest.fixture(scope="session")
def plugin(tmp_path_factory):
    compiler = shutil.which("g++")
    if compiler is None or not (ROOT / "troupe/plugin.h").exists():
        pytest.skip("needs g++ and the sources, to make a plugin that crashes")
    folder = tmp_path_factory.mktemp("plugin")
    (folder / "careless.cpp").write_text(PLUGIN)
    subprocess.run([compiler, "-std=c++20", "-shared", "-fPIC", f"-I{ROOT}", "careless.cpp", "-o", "libcareless.so"],
                   cwd=folder, check=True)
    return folder / "libcareless.so"
