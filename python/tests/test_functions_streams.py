"""Generator functions as ops: their items come one by one, and a stream ends with its generator, its worker or its
reader."""
import asyncio
import gc
import time

import functions_here as here
import numpy as np
import pytest
from conftest import same

import troupe


@pytest.fixture(scope="module")
def device():
    with troupe.System(logs=False) as system:
        yield system.device("host", python=True, max_restarts=10000)


def until(condition):
    end = time.monotonic() + 20
    while not condition() and time.monotonic() < end:
        time.sleep(0.01)
    return condition()


def test_items_come_in_order(device):
    assert list(here.count.on(device)(100)) == list(range(100))
    assert list(here.count.on(device)(0)) == []
    assert list(here.count.on(device).call(2)) == [0, 1]


def test_what_the_generator_returns_ends_the_stream(device):
    stream = here.count.on(device)(1)
    assert next(stream) == 0
    with pytest.raises(StopIteration) as caught:
        next(stream)
    assert caught.value.value == "all"
    with pytest.raises(StopIteration):
        next(stream)


def test_items_may_have_arrays(device):
    items = list(here.pieces(troupe.arange(5, device=device), 2))
    assert [item["at"] for item in items] == [0, 2, 4]
    same(items[1]["piece"], np.array([4, 6]))
    same(items[2]["piece"], np.array([8]))


def test_an_item_is_computed_when_it_is_asked_for(device):
    x, out = troupe.full(2, 3.0, device=device), troupe.zeros(2, device=device)
    seen = []
    for _ in here.powers(x, out):
        seen.append(float(out[0]))  # the op that reads it comes between two items
        out[...] = -1
    assert seen == [1, 3, 9]


def test_on_an_event_loop(device):
    async def read(n):
        return [item async for item in here.count.on(device).async_(n)]

    async def main():
        return await asyncio.gather(*(read(n) for n in range(8)))
    assert asyncio.run(main()) == [list(range(n)) for n in range(8)]


def test_streams_go_on_beside_each_other_and_other_functions(device):
    streams = [here.count.on(device)(5) for _ in range(4)]
    x = troupe.ones(3, device=device)
    for i in range(5):
        assert [next(stream) for stream in streams] == [i] * 4
        assert here.total(x) == 3


def test_closing_it_closes_the_generator(device, tmp_path):
    log = tmp_path / "log"
    with here.count.on(device)(5, str(log)) as stream:
        assert next(stream) == 0
    assert log.read_text() == "closed\n"
    assert list(stream) == []

    async def main():
        async with here.count.on(device).async_(5, str(log)) as stream:
            async for item in stream:
                if item == 2:
                    break
    asyncio.run(main())
    assert log.read_text() == "closed\nclosed\n"


def test_letting_go_of_it_closes_the_generator(device, tmp_path):
    log = tmp_path / "log"
    for _ in here.count.on(device)(5, str(log)):
        break
    gc.collect()
    assert until(log.exists)


def test_a_stream_that_was_never_read_costs_nothing(device, tmp_path):
    log = tmp_path / "log"
    stream = here.count.on(device)(5, str(log))
    stream.close()
    assert list(stream) == [] and not log.exists()


def test_cancelling_the_reader_ends_it(device, tmp_path):
    async def main():
        stream = here.slow.on(device).async_(0.2)
        reader = asyncio.ensure_future(anext(stream))
        await asyncio.sleep(0.05)
        reader.cancel()
        with pytest.raises(asyncio.CancelledError):
            await reader
        return [item async for item in stream]
    assert asyncio.run(main()) == []
    streams = troupe.op(lambda: len(__import__("troupe")._running.CALLS._streams)).on(device)
    assert until(lambda: streams() == 0)


def test_an_exception_ends_it(device):
    stream = here.ends_badly.on(device)("raise")
    assert next(stream) == 0
    with pytest.raises(here.Special) as caught:
        next(stream)
    assert "in ends_badly" in str(caught.value.__cause__)
    assert list(stream) == []


def test_a_crash_ends_it_with_the_python_stack(device):
    stream = here.ends_badly.on(device)("segfault", 2)
    assert [next(stream), next(stream)] == [0, 1]
    with pytest.raises(troupe.WorkerCrashed, match="SIGSEGV") as caught:
        next(stream)
    assert "in ends_badly" in caught.value.python_stack
    assert list(here.count.on(device)(2)) == [0, 1]


def test_a_deadline_is_for_each_item(device):
    stream = here.slow.on(device)(0.1).deadline(0.5)
    assert [next(stream) for _ in range(8)] == list(range(8))  # longer than that together
    stream.close()
    with pytest.raises(troupe.DeadlineExceeded):
        next(here.slow.on(device)(5).deadline(0.2))


def test_when_its_worker_dies_between_two_items_the_reader_is_told(device):
    stream = here.count.on(device)(5)
    assert [next(stream), next(stream)] == [0, 1]
    generation = device.generation
    device.kill_worker()
    assert until(lambda: device.generation > generation)
    with pytest.raises(troupe.WorkerCrashed, match="after 2 items"):
        next(stream)
    assert list(stream) == []


def test_a_generator_on_value_may_be_a_closure(device):
    offset = 10

    def shifted(n):
        for i in range(n):
            yield i + offset
    assert list(troupe.op(shifted).on(device)(3)) == [10, 11, 12]
