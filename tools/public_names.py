#!/usr/bin/env python3
"""The names that stand directly in namespace troupe for those who include what users include. The list is checked in,
so that a new one shows in review: what users do not need stands in troupe::detail or is not visible at all.

  public_names.py ROOT           compares cmake/public_names.txt with the headers; says what differs
  public_names.py ROOT --write   writes it
  public_names.py ROOT --docs    lists the names that neither README.md nor a page in docs/ has

Needs clang++, in $CLANGXX or as clang++-19 or clang++; says "skipped" when there is none."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HEADERS = ["troupe/troupe.hpp", "troupe/actor/testkit.hpp"]
NEEDS_BOOST = "troupe/actor/asio.hpp"
# What a declaration is called in clang's tree. The names of template parameters and of parameters are deeper in it.
KINDS = ("CXXRecordDecl|ClassTemplateDecl|EnumDecl|FunctionDecl|FunctionTemplateDecl|TypedefDecl|TypeAliasDecl|"
         "TypeAliasTemplateDecl|VarDecl|VarTemplateDecl|ConceptDecl|UsingDecl")
NODE = re.compile(r"^((?:[|` ] )*(?:[|`]-)?)(\w+) 0x[0-9a-f]+ (.*)$")


def compiler() -> str | None:
    names = [os.environ.get("CLANGXX", ""), "clang++-19", "clang++"]
    return next((found for name in names if name and (found := shutil.which(name))), None)


def name_in(rest: str) -> str | None:
    """The name of a declaration, which stands after its places and before its quoted type."""
    rest = re.sub(r"<(?:[^<>]|<[^<>]*>)*>", " ", rest.split(" '")[0])
    words = [word for word in rest.split() if re.fullmatch(r"operator\S*|[A-Za-z_]\w*", word)]
    words = [word for word in words if word not in
             ("prev", "col", "line", "implicit", "used", "referenced", "invalid", "struct", "class", "union",
              "definition", "inline", "constexpr", "static", "extern", "cinit", "callinit", "listinit", "nrvo",
              "external-linkage", "implicit-inline", "undeserialized_decls") and not word.startswith("0x")]
    return words[0] if words else None


def declared(root: Path, clang: str) -> list[str]:
    has_boost = subprocess.run([clang, "-std=c++23", "-fsyntax-only", "-x", "c++", "-"], text=True, capture_output=True,
                               input="#include <boost/asio/any_io_executor.hpp>\n").returncode == 0
    headers = HEADERS + ([NEEDS_BOOST] if has_boost else [])
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "all.cpp"
        source.write_text("".join(f'#include "{header}"\n' for header in headers))
        tree = subprocess.run([clang, "-std=c++23", "-fsyntax-only", f"-I{root}", "-fno-color-diagnostics", "-Xclang",
                               "-ast-dump", str(source)], text=True, stdout=subprocess.PIPE, check=True).stdout
    names: set[str] = set()
    inside: list[tuple[int, str]] = []  # the namespaces around a line: how deep it stands, and its name
    for line in tree.splitlines():
        node = NODE.match(line)
        if not node:
            continue
        depth = len(node[1]) // 2
        while inside and inside[-1][0] >= depth:
            inside.pop()
        if node[2] == "NamespaceDecl":
            name = re.sub(r" (inline|nested)\b", "", node[3]).split()[-1]
            if inside and inside[-1][0] != depth - 1:
                continue
            if not inside and depth != 1:
                continue
            inside.append((depth, name))
        elif inside and depth == inside[-1][0] + 1 and [name for _, name in inside] in (["troupe"], ["troupe", "v0"]):
            if " parent 0x" in f" {node[3]}":
                continue  # the body of a member
            if re.fullmatch(KINDS, node[2]) and (name := name_in(node[3])) and not name.startswith("operator"):
                names.add(name)
    return sorted(names)


def undocumented(root: Path, names: list[str]) -> list[str]:
    pages = [root / "README.md", *sorted((root / "docs").rglob("*.md"))]
    words = set(re.findall(r"\w+", "\n".join(page.read_text() for page in pages)))
    return [name for name in names if name not in words]


def main() -> int:
    root = Path(sys.argv[1])
    clang = compiler()
    if clang is None:
        print("skipped: there is no clang++")
        return 0
    now = declared(root, clang)
    listed_in = root / "cmake" / "public_names.txt"
    if "--docs" in sys.argv:
        missing = undocumented(root, now)
        print("\n".join(missing))
        print(f"{len(missing)} of {len(now)} names are on no page")
        return 0
    if "--write" in sys.argv:
        listed_in.write_text("\n".join(now) + "\n")
        print(f"{len(now)} names")
        return 0
    listed = listed_in.read_text().split()
    for name in sorted(set(now) - set(listed)):
        print(f"troupe::{name} is declared by public headers and not in cmake/public_names.txt: does it belong into "
              "troupe::detail?")
    for name in sorted(set(listed) - set(now)):
        print(f"troupe::{name} is in cmake/public_names.txt and no public header declares it")
    print(f"{len(now)} names stand directly in troupe::")
    return 0 if set(now) <= set(listed) and (set(listed) - set(now)) <= {"AsioDispatcher"} else 1


if __name__ == "__main__":
    sys.exit(main())
