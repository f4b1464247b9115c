#!/usr/bin/env python3
"""Everything that must hold on a machine with a GPU, in one go: `./dev gpu [PART ...] [FAMILY ...]`.

    gpu_run.py BUILD_FOLDER [PART ...] [FAMILY ...]
    gpu_run.py --help

Runs the parts (all of them unless some are named), shows what they print, keeps it in BUILD_FOLDER/gpu/, and ends with
one table. With families (the folders of troupe/library), only their conformance tests, memcheck and rows of the
benchmark run. No part takes longer than nine minutes: it is stopped, and has failed. Tests run side by side; what
measures, or counts memory, runs alone. The figures are left in BUILD_FOLDER/gpu/bench.json, with the machine that they
are of; `./dev plots` draws them. Fails when a part fails. What cannot run here is listed as skipped, with the reason.
"""
import concurrent.futures
import datetime
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

GPU_TESTS = "*Gpu*:*EveryCompletion*"
SANITIZED_TESTS = "Gpu.*:GpuJit.*"
SANITIZED_TYPES = ("f32", "c64")
FAMILIES_FOLDER = pathlib.Path(__file__).resolve().parent.parent / "troupe" / "library"
# The rows of the benchmark that are about a family, where they do not have its name.
BENCH_ROWS = {
    "blas": "gemm",
    "matmul": "matmul|gemm",
    "solver": "^(LU|Cholesky|the same in rows|SVD|QR)",
    "sparse": "^Sp(MV|MM|SV)",
    "tensor": "einsum|tensor",
    "jit": "empty kernel",
}
CHAOS_FAULTS = 120
SHARDS = 4  # processes that share the tests of one long part
PART_LIMIT_S = 9 * 60
TEST_LIMIT_S = 300
BENCH_LIMIT_S = 400
# What runs one after another; parts in a line run side by side.
STAGES = [["doctor"], ["test", "conformance", "memcheck"], ["capabilities"], ["chaos"], ["bench"]]
PARTS = {
    "doctor": "what this machine has",
    "test": "the CPU's tests, and the GPU's of the device",
    "conformance": "every op on the GPU, against a reference",
    "memcheck": "the GPU's tests and two types of each op under compute-sanitizer",
    "capabilities": "docs/capabilities.md says what the last conformance of all families showed",
    "chaos": "kernels that fault or hang at random while callers check their work",
    "bench": "ours beside raw CUDA, with its limits",
}
PARTS_OF_FAMILIES = ["conformance", "memcheck", "bench"]


class Part:
    """One command: what it is called, and what its last telling line looks like."""

    def __init__(self, name, command, environment=None, tells=(), skipped=None, limit_s=TEST_LIMIT_S):
        self.name, self.command, self.environment = name, command, environment or {}
        self.tells, self.skipped, self.limit_s = tells, skipped, limit_s
        self.result, self.seconds, self.line = "skipped", 0.0, skipped or ""

    def run(self, logs, shows_at_once):
        if self.skipped:
            return
        began = time.monotonic()
        shown = [f"\n=== {self.name}: {' '.join(self.command)}\n"]
        with open(logs / f"{self.name.replace(' ', '_').replace('/', '_of_')}.txt", "w", encoding="utf-8") as log:
            limited = ["timeout", "-k", "5", str(self.limit_s), *self.command]
            with subprocess.Popen(limited, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                  errors="replace", env={**os.environ, **self.environment}) as process:
                for line in process.stdout:
                    log.write(line)
                    if any(word in line for word in self.tells):
                        self.line = line.strip()
                    if not line.startswith(("[ RUN", "[       OK")):
                        shown.append(line)
                    if shows_at_once:
                        print("".join(shown), end="", flush=True)
                        shown.clear()
        self.seconds = time.monotonic() - began
        self.result = "ok" if process.returncode == 0 else "FAILED"
        print("".join(shown), end="", flush=True)


def families():
    return sorted(folder.name for folder in FAMILIES_FOLDER.iterdir() if folder.is_dir())


def suite_pattern(family, place):
    """The tests of a family on a GPU, for all types or one: their suites begin with its name.

    >>> suite_pattern("blas", "Gpu_*")
    'Blas*/Gpu_*'
    >>> suite_pattern("random_numbers", "Gpu_*")
    'RandomNumbers*/Gpu_*'
    """
    return f"{''.join(word.capitalize() for word in family.split('_'))}*/{place}"


def conformance_filter(chosen):
    """
    >>> conformance_filter([])
    '*/Gpu_*'
    >>> conformance_filter(["blas", "fft"])
    'Blas*/Gpu_*:Fft*/Gpu_*'
    """
    return ":".join(suite_pattern(family, "Gpu_*") for family in chosen) or "*/Gpu_*"


