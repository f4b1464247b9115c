#!/usr/bin/env python3
"""Writes docs/capabilities.md: what each backend can do, by op and type, from what the conformance suites have run.

    capabilities.py DOCUMENT RECORDS ...          writes the table; backends that RECORDS do not mention keep their
                                                  entries
    capabilities.py --check DOCUMENT RECORDS ...  fails when the table says something else than RECORDS

RECORDS are files, or a folder of them. They have a line for each test that passed: backend, family, op, type, number of
cases, with tabs between them (see troupe/library/conformance.test.hpp).

With --program PROGRAM, RECORDS is the folder in which each conformance suite of that program leaves its file when CTest
runs it: suites whose file is missing, or older than the program or its worker, run first.
"""
import argparse
import collections
import os
import pathlib
import re
import subprocess
import sys

TYPES = ["f64", "f32", "f16", "bf16", "f8e4m3", "f8e5m2", "i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "bool",
         "c64", "c128"]
BACKENDS = {"host": "CPU", "cuda": "GPU"}
HEADER = """# What each backend can do

By family, op and type: *CPU* is the host backend, *GPU* the CUDA one. Every entry is a test of a conformance suite
(`troupe/library/*.conformance.test.cpp`) that ran and passed, against a reference in higher precision; the last column
counts the cases it tried on each. An op or type that is not here has not been shown to work.

Made by `./dev capabilities`, from what the suites say when they run. Do not edit.
"""


def read_records(paths):
    table = {}
    for path in paths:
        if not path.exists():
            sys.exit(f"{path} is not there: run the conformance suites first (./dev test, or ./dev gpu conformance)")
    files = [file for path in paths for file in (sorted(path.glob("*.txt")) if path.is_dir() else [path])]
    for line in [line for file in files for line in file.read_text(encoding="utf-8").splitlines()]:
        backend, family, op, dtype, cases = line.split("\t")
        key = (family, op, dtype, backend)
        table[key] = table.get(key, 0) + int(cases)
    return table


def conformance_suites(listed):
    """Of what a test program prints for --gtest_list_tests.

    >>> conformance_suites("Blas.\\n  dot\\nBlasConformance/host_f32.\\n  dot\\n")
    ['BlasConformance/host_f32']
    """
    return re.findall(r"^(\S*Conformance\S*)\.(?: *#.*)?$", listed, re.M)


def run_missing_suites(program, folder):
    """Gives every suite a file as new as the program, and removes the files of suites that are no more."""
    listed = subprocess.run([program, "--gtest_list_tests"], capture_output=True, text=True, check=True).stdout
    files = {suite.replace("/", ".") + ".txt": suite for suite in conformance_suites(listed)}
    built = max(path.stat().st_mtime for path in (program, program.parent / "troupe-worker"))
    folder.mkdir(parents=True, exist_ok=True)
    for file in folder.glob("*.txt"):
        if file.name not in files:
            file.unlink()
    for name, suite in files.items():
        file = folder / name
        if not file.exists() or file.stat().st_mtime < built:
            subprocess.run([program, f"--gtest_filter={suite}.*", "--gtest_brief=1"], check=True,
                           env={**os.environ, "TROUPE_CAPABILITIES": str(file)})


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


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--program", type=pathlib.Path)
    parser.add_argument("document", type=pathlib.Path)
    parser.add_argument("records", type=pathlib.Path, nargs="+")
    arguments = parser.parse_args()
    if arguments.program:
        run_missing_suites(arguments.program.resolve(), arguments.records[0].resolve())
    found = read_records(arguments.records)
    document = arguments.document
    if not found:
        print("no conformance test ran", file=sys.stderr)
        return 1
    text = render(*merge(document, found))
    if not arguments.check:
        document.write_text(text, encoding="utf-8")
        return 0
    if document.exists() and document.read_text(encoding="utf-8") == text:
        return 0
    print(f"{document} is not what the conformance suites say; ./dev capabilities writes it", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
