#!/usr/bin/env python3
"""Writes docs/capabilities.md: what each backend can do, by op and type, from what the conformance suites have run.

    capabilities.py DOCUMENT RECORDS          writes the table; backends that RECORDS do not mention keep their entries
    capabilities.py --check DOCUMENT RECORDS  fails when the table says something else than RECORDS

RECORDS has a line for each test that passed: backend, family, op, type, number of cases, with tabs between them (see
troupe/library/conformance.test.hpp).
"""
import collections
import pathlib
import re
import sys

TYPES = ["f64", "f32", "f16", "bf16", "f8e4m3", "f8e5m2", "i8", "u8", "i16", "i32", "u32", "i64", "u64", "bool", "c64",
         "c128"]
BACKENDS = {"host": "CPU", "cuda": "GPU"}
HEADER = """# What each backend can do

By family, op and type: *CPU* is the host backend, *GPU* the CUDA one. Every entry is a test of a conformance suite
(`troupe/library/*.conformance.test.cpp`) that ran and passed, against a reference in higher precision; the last column
counts the cases it tried on each. An op or type that is not here has not been shown to work.

Made by `./dev capabilities`, from what the suites say when they run. Do not edit.
"""


def read_records(path):
    table = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        backend, family, op, dtype, cases = line.split("\t")
        key = (family, op, dtype, backend)
        table[key] = table.get(key, 0) + int(cases)
    return table


def read_document(path):
    """The entries of the table as it stands: the cases are only known for an op as a whole, so they stay text."""
    entries, cases, family, types = set(), {}, None, []
    if not path.exists():
        return entries, cases
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            family = line[3:].strip()
        elif line.startswith("| op "):
            types = [cell.strip() for cell in line.strip("|").split("|")][1:-1]
        elif line.startswith("| ") and family:
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            op = cells[0].strip("`")
            for dtype, cell in zip(types, cells[1:-1]):
                for backend, shown in BACKENDS.items():
                    if shown in cell:
                        entries.add((family, op, dtype, backend))
            for shown, count in re.findall(r"(\w+) (\d+)", cells[-1]):
                backend = next(key for key, text in BACKENDS.items() if text == shown)
                cases[family, op, backend] = int(count)
    return entries, cases


def merge(document, records):
    entries, cases = read_document(document)
    ran = {key[3] for key in records}
    entries = {entry for entry in entries if entry[3] not in ran} | set(records)
    cases = {key: count for key, count in cases.items() if key[2] not in ran}
    for (family, op, _, backend), count in records.items():
        cases[family, op, backend] = cases.get((family, op, backend), 0) + count
    return entries, cases


def render(entries, cases):
    families = collections.defaultdict(lambda: collections.defaultdict(set))
    for family, op, dtype, backend in entries:
        families[family][op].add((dtype, backend))
    text = HEADER
    for family in sorted(families):
        ops = families[family]
        types = [dtype for dtype in TYPES if any(dtype == entry[0] for op in ops.values() for entry in op)]
        text += f"\n## {family}\n\n| op | {' | '.join(types)} | cases |\n|{'---|' * (len(types) + 2)}\n"
        for op in sorted(ops):
            cells = [" ".join(shown for backend, shown in BACKENDS.items() if (dtype, backend) in ops[op]) or "-"
                     for dtype in types]
            counted = ", ".join(f"{shown} {cases[family, op, backend]}" for backend, shown in BACKENDS.items()
                                if (family, op, backend) in cases)
            text += f"| `{op}` | {' | '.join(cells)} | {counted} |\n"
    return text


def main(arguments):
    check = "--check" in arguments
    document, records = (pathlib.Path(path) for path in arguments if path != "--check")
    found = read_records(records)
    if not found:
        print("no conformance test ran", file=sys.stderr)
        return 1
    text = render(*merge(document, found))
    if not check:
        document.write_text(text, encoding="utf-8")
        return 0
    if document.exists() and document.read_text(encoding="utf-8") == text:
        return 0
    print(f"{document} is not what the conformance suites say; ./dev capabilities writes it", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
