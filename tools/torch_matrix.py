#!/usr/bin/env python3
"""Compares our ops with PyTorch's, row by row: `./dev bench --torch [--device host|cuda] [--only REGEX] ...`.

The rows are those that `troupe_bench_matrix --list` prints; both sides are measured right after one another, now one
and now the other first. Rows where we take more than 1.1 times as long come first, the worst before all.
"""
import argparse
import datetime
import json
import math
import os
import pathlib
import platform
import statistics
import subprocess
import sys
import time

import torch_heat
import torch_ops
from figures import Mistake, is_positive

LOST, BADLY_LOST = 1.1, 1.3
PROGRESS_S = 10
TURNS = 2


# --- joining ----------------------------------------------------------------------------------------------------------
def joined(row, ours, torch):
    """One row with the figures of both sides; the ratio is how many times as long as PyTorch we take.

    >>> joined({"id": "a", "inputs": []}, {"id": "a", "ns": 30, "rounds": 3}, {"ns": 20, "rounds": 3})["ratio"]
    1.5
    >>> joined({"id": "a"}, {"id": "a", "why": "no memory"}, {"ns": 20})["ratio"] is None
    True
    """
    sides = {"ours": {key: ours[key] for key in ("ns", "low_ns", "high_ns", "rounds", "why") if key in ours},
             "torch": torch}
    both = [sides[side].get("ns") for side in ("ours", "torch")]
    ratio = both[0] / both[1] if all(map(is_positive, both)) else None
    head = {key: value for key, value in row.items() if key not in ("inputs", "output", "axes", "text")}
    return {**head, **sides, "ratio": ratio}


def join(rows, ours, torch):
    """The rows in their order, with the figures of both sides that have the row's id."""
    ours_by_id = {each["id"]: each for each in ours}
    torch_by_id = {each["id"]: each for each in torch}
    nothing = {"why": "was not measured"}
    return [joined(row, ours_by_id.get(row["id"], nothing),
                   {key: value for key, value in torch_by_id.get(row["id"], nothing).items() if key != "id"})
            for row in rows]


def in_order(lines):
    """Those that we lose, the worst first, and the others as they come."""
    lost = sorted((line for line in lines if is_lost(line)), key=lambda line: -line["ratio"])
    return lost, [line for line in lines if is_positive(line["ratio"]) and not is_lost(line)]


def is_lost(line):
    return is_positive(line["ratio"]) and line["ratio"] > LOST


def summary(lines):
    """The figures of all rows that both sides have."""
    ratios = [line["ratio"] for line in lines if is_positive(line["ratio"])]
    if not ratios:
        return {"rows": 0, "mean": None, "lost": 0, "badly_lost": 0, "worst": None}
    worst = max((line for line in lines if is_positive(line["ratio"])), key=lambda line: line["ratio"])
    return {"rows": len(ratios), "mean": statistics.geometric_mean(ratios), "lost": sum(r > LOST for r in ratios),
            "badly_lost": sum(r > BADLY_LOST for r in ratios), "worst": worst["id"]}


# --- the table --------------------------------------------------------------------------------------------------------
def time_text(ns):
    """
    >>> time_text(512.3), time_text(53100), time_text(4.07e6), time_text(2.5e9)
    ('512 ns', '53.1 us', '4.07 ms', '2.50 s')
    """
    for unit in ("ns", "us", "ms"):
        if ns < 999.5:
            return f"{ns:.{max(0, 2 - int(math.log10(max(ns, 1))))}f} {unit}"
        ns /= 1000
    return f"{ns:.2f} s"


def table_line(line):
    rate = line["bytes"] / line["ours"]["ns"]
    return (f"{line['id']:44} {time_text(line['ours']['ns']):>10} {time_text(line['torch']['ns']):>10} "
            f"{line['ratio']:7.2f} {rate:9.3g}")


