#!/usr/bin/env python3
"""Holds the README to the examples: what it shows is what runs, and what it says is printed is printed.

    readme_check.py README EXAMPLES_FOLDER PROGRAM

Every ```cpp block must stand in a source of the examples, line by line. The one ```text block must be what PROGRAM
prints; numbers that differ from run to run (a process, a lane, a ticket) may differ.
"""
import pathlib
import re
import subprocess
import sys

import doc_blocks

VARYING = re.compile(r"\b(worker|lane|ticket) \d+")
PROGRAM_LIMIT_S = 60


def masked(text):
    """
    >>> masked("worker 41 died in fill (lane 3, ticket 1) at address 0x0")
    'worker N died in fill (lane N, ticket N) at address 0x0'
    """
    return VARYING.sub(r"\1 N", text)


def stands_in(lines, source):
    """Whether the lines stand in the source, one after another.

    >>> stands_in(["a", "b"], "x\\na\\nb\\n"), stands_in(["a", "b"], "a\\nx\\nb\\n"), stands_in(["a"], "ab\\n")
    (True, False, False)
    """
    return "\n" + "\n".join(lines) + "\n" in "\n" + source


def findings(readme, sources, printed):
    """Yields a sentence for each thing that is not so. `sources` are texts, `printed` is what the program printed."""
    for start, _, lines in doc_blocks.blocks_of(readme, "cpp"):
        if not any(stands_in(lines, source) for source in sources):
            yield f"{readme}:{start}: this block stands in no example; copy it from one as it is"
    outputs = list(doc_blocks.blocks_of(readme, "text"))
    if len(outputs) != 1:
        yield f"{readme}: needs one ```text block, what its program prints; it has {len(outputs)}"
    for start, _, lines in outputs:
        if masked("\n".join(lines) + "\n") != masked(printed):
            yield f"{readme}:{start}: the program prints something else:\n{printed}"


def main(readme, folder, program):
    sources = [path.read_text(encoding="utf-8") for path in sorted(pathlib.Path(folder).rglob("*.cpp"))]
    run = subprocess.run([program], stdout=subprocess.PIPE, text=True, check=False, timeout=PROGRAM_LIMIT_S)
    found = list(findings(pathlib.Path(readme), sources, run.stdout))
    if run.returncode != 0:
        found.append(f"{program}: ended with {run.returncode}")
    for sentence in found:
        print(sentence)
    return 1 if found else 0


if __name__ == "__main__":
    try:
        sys.exit(main(*sys.argv[1:]))
    except doc_blocks.Mistake as mistake:
        sys.exit(str(mistake))
