#!/usr/bin/env python3
"""The headers that are installed: what users may include, and what those include in turn. The list is checked in, so
that a change of it shows in review; CMake installs what stands in it.

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
    print(f"{len(now)} headers are installed")
    return 0 if now == listed else 1


if __name__ == "__main__":
    sys.exit(main())
