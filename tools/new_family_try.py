#!/usr/bin/env python3
"""`./dev new-family --try`: makes a family in a copy of the repository, in build/new_family, builds the copy and runs
what its maker would run. So docs/new-family.md stays true. A line for each step, with its seconds."""
import filecmp
import os
import pathlib
import shutil
import subprocess
import sys
import time

import new_family

NAME = os.environ.get("TROUPE_TRY_NAME", "try_out")  # two words, as names may have
MAX_TOUCHED = 4


class Failed(Exception):
    """A step, and what it printed."""


def run(command, folder, environment=None):
    done = subprocess.run([str(word) for word in command], cwd=folder, text=True, stdout=subprocess.PIPE, check=False,
                          stderr=subprocess.STDOUT, errors="replace", env={**os.environ, **(environment or {})})
    if done.returncode != 0:
        raise Failed(f"$ {' '.join(map(str, command))}\n{done.stdout}")
    return done.stdout


def files_of(root):
    listed = run(["git", "ls-files", "-co", "--exclude-standard"], root).splitlines()
    return [path for path in listed if (root / path).is_file()]


def copy_all(root, copy):
    """Times are kept, and so is the build folder: a second try builds what has changed since."""
    copy.mkdir(parents=True, exist_ok=True)
    for old in copy.iterdir():
        if old.name != "build":
            shutil.rmtree(old) if old.is_dir() else old.unlink()
    files = files_of(root)
    for path in files:
        (copy / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(root / path, copy / path)
    return f"{len(files)} files"


def count_touched(root, copy):
    touched = [path for path in files_of(root) if not filecmp.cmp(root / path, copy / path, shallow=False)]
    if len(touched) > MAX_TOUCHED or sorted(touched) != sorted(new_family.TOUCHED):
        raise Failed(f"a family changes {', '.join(touched)}; it may change {', '.join(new_family.TOUCHED)}")
    return f"{len(touched)} existing files: {', '.join(touched)}"


def check_text(copy):
    run([sys.executable, "tools/style_check.py"], copy)
    run([sys.executable, "tools/public_headers.py", "."], copy)
    if not shutil.which("clang-format-19"):
        return "style and public headers; clang-format-19 is not here"
    run(["./dev", "format", "--check"], copy)
    return "style, public headers, format"


def configure(root, copy):
    run(["cmake", "--preset", "release", "--log-level=WARNING", "-DTROUPE_BUILD_BENCH=OFF",
         f"-DTROUPE_TESTS_ONLY=/{NAME}|/op/", f"-DTROUPE_KERNEL_CACHE={root}/build/kernel_cache"], copy)


def targets(copy):
    example = next((copy / "examples").glob(f"*_{NAME}.cpp")).stem
    wanted = ["troupe_op_test", "troupe_library_test", f"docs_{NAME}", f"example_{example}"]
    has_cuda = "troupe_kernel_images" in run(["ninja", "-C", "build/release", "-t", "targets"], copy)
    return wanted + (["troupe_fake_cuda_test"] if has_cuda else []), f"build/release/example_{example}", has_cuda


def build(copy):
    wanted, _, has_cuda = targets(copy)
    said = run(["cmake", "--build", "build/release", "--parallel", os.cpu_count(), "--target", *wanted], copy,
               {"CCACHE_BASEDIR": str(copy), "CCACHE_NOHASHDIR": "1"})
    return f"{said.count('Building CXX object')} files compiled or found{'' if has_cuda else '; no CUDA toolkit'}"


def last_line(said):
    return next(line for line in reversed(said.splitlines()) if "PASSED" in line or "SKIPPED" in line).strip()


def conformance(copy):
    records = copy / "build" / "records.txt"
    said = run(["build/release/troupe_library_test", "--gtest_brief=1"], copy, {"TROUPE_CAPABILITIES": str(records)})
    shown = [line.split("\t") for line in records.read_text(encoding="utf-8").splitlines()]
    on_host = sorted(line[3] for line in shown if line[:3] == ["host", NAME, "scale"])
    if on_host != ["f32", "f64"]:
        raise Failed(f"the conformance suite recorded {shown} instead of scale of f32 and f64 on the host\n{said}")
    on = sorted({line[0] for line in shown})
    return f"f32 and f64 on {' and '.join(on)}" + ("" if "cuda" in on else "; no GPU here")


def steps(root, copy):
    yield "copy", lambda: copy_all(root, copy)
    yield f"./dev new-family {NAME}", lambda: f"{run(['./dev', 'new-family', NAME], copy).count(NAME)} lines name it"
    yield "what it touches", lambda: count_touched(root, copy)
    yield "text", lambda: check_text(copy)
    yield "configure", lambda: configure(root, copy)
    yield "build", lambda: build(copy)
    yield "op tests", lambda: last_line(run(["build/release/troupe_op_test", "--gtest_brief=1"], copy))
    yield "conformance", lambda: conformance(copy)
    yield "fake GPU", lambda: (last_line(run(["build/release/troupe_fake_cuda_test", "--gtest_brief=1"], copy))
                               if targets(copy)[2] else "no CUDA toolkit")
    yield "page and example", lambda: run([targets(copy)[1]], copy).splitlines()[0]


def main(root):
    copy = root / "build" / "new_family"
    began = time.monotonic()
    for name, step in steps(root, copy):
        step_began = time.monotonic()
        try:
            said = step() or ""
        except Failed as failed:
            print(f"{name:<24}FAILED\n{failed}")
            return 1
        print(f"{name:<24}{time.monotonic() - step_began:7.1f} s  {said}", flush=True)
    print(f"{'all':<24}{time.monotonic() - began:7.1f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(__file__).resolve().parent.parent))
