#!/usr/bin/env python3
"""Looks at a linked program that uses Troupe's API: nothing of a worker may be in it, and it stays small.

    look_at_program.py [--max-bytes N] PROGRAM

Prints the size of its code and data, and fails with a sentence for each thing that has no business there: a symbol of
the backends, code for GPUs, a library that only workers open.
"""
import argparse
import pathlib
import re
import subprocess
import sys

WORKER_SYMBOL = re.compile(r"\btroupe::(?:host|cuda|worker)::")
GPU_SECTION = re.compile(r"\s(\.nv\w*|__nv\w*)\s", re.I)
FATBIN_MAGIC = bytes.fromhex("50ed55ba")
WORKER_WORDS = [b"libopenblas", b"libcuda.so", b"libcublas", b"libnvrtc"]


def output(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def findings(program):
    symbols = output("nm", "--demangle", program).splitlines()
    if not any("troupe::" in symbol for symbol in symbols):
        yield "it has no symbol of Troupe at all: it was stripped, or it does not use Troupe"
    worker_symbols = [symbol for symbol in symbols if WORKER_SYMBOL.search(symbol)]
    if worker_symbols:
        yield f"it has {len(worker_symbols)} symbols of the worker, such as `{worker_symbols[0].split(None, 2)[-1]}`"
    if any(re.search(r"\b[Uw] dlopen\b", symbol) for symbol in symbols):
        yield "it calls dlopen; only workers open libraries"
    for section in GPU_SECTION.findall(output("readelf", "--sections", "--wide", program)):
        yield f"it has the section {section}, which holds code for GPUs"
    content = pathlib.Path(program).read_bytes()
    if FATBIN_MAGIC in content:
        yield "it has an image of GPU kernels in it"
    for word in WORKER_WORDS:
        if word in content:
            yield f"it speaks of {word.decode()}, which only workers open"


def loaded_bytes(program):
    text, data = output("size", program).splitlines()[1].split()[:2]
    return int(text) + int(data)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--max-bytes", type=int)
    parser.add_argument("program")
    arguments = parser.parse_args()
    name = pathlib.Path(arguments.program).name
    size = loaded_bytes(arguments.program)
    limit = arguments.max_bytes
    print(f"{name}: {size} bytes of code and data" + (f", at most {limit}" if limit else ""))
    found = list(findings(arguments.program))
    if limit and size > limit:
        found.append(f"its code and data take {size} bytes; the limit is {limit}")
    for sentence in found:
        print(f"{name}: {sentence}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