def table(lines):
    """The whole table as text."""
    lost, others = in_order(lines)
    text = []
    for title, part in ((f"slower than {LOST} times PyTorch's, the worst first", lost), ("the others", others)):
        if part:
            text += [f"{title:44} {'ours':>10} {'PyTorch':>10} {'ratio':>7} {'our GB/s':>9}", "-" * 84]
            text += [*map(table_line, part), ""]
    failed = [line for line in lines if not is_positive(line["ratio"])]
    text += [f"not compared: {line['id']}: " + "; ".join(
        f"{who}: {line[side]['why']}" for side, who in (("ours", "ours"), ("torch", "PyTorch")) if "why" in line[side])
        for line in failed]
    return "\n".join(text + closing_lines(summary(lines), lines))


def closing_lines(figures, lines):
    if not figures["rows"]:
        return ["No row was measured on both sides."]
    worst = next(line for line in lines if line["id"] == figures["worst"])
    return [f"{figures['rows']} rows. Geometric mean of the ratios {figures['mean']:.3f}; above {LOST}: "
            f"{figures['lost']}, above {BADLY_LOST}: {figures['badly_lost']}; the worst is {worst['id']} with "
            f"{worst['ratio']:.2f}.",
            "A ratio is our time by PyTorch's: below 1 we are faster. GB/s count each input and output once."]


# --- measuring --------------------------------------------------------------------------------------------------------
class Ours:
    """Our program, which measures the rows it is asked for."""

    def __init__(self, program, arguments):
        self.program = subprocess.Popen([program, *arguments, "--serve"], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)

    def measure(self, row):
        try:
            print(row["id"], file=self.program.stdin, flush=True)
            line = self.program.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            raise Mistake(f"our program ended with {self.program.wait()} instead of measuring {row['id']}")
        return json.loads(line)

    def close(self):
        self.program.stdin.close()
        self.program.wait()


def better(one, other):
    """The lower of two figures of the same side: what held it up once need not hold it up again.

    >>> better({"ns": 3}, {"ns": 2}), better({"ns": 3}, {"why": "no memory"}), better(None, {"ns": 2})
    ({'ns': 2}, {'ns': 3}, {'ns': 2})
    """
    return min((each for each in (one, other) if each), key=lambda each: each.get("ns", math.inf))


def compare(rows, ours, torch, turns, say):
    """Measures every row on both sides, in turns: ours, PyTorch, PyTorch, ours, and the next row the other way."""
    results = {ours: [], torch: []}
    said = began = time.monotonic()
    for number, row in enumerate(rows):
        best = {ours: None, torch: None}
        for turn in range(turns):
            for side in (ours, torch) if (number + turn) % 2 == 0 else (torch, ours):
                best[side] = better(best[side], side.measure(row))
        for side, figures in best.items():
            results[side].append({**figures, "id": row["id"]})
        if time.monotonic() - said > PROGRESS_S:
            said = time.monotonic()
            left_s = (said - began) / (number + 1) * (len(rows) - number - 1)
            say(f"{number + 1} of {len(rows)} rows, about {left_s / 60:.1f} minutes left: {row['id']}")
    return join(rows, results[ours], results[torch])


def processor():
    """What the kernel, or lscpu, calls the processor."""
    for line in pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    try:
        told = json.loads(subprocess.run(["lscpu", "--json"], capture_output=True, check=True).stdout)
        return next(each["data"] for each in told["lscpu"] if each["field"] == "Model name:")
    except (OSError, subprocess.CalledProcessError, ValueError, KeyError, StopIteration):
        return platform.machine()


def busy_cores(window_s=0.5):
    """What else runs now, in cores."""
    def ticks():
        fields = pathlib.Path("/proc/stat").read_text(encoding="utf-8").split(maxsplit=9)
        return sum(int(fields[number]) for number in (1, 2, 3, 6, 7, 8))

    before = ticks()
    time.sleep(window_s)
    return (ticks() - before) / os.sysconf("SC_CLK_TCK") / window_s