def sanitized_filter(chosen):
    """
    >>> sanitized_filter(["blas"])
    'Blas*/Gpu_f32.*:Blas*/Gpu_c64.*'
    """
    return ":".join(suite_pattern(family, f"Gpu_{dtype}.*") for family in chosen or [""] for dtype in SANITIZED_TYPES)


def bench_rows(chosen):
    """The rows of some families, as the regular expression for --only; a family without an entry of its own has its
    name in the names of its rows.

    >>> bench_rows(["tensor", "fft"])
    'einsum|tensor|[fF][fF][tT]'
    """
    any_case = {family: "".join(f"[{letter}{letter.upper()}]" for letter in family) for family in chosen}
    return "|".join(BENCH_ROWS.get(family, any_case[family]) for family in chosen)


def select(words, all_families):
    """(parts, families) that the words of a command line ask for, or a sentence.

    >>> select([], ["blas"])[0] == list(PARTS)
    True
    >>> select(["blas"], ["blas", "fft"])
    (['conformance', 'memcheck', 'bench'], ['blas'])
    >>> select(["fft", "bench", "blas"], ["blas", "fft"])
    (['bench'], ['fft', 'blas'])
    """
    unknown = [word for word in words if word not in PARTS and word not in all_families]
    if unknown:
        return (f"there is no part or family {', '.join(unknown)}; the parts are {', '.join(PARTS)}, the families "
                f"{', '.join(all_families)}")
    chosen = [word for word in words if word in all_families]
    parts = [part for part in PARTS if part in words] or (PARTS_OF_FAMILIES if chosen else list(PARTS))
    whole = [part for part in parts if part not in PARTS_OF_FAMILIES]
    if chosen and whole:
        return f"{', '.join(whole)} cannot be run for some families; {', '.join(PARTS_OF_FAMILIES)} can"
    return list(parts), chosen


def records_folder(build, chosen):
    """What some families recorded is not mistaken for what all have."""
    return build / "gpu" / ("records_of_some" if chosen else "records")


