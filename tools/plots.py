#!/usr/bin/env python3
"""Draws the pictures of the documents: `./dev plots [--json FILE] [--actors FILE] [--torch FILE] [--training FILE]
[--check]`.

    docs/pictures/takeover.svg      after a fault: when the next op is done
    docs/pictures/cost_per_op.svg   an op there and back, beside raw CUDA and PyTorch
    docs/pictures/actor_scaling.svg how actors scale, beside CAF and Asio (see actor_scaling.py)
    docs/pictures/torch_*.svg       our ops beside PyTorch's, on the CPU and on a GPU (see torch_heat.py)
    docs/pictures/training.svg      a training whose workers are killed, beside one in peace (see training_curves.py)

Without options it draws docs/measured/gpu.json. With --json it first keeps FILE (build/gpu/gpu/bench.json, which
`./dev gpu bench` leaves) under that name, so that figures and pictures never disagree. --actors does the same with
what `./dev bench actors --json FILE` wrote and docs/measured/actors.json, and --torch with what `./dev bench --torch
--json FILE` wrote and docs/measured/torch_host.json or torch_cuda.json, and --training with what
`example_51_training_survives FILE` wrote and docs/measured/training.json. --check draws nothing and says which picture
is not what the figures give.
"""
import argparse
import json
import math
import pathlib
import sys

import actor_scaling
import svg
import torch_heat
import training_curves
from figures import INK, LINE, OTHER, OURS, SOFT, THIRD, WIDTH, Mistake, is_positive, round_step

ROOT = pathlib.Path(__file__).resolve().parent.parent
MEASURED = ROOT / "docs" / "measured" / "gpu.json"
ACTORS = ROOT / "docs" / "measured" / "actors.json"
PICTURES = ROOT / "docs" / "pictures"

RAW, TORCH = OTHER, THIRD

# What is drawn: the row of the benchmark, and what the picture calls it.
COSTS = [
    ("empty kernel, a plain thread waits", "empty kernel"),
    ("empty kernel, a coroutine awaits", "the same, co_await"),
    ("4 KiB in", "4 KiB in"),
    ("4 KiB out", "4 KiB out"),
    ("sgemm 64, there and back", "sgemm, 64 x 64"),
]
HANG_ERROR = "hung kernel: deadline to its caller's error"
HANG_NEXT = "hung kernel: deadline to next op done"
FAULT_NEXT = "illegal address to next op done"
FAULT_COLD = "illegal address to next op, without a standby"
NEW_PROCESS = "a new process to its first op done"


class Measured:
    """The rows of one run, by name, and where it was made."""

    def __init__(self, content, name):
        self.name = name
        machine = content.get("machine") if isinstance(content, dict) else None
        if not isinstance(content, dict) or not isinstance(content.get("rows"), list):
            raise Mistake(f"{name} is not what `troupe_bench --gpu --json` writes: it has no rows")
        if content.get("quick"):
            raise Mistake(f"{name} is of a quick run, which is not to be quoted; run `./dev gpu bench`")
        if not isinstance(machine, dict) or not all(machine.get(key) for key in ("gpu", "cuda", "date")):
            raise Mistake(f'{name} does not say where it was measured: it needs "machine": {{"gpu": ..., "cuda": ..., '
                          '"date": ...}, as `./dev gpu bench` writes it')
        self.machine = machine
        self.rows = {row["name"]: row for row in content["rows"]}

    def source(self):
        return f"{self.machine['gpu']}, CUDA {self.machine['cuda']}, measured by ./dev gpu, {self.machine['date']}"

    def row(self, name, unit):
        if name not in self.rows:
            raise Mistake(f'{self.name} has no row "{name}"; run `./dev gpu bench` without a family')
        if self.rows[name]["unit"] != unit:
            raise Mistake(f'{self.name}: "{name}" is in {self.rows[name]["unit"]}; the picture needs {unit}')
        return self.rows[name]

    def ours(self, name, unit):
        figure = self.row(name, unit)["ours"]["value"]
        if not is_positive(figure):
            raise Mistake(f'{self.name}: "{name}" was not measured: {self.rows[name].get("why") or figure}')
        return figure

    def reference(self, name, unit, starts_with):
        """The reference whose name starts so, or None when the row has none or it was not measured."""
        for reference in self.row(name, unit)["references"]:
            if reference["name"].startswith(starts_with) and is_positive(reference["figure"]["value"]):
                return reference
        return None

    def over(self, name, unit):
        """By how much our figure is more than its reference: the median of the rounds' differences, or of files that
        have no "over" the difference of the medians."""
        reference = self.reference(name, unit, "the same one")
        over = reference and reference.get("over", self.ours(name, unit) - reference["figure"]["value"])
        if not is_positive(over):
            raise Mistake(f'{self.name}: "{name}" does not say how long after its reference it was done')
        return over


