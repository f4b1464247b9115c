#!/usr/bin/env python3
"""docs/options.md: the options of every call, in the order in which C++ wants them named.

  options_page.py ROOT           compares the page with the headers
  options_page.py ROOT --write   writes it"""
import re
import sys
from pathlib import Path

OPENING = """# Options

What calls can be told, in the order of the structs: C++ wants options named in this order, and any of them may be left
out, as in `{.alpha = 2.0f, .compute = Compute::tf32}`. The headers say more.

`python3 tools/options_page.py . --write` makes this page from the headers; a test compares the two.
"""
FIELD = re.compile(r"^  (?!static|using|constexpr|return|friend)([\w:<>, ]+?) (\w+)(?: = (.*?))?;(?:\s*//+<?\s*(.*))?$")


def sentence(text: str) -> str:
    text = " ".join(text.split())
    found = re.match(r"(.*?[.:])(?: |$)", text)
    return (found.group(1) if found else text).rstrip(".:")


def joined(body: str) -> list[str]:
    """Lines, those of one statement as one."""
    lines: list[str] = []
    for line in body.splitlines():
        if lines and not lines[-1].lstrip().startswith("//") and lines[-1].strip() and \
                not re.search(r"[;{}]\s*(//.*)?$", lines[-1]):
            lines[-1] = lines[-1].rstrip() + " " + line.strip()
        else:
            lines.append(line)
    return lines


def fields(body: str) -> list[tuple[str, str, str]]:
    found, comment, depth = [], "", 0
    for line in joined(body):
        code = line.split("//")[0]
        if depth == 0 and line.strip().startswith("///"):
            comment += " " + line.strip()[3:]
        elif depth == 0 and (field := FIELD.match(line)):
            found.append((field[2], field[3] or "", sentence(field[4] or comment)))
            comment = ""
        elif line.strip():
            comment = ""
        depth += code.count("{") - code.count("}")
    return found


def page(root: Path) -> str:
    public = set((root / "cmake/public_names.txt").read_text().split())
    structs = []
    for header in sorted((root / "troupe").rglob("*.hpp")):
        text = header.read_text()
        for found in re.finditer(r"((?:^///[^\n]*\n)*)^struct (\w*Options) \{\n(.*?)^\};", text, re.M | re.S):
            if found[2] in public:
                about = sentence(" ".join(line[3:] for line in found[1].splitlines()))
                structs.append((found[2], about, fields(found[3]), header.relative_to(root)))
    missing = {name for name in public if name.endswith("Options")} - {name for name, *_ in structs}
    if missing:
        sys.exit(f"options_page.py finds no struct in the headers for: {', '.join(sorted(missing))}")
    text = OPENING
    for name, about, options, header in sorted(structs):
        text += f"\n## `{name}`\n\n{about}. [{header.name}](../{header})\n\n"
        text += "| option | unless given | what it is |\n|---|---|---|\n"
        for option, default, what in options:
            default = f"`{default}`" if default and default != "{}" else ""
            text += f"| `{option}` | {default} | {what.replace('|', chr(92) + '|')} |\n"
    return text


def main() -> int:
    root = Path(sys.argv[1])
    document, wanted = root / "docs/options.md", page(root)
    if "--write" in sys.argv:
        document.write_text(wanted)
    elif not document.exists() or document.read_text() != wanted:
        print("docs/options.md is not what the headers say: python3 tools/options_page.py . --write")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
