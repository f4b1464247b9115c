#!/usr/bin/env python3
"""What `./dev new-family` writes and refuses, and that docs/new-family.md names every file. A family is built by
`./dev new-family --try`."""
import doctest
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import new_family

PAGE = (new_family.ROOT / "docs" / "new-family.md").read_text(encoding="utf-8")


def named_in_page(heading):
    section = PAGE.split(f"## {heading}\n")[1].split("\n## ")[0]
    return re.findall(r"^\| `([^`]+)` \|", section, re.M)


class Names(unittest.TestCase):
    def refusal(self, name):
        with self.assertRaises(new_family.Refused) as refused:
            new_family.check_name(name, new_family.ROOT)
        return str(refused.exception)

    def test_a_new_name_is_good(self):
        new_family.check_name("try_out", new_family.ROOT)

    def test_others_are_refused_with_a_sentence(self):
        self.assertIn("snake_case", self.refusal("TryOut"))
        self.assertIn("snake_case", self.refusal("try__out"))
        self.assertIn("there is a family blas", self.refusal("blas"))
        self.assertIn("has a function fill already", self.refusal("fill"))
        self.assertIn("means something else", self.refusal("union"))
        self.assertIn("at most", self.refusal("a" * 25))
        self.assertIn("defines a ", self.refusal("array_use"))


class Page(unittest.TestCase):
    def test_names_every_new_file(self):
        files = new_family.new_files("NAME", new_family.ROOT).values()
        written = [re.sub(r"^examples/\d\d_", "examples/NN_", path) for path in files]
        self.assertEqual(sorted(named_in_page("The files")), sorted(written))

    def test_names_every_file_that_changes(self):
        self.assertEqual(named_in_page("The files that change"), new_family.TOUCHED)


class Family(unittest.TestCase):
    def test_is_written_whole_and_once(self):
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            for part in ("troupe", "examples", "tools", "cmake"):
                shutil.copytree(new_family.ROOT / part, root / part)
            make = [sys.executable, root / "tools" / "new_family.py", "try_out"]
            subprocess.run(make, check=True, stdout=subprocess.DEVNULL)
            again = subprocess.run(make, check=False, capture_output=True, text=True)
            self.assertIn("there is a family try_out", again.stderr)
            for path in new_family.new_files("try_out", new_family.ROOT).values():
                self.assertNotIn("sketch", (root / path).read_text(encoding="utf-8").lower(), path)
            device = (root / "troupe/device/device.hpp").read_text(encoding="utf-8")
            self.assertIn("class TryOut;\n", device)
            self.assertIn("  TryOut try_out() const;\n", device)


def load_tests(loader, tests, pattern):
    del loader, pattern
    tests.addTests(doctest.DocTestSuite(new_family))
    return tests


if __name__ == "__main__":
    unittest.main()