def three_digits(value):
    """
    >>> three_digits(0.6231), three_digits(8.5), three_digits(69.24), three_digits(203.7), three_digits(4304)
    ('0.62', '8.50', '69.2', '204', '4304')
    """
    return f"{value:.{0 if value >= 99.95 else 1 if value >= 9.995 else 2}f}"


def duration(ms):
    """
    >>> duration(0.62), duration(203.7), duration(4304)
    ('0.62 ms', '204 ms', '4.30 s')
    """
    return f"{three_digits(ms / 1000)} s" if ms >= 1000 else f"{three_digits(ms)} ms"


# --- the take-over ----------------------------------------------------------------------------------------------------
def takeover_rows(measured):
    """(what happened, what happens then, [(ms, what is done)], colour), for each line of the picture."""
    fault_next_ms = measured.over(FAULT_NEXT, "ms")
    reported_ms = measured.reference(FAULT_NEXT, "ms", "the same one")["figure"]["value"]
    rows = [
        ("A kernel hangs", "known at its deadline; the standby takes over",
         [(measured.ours(HANG_ERROR, "ms"), "its caller has the error"),
          (measured.ours(HANG_NEXT, "ms"), "next op done")], OURS),
        ("A kernel faults", f"known when the driver tells, after {duration(reported_ms)}",
         [(fault_next_ms, "next op done")], OURS),
        ("The same, without a standby", "a new worker must start",
         [(measured.over(FAULT_COLD, "ms"), "next op done")], RAW),
    ]
    if NEW_PROCESS in measured.rows:
        torch = measured.reference(NEW_PROCESS, "ms", "PyTorch")
        if torch:
            rows.append(("PyTorch, started again", "a new process must start",
                         [(torch["figure"]["value"], "first op done")], TORCH))
    return rows


def takeover(measured):
    rows = takeover_rows(measured)
    left, right, top, step = 300, WIDTH - 50, 92, 62
    moments = [ms for _, _, points, _ in rows for ms, _ in points]
    first = math.floor(math.log10(min(moments)))
    last = math.ceil(math.log10(max(moments)))
    bottom = top + step * len(rows) - 8
    picture = svg.Picture(WIDTH, bottom + 72, "After a fault: when the next op is done")
    picture.text(28, 40, "After a fault, the next op is done in milliseconds", 19, INK, weight="600")
    picture.text(28, 62, "Time since the fault is known. Each mark is ten times the one before it.", 13, SOFT)

    def place(ms):
        return left + (right - left) * (math.log10(ms) - first) / (last - first)

    for exponent in range(first, last + 1):
        x = place(10**exponent)
        picture.line(x, top - 12, x, bottom, LINE)
        picture.text(x, bottom + 18, tick(exponent), 12, SOFT, anchor="middle")
    for number, (what, then, points, colour) in enumerate(rows):
        y = top + step * number + 26
        picture.text(28, y - 3, what, 14, INK, weight="600")
        picture.text(28, y + 14, then, 11, SOFT)
        picture.line(left, y, place(points[-1][0]), y, colour, 3)
        for index, (ms, done) in enumerate(points):
            picture.dot(place(ms), y, 6, colour if index == len(points) - 1 else "#ffffff", colour)
            words = f"{duration(ms)}: {done}"
            label(picture, place(ms), y, words, above=index == len(points) - 1, limits=(left, right))
    picture.text(28, bottom + 50, measured.source(), 11, SOFT)
    return picture.to_string()