def test_parts(build):
    yield Part("cpu tests", [sys.executable, "tools/run_ctest.py", str(build), "--parallel",
                             str(max(os.cpu_count() // 2, 1)), "-E", "Gpu|EveryCompletion|^capabilities$"],
               tells=["tests passed"])
    yield Part("gpu tests", [str(build / "troupe_device_test"), f"--gtest_filter={GPU_TESTS}"],
               tells=["[  PASSED  ]", "[  FAILED  ]"])


def conformance_parts(build, chosen):
    yield from sharded(lambda name, shard: Part(
        f"conformance {name}", [str(build / "troupe_library_test"), f"--gtest_filter={conformance_filter(chosen)}"],
        environment={"TROUPE_CAPABILITIES": str(records_folder(build, chosen) / f"{shard['GTEST_SHARD_INDEX']}.txt"),
                     **shard}, tells=["[  PASSED  ]", "[  FAILED  ]"]))


def memcheck_parts(build, chosen):
    if not chosen or "jit" in chosen:
        yield memcheck("memcheck", str(build / "troupe_device_test"), SANITIZED_TESTS)
    if chosen != ["jit"]:
        yield from sharded(lambda name, shard: memcheck(
            f"memcheck of ops {name}", str(build / "troupe_library_test"), sanitized_filter(chosen), shard))


def sharded(make_part):
    for i in range(SHARDS):
        yield make_part(f"{i + 1}/{SHARDS}", {"GTEST_TOTAL_SHARDS": str(SHARDS), "GTEST_SHARD_INDEX": str(i)})


def memcheck(name, program, tests, environment=None):
    sanitizer = shutil.which("compute-sanitizer") or shutil.which("/usr/local/cuda/bin/compute-sanitizer")
    return Part(name, [str(sanitizer), "--tool", "memcheck", "--report-api-errors", "no", "--error-exitcode", "9",
                       program, f"--gtest_filter={tests}"],
                environment={"TROUPE_TEST_ISOLATION": "thread", **(environment or {})},
                tells=["ERROR SUMMARY", "[  PASSED  ]"],
                skipped=None if sanitizer else "compute-sanitizer is not installed")


def all_parts(build, chosen=()):
    bench = [str(build / "troupe_bench"), "--gpu", "--check", "--json", str(build / "gpu" / "bench.json")]
    return {
        "doctor": [Part("doctor", [str(build / "bin" / "troupe"), "doctor"], tells=["GPU can be used"])],
        "test": list(test_parts(build)),
        "conformance": list(conformance_parts(build, chosen)),
        "memcheck": list(memcheck_parts(build, chosen)),
        "capabilities": [Part("capabilities", [sys.executable, "tools/capabilities.py", "--check",
                                               "docs/capabilities.md", str(records_folder(build, ()))],
                              tells=["is not what"])],
        "chaos": [Part("chaos", [str(build / "troupe_chaos"), "--device", "cuda", "--seed", "1", "--faults",
                                 str(CHAOS_FAULTS)], tells=["as it must be", "FAILED"])],
        "bench": [Part("bench", bench + (["--only", bench_rows(chosen)] if chosen else []), tells=[" ok,", "missed"],
                       limit_s=BENCH_LIMIT_S)],
    }


def run_side_by_side(parts, logs):
    if len(parts) > 1:
        print(f"\n=== side by side: {', '.join(part.name for part in parts)}", flush=True)
    with concurrent.futures.ThreadPoolExecutor(len(parts)) as pool:
        for ended in [pool.submit(part.run, logs, len(parts) == 1) for part in parts]:
            ended.result()


def has_gpu(build):
    listed = subprocess.run([build / "troupe-worker", "--devices"], capture_output=True, text=True, check=False)
    return any(line.startswith("cuda\t") for line in listed.stdout.splitlines())


def machine_of(report, date):
    """What a file of figures says of its machine, from what `troupe doctor --json` prints.

    >>> machine_of({"lines": [{"thing": "driver", "found": "CUDA 13.0  /usr/lib/libcuda.so.580"},
    ...                       {"thing": "GPU 0", "found": "NVIDIA H200, 139.8 GiB"}]}, "2026-11-16")
    {'gpu': 'NVIDIA H200', 'cuda': '13.0', 'date': '2026-11-16'}
    """
    found = {line["thing"]: line["found"] for line in reversed(report["lines"])}
    return {"gpu": found["GPU 0"].split(",")[0], "cuda": found["driver"].split()[1], "date": date}


def note_machine(build):
    """Adds the machine to the figures, for whoever quotes them."""
    doctor = subprocess.run([build / "bin" / "troupe", "doctor", "--json"], capture_output=True, text=True, check=False)
    figures = build / "gpu" / "bench.json"
    try:
        machine = machine_of(json.loads(doctor.stdout), datetime.date.today().isoformat())
        content = json.loads(figures.read_text(encoding="utf-8"))
    except (ValueError, KeyError, IndexError, OSError) as problem:
        print(f"{figures} does not say where it was measured: {problem!r}", file=sys.stderr)
        return
    figures.write_text(json.dumps({"machine": machine, **content}, indent=1) + "\n", encoding="utf-8")
    print(f"\nthe figures are in {figures}; `./dev plots --json FILE` keeps and draws them")


def has_rows(listed, pattern):
    """Whether a row that the benchmark lists is about the families chosen; a new family may have none yet.

    >>> has_rows("einsum of three\\n", bench_rows(["tensor"])), has_rows("einsum of three\\n", bench_rows(["fft"]))
    (True, False)
    """
    return any(re.search(pattern, row) for row in listed.splitlines())


def skip_missing_rows(build, parts, chosen):
    listed = subprocess.run([build / "troupe_bench", "--gpu", "--list"], capture_output=True, text=True, check=False)
    if not has_rows(listed.stdout, bench_rows(chosen)):
        for part in parts:
            part.skipped = part.line = f"no row of the benchmark is about {', '.join(chosen)}"


def print_table(parts):
    print(f"\n{'part':<21}{'result':<10}{'seconds':>8}  what it said")
    for part in parts:
        print(f"{part.name:<21}{part.result:<10}{part.seconds:>8.1f}  {part.line}")


def print_help():
    print("usage: ./dev gpu [PART ...] [FAMILY ...]\n\nparts (all of them unless some are named), nine minutes at most "
          "each:")
    for part, what in PARTS.items():
        print(f"  {part:<13} {what}")
    print(f"\nfamilies, for {', '.join(PARTS_OF_FAMILIES)}:\n  {', '.join(families())}")


def main(build, words):
    if "--help" in (build, *words):
        print_help()
        return 0
    selected = select(words, families())
    if isinstance(selected, str):
        print(selected, file=sys.stderr)
        return 2
    wanted, chosen = selected
    build = pathlib.Path(build).resolve()
    if not has_gpu(build):
        print("there is no GPU here that a worker can open; `./dev doctor` says why", file=sys.stderr)
        return 1
    logs = build / "gpu"
    logs.mkdir(exist_ok=True)
    groups = all_parts(build, chosen)
    if chosen and "bench" in wanted:
        skip_missing_rows(build, groups["bench"], chosen)
    stages = [[part for name in stage if name in wanted for part in groups[name]] for stage in STAGES]
    for stage in filter(None, stages):
        run_side_by_side(stage, logs)
    parts = [part for stage in stages for part in stage]
    if "bench" in wanted and not chosen:
        note_machine(build)
    print_table(parts)
    return 1 if any(part.result == "FAILED" for part in parts) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
