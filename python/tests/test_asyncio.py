"""Calls on an event loop: one descriptor for all of them, no thread for each; cancelled tasks give their calls up."""
import asyncio
import threading

import numpy as np
import pytest

import troupe


def test_a_call_is_awaited(device):
    async def main():
        x = troupe.ones(1000) + 1
        await x.ready()
        await troupe.nop()
        return float(x.sum())

    assert asyncio.run(main()) == 2000


def test_many_calls_at_once_need_no_threads(device):
    async def main():
        arrays = [troupe.full(10, i) + 1 for i in range(500)]
        before = threading.active_count()
        await asyncio.gather(*(x.ready() for x in arrays))
        assert threading.active_count() == before
        return [int(x[0]) for x in arrays]

    assert asyncio.run(main()) == list(range(1, 501))


def test_errors_come_out_of_await(device):
    async def main():
        with pytest.raises(troupe.Error):
            await troupe.linalg.solve(troupe.zeros((2, 2)), troupe.ones(2)).ready()

    asyncio.run(main())


def test_each_loop_has_its_own_bell(device):
    for _ in range(3):
        asyncio.run(_nops(10))
    threads = [threading.Thread(target=lambda: asyncio.run(_nops(20))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


async def _awaited(call):
    await call


async def _nops(count):
    await asyncio.gather(*(troupe.nop() for _ in range(count)))


def test_cancelling_the_task_gives_the_call_up(fresh_device, plugin):
    async def main():
        x = troupe.ones(10, device=fresh_device)
        call = troupe.call_plugin(plugin, "hang", reads=[x]).deadline(1)
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(call, 0.1)
        return float(x.sum())

    assert asyncio.run(main()) == 10


def test_a_call_is_submitted_once(device):
    call = troupe.nop()
    call.submit()
    with pytest.raises(troupe.InvalidArgument, match="once"):
        call.get()


def test_a_thousand_calls_at_once_each_end_once_under_chaos(fresh_device, plugin):
    """Workers are killed, ops crash, tasks are cancelled: every call ends once, and as it should."""
    counts = {"done": 0, "crashed": 0, "cancelled": 0}

    async def sum_of(x, i):
        await (made := (x + i).sum()).ready()
        assert int(made) == 4950 + 100 * i
        counts["done"] += 1

    async def crash(x):
        try:
            await troupe.call_plugin(plugin, "look_up", reads=[x])
        except troupe.Error as error:
            assert isinstance(error, (troupe.WorkerCrashed, troupe.OverBudget)), error
            counts["crashed"] += 1

    async def give_up(x):
        task = asyncio.ensure_future(_awaited((x * 2).ready()))
        await asyncio.sleep(0)
        task.cancel()
        try:
            await task
            counts["done"] += 1
        except asyncio.CancelledError:
            counts["cancelled"] += 1

    async def main():
        x = troupe.arange(100, device=fresh_device)
        work = [sum_of(x, i) for i in range(900)] + [crash(x) for _ in range(3)] + [give_up(x) for _ in range(97)]
        np.random.default_rng(3).shuffle(work)

        async def killer():
            for _ in range(2):
                await asyncio.sleep(0.02)
                fresh_device.kill_worker()

        await asyncio.gather(killer(), *work)

    asyncio.run(main())
    assert sum(counts.values()) == 1000 and counts["crashed"] == 3 and counts["done"] >= 900


def test_a_thousand_calls_at_once_end_while_workers_die(fresh_device):
    async def killer():
        for _ in range(3):
            fresh_device.kill_worker()
            await asyncio.sleep(0.05)

    async def main():
        x = troupe.arange(100, device=fresh_device)
        for _ in range(3):
            sums = [(x + i).sum() for i in range(1000)]
            await asyncio.gather(killer(), *(s.ready() for s in sums))
            assert [int(s) for s in sums] == [4950 + 100 * i for i in range(1000)]

    asyncio.run(main())
