#!/usr/bin/env python3
"""Shows Doxygen a header as its readers see it, so that headers need no commands of Doxygen's:

  - the comment at the top, in `//`, describes the file; what is indented in a comment is code;
  - a comment behind a field or an enumerator, or `//` above it, describes it;
  - an overload without a comment of its own belongs to the one above it;
  - each public name has its example, from the programs in examples/, most of them in examples/reference/
    (`// example: Name, Name` to `// end`);
  - what stands in `detail`, and what only the compiler calls, is left out; inline namespaces are;
  - but what a class has from a base in `detail` is its own.

  reference_filter.py FILE"""
import re
import sys
import textwrap
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# What a user cannot call, or what every type has.
LEFT_OUT = re.compile(r"^\s+friend class \w+;|^(?:inline )?Task<\w+> detail::.*|^  return Task<\w+>\(Task<.*")
FIELD = re.compile(r"^(\s+[^/\s#][^/]*?[;,]|\s+\w+)\s+// (?!NOLINT)(.*)$")
FUNCTION = re.compile(r"^  (?:\[\[.*?\]\] )?(?:static |explicit |constexpr |virtual |friend )*"
                      r"[\w:<>,&* \[\]]*?[ &*](\w+)\((?!\*)")
DECLARED = re.compile(r"^(?:class (?:\[\[.*\]\] )?|struct |enum class |concept |using |"
                      r"inline constexpr [^(=]*\b)(\w+)\b")
CALLABLE = re.compile(r"^[\w:](?:[^=;(]|\(auto\))*?\b(\w+)\((?!auto\))")


def examples(folder: Path = ROOT / "examples") -> dict[str, list[tuple[str, str]]]:
    """{name: [(file, code), ...]} of the programs that show public names."""
    found: dict[str, list[tuple[str, str]]] = {}
    for file in sorted(folder.glob("reference/*.cpp")) + sorted(folder.glob("*.cpp")):
        names: list[str] = []
        lines: list[str] = []
        for number, line in enumerate(file.read_text().splitlines(), 1):
            if begin := re.match(r"\s*// example: (.+)$", line):
                if names:
                    raise SystemExit(f"{file}:{number}: an example begins inside of another")
                names, lines = re.split(r",\s*", begin[1].strip()), []
            elif line.strip() == "// end" and names:
                code = textwrap.dedent("\n".join(lines)).strip("\n")
                for name in names:
                    found.setdefault(name, []).append((str(file.relative_to(folder.parent)), code))
                names = []
            elif names:
                lines.append(line)
        if names:
            raise SystemExit(f"{file}: the example of {', '.join(names)} has no `// end`")
    return found


def blank_out(text: str, namespace: str) -> str:
    """Without what stands in that namespace; the lines stay."""
    forward = rf"^namespace {namespace} \{{\n(?:(?:struct|class) \w+;\n)+\}}$"
    whole = rf"^namespace (?:troupe::)?{namespace} \{{$.*?^\}}  // namespace [^\n]*$"
    for pattern in (forward, whole):
        text = re.sub(pattern, lambda block: "\n" * block[0].count("\n"), text, flags=re.M | re.S)
    return text


def inherited(base: str, folder: Path = ROOT / "troupe") -> str:
    """The public members of a class in `detail`, but for what makes and unmakes it, and what its heirs implement."""
    opening = rf"^class (?:\[\[[^\n]*\]\] )?{base}(?: : [^\n]*)? \{{\n public:\n"
    declared = re.compile(opening + r"(.*?)^ (?:private|protected):", re.M | re.S)
    special = re.compile(rf"^  (?:explicit )?(?:~?{base}\(|{base}& operator=|using |virtual )")
    for file in sorted(folder.rglob("*.hpp")):
        if found := declared.search(file.read_text()):
            out: list[str] = []
            for line in found[1].splitlines():
                if not special.match(line):
                    out.append(line + "\n")
                    continue
                while out and out[-1].startswith("  ///"):
                    out.pop()
            return "".join(out)
    return ""


def with_inherited(text: str) -> str:
    """What a class has from bases in `detail`, as members of its own."""
    def own(found: re.Match[str]) -> str:
        return found[0] + "".join(inherited(base) for base in re.findall(r"public detail::(\w+)", found[1]))
    return re.sub(r"^class \w+(?: final)? : ((?:public detail::[\w<>]+(?:, )?)+) \{\n public:\n", own, text, flags=re.M)


