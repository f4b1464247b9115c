#!/usr/bin/env python3
"""Runs CTest on a build folder and says what was skipped and why, and what failed and how; CTest's own closing lines
stay last.

    run_ctest.py BUILD_FOLDER [CTEST_ARGUMENT ...]

An entry of CTest is a process, which runs one test or a suite of them; each test is counted, and skipped or failed by
its own name. Fails when a test fails, and when no test ran: none matched, or all were skipped. The closing lines are
also written to BUILD_FOLDER/test_summary.txt.
"""
import pathlib
import re
import subprocess
import sys
import xml.etree.ElementTree as xml

CLOSING = re.compile(r"\d+% tests passed\b.* out of \d+")
# GoogleTest prints `file:line: Skipped`, the message, and the test's name; our own entries print `skipped: reason`.
GTEST_SKIP = re.compile(r"^\S+:\d+: Skipped\n(.*?)\n+(?:\S+:\d+: .*?)?\[  SKIPPED \] (\S+\.\w+)", re.M | re.S)
OWN_SKIP = re.compile(r"^skipped: ([^\n]*)", re.M)
GTEST_RUN = re.compile(r"^\[ RUN      \] ", re.M)
GTEST_FAILURE = re.compile(r"^\[ RUN      \] (\S+)\n(.*?)^\[  FAILED  \] \1(?=[ ,\n])", re.M | re.S)
FAILURE_LINES = 60


def run(command):
    """Shows CTest's lines as they come, up to the closing ones; returns its exit status and those."""
    closing = []
    pipe, both = subprocess.PIPE, subprocess.STDOUT
    with subprocess.Popen(command, stdout=pipe, stderr=both, text=True, errors="replace") as ctest:
        for line in ctest.stdout:
            if closing or CLOSING.match(line):
                closing.append(line)
            else:
                print(line, end="", flush=True)
    return ctest.returncode, closing


def without_skipped_list(closing):
    """CTest names the skipped tests after its total, without a reason; we named them before, with one."""
    kept, inside = [], False
    for line in closing:
        inside = line.startswith("The following tests did not run:") or (inside and line.startswith("\t"))
        if not inside:
            kept.append(line)
    return "".join(kept).rstrip() + "\n"


def skips(case):
    """(name, reason) of what a CTest entry skipped: itself, or some of the tests that its process ran."""
    name, output = case.get("name"), case.findtext("system-out") or ""
    found = GTEST_SKIP.findall(output)
    if case.get("status") not in ("notrun", "disabled"):
        return [(f"{name}.{test}", " ".join(reason.split())) for reason, test in found]
    if case.find("failure") is not None:
        return []
    reasons = [reason for reason, _ in found] + OWN_SKIP.findall(output) + [case.get("status")]
    return [(name, " ".join(reasons[0].split()) or "no reason given")]


def count(case):
    """How many tests an entry ran: those of its process, or itself."""
    return len(GTEST_RUN.findall(case.findtext("system-out") or "")) or 1


def failures(case):
    """(name, what it printed in the end) of what failed in a CTest entry: whoever sees the end of a log sees why. Of a
    process that ran many tests, only those that failed; of one that died, the end of all."""
    if case.get("status") != "fail":
        return []
    name, output = case.get("name"), case.findtext("system-out") or ""
    found = [(f"{name}: {test}", text) for test, text in GTEST_FAILURE.findall(output)] or [(name, output)]
    return [(test, text.rstrip().splitlines()[-FAILURE_LINES:]) for test, text in found]


def main(build, arguments):
    build = pathlib.Path(build).resolve()
    report = build / "test_report.xml"
    report.unlink(missing_ok=True)
    status, closing = run(["ctest", "--test-dir", str(build), "--output-on-failure", "--no-tests=error",
                           "--test-output-size-passed", "1000000", "--output-junit", str(report), *arguments])

    cases = xml.parse(report).getroot().findall("testcase") if report.exists() else []
    skipped = [skip for case in cases for skip in skips(case)]
    if skipped:
        print(f"Skipped ({len(skipped)}):")
        for name, reason in skipped:
            print(f"  {name}: {reason}")
        print()
    for name, lines in [failure for case in cases for failure in failures(case)]:
        print(f"Failed: {name}")
        for line in lines:
            print(f"  {line}")
        print()
    tests = sum(count(case) for case in cases)
    if closing and tests == len(skipped):
        print("No test ran: all that matched were skipped.\n")
        status = status or 1

    summary = f"{tests} tests in {len(cases)} processes, {len(skipped)} skipped\n" + without_skipped_list(closing)
    (build / "test_summary.txt").write_text(summary, encoding="utf-8")
    print(summary, end="", flush=True)
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
