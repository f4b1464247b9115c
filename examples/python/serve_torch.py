"""A classifier behind HTTP that survives its own crashes: `python examples/python/serve_torch.py`, needs PyTorch.

Requests that come within a few milliseconds are answered by one batch. GET /classify?seed=3 gives a class; /kill, /hang
and /segfault do to the worker what they say, and the next request is answered by the standby. Without --serve it
starts, asks itself, and ends.
"""
import argparse
import asyncio
import ctypes
import time
import urllib.parse

import torch

import troupe

CLASSES, INPUTS, MOST_IN_BATCH = 10, 784, 64


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.Sequential(torch.nn.Linear(INPUTS, 256), torch.nn.ReLU(), torch.nn.Linear(256, CLASSES))

    def forward(self, x):
        return self.layers(x)


@troupe.resource(warm=lambda net: net(torch.zeros(1, INPUTS, device=next(net.parameters()).device)))
def model(weights):
    with torch.device("meta"):
        net = Net()
    net.load_state_dict(weights, assign=True)  # the vault's memory, sealed
    return net.eval()


@troupe.op(deadline=30)  # it counts from the submission, and a worker may have to start first
def classify(net, seeds):
    device = next(net.parameters()).device
    x = torch.stack([torch.randn(INPUTS, generator=torch.Generator().manual_seed(seed)) for seed in seeds])
    with torch.inference_mode():
        return net(x.to(device)).argmax(1).tolist()


@troupe.op(deadline=0.3)
def harm(how):
    if how == "segfault":
        ctypes.string_at(0)
    while True:
        pass


class Service:
    def __init__(self, device):
        torch.manual_seed(1)
        self.device = device
        self.net = model(troupe.state_dict(Net(), device))
        self.waiting = asyncio.Queue()

    async def batches(self):
        while True:
            batch = [await self.waiting.get()]
            await asyncio.sleep(0.002)
            while not self.waiting.empty() and len(batch) < MOST_IN_BATCH:
                batch.append(self.waiting.get_nowait())
            try:
                answers = await classify.async_(self.net, [seed for seed, _ in batch])
                for (_, future), answer in zip(batch, answers):
                    future.set_result(answer)
            except troupe.Error as error:
                for _, future in batch:
                    future.set_exception(error)

    async def answer(self, path, query):
        if path == "/classify":
            future = asyncio.get_running_loop().create_future()
            self.waiting.put_nowait((int(query.get("seed", ["0"])[0]), future))
            return 200, str(await future)
        if path == "/kill":
            return 200, str(self.device.kill_worker())
        if path in ("/hang", "/segfault"):
            try:
                await harm.on(self.device).async_(path[1:])
            except troupe.Error as error:
                return 500, str(error)
        return 404, "there is /classify?seed=N, /kill, /hang and /segfault"

    async def connected(self, reader, writer):
        line = (await reader.readline()).split()
        url = urllib.parse.urlsplit(line[1].decode() if len(line) > 1 else "/")
        try:
            status, text = await self.answer(url.path, urllib.parse.parse_qs(url.query))
        except troupe.Error as error:
            status, text = 503, str(error)
        head = f"HTTP/1.1 {status} -\r\nConnection: close\r\nContent-Length: {len(text.encode())}\r\n\r\n"
        writer.write((head + text).encode())
        await writer.drain()
        writer.close()


async def ask(port, path):
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(f"GET {path} HTTP/1.1\r\n\r\n".encode())
    answer = (await reader.read()).decode()
    writer.close()
    return answer.split("\r\n\r\n", 1)[1]


async def show(port):
    right = [await ask(port, f"/classify?seed={seed}") for seed in range(20)]
    assert await asyncio.gather(*(ask(port, f"/classify?seed={seed}") for seed in range(20))) == right
    for harm_path in ("/kill", "/segfault", "/hang"):
        told = await ask(port, harm_path)
        began = time.perf_counter()
        again = await asyncio.gather(*(ask(port, f"/classify?seed={seed}") for seed in range(20)))
        took = (time.perf_counter() - began) * 1e3
        print(f"{harm_path}: {told.splitlines()[0][:80]}; 20 requests right after: {again == right}, {took:.0f} ms")


async def main(device, serves, port):
    service = Service(device)
    batches = asyncio.create_task(service.batches())
    server = await asyncio.start_server(service.connected, "127.0.0.1", port)
    port = server.sockets[0].getsockname()[1]
    if serves:
        print(f"http://127.0.0.1:{port}/classify?seed=3")
        await server.serve_forever()
    await show(port)
    batches.cancel()
    server.close()


if __name__ == "__main__":
    options = argparse.ArgumentParser()
    options.add_argument("--device", default="0")
    options.add_argument("--serve", action="store_true")
    options.add_argument("--port", type=int, default=0)
    given = options.parse_args()
    with troupe.System(logs=False) as system:
        which = int(given.device) if given.device.isdecimal() else given.device
        asyncio.run(main(system.device(which, python=True, max_restarts=1000), given.serve, given.port))
