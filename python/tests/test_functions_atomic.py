"""Steps that are whole or did not happen."""
import asyncio

import functions_here as here
import numpy as np
import pytest
from conftest import same

import troupe


@pytest.fixture(scope="module")
def device():
    with troupe.System(logs=False) as system:
        yield system.device("host", python=True, max_restarts=10000)


@pytest.fixture
def state(device):
    return troupe.full(3, 7.0, device=device), troupe.full(3, 1.0, device=device)


def test_a_step_that_ends_well_has_happened(state):
    x, out = state
    assert here.step(x, out) == 8
    same(x, np.full(3, 8.0))
    same(out, np.full(3, 8.0))


@pytest.mark.parametrize("how, error", [("raise", here.Special), ("segfault", troupe.WorkerCrashed),
                                        ("loop", troupe.DeadlineExceeded), ("exit", troupe.WorkerCrashed)])
def test_a_step_that_fails_did_not_happen(state, how, error):
    x, out = state
    with pytest.raises(error):
        here.step.call(x, out, how).deadline(5 if how != "loop" else 0.5).get()
    same(x, np.full(3, 7.0))
    same(out, np.ones(3))
    assert here.step(x, out) == 8


def test_a_step_whose_worker_is_killed_is_made_again_from_the_start(state, tmp_path):
    x, out = state
    assert here.step(x, out, "kill once", str(tmp_path / "been")) == 8
    same(x, np.full(3, 8.0))


def test_on_an_event_loop(state, tmp_path):
    x, out = state

    async def main():
        assert await here.step.async_(x, out, "kill once", str(tmp_path / "been")) == 8
        with pytest.raises(here.Special):
            await here.step.async_(x, out, "raise")
    asyncio.run(main())
    same(x, np.full(3, 8.0))


def test_a_submitted_step_is_put_back_by_whoever_waits_for_it(state):
    x, out = state
    good, bad = here.step.call(x, out).submit(), here.step.call(x, out, "raise").submit()
    assert good.get() == 8
    with pytest.raises(here.Special):
        bad.get()
    same(x, np.full(3, 8.0))


def test_a_generator_cannot_be_atomic():
    def items(x):
        yield x
    with pytest.raises(troupe.InvalidArgument, match="atomic"):
        troupe.op(items, atomic=True)
