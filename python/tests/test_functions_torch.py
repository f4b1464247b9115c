"""Functions with PyTorch: tensors of the vault's memory, modules over sealed weights, and their failures. With a GPU
the same runs there, and the failures of a GPU besides."""
import os

import numpy as np
import pytest
from conftest import same

torch = pytest.importorskip("torch")

import functions_with_torch as here

import troupe


def gpus():
    with troupe.System(logs=False) as system:
        return [found["backend"] for found in system.devices()].count("cuda")


@pytest.fixture(scope="module", params=["host", "cuda"])
def device(request):
    if request.param == "cuda" and (not gpus() or not torch.cuda.is_available()):
        pytest.skip("there is no GPU, or PyTorch has no CUDA")
    with troupe.System(logs=False) as system:
        yield system.device(request.param, python=True, max_restarts=10_000)


def test_arrays_are_tensors_of_the_vaults_memory(device):
    x = troupe.arange(6, dtype="float32", device=device).reshape(2, 3)
    out = troupe.zeros((3, 2), dtype="float32", device=device)
    here.double(x.T, out)
    same(out, 2 * np.arange(6, dtype="float32").reshape(2, 3).T)


@pytest.mark.parametrize("name", ["float64", "float32", "float16", "bfloat16", "int8", "uint8", "int16", "int32",
                                  "int64", "bool", "complex64"])
def test_each_type_is_pytorchs(device, name):
    if name == "bfloat16":
        pytest.importorskip("ml_dtypes")
    x = troupe.ones(3, dtype=name, device=device)
    assert here.type_of(x) == f"torch.{name}"
    assert here.returned(x).dtype == x.dtype


def test_annotations_and_options_decide(device):
    x = troupe.ones(3, device=device)
    assert here.annotated(x) == "Tensor"
    if device.backend == "host":
        assert here.as_numpy(x) == "ndarray"
    else:
        with pytest.raises(troupe.InvalidArgument, match="x is on a GPU"):
            here.as_numpy(x)


def test_returned_tensors_become_arrays(device):
    made = here.split(troupe.arange(6, dtype="float32", device=device))
    same(made[0], np.arange(3, dtype="float32"))
    assert made[1].device == device and float(made[1].sum()) == 12


def weights_of(device):
    torch.manual_seed(3)
    net = here.Net()
    return net, troupe.state_dict(net, device)


def test_a_module_over_sealed_weights_answers_the_same_after_each_death(device):
    net, weights = weights_of(device)
    made = here.model(weights)
    x = troupe.ones((2, here.WIDTH), dtype="float32", device=device)
    with torch.inference_mode():
        right = net(torch.ones(2, here.WIDTH)).numpy()
    first = here.infer(made, x).numpy()
    np.testing.assert_allclose(first, right, rtol=1e-3, atol=1e-4)
    for kind in here.DEATHS[device.backend]:
        with pytest.raises((troupe.WorkerCrashed, troupe.DeadlineExceeded, troupe.ContextPoisoned)):
            here.die_by.on(device).call(kind).deadline(2).get()
        np.testing.assert_array_equal(here.infer(made, x).numpy(), first)
    for name, tensor in net.state_dict().items():
        np.testing.assert_array_equal(weights.numpy(name), tensor.numpy())


def test_weights_cannot_be_changed(device):
    _, weights = weights_of(device)
    made = here.model(weights)
    with pytest.raises((troupe.WorkerCrashed, troupe.ContextPoisoned)):
        here.poison(made)
    assert here.infer(made, troupe.ones((1, here.WIDTH), dtype="float32", device=device)).shape == (1, 2)


def test_files_of_torch_save_are_loaded(device, tmp_path):
    torch.save({"a": torch.arange(3.0), "b": torch.ones(2, 2, dtype=torch.bfloat16)}, tmp_path / "m.pt")
    weights = troupe.load(device, tmp_path / "m.pt")
    assert weights["b"] == ("bf16", (2, 2))
    np.testing.assert_array_equal(weights.numpy("a"), np.arange(3, dtype="f4"))


def test_a_file_that_would_run_code_is_refused(device, tmp_path):
    class Evil:
        def __reduce__(self):
            return os.system, ("true",)
    torch.save({"a": Evil()}, tmp_path / "evil.pt")
    with pytest.raises(Exception, match="[Ww]eights"):
        troupe.load(device, tmp_path / "evil.pt")


def test_an_error_of_pytorch_comes_back_and_harms_nobody(device):
    pid = here.process.on(device)()
    with pytest.raises(RuntimeError, match="shapes"):
        here.mismatched.on(device)()
    assert here.process.on(device)() == pid
