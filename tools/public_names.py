#!/usr/bin/env python3
"""The names that stand directly in namespace troupe for those who include what users include. The list is checked in,
so that a new one shows in review: what users do not need stands in troupe::detail or is not visible at all. A page of
the documents has all of them, each with its kind and the first sentence of its comment.

  public_names.py ROOT           compares cmake/public_names.txt and docs/reference.md with the headers
  public_names.py ROOT --write   writes both

Needs a clang++ that knows C++23, in $CLANGXX or as clang++-19 or clang++; says "skipped" when there is none."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HEADERS = ["troupe/troupe.hpp", "troupe/actor/testkit.hpp"]
NEEDS_BOOST = "troupe/actor/asio.hpp"
NAMES_WITH_BOOST = {"AsioDispatcher"}
# What a declaration is called in clang's tree. The names of template parameters and of parameters are deeper in it.
KINDS = ("CXXRecordDecl|ClassTemplateDecl|EnumDecl|FunctionDecl|FunctionTemplateDecl|TypedefDecl|TypeAliasDecl|"
         "TypeAliasTemplateDecl|VarDecl|VarTemplateDecl|ConceptDecl|UsingDecl")
NODE = re.compile(r"^((?:[|` ] )*(?:[|`]-)?)(\w+) 0x[0-9a-f]+ (.*)$")
# The same in the text of a header, where what stands in a namespace begins its line.
DECLARED = {
    "class": re.compile(r"class (?:\[\[.*\]\] )?(\w+)\b(?!;)"),
    "struct": re.compile(r"struct (\w+)\b(?!;)"),
    "enum": re.compile(r"enum class (\w+)\b(?!;)"),
    "concept": re.compile(r"concept (\w+) ="),
    "type": re.compile(r"using (\w+) ="),
    "constant": re.compile(r"inline constexpr [^(=]*\b(\w+) ="),
    "function": re.compile(r"[\w:](?:[^=;(]|\(auto\))*?\b(\w+)\((?!auto\))"),
}
HEADINGS = {"actor": "Actors", "device": "Devices", "library": "Libraries of a device", "core": "What they share"}
PAGE_OPENING = """# Reference

Every name that stands directly in `troupe::`, by the header that declares it. What a name promises in full stands above
it in that header. What stands in `troupe::detail` is not for users, and changes without notice.

`./dev docs` makes a reference of them all, with their members and an example each, from the same headers:
`build/reference/html/index.html`. The examples are in [examples/reference](../examples/reference), compiled and run.

`python3 tools/public_names.py . --write` makes this page from the headers; a test compares the two.
"""


def takes_our_language(clang: str) -> bool:
    return subprocess.run([clang, "-std=c++23", "-fsyntax-only", "-x", "c++", "-"], text=True, capture_output=True,
                          input="#include <expected>\nstd::expected<int, int> e;\n").returncode == 0


def compiler() -> str | None:
    names = [os.environ.get("CLANGXX", ""), "clang++-19", "clang++"]
    found = [path for name in names if name and (path := shutil.which(name))]
    return next((clang for clang in found if takes_our_language(clang)), None)


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
    names: set[str] = set() if has_boost else set(NAMES_WITH_BOOST)
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


def first_sentence(comment: str) -> str:
    """
    >>> first_sentence("Where `a.b` is. And more.")
    'Where `a.b` is.'
    """
    return re.split(r"(?<=\.)\s(?=[A-Z`(])", comment, maxsplit=1)[0]


def explained_in(text: str) -> dict[str, tuple[str, str]]:
    """{name: (kind, first sentence of its comment)} of what a header declares directly in the namespace."""
    lines = re.sub(r"^namespace (?:detail|float_bits|op) \{$.*?^\}", lambda block: "\n" * block[0].count("\n"), text,
                   flags=re.M | re.S).splitlines()
    found: dict[str, tuple[str, str]] = {}
    for number, line in enumerate(lines):
        matches = ((kind, like.match(line)) for kind, like in DECLARED.items())
        kind, match = next(((kind, match) for kind, match in matches if match), ("", None))
        if match is None:
            continue
        end = number
        while re.match(r"template <|  requires|#pragma", lines[end - 1]):
            end -= 1
        begin = end
        while lines[begin - 1].startswith("///"):
            begin -= 1
        if begin < end:
            comment = " ".join(line[3:].strip() for line in lines[begin:end])
            found.setdefault(match[1], (kind, first_sentence(comment)))
    return found


def page_of(root: Path, names: list[str]) -> tuple[str, list[str]]:
    """The page, and the names that no comment explains."""
    page, explained = PAGE_OPENING, set()
    headers = (root / "cmake" / "public_headers.txt").read_text().split()
    for folder, heading in HEADINGS.items():
        page += f"\n## {heading}\n"
        for header in (header for header in headers if header.startswith(f"troupe/{folder}/")):
            found = explained_in((root / header).read_text())
            shown = [name for name in names if name in found]
            explained.update(shown)
            if shown:
                page += f"\n### `{header}`\n\n| name | kind | what it is |\n|---|---|---|\n"
            for name in shown:
                kind, sentence = found[name]
                page += f"| `{name}` | {kind} | {sentence} |\n"
    return page, [name for name in names if name not in explained]


def main() -> int:
    root = Path(sys.argv[1])
    clang = compiler()
    if clang is None:
        print("skipped: there is no clang++ that knows C++23")
        return 0
    now = declared(root, clang)
    listed_in, shown_in = root / "cmake" / "public_names.txt", root / "docs" / "reference.md"
    page, unexplained = page_of(root, now)
    for name in unexplained:
        print(f"troupe::{name} has no comment `///` above it that says what it is")
    if "--write" in sys.argv:
        listed_in.write_text("\n".join(now) + "\n")
        shown_in.write_text(page)
        print(f"{len(now)} names")
        return 1 if unexplained else 0
    listed = listed_in.read_text().split()
    for name in sorted(set(now) - set(listed)):
        print(f"troupe::{name} is declared by public headers and not in cmake/public_names.txt: does it belong into "
              "troupe::detail?")
    for name in sorted(set(listed) - set(now)):
        print(f"troupe::{name} is in cmake/public_names.txt and no public header declares it")
    if is_old := not shown_in.exists() or shown_in.read_text() != page:
        print("docs/reference.md is old: python3 tools/public_names.py . --write")
    print(f"{len(now)} names stand directly in troupe::")
    return 1 if unexplained or is_old or now != listed else 0


if __name__ == "__main__":
    sys.exit(main())
