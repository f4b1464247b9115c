"""A small transformer learns while its worker is killed every two seconds: `python examples/python/train_survives.py`,
needs PyTorch.

All that training knows (parameters and the optimizer's moments) is in two states of one array each. A step reads one
and writes the other whole, so a step that is cut off did not happen, and is made again from what it read: the losses
are equal to those of a run that nobody disturbs, bit for bit.
"""
import argparse
import threading

import torch

import troupe

LETTERS, LENGTH, WIDTH, BATCH = 27, 32, 48, 16
TEXT = "the cat sat on the mat and the dog sat on the log while the hen ran to the pen " * 40
RATE, BETAS = 3e-3, (0.9, 0.99)


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.letters = torch.nn.Embedding(LETTERS, WIDTH)
        self.places = torch.nn.Embedding(LENGTH, WIDTH)
        self.block = torch.nn.TransformerEncoderLayer(WIDTH, 4, 2 * WIDTH, dropout=0.0, batch_first=True)
        self.out = torch.nn.Linear(WIDTH, LETTERS)

    def forward(self, x):
        mask = torch.nn.Transformer.generate_square_subsequent_mask(x.shape[1], device=x.device)
        h = self.letters(x) + self.places(torch.arange(x.shape[1], device=x.device))
        return self.out(self.block(h, src_mask=mask))


def batch_of(step):
    codes = torch.tensor([0 if c == " " else ord(c) - 96 for c in TEXT])
    starts = torch.randint(len(codes) - LENGTH - 1, (BATCH,), generator=torch.Generator().manual_seed(step))
    return torch.stack([codes[start:start + LENGTH + 1] for start in starts])


@troupe.resource
def network(width):
    torch.set_num_threads(1)  # so that sums have one order
    return Net()


@troupe.op(writes="after", deadline=60)
def step(net, before, after, number):
    """One step of Adam: `before` and `after` are [3, parameters]: the parameters and the two moments."""
    device = before.device
    net.to(device)
    values, first, second = before[0], before[1], before[2]
    torch.nn.utils.vector_to_parameters(values.clone(), net.parameters())
    text = batch_of(number).to(device)
    loss = torch.nn.functional.cross_entropy(net(text[:, :-1]).reshape(-1, LETTERS), text[:, 1:].reshape(-1))
    gradient = torch.nn.utils.parameters_to_vector(torch.autograd.grad(loss, list(net.parameters()))).detach()
    first = BETAS[0] * first + (1 - BETAS[0]) * gradient
    second = BETAS[1] * second + (1 - BETAS[1]) * gradient ** 2
    scale = (1 - BETAS[1] ** number) ** 0.5 / (1 - BETAS[0] ** number)
    after.copy_(torch.stack([values - RATE * scale * first / (second.sqrt() + 1e-8), first, second]))
    return float(loss)


def train(device, steps, losses):
    torch.manual_seed(1)
    start = torch.nn.utils.parameters_to_vector(Net().parameters()).detach().numpy()
    states = [troupe.zeros((3, start.size), dtype="float32", device=device) for _ in range(2)]
    states[0][0] = troupe.asarray(start, device=device)
    net = network.on(device)(WIDTH)
    for number in range(1, steps + 1):
        losses.append(step(net, states[(number - 1) % 2], states[number % 2], number))
    return losses


def write_picture(path, calm, disturbed):
    """Both curves, as SVG."""
    def points(losses, shift):
        most = max(calm)
        return " ".join(f"{20 + 560 * i / max(1, len(losses) - 1):.1f},{shift + 280 - 260 * loss / most:.1f}"
                        for i, loss in enumerate(losses))
    with open(path, "w") as file:
        file.write(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 600 300" font-family="sans-serif">'
                   f'<rect width="600" height="300" fill="white"/>'
                   f'<polyline fill="none" stroke="#bbb" stroke-width="6" points="{points(calm, 0)}"/>'
                   f'<polyline fill="none" stroke="#c30" stroke-width="1.5" points="{points(disturbed, 0)}"/>'
                   f'<text x="270" y="30" fill="#777" font-size="12">grey: undisturbed; red: killed</text>'
                   f'</svg>\n')


def main(which, steps, seconds, picture):
    with troupe.System(logs=False) as system:
        device = system.device(which, python=True, max_restarts=10_000)
        calm = train(device, steps, [])
        stop, killed = threading.Event(), 0

        def chaos():
            nonlocal killed
            while not stop.wait(seconds):
                killed += device.kill_worker()
        thread = threading.Thread(target=chaos)
        thread.start()
        disturbed = train(device, steps, [])
        stop.set()
        thread.join()
    print(f"{steps} steps, loss {calm[0]:.3f} to {calm[-1]:.3f}; {killed} workers killed, equal to the run without: "
          f"{disturbed == calm}")
    if picture:
        write_picture(picture, calm, disturbed)
    return disturbed == calm


if __name__ == "__main__":
    options = argparse.ArgumentParser()
    options.add_argument("--device", default="0")
    options.add_argument("--steps", type=int, default=300)
    options.add_argument("--seconds", type=float, default=2)
    options.add_argument("--picture")
    given = options.parse_args()
    chosen = int(given.device) if given.device.isdecimal() else given.device
    raise SystemExit(0 if main(chosen, given.steps, given.seconds, given.picture) else 1)
