#!/usr/bin/env python3
"""Compiles a file of kernels for GPUs, or takes what an earlier build of the same text has left in a cache: nvcc is a
third of a build, every preset needs the same images, and ccache does not know them.

  kernel_image.py --root SOURCE_ROOT --cache FOLDER --out IMAGE SOURCE -- NVCC [option ...]

Writes IMAGE, and beside it IMAGE.d with all files of this project that it was made of."""
import argparse
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

INCLUDE = re.compile(rb'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)
KEPT = 64  # images in the cache; the oldest go


def files_of(source: Path, root: Path) -> list[Path]:
    """The source and what it includes of this project, each once."""
    found, unread = [], [source]
    while unread:
        file = unread.pop()
        if file in found or not file.is_file():
            continue
        found.append(file)
        unread += [root / name.decode() for name in INCLUDE.findall(file.read_bytes())]
    return sorted(found)


def key_of(files: list[Path], root: Path, command: list[str]) -> str:
    digest = hashlib.sha256(subprocess.check_output([command[0], "--version"]))
    digest.update("\0".join(command[1:]).encode())
    for file in files:
        digest.update(str(file.relative_to(root)).encode() + b"\0" + file.read_bytes() + b"\0")
    return digest.hexdigest()


def main() -> int:
    arguments, command = sys.argv[1:], []
    if "--" in arguments:
        command = arguments[arguments.index("--") + 1:]
        arguments = arguments[:arguments.index("--")]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=Path, required=True)
    parser.add_argument("--cache", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("source", type=Path)
    options = parser.parse_args(arguments)
    if not command:
        parser.error("after -- comes the compiler")

    root = options.root.resolve()
    files = files_of(options.source.resolve(), root)
    kept = options.cache / (key_of(files, root, command) + ".fatbin")
    if not kept.is_file():
        options.cache.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=options.cache) as folder:
            image = Path(folder) / "image"
            compile_command = [*command, "-I", str(root), "-fatbin", "-o", str(image), str(options.source)]
            if (status := subprocess.call(compile_command)) != 0:
                return status
            image.replace(kept)  # at once: another build may look for it
        for old in sorted(options.cache.glob("*.fatbin"), key=lambda file: file.stat().st_mtime)[:-KEPT]:
            old.unlink(missing_ok=True)
    os.utime(kept)
    shutil.copyfile(kept, options.out)
    escaped = " ".join(str(file).replace(" ", "\\ ") for file in files)
    Path(f"{options.out}.d").write_text(f"{options.out}: {escaped}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