def as_markdown(lines: list[str]) -> list[str]:
    """Comment lines without their slashes; what is indented becomes a block of code."""
    out: list[str] = []
    inside = False
    for line in lines:
        is_code = line.startswith("   ") or (inside and not line.strip())
        if is_code != inside:
            out.append("@code{.cpp}" if is_code else "@endcode")
            inside = is_code
        out.append(line[3:] if is_code else line.strip())
    if inside:
        out.append("@endcode")
    return [f"/// {line}".rstrip() for line in out]


def with_fields(lines: list[str]) -> list[str]:
    """Comments in `//` behind fields and above members become descriptions."""
    out: list[str] = []
    for number, line in enumerate(lines):
        if re.match(r"^  // (?!NOLINT|-)", line):
            end = number
            while end < len(lines) and re.match(r"^  // ", lines[end]):
                end += 1
            if end < len(lines) and re.match(r"^  [\w\[]", lines[end]):
                line = line.replace("  // ", "  /// ", 1)
        elif field := FIELD.match(line):
            line = f"{field[1]}  ///< {field[2]}"
        out.append(line)
    return out


def with_overloads(lines: list[str]) -> list[str]:
    """A function that stands below another of its name and has no comment belongs to that one's."""
    out: list[str] = []
    last = ""
    for number, line in enumerate(lines):
        name = FUNCTION.match(line)
        if name and not line.startswith("  return"):
            begin = number
            while begin > 0 and re.match(r"  (template <|  requires|\[\[)", lines[begin - 1]):
                begin -= 1
            has_comment = begin > 0 and lines[begin - 1].lstrip().startswith("//")
            if not has_comment and name[1] == last:
                out.insert(len(out) - (number - begin), "  /// @overload")
            last = name[1]
        out.append(line)
    return out


def with_examples(lines: list[str], shown: dict[str, list[tuple[str, str]]]) -> list[str]:
    out: list[str] = []
    done: set[str] = set()
    for number, line in enumerate(lines):
        declared = DECLARED.match(line) or CALLABLE.match(line)
        name = declared[1] if declared and not re.match(r"(class|struct|enum class) \w+;", line) else ""
        end = number
        while end > 0 and re.match(r"template <|  requires|#pragma", lines[end - 1]):
            end -= 1
        if name in shown and name not in done and end > 0 and lines[end - 1].startswith("///"):
            done.add(name)
            at = len(out) - (number - end)
            for file, code in shown[name]:
                block = ["///", f"/// @par Example ({file})", "/// @code{.cpp}"]
                block += [f"/// {code_line}".rstrip() for code_line in code.splitlines()] + ["/// @endcode"]
                out[at:at] = block
                at += len(block)
        out.append(line)
    return out


def comments_as_markdown(lines: list[str]) -> list[str]:
    out: list[str] = []
    block: list[str] = []
    for line in lines + [""]:
        if line.startswith("///") and not line.startswith("///<"):
            block.append(line[3:])
            continue
        if block:
            out += as_markdown(block)
            block = []
        out.append(line)
    return out[:-1]


def header(text: str, path: str) -> str:
    lines = text.splitlines()
    top = 0
    while top < len(lines) and lines[top].startswith("//"):
        top += 1
    opening = [f"/// @file {path}"] + as_markdown([line[2:] for line in lines[:top]])
    rest = "\n".join(lines[top:])
    rest = re.sub(r"\binline v0\b", "v0", rest).replace("troupe::v0", "troupe")
    rest = re.sub(r"^#pragma GCC .*$", "", rest, flags=re.M)
    for namespace in ("detail", "float_bits", "op"):
        rest = blank_out(rest, namespace)
    rest = with_inherited(rest)
    rest = "\n".join("" if LEFT_OUT.match(line) else line for line in rest.splitlines())
    body = with_examples(comments_as_markdown(with_overloads(with_fields(rest.splitlines()))), examples())
    return "\n".join(opening + body) + "\n"


def page(text: str) -> str:
    """The list of all names: each leads to its description."""
    return re.sub(r"^\| `(\w+)` \| (class|struct|enum|type|concept|function|constant) \|",
                  lambda row: f"| @ref troupe::{row[1]} \"{row[1]}\" | {row[2]} |", text, flags=re.M)


def main() -> None:
    file = Path(sys.argv[1])
    text = file.read_text()
    sys.stdout.write(page(text) if file.suffix == ".md" else header(text, str(file.resolve().relative_to(ROOT))))


if __name__ == "__main__":
    main()
