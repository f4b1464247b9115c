#!/usr/bin/env python3
"""The headers that are installed: what users may include, and what those include in turn. The list is checked in, so
that a change of it shows in review; CMake installs what stands in it. What they declare can be seen in a shared
library, so each lifts the visibility that all else is compiled with.

  public_headers.py ROOT           compares cmake/public_headers.txt with the sources; says what differs
  public_headers.py ROOT --write   writes it"""
import re
import sys
from pathlib import Path

# What users include: all of it, and the parts that stand apart because they need Boost, or are for tests or for C.
ROOTS = ["troupe/troupe.hpp", "troupe/actor/asio.hpp", "troupe/actor/testkit.hpp", "troupe/plugin.h"]
INCLUDE = re.compile(r'^\s*#\s*include\s*"(troupe/[^"]+)"', re.MULTILINE)


def closure(root: Path) -> list[str]:
    found, unread = set(), list(ROOTS)
    while unread:
        name = unread.pop()
        if name not in found:
            found.add(name)
            unread += INCLUDE.findall((root / name).read_text())
    return sorted(found)

NAMESPACE = re.compile(r"^(#pragma GCC visibility push\(default\)\n)?namespace troupe.*?^\}  // namespace troupe[^\n]*"
                       r"\n(#pragma GCC visibility pop\n)?", re.MULTILINE | re.DOTALL)


def hidden(root: Path, names: list[str]) -> list[str]:
    """Headers that declare something which a shared library would hide."""
    return [name for name in names if any(not (found[1] and found[2])
                                          for found in NAMESPACE.finditer((root / name).read_text()))]


def main() -> int:
    root = Path(sys.argv[1])
    listed_in = root / "cmake" / "public_headers.txt"
    now = closure(root)
    if "--write" in sys.argv:
        listed_in.write_text("\n".join(now) + "\n")
        print(f"{len(now)} headers")
        return 0
    listed = listed_in.read_text().split()
    for name in sorted(set(now) - set(listed)):
        print(f"{name} is included by public headers and not in cmake/public_headers.txt")
    for name in sorted(set(listed) - set(now)):
        print(f"{name} is in cmake/public_headers.txt and no public header includes it")
    hides = hidden(root, now)
    for name in hides:
        print(f"{name} must have `#pragma GCC visibility push(default)` above its namespace and `#pragma GCC "
              "visibility pop` below it: a shared library hides what it declares")
    print(f"{len(now)} headers are installed")
    return 0 if now == listed and not hides else 1


if __name__ == "__main__":
    sys.exit(main())
