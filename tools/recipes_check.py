#!/usr/bin/env python3
"""Compares the lines of the programs that docs/recipes.md names with what it says, and with what they may have.

  recipes_check.py ROOT"""
import re
import sys
from pathlib import Path

LIMITS = {"service": 80, "solver": 15, "training": 60}  # lines; of the solver only its function


def lines_of_function(text: str, name: str) -> int:
    found = re.search(rf"^[^\n]*\b{name}\(.*?^\}}$", text, re.M | re.S)
    return found[0].count("\n") + 1 if found else 0


def main() -> int:
    root = Path(sys.argv[1])
    page = (root / "docs/recipes.md").read_text()
    rows = re.findall(r"^\| (\w+) \| \[[^\]]*\]\(\.\./([\w/.]+)\) \|(?: `(\w+)`:)? (\d+) \|", page, re.M)
    topics = {row[0] for row in rows}
    failures = [f"docs/recipes.md has no row of the {topic}" for topic in LIMITS if topic not in topics]
    for topic, file, function, said in rows:
        text = (root / file).read_text()
        lines = lines_of_function(text, function) if function else text.count("\n")
        if lines != int(said):
            failures.append(f"{function or file} has {lines} lines, and docs/recipes.md says {said}")
        if lines == 0 or lines > LIMITS.get(topic, lines):
            failures.append(f"{function or file} has {lines} lines; it may have 1 to {LIMITS[topic]}")
    print("\n".join(failures) or f"{len(rows)} programs have as many lines as docs/recipes.md says")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
