#!/usr/bin/env python3
"""Checks what a formatter cannot: the order of layers, headers that say what they are, tests without sleeps.

    style_check.py [REPOSITORY]

Prints `file:line: sentence` for each finding and fails if there is one.
"""
import pathlib
import re
import sys

# A layer may include itself and the layers before it.
LAYERS = ["core", "actor", "wire", "op", "backend", "worker", "device", "library"]
FOLDERS = ["troupe", "blueprints", "bench", "examples", "tests", "tools", "cmake", "python"]
SCRIPTS = ["dev", ".ci/run", "CMakeLists.txt"]
CODE = {".hpp", ".cpp", ".cu", ".py", ".cmake"}
CPP = {".hpp", ".cpp", ".cu"}
MAX_LINE = 120
MAX_LINES = 500

UNFINISHED = re.compile(r"\b(TO" r"DO|FIX" r"ME|X" r"XX)\b")
# Only what blocks a thread: `co_await sleep_for(1h)` is an actor's timer.
SLEEP = re.compile(r"this_thread::sleep_|\b(usleep|nanosleep)\b|(?<![\w.])sleep\(")
INCLUDE = re.compile(r'\s*#\s*include\s+["<]troupe/([^/">]+)/')
NAMESPACE = re.compile(r"namespace ([\w:]+(?: [\w:]+)*) \{")
TYPE = re.compile(r"(?:class|struct) (?:[A-Z]+_API )?(\w+)(?: final)?(?: :.*)? \{")
SNAKE_CASE = re.compile(r"[a-z0-9_]+(\.[a-z0-9_]+)*")


def check_layers(path, lines):
    layer = path.parts[1] if path.parts[0] == "troupe" and len(path.parts) > 2 else None
    if layer is None:
        return
    if layer not in LAYERS:
        yield 1, f"troupe/{layer}/ is no layer; the layers are {', '.join(LAYERS)}"
        return
    for number, line in enumerate(lines, 1):
        include = INCLUDE.match(line)
        if include and include[1] in LAYERS and LAYERS.index(include[1]) > LAYERS.index(layer):
            yield number, f"{layer}/ includes {include[1]}/, which comes after it in the order of layers"


def check_header(path, lines):
    if path.suffix != ".hpp":
        return
    opening = 0
    while opening < len(lines) and lines[opening].startswith("//"):
        opening += 1
    if opening < 2:
        yield 1, "a header opens with two or more lines of comment: what this is, and why it is so"
    if opening >= len(lines) or lines[opening] != "#pragma once":
        yield opening + 1, "`#pragma once` comes right after the opening comment"


def types_of(path, lines):
    """Yields (namespace, name, line number) of each type that a header defines."""
    if path.suffix != ".hpp":
        return
    namespace = ""
    for number, line in enumerate(lines, 1):
        if opened := NAMESPACE.match(line):
            namespace = opened[1]
        if defined := TYPE.match(line):
            yield namespace, defined[1], number


def check_lines(path, lines):
    for number, line in enumerate(lines, 1):
        if len(line) > MAX_LINE:
            yield number, f"the line has {len(line)} columns; the limit is {MAX_LINE}"
        if "\t" in line:
            yield number, "a tab; indent with spaces"
        if line != line.rstrip():
            yield number, "spaces at the end of the line"
        if UNFINISHED.search(line):
            yield number, "unfinished work; finish it or write it down elsewhere"
        if path.name.endswith(".test.cpp") and SLEEP.search(line):
            yield number, "a test does not sleep: wait for the condition, or use virtual time"


def check_file(path, text):
    lines = text.splitlines()
    if text and not text.endswith("\n"):
        yield len(lines), "the file does not end in a newline"
    if len(lines) > MAX_LINES:
        yield MAX_LINES + 1, f"the file has {len(lines)} lines; past {MAX_LINES} it wants to be two ideas"
    if path.suffix in CPP and not SNAKE_CASE.fullmatch(path.stem):
        yield 1, "file names are snake_case"
    yield from check_lines(path, lines)
    yield from check_header(path, lines)
    yield from check_layers(path, lines)


def main(root):
    files = [path for folder in FOLDERS for path in sorted((root / folder).rglob("*")) if path.suffix in CODE]
    files += [root / script for script in SCRIPTS]
    findings = 0
    defined = {}  # where each type of a header is
    for path in files:
        path = path.relative_to(root)
        text = (root / path).read_text(encoding="utf-8")
        found = list(check_file(path, text))
        for namespace, name, number in types_of(path, text.splitlines()):
            first = defined.setdefault((namespace, name), path)
            if first != path:
                found.append((number, f"{first} defines another {namespace}::{name}; a program may hold only one"))
        for number, sentence in found:
            print(f"{path}:{number}: {sentence}")
            findings += 1
    print(f"{len(files)} files, {findings} findings")
    return 1 if findings or not files else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()))
