#!/usr/bin/env python3
"""What including troupe/troupe.hpp costs a source, against the standard headers that it includes alone: lines after the
preprocessor, and the seconds that the compiler takes to read them (user time, the median).

  include_cost.py ROOT [--compiler g++] [--runs 5]"""
import argparse
import os
import re
import statistics
import subprocess
import tempfile
from pathlib import Path

STANDARD = re.compile(r"^\s*#\s*include\s*<([a-z_]+)>", re.MULTILINE)
OWN = re.compile(r'^\s*#\s*include\s*"(troupe/[^"]+)"', re.MULTILINE)


def standard_headers(root: Path) -> list[str]:
    """Those that troupe.hpp and what it includes name."""
    found, standard, unread = set(), set(), ["troupe/troupe.hpp"]
    while unread:
        name = unread.pop()
        if name not in found:
            found.add(name)
            text = (root / name).read_text()
            standard.update(STANDARD.findall(text))
            unread += OWN.findall(text)
    return sorted(standard)


def user_seconds(command: list[str]) -> float:
    before = os.times().children_user
    subprocess.run(command, check=True)
    return os.times().children_user - before


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", type=Path)
    parser.add_argument("--compiler", default="g++")
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    command = [options.compiler, "-std=c++23", f"-I{options.root}"]
    sources = {"standard headers": "".join(f"#include <{name}>\n" for name in standard_headers(options.root)),
               "troupe.hpp": '#include "troupe/troupe.hpp"\n'}
    lines, seconds = {}, {}
    with tempfile.TemporaryDirectory() as folder:
        files = {}
        for what, text in sources.items():
            files[what] = Path(folder) / f"{len(files)}.cpp"
            files[what].write_text(text)
            lines[what] = subprocess.run([*command, "-E", "-P", str(files[what])], capture_output=True, check=True,
                                         text=True).stdout.count("\n")
        # In turn, so that a busy moment of the machine meets both.
        runs = [{what: user_seconds([*command, "-fsyntax-only", str(file)]) for what, file in files.items()}
                for _ in range(options.runs)]
        for what in sources:
            seconds[what] = statistics.median(run[what] for run in runs)
    for what in sources:
        print(f"{what:18} {lines[what]:7} lines  {seconds[what]:.2f} s")
    print(f"{'ratio':18} {lines['troupe.hpp'] / lines['standard headers']:7.2f} lines  "
          f"{seconds['troupe.hpp'] / seconds['standard headers']:.2f} seconds")


if __name__ == "__main__":
    main()
