#!/usr/bin/env python3
"""Everything that must hold on a machine with a GPU, in one go: `./dev gpu [test|chaos|bench ...]`.

    gpu_run.py BUILD_FOLDER [PART ...]

Runs the parts (all of them unless some are named), shows what they print, keeps it in BUILD_FOLDER/gpu/, and ends with
one table. Fails when a part fails. What cannot run here is listed as skipped, with the reason.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import time

GPU_TESTS = "*Gpu*:*EveryCompletion*"
SANITIZED_TESTS = "Gpu.*:GpuJit.*"
CONFORMANCE_TESTS = "*Conformance*/Gpu_*"
SANITIZED_CONFORMANCE_TESTS = "*Conformance*/Gpu_f32.*:*Conformance*/Gpu_c64.*"
CHAOS_FAULTS = 120
PART_LIMIT_S = 150


class Part:
    """One command: what it is called, and what its last telling line looks like."""

    def __init__(self, name, command, environment=None, tells=(), skipped=None):
        self.name, self.command, self.environment = name, command, environment or {}
        self.tells, self.skipped = tells, skipped
        self.result, self.seconds, self.line = "skipped", 0.0, skipped or ""

    def run(self, logs):
        if self.skipped:
            return
        print(f"\n=== {self.name}: {' '.join(self.command)}", flush=True)
        began = time.monotonic()
        with open(logs / f"{self.name.replace(' ', '_')}.txt", "w", encoding="utf-8") as log:
            limited = ["timeout", "-k", "5", str(PART_LIMIT_S), *self.command]
            with subprocess.Popen(limited, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                  errors="replace", env={**os.environ, **self.environment}) as process:
                for line in process.stdout:
                    log.write(line)
                    if not line.startswith(("[ RUN", "[       OK")):
                        print(line, end="", flush=True)
                    if any(word in line for word in self.tells):
                        self.line = line.strip()
        self.seconds = time.monotonic() - began
        self.result = "ok" if process.returncode == 0 else "FAILED"


def test_parts(build):
    test = str(build / "troupe_device_test")
    yield Part("cpu tests", [sys.executable, "tools/run_ctest.py", str(build), "--parallel", str(os.cpu_count()),
                             "-E", "Gpu|EveryCompletion"], tells=["tests passed"])
    yield Part("gpu tests", [test, f"--gtest_filter={GPU_TESTS}"], tells=["[  PASSED  ]", "[  FAILED  ]"])
    library_test = str(build / "troupe_library_test")
    records = build / "gpu" / "capabilities.txt"
    records.unlink(missing_ok=True)
    yield Part("conformance", [library_test, f"--gtest_filter={CONFORMANCE_TESTS}"],
               environment={"TROUPE_CAPABILITIES": str(records)}, tells=["[  PASSED  ]", "[  FAILED  ]"])
    for name, program, tests in (("memcheck", test, SANITIZED_TESTS),
                                 ("memcheck of ops", library_test, SANITIZED_CONFORMANCE_TESTS)):
        yield memcheck(name, program, tests)


def memcheck(name, program, tests):
    sanitizer = shutil.which("compute-sanitizer") or shutil.which("/usr/local/cuda/bin/compute-sanitizer")
    return Part(name, [str(sanitizer), "--tool", "memcheck", "--report-api-errors", "no", "--error-exitcode", "9",
                       program, f"--gtest_filter={tests}"],
                environment={"TROUPE_TEST_ISOLATION": "thread"}, tells=["ERROR SUMMARY", "[  PASSED  ]"],
                skipped=None if sanitizer else "compute-sanitizer is not installed")


def all_parts(build):
    yield "doctor", [Part("doctor", [str(build / "bin" / "troupe"), "doctor"], tells=["GPU can be used"])]
    yield "test", list(test_parts(build))
    yield "chaos", [Part("chaos", [str(build / "troupe_chaos"), "--device", "cuda", "--seed", "1", "--faults",
                                   str(CHAOS_FAULTS)], tells=["as it must be", "FAILED"])]
    yield "bench", [Part("bench", [str(build / "troupe_bench"), "--gpu", "--check", "--json",
                                   str(build / "gpu" / "bench.json")], tells=[" ok,", "missed"])]


def has_gpu(build):
    listed = subprocess.run([build / "troupe-worker", "--devices"], capture_output=True, text=True, check=False)
    return any(line.startswith("cuda\t") for line in listed.stdout.splitlines())


def print_table(parts):
    print(f"\n{'part':<17}{'result':<10}{'seconds':>8}  what it said")
    for part in parts:
        print(f"{part.name:<17}{part.result:<10}{part.seconds:>8.1f}  {part.line}")


def main(build, wanted):
    build = pathlib.Path(build).resolve()
    groups = dict(all_parts(build))
    unknown = [name for name in wanted if name not in groups]
    if unknown:
        print(f"there is no part {', '.join(unknown)}; there are: {', '.join(groups)}", file=sys.stderr)
        return 2
    if not has_gpu(build):
        print("there is no GPU here that a worker can open; `./dev doctor` says why", file=sys.stderr)
        return 1
    logs = build / "gpu"
    logs.mkdir(exist_ok=True)
    parts = [part for name in (wanted or groups) for part in groups[name]]
    for part in parts:
        part.run(logs)
    print_table(parts)
    return 1 if any(part.result == "FAILED" for part in parts) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