def head(chosen, torch, busy):
    return {"machine": {"cpu": processor(), "cores": len(os.sched_getaffinity(0)), "busy": busy,
                        "date": datetime.date.today().isoformat()},
            "device": chosen.device, "torch": torch, "quick": chosen.quick, "max_bytes": chosen.max_bytes}


def to_json(content):
    """One line for each row, so that two files can be compared."""
    first = json.dumps({key: value for key, value in content.items() if key != "rows"})
    rows = ",\n".join("  " + json.dumps(rounded(row)) for row in content["rows"])
    return f'{first[:-1]}, "rows": [\n{rows}\n]}}\n'


def rounded(value):
    """The same with five digits that matter.

    >>> rounded({"a": [1.23456789], "b": "c"})
    {'a': [1.2346], 'b': 'c'}
    """
    if isinstance(value, dict):
        return {key: rounded(each) for key, each in value.items()}
    if isinstance(value, list):
        return [rounded(each) for each in value]
    return float(f"{value:.5g}") if isinstance(value, float) else value


# --- the command ------------------------------------------------------------------------------------------------------
def parse(words):
    parser = argparse.ArgumentParser(prog="./dev bench --torch", description="Compares our ops with PyTorch's.")
    parser.add_argument("--program", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--device", choices=("host", "cuda"), default="host", help="the CPU (the default) or a GPU")
    parser.add_argument("--only", metavar="REGEX", help="only the rows whose id has a match, such as '^exp/f32'")
    parser.add_argument("--max-bytes", type=int, default=256 << 20, metavar="N",
                        help="no rows with larger arrays; 268435456 unless given, at most 1073741824")
    parser.add_argument("--threads", type=int, metavar="N", help="so many threads for PyTorch; else its own choice")
    parser.add_argument("--quick", action="store_true", help="3 short rounds: to see that it runs, not to quote")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="also write the figures to FILE")
    parser.add_argument("--svg", type=pathlib.Path, metavar="FILE", help="also draw them into FILE")
    parser.add_argument("--list", action="store_true", help="print the ids of the rows, measure nothing")
    return parser.parse_args(words)


def rows_of(chosen):
    arguments = ["--device", chosen.device, "--max-bytes", str(chosen.max_bytes)]
    arguments += ["--only", chosen.only] if chosen.only else []
    told = subprocess.run([chosen.program, *arguments, "--list"], stdout=subprocess.PIPE, text=True, check=False)
    if told.returncode:
        raise Mistake("there are no rows to measure")
    return json.loads(told.stdout)["rows"], arguments


def torch_side(chosen):
    try:
        return torch_ops.Side(chosen.device, chosen.threads, chosen.quick)
    except ImportError as problem:
        raise Mistake(f"{sys.executable} cannot import torch ({problem}). TROUPE_TORCH_PYTHON names a Python that can; "
                      "docs/bench-torch.md says how to get one") from problem
    except RuntimeError as problem:
        raise Mistake(str(problem)) from problem


def say(words):
    print(words, file=sys.stderr, flush=True)


def main(words):
    chosen = parse(words)
    rows, arguments = rows_of(chosen)
    if chosen.list:
        print("\n".join(row["id"] for row in rows))
        return 0
    torch = torch_side(chosen)
    busy = busy_cores()
    ours = Ours(chosen.program, arguments + (["--quick"] if chosen.quick else []))
    lines = compare(rows, ours, torch, 1 if chosen.quick else TURNS, say)
    ours.close()
    content = {**head(chosen, torch.about(), busy), "rows": lines}
    print(table(lines))
    print(f"Beside PyTorch {content['torch']['version']}, {content['torch']['threads']} threads, on "
          f"{content['torch']['gpu'] or content['machine']['cpu']}.")
    if busy > 0.5:
        print(f"Do not quote it: something else kept {busy:.1f} cores busy when it began.")
    if chosen.json:
        chosen.json.write_text(to_json(content), encoding="utf-8")
    if chosen.svg:
        chosen.svg.write_text(torch_heat.draw(content), encoding="utf-8")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except Mistake as mistake:
        sys.exit(f"torch_matrix: {mistake}")
