#!/usr/bin/env python3
"""The reference of the public interface, made by Doxygen from the headers that are installed.

  reference.py ROOT OUTPUT            writes OUTPUT/html/index.html
  reference.py ROOT OUTPUT --check    the same, and fails when a public name has no description or no example, a member
                                      no description, an example shows what is no public name, or Doxygen warns

Needs doxygen; says "skipped" when there is none. tools/reference_filter.py says how a header becomes what Doxygen
reads."""
import os
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as xml
from pathlib import Path

import reference_filter

# What every type has, or what its name says whole; then what is public for Troupe itself and for the compiler.
NEEDS_NO_WORDS = re.compile(
    r"~.*|operator.*|begin|end|data|size|empty|rank|dtype|shape|strides|element_count|format|rows|columns|row|column|"
    r"value|index|array|span|path|id|ref|now|kind|error|"
    r"view|block|cell|core|body|ended|await_\w+|value_type|troupe_awaitable|promise_type|Handle|Kept|Awaiter|Actor")
DOXYFILE = """PROJECT_NAME           = Troupe
PROJECT_BRIEF          = "Supervised accelerators for C++ services"
INPUT                  = {inputs}
FILTER_PATTERNS        = *.hpp="{python} {filter}" *.md="{python} {filter}"
USE_MDFILE_AS_MAINPAGE = docs/reference.md
EXTENSION_MAPPING      = h=C++
OUTPUT_DIRECTORY       = {output}
STRIP_FROM_PATH        = {root}
STRIP_FROM_INC_PATH    = {root}
EXCLUDE_SYMBOLS        = *detail* std
FULL_PATH_NAMES        = YES
EXTRACT_ALL            = YES
HIDE_FRIEND_COMPOUNDS  = YES
JAVADOC_AUTOBRIEF      = YES
QT_AUTOBRIEF           = YES
INLINE_SIMPLE_STRUCTS  = YES
SORT_MEMBER_DOCS       = NO
SHOW_NAMESPACES        = NO
DISABLE_INDEX          = NO
GENERATE_TREEVIEW      = YES
MACRO_EXPANSION        = NO
ENABLE_PREPROCESSING   = YES
SEARCH_INCLUDES        = NO
AUTOLINK_SUPPORT       = NO
WARN_IF_UNDOCUMENTED   = NO
GENERATE_LATEX         = NO
GENERATE_XML           = YES
XML_PROGRAMLISTING     = NO
VERBATIM_HEADERS       = NO
SOURCE_BROWSER         = NO
HAVE_DOT               = NO
SEARCHENGINE           = YES
QUIET                  = YES
"""


def words(node: xml.Element) -> str:
    return "".join("".join(part.itertext()) for tag in ("briefdescription", "detaileddescription")
                   for part in node.findall(tag)).strip()


def is_special(name: str, owner: str) -> bool:
    return name in (owner, "~" + owner) or NEEDS_NO_WORDS.fullmatch(name) is not None


def members_without_words(compound: xml.Element, described: dict[str, set[str]]) -> list[str]:
    """Public members of a class that nothing describes: neither the class, nor one that it is derived from."""
    owner = compound.findtext("compoundname", "")
    bases = [base.text for base in compound.findall("basecompoundref")]
    inherited = set().union(*(described.get(f"troupe::{base}", set()) | described.get(base, set()) for base in bases))
    found = []
    for member in compound.iter("memberdef"):
        name = member.findtext("name", "")
        if member.get("prot") != "public" or member.get("kind") == "friend" or is_special(name, owner.split("::")[-1]):
            continue
        if not words(member) and name not in inherited:
            found.append(f"{owner}::{name}")
    return found


def check(root: Path, folder: Path) -> list[str]:
    wanted = set((root / "cmake" / "public_names.txt").read_text().split())
    compounds = [found for file in sorted(folder.glob("*.xml"))
                 if (found := xml.parse(file).getroot().find("compounddef")) is not None]
    members = {compound.findtext("compoundname", ""): {member.findtext("name", "") for member in
                                                       compound.iter("memberdef") if words(member)}
               for compound in compounds}
    described: set[str] = set(members["troupe"])
    faults: list[str] = []
    for compound in compounds:
        name = compound.findtext("compoundname", "").removeprefix("troupe::")
        if compound.get("kind") in ("class", "struct", "concept") and words(compound):
            described.add(name)
        if (compound.get("kind") in ("class", "struct") and name.split("::")[0] in wanted and
                compound.get("prot") == "public"):
            faults += [f"{member} has no description" for member in members_without_words(compound, members)]
    shown = set(reference_filter.examples(root / "examples"))
    faults += [f"troupe::{name} has no description" for name in sorted(wanted - described)]
    faults += [f"troupe::{name} has no example: `// example: {name}` to `// end` in examples/reference/"
               for name in sorted(wanted - shown)]
    faults += [f"examples/ has an example of {name}, which is no public name"
               for name in sorted(shown - wanted)]
    return faults


def main() -> int:
    root, output = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
    doxygen = shutil.which("doxygen")
    if doxygen is None:
        print("skipped: there is no doxygen")
        return 0
    shutil.rmtree(output, ignore_errors=True)
    output.mkdir(parents=True)
    headers = (root / "cmake" / "public_headers.txt").read_text().split()
    text = DOXYFILE.format(inputs=" ".join(headers + ["docs/reference.md"]), python=sys.executable, root=root,
                           filter=root / "tools" / "reference_filter.py", output=output)
    (output / "Doxyfile").write_text(text)
    run = subprocess.run([doxygen, str(output / "Doxyfile")], cwd=root, text=True, stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT, env={**os.environ, "LC_ALL": "C.UTF-8"})
    faults = [line.replace(f"{root}/", "") for line in run.stdout.splitlines() if line.strip()]
    if run.returncode != 0:
        faults.append(f"doxygen ended with {run.returncode}")
    if "--check" in sys.argv:
        faults += check(root, output / "xml")
    for fault in faults:
        print(fault)
    print(output / "html" / "index.html")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
