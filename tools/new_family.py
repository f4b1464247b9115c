#!/usr/bin/env python3
"""Writes the skeleton of a new family of ops: `./dev new-family NAME`. docs/new-family.md says what the files are for.

    new_family.py NAME     writes the files and changes the few that must know the family
    new_family.py --try    does it in a copy of the repository, in build/new_family, builds the copy and runs its tests

NAME is in snake_case, such as fft or random_numbers. The family has one op, y = alpha x + beta, on the CPU and on a
GPU. The text of the files is in tools/new_family/, where the family is called `sketch`.
"""
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
TEMPLATES = ROOT / "tools" / "new_family"
MAX_NAME = 24
MAX_LANES = 16  # wire::kMaxLanes; families behind those share one
# The files that exist and must know a family.
TOUCHED = ["troupe/op/families.hpp", "troupe/device/device.hpp", "troupe/troupe.hpp", "cmake/public_headers.txt"]
KEYWORDS = """alignas alignof and asm auto bool break case catch char class concept const continue default delete do
double else enum explicit export extern false float for friend goto if inline int long mutable namespace new noexcept
not nullptr operator or private protected public register requires return short signed sizeof static struct switch
template this throw true try typedef typeid typename union unsigned using virtual void volatile while xor""".split()


class Refused(Exception):
    """A sentence for the user."""


def pascal(name):
    """
    >>> pascal("random_numbers")
    'RandomNumbers'
    """
    return "".join(word.capitalize() for word in name.split("_"))


def families(root):
    listed = (root / "troupe/op/families.hpp").read_text(encoding="utf-8")
    return re.findall(r"^  FAMILY\((\w+), \d+\)", listed, re.M)


def check_name(name, root):
    """Raises Refused with the reason when there cannot be a family of that name."""
    if not re.fullmatch(r"[a-z][a-z0-9]*(_[a-z0-9]+)*", name):
        raise Refused(f"a family is named in snake_case, such as fft or random_numbers; this is '{name}'")
    if len(name) > MAX_NAME:
        raise Refused(f"the name of a family has at most {MAX_NAME} letters; {name} has {len(name)}")
    if name in families(root):
        raise Refused(f"there is a family {name}; the families are {', '.join(families(root))}")
    if name in KEYWORDS or name == "sketch":
        raise Refused(f"{name} means something else already; take another name")
    device = (root / "troupe/device/device.hpp").read_text(encoding="utf-8")
    if re.search(rf"\b{name}\(", device):
        raise Refused(f"troupe/device/device.hpp has a function {name} already; take another name")
    defined = re.compile(rf"^(?:class|struct|enum class|using|concept) {pascal(name)}(?:Scale|Ops|Kernel)?\b", re.M)
    for header in sorted((root / "troupe").rglob("*.hpp")):
        if "class Device " in (text := header.read_text(encoding="utf-8")):
            text = re.sub(r"^class \w+;$", "", text, flags=re.M)
        if defined.search(text):
            raise Refused(f"{header.relative_to(root)} defines a {pascal(name)} already; take another name")
    for path in new_files(name, root).values():
        if (root / path).exists():
            raise Refused(f"{path} is there already; take another name, or remove it")


def next_example(root):
    numbers = [int(path.name[:2]) for path in (root / "examples").glob("[0-9][0-9]_*.cpp")]
    return max(numbers, default=0) + 1


def new_files(name, root):
    """{file in tools/new_family: file of the new family}, relative to their folders."""
    files = {}
    for template in sorted(path for path in TEMPLATES.rglob("*") if path.is_file()):
        relative = template.relative_to(TEMPLATES).as_posix()
        path = relative.replace("sketch", name)
        if path.startswith("examples/"):
            path = f"examples/{next_example(root):02}_{name}.cpp"
        files[relative] = path
    return files


def filled(text, name, number):
    text = text.replace("kSketchFamily{0}", f"k{pascal(name)}Family{{{number}}}")
    return text.replace("sketch", name).replace("Sketch", pascal(name))


def inserted(text, line, like):
    """`text` with `line` among the lines that match `like`, in their order; at their end when they have none."""
    lines = text.splitlines(keepends=True)
    places = [i for i, other in enumerate(lines) if re.match(like, other)]
    if not places:
        raise Refused(f"no line is like {like}; where does {line.strip()} go?")
    at = next((i for i in places if lines[i] > line), places[-1] + 1)
    return "".join(lines[:at] + [line] + lines[at:])


def edit(path, change):
    path.write_text(change(path.read_text(encoding="utf-8")), encoding="utf-8")


def touch_files(name, root, number):
    header = f"troupe/library/{name}/{name}.hpp"
    lane = min(number, MAX_LANES - 1)
    edit(root / "troupe/op/families.hpp",
         lambda text: re.sub(r"^(  FAMILY\(\w+, \d+\))$", rf"\1 \\\n  FAMILY({name}, {lane})", text, flags=re.M))
    edit(root / "troupe/troupe.hpp",
         lambda text: inserted(text, f'#include "{header}"\n', r'#include "troupe/library/'))
    accessor = f"  /// One op to begin with ({header}).\n  {pascal(name)} {name}() const;\n"

    def add_accessor(text):
        text = inserted(text, f"class {pascal(name)};\n", r"class (?!DeviceState)\w+;$")
        before = re.search(r"^  /// Kernels of one's own \(", text, re.M)
        if not before:
            raise Refused("troupe/device/device.hpp has no accessor jit(), before which a new one goes")
        return text[:before.start()] + accessor + text[before.start():]

    edit(root / "troupe/device/device.hpp", add_accessor)
    subprocess.run([sys.executable, root / "tools/public_headers.py", root, "--write"], check=True,
                   stdout=subprocess.DEVNULL)


def formatted(paths):
    """How lines break depends on how long the name is. False when nothing can format them."""
    formatter = shutil.which("clang-format-19")
    if formatter:
        subprocess.run([formatter, "-i", *(path for path in paths if path.suffix in (".hpp", ".cpp"))], check=True)
    return formatter is not None


def make(name, root):
    """Writes the family; the files that are new."""
    check_name(name, root)
    number = len(families(root))
    files = new_files(name, root)
    for template, path in files.items():
        target = root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(filled((TEMPLATES / template).read_text(encoding="utf-8"), name, number), encoding="utf-8")
    touch_files(name, root, number)
    is_formatted = formatted([root / path for path in [*files.values(), "troupe/op/families.hpp"]])
    print("new:\n  " + "\n  ".join(files.values()))
    print("changed:\n  " + "\n  ".join(TOUCHED))
    print("next:")
    if not is_formatted:
        print("  ./dev format          lines may be too long or too short for this name")
    print(f"  ./dev test            builds it and runs every test\n"
          f"  ./dev capabilities    writes what it can do into docs/capabilities.md\n"
          f"  python3 tools/public_names.py . --write    writes its names into docs/reference.md\n"
          f"  ./dev gpu {name:<12}on a machine with a GPU\n"
          "  docs/new-family.md says what to change then, and in which order")
    return list(files.values())


def main(arguments):
    if arguments in (["--help"], ["-h"]):
        print("usage: ./dev new-family NAME\n       ./dev new-family --try\n")
        print(__doc__)
        return 0
    if arguments == ["--try"]:
        import new_family_try  # pylint: disable=import-outside-toplevel
        return new_family_try.main(ROOT)
    if len(arguments) != 1 or arguments[0].startswith("-"):
        print("usage: ./dev new-family NAME, or --try, or --help", file=sys.stderr)
        return 2
    try:
        make(arguments[0], ROOT)
    except Refused as refused:
        print(refused, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
