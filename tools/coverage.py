#!/usr/bin/env python3
"""Says how many lines of a folder have run, by what a build with --coverage has counted.

  coverage.py [-v] BUILD FOLDER

Lines are those that llvm-cov knows code for, headers too; one that several objects have has run when it ran in any."""
import argparse
import collections
import os
import re
import subprocess
import sys
from pathlib import Path


COUNTED = re.compile(r" *(#####|=====|\d+\*?): *(\d+):")


def count(build: Path, folder: str) -> dict[str, dict[int, bool]]:
    """Which lines of which file have run."""
    notes = sorted(build.resolve().rglob("*.gcno"))
    llvm_cov = os.environ.get("LLVM_COV", "llvm-cov-19")
    lines: dict[str, dict[int, bool]] = collections.defaultdict(dict)
    for note in notes:
        answer = subprocess.run([llvm_cov, "gcov", "-t", str(note)], cwd=build, capture_output=True, text=True,
                                check=True)
        known: dict[int, bool] = {}
        for line in answer.stdout.splitlines():
            if source := re.match(r" *-: *0:Source:(.*)", line):
                at = source[1].find(folder + "/")
                known = lines[source[1][at:]] if at >= 0 else {}
            elif counted := COUNTED.match(line):
                number = int(counted[2])
                known[number] = known.get(number, False) or counted[1][0] not in "#="
    return lines


def shown(name: str, ran: list[bool]) -> str:
    share = 100 * sum(ran) / len(ran) if ran else 0
    return f"{name:<56} {sum(ran):>6} of {len(ran):>6} lines  {share:5.1f} %"


def runs_of(numbers: list[int]) -> str:
    """1-3 7 9-10."""
    parts, begin = [], None
    for number, after in zip(numbers, numbers[1:] + [None]):
        begin = number if begin is None else begin
        if after != number + 1:
            parts.append(str(begin) if begin == number else f"{begin}-{number}")
            begin = None
    return " ".join(parts)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-v", "--verbose", action="store_true", help="by file, with the lines that did not run")
    parser.add_argument("build", type=Path)
    parser.add_argument("folder")
    options = parser.parse_args()
    lines = count(options.build, options.folder)
    if not lines:
        print(f"coverage.py: nothing was counted in {options.build}", file=sys.stderr)
        return 1
    rooms = collections.defaultdict(list)
    for file, known in sorted(lines.items()):
        rooms[str(Path(file).parent)] += known.values()
        if options.verbose:
            print(shown(file, list(known.values())))
            if missed := runs_of(sorted(number for number, ran in known.items() if not ran)):
                print(f"    not: {missed}")
    for room, ran in sorted(rooms.items()):
        print(shown(room + "/", ran))
    print(shown(f"all of {options.folder}/", [ran for room in rooms.values() for ran in room]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
