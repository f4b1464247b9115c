#!/usr/bin/env python3
"""Everything that must hold on a machine with a GPU, in one go: `./dev gpu [test|chaos|bench ...]`.

    gpu_run.py BUILD_FOLDER [PART ...]

Runs the parts (all of them unless some are named), shows what they print, keeps it in BUILD_FOLDER/gpu/, and ends with
one table. Tests run side by side; what measures, or counts memory, runs alone. Fails when a part fails. What cannot
run here is listed as skipped, with the reason.
"""
import concurrent.futures
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
SHARDS = 4  # processes that share the tests of one long part
TEST_LIMIT_S = 150
BENCH_LIMIT_S = 240


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


def test_parts(build):
    test = str(build / "troupe_device_test")
    library_test = str(build / "troupe_library_test")
    yield Part("cpu tests", [sys.executable, "tools/run_ctest.py", str(build), "--parallel",
                             str(max(os.cpu_count() // 2, 1)), "-E", "Gpu|EveryCompletion|^capabilities$"],
               tells=["tests passed"])
    yield Part("gpu tests", [test, f"--gtest_filter={GPU_TESTS}"], tells=["[  PASSED  ]", "[  FAILED  ]"])
    records = build / "gpu" / "capability_records.txt"
    records.unlink(missing_ok=True)
    yield from sharded(lambda name, shard: Part(
        f"conformance {name}", [library_test, f"--gtest_filter={CONFORMANCE_TESTS}"],
        environment={"TROUPE_CAPABILITIES": str(records), **shard}, tells=["[  PASSED  ]", "[  FAILED  ]"]))
    yield memcheck("memcheck", test, SANITIZED_TESTS)
    yield from sharded(lambda name, shard: memcheck(
        f"memcheck of ops {name}", library_test, SANITIZED_CONFORMANCE_TESTS, shard))


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


def all_parts(build):
    yield "doctor", [Part("doctor", [str(build / "bin" / "troupe"), "doctor"], tells=["GPU can be used"])]
    yield "test", list(test_parts(build))
    records = build / "gpu" / "capability_records.txt"  # of the tests above
    yield "capabilities", [Part("capabilities", [sys.executable, "tools/capabilities.py", "--check",
                                                 "docs/capabilities.md", str(records)], tells=["is not what"])]
    yield "chaos", [Part("chaos", [str(build / "troupe_chaos"), "--device", "cuda", "--seed", "1", "--faults",
                                   str(CHAOS_FAULTS)], tells=["as it must be", "FAILED"])]
    yield "bench", [Part("bench", [str(build / "troupe_bench"), "--gpu", "--check", "--json",
                                   str(build / "gpu" / "bench.json")], tells=[" ok,", "missed"],
                         limit_s=BENCH_LIMIT_S)]


def run_side_by_side(parts, logs):
    if len(parts) > 1:
        print(f"\n=== side by side: {', '.join(part.name for part in parts)}", flush=True)
    with concurrent.futures.ThreadPoolExecutor(len(parts)) as pool:
        for ended in [pool.submit(part.run, logs, len(parts) == 1) for part in parts]:
            ended.result()


def has_gpu(build):
    listed = subprocess.run([build / "troupe-worker", "--devices"], capture_output=True, text=True, check=False)
    return any(line.startswith("cuda\t") for line in listed.stdout.splitlines())


def print_table(parts):
    print(f"\n{'part':<21}{'result':<10}{'seconds':>8}  what it said")
    for part in parts:
        print(f"{part.name:<21}{part.result:<10}{part.seconds:>8.1f}  {part.line}")


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
    for name in wanted or groups:
        run_side_by_side(groups[name], logs)
    parts = [part for name in (wanted or groups) for part in groups[name]]
    print_table(parts)
    return 1 if any(part.result == "FAILED" for part in parts) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
