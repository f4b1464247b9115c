#!/usr/bin/env python3
"""Turns the C++ blocks of documents into sources, so that what a reader copies is known to compile.

    doc_blocks.py OUTPUT_FOLDER DOCUMENT ...

All ```cpp blocks of a document, in order, make one source at namespace scope. A block ```cpp body stands for the
inside of a function that has a `System& system`. A block that begins with a comment `// path/to/file.hpp` stands for
that file: later blocks may include it.

Prints `name kind source` for each document with blocks; the kind is `main` (has a main), `gtest` (has tests) or
`compile`. Sources are only written when they change.
"""
import pathlib
import re
import sys

PREFIX = """#include "troupe/troupe.hpp"

using namespace troupe;
using namespace std::chrono_literals;
"""
FENCE = re.compile(r"^(\s*)```+\s*(\S*)\s*(.*?)\s*$")
MISTAKEN_FOR_CPP = {"c++", "cc", "cxx", "hpp", "C++", "Cpp", "CPP", "c"}


class Mistake(Exception):
    pass


def blocks_of(document, wanted="cpp"):
    """Yields (line number of the first line, tag, lines) for each block of that language."""
    start, language, tag, lines, indent = 0, None, "", [], 0
    for number, line in enumerate(document.read_text(encoding="utf-8").splitlines(), 1):
        fence = FENCE.match(line)
        if language is None and fence:
            indent, language, tag = len(fence[1]), fence[2], fence[3]
            start, lines = number + 1, []
            if language in MISTAKEN_FOR_CPP:
                raise Mistake(f"{document}:{number}: a block of C++ is written ```cpp, not ```{language}")
            if language == "cpp" and tag not in ("", "body"):
                raise Mistake(f"{document}:{number}: a block is ```cpp or ```cpp body, not ```cpp {tag}")
        elif fence and not fence[2]:
            if language == wanted:
                yield start, tag, lines
            language = None
        elif language is not None:
            lines.append(line[indent:])
    if language is not None:
        raise Mistake(f"{document}:{start - 1}: this block does not end")


def source_of(document):
    parts, stands_for = [PREFIX], set()
    for number, (start, tag, lines) in enumerate(blocks_of(document), 1):
        file = re.match(r"// (\S+\.[ch]pp)$", lines[0]) if lines else None
        lines = ["" if line == "#pragma once" or included_file(line) in stands_for else line for line in lines]
        if file:
            stands_for.add(file[1])
        if tag == "body":
            parts.append(f"[[maybe_unused]] static void block_{number}([[maybe_unused]] troupe::System& system) {{")
        parts.append(f'#line {start} "{document.resolve()}"')
        parts += lines
        if tag == "body":
            parts.append("}")
    return "\n".join(parts) + "\n" if len(parts) > 1 else ""


def included_file(line):
    include = re.match(r'#include "(.+)"', line)
    return include and include[1]


def kind_of(source):
    if re.search(r"^int main\(", source, re.MULTILINE):
        return "main"
    return "gtest" if "#include <gtest/gtest.h>" in source else "compile"


def main(folder, documents):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for document in map(pathlib.Path, sorted(documents)):
        source = source_of(document)
        if not source:
            continue
        parts = document.with_suffix("").parts
        name = ".".join(parts[1:] if parts[0] == "docs" else parts)
        name = re.sub(r"[^A-Za-z0-9_.]", "_", name)
        target = folder / f"{name}.cpp"
        if not target.exists() or target.read_text(encoding="utf-8") != source:
            target.write_text(source, encoding="utf-8")
        print(name, kind_of(source), target)


if __name__ == "__main__":
    try:
        main(sys.argv[1], sys.argv[2:])
    except Mistake as mistake:
        sys.exit(str(mistake))