def tick(exponent):
    """
    >>> [tick(exponent) for exponent in (-1, 0, 2, 3, 4)]
    ['0.1 ms', '1 ms', '100 ms', '1 s', '10 s']
    """
    return f"{10**(exponent - 3):g} s" if exponent >= 3 else f"{10**exponent:g} ms"


def label(picture, x, y, words, above, limits):
    """Words in the middle over or under a dot, moved so that they stay between the limits."""
    half = svg.text_width(words, 12) / 2
    centre = min(max(x, limits[0] + half + 4), limits[1] - half + 34)
    picture.text(centre, y - 12 if above else y + 21, words, 12, INK, anchor="middle")


# --- the cost of an op ------------------------------------------------------------------------------------------------
def cost_rows(measured):
    """(name, [(who, us, colour)]) for each op: ours, raw CUDA's, and PyTorch's where it was measured."""
    rows = []
    for name, shown in COSTS:
        raw = measured.reference(name, "us", "raw")
        if raw is None:
            raise Mistake(f'{measured.name}: "{name}" has no figure of raw CUDA beside ours')
        bars = [("Troupe", measured.ours(name, "us"), OURS), ("raw CUDA", raw["figure"]["value"], RAW)]
        torch = measured.reference(name, "us", "PyTorch")
        if torch:
            bars.append(("PyTorch", torch["figure"]["value"], TORCH))
        rows.append((shown, bars))
    return rows


def cost_per_op(measured):
    rows = cost_rows(measured)
    left, right, top, bar, gap = 190, WIDTH - 170, 86, 19, 18
    longest = max(us for _, bars in rows for _, us, _ in bars)
    step = round_step(longest / 5)
    end = step * math.ceil(longest / step)
    bottom = top + sum(bar * len(bars) + gap for _, bars in rows)
    picture = svg.Picture(WIDTH, bottom + 72, "An op there and back, beside raw CUDA and PyTorch")
    picture.text(28, 40, "An op in another process costs about as much as raw CUDA", 19, INK, weight="600")
    picture.text(28, 62, "From the call until its thread knows that it is done, in microseconds: medians.", 13, SOFT)

    def place(us):
        return left + (right - left) * us / end

    for number in range(round(end / step) + 1):
        x = place(number * step)
        picture.line(x, top - 6, x, bottom - 4, LINE)
        picture.text(x, bottom + 14, f"{number * step:g} us", 12, SOFT, anchor="middle")
    y = top
    for shown, bars in rows:
        middle = y + bar * len(bars) / 2
        picture.text(left - 14, middle + 5, shown, 14, INK, anchor="end", weight="600")
        for who, us, colour in bars:
            picture.bar(left, y + 2, place(us) - left, bar - 4, colour)
            picture.text(place(us) + 8, y + bar - 5, f"{three_digits(us)} us {who}", 12, INK)
            y += bar
        y += gap
    picture.text(28, bottom + 50, measured.source(), 11, SOFT)
    return picture.to_string()


# --- the command ------------------------------------------------------------------------------------------------------
DRAWN = {"takeover.svg": takeover, "cost_per_op.svg": cost_per_op}


def load(path):
    if not path.is_file():
        raise Mistake(f"there is no {path}; on a machine with a GPU `./dev gpu bench` leaves build/gpu/gpu/bench.json, "
                      "and `./dev plots --json build/gpu/gpu/bench.json` keeps and draws it")
    return Measured(read_json(path), path.name)


def draw(measured):
    """The pictures by file name; all of them or a Mistake."""
    return {name: make(measured) for name, make in DRAWN.items()}


