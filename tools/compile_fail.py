#!/usr/bin/env python3
"""Checks that a source file does not compile, for the reason it states.

    compile_fail.py FILE COMPILER [FLAG ...]

The file says in a comment what the compiler's output must contain, as a regular expression:

    // expect: no handler for this message

It is compiled twice: with TROUPE_FIXED defined it must compile, without it it must fail with the expected output. So a
file cannot pass by accident, for a typo or a missing include.
"""
import os
import re
import subprocess
import sys


def compile_file(command):
    environment = dict(os.environ, LC_ALL="C")
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.returncode == 0, done.stdout


def check(file, compiler):
    with open(file, encoding="utf-8") as source:
        expected = re.findall(r"^// expect: (.+)$", source.read(), re.MULTILINE)
    if not expected:
        return f"{file}:1: no line `// expect: <regular expression>`"

    command = [*compiler, "-fsyntax-only", file]
    compiles, output = compile_file([*command, "-DTROUPE_FIXED"])
    if not compiles:
        return f"{file}: does not compile with TROUPE_FIXED, so its failure proves nothing:\n{output}"
    compiles, output = compile_file(command)
    if compiles:
        return f"{file}: compiles, and should not"
    for pattern in expected:
        if not re.search(pattern, output):
            return f"{file}: fails as it should, but the compiler does not say `{pattern}`:\n{output}"
    return None


if __name__ == "__main__":
    sys.exit(check(sys.argv[1], sys.argv[2:]))