def read_json(path):
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except ValueError as problem:
        raise Mistake(f"{path} is not JSON: {problem}") from problem


def draw_actors(path):
    """The picture of what `./dev bench actors --json` wrote, by its file name."""
    if not path.is_file():
        raise Mistake(f"there is no {path}; `./dev bench actors --json FILE` writes one")
    return {"actor_scaling.svg": actor_scaling.draw(read_json(path), path.name)}


def torch_name(path):
    """The name of what is kept and drawn of a run beside PyTorch: it says which device. Quick runs are refused."""
    if not path.is_file():
        raise Mistake(f"there is no {path}; `./dev bench --torch --json FILE` writes one")
    content = read_json(path)
    if not isinstance(content, dict) or content.get("device") not in ("host", "cuda"):
        raise Mistake(f"{path.name} is not what `./dev bench --torch --json` writes: it names no device")
    if content.get("quick"):
        raise Mistake(f"{path.name} is of a quick run, which is not to be quoted; run `./dev bench --torch` without "
                      "--quick")
    return f"torch_{content['device']}"


def draw_training(path):
    """The picture of what examples/51_training_survives.cpp wrote, by its file name."""
    if not path.is_file():
        raise Mistake(f"there is no {path}; `build/release/example_51_training_survives FILE` writes one")
    return {"training.svg": training_curves.draw(read_json(path), path.name)}


def outdated(pictures, folder):
    """The names of pictures in the folder that are not as they would be drawn."""
    return [name for name, text in pictures.items()
            if not (folder / name).is_file() or (folder / name).read_text(encoding="utf-8") != text]


def keep(given, kept):
    if given and given.resolve() != kept.resolve():
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_bytes(given.read_bytes())


def main(words, kept=MEASURED, folder=PICTURES, kept_actors=ACTORS):
    parser = argparse.ArgumentParser(prog="./dev plots", description="Draws the pictures of the documents.")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="keep this file's figures and draw them")
    parser.add_argument("--actors", type=pathlib.Path, metavar="FILE",
                        help="the same with the figures of `./dev bench actors`")
    parser.add_argument("--torch", type=pathlib.Path, metavar="FILE",
                        help="the same with the figures of `./dev bench --torch`")
    parser.add_argument("--training", type=pathlib.Path, metavar="FILE",
                        help="the same with the losses that examples/51_training_survives.cpp wrote")
    parser.add_argument("--check", action="store_true", help="only say which picture is not what the figures give")
    chosen = parser.parse_args(words)
    sources = {name: chosen.json or kept for name in DRAWN}
    pictures = draw(load(chosen.json or kept))
    if chosen.actors or kept_actors.is_file():
        pictures.update(draw_actors(chosen.actors or kept_actors))
        sources["actor_scaling.svg"] = chosen.actors or kept_actors
    kept_training = kept_actors.parent / "training.json"
    if chosen.training or kept_training.is_file():
        pictures.update(draw_training(chosen.training or kept_training))
        sources["training.svg"] = chosen.training or kept_training
    torch_files = {torch_name(path): path for path in sorted(kept_actors.parent.glob("torch_*.json"))}
    if chosen.torch:
        torch_files[torch_name(chosen.torch)] = chosen.torch
    for name, path in torch_files.items():
        pictures[f"{name}.svg"] = torch_heat.draw(read_json(path))
        sources[f"{name}.svg"] = path
    if chosen.check:
        wrong = outdated(pictures, folder)
        for name in wrong:
            print(f"{name} is not what {sources[name].name} gives; run `./dev plots`", file=sys.stderr)
        return 1 if wrong else 0
    keep(chosen.json, kept)
    keep(chosen.actors, kept_actors)
    keep(chosen.training, kept_training)
    for name, path in torch_files.items():
        keep(path, kept_actors.parent / f"{name}.json")
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in pictures.items():
        (folder / name).write_text(text, encoding="utf-8")
        print(folder / name)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except Mistake as mistake:
        sys.exit(f"plots: {mistake}")
