#!/usr/bin/env python3
"""What the reference's filter makes of a header, and what its check finds missing."""
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import reference_filter

TOOLS = Path(__file__).resolve().parent
HEADER = """// A thing. It is here
// for this test:
//
//   Thing thing;
#pragma once
namespace troupe::inline v0 {
namespace detail {
struct Hidden {};
}  // namespace detail

/// A thing.
struct Thing {
  int size_of_it = 0;  // in elements
  // How it is done.
  int how = 0;
  /// Does it.
  void work(int times);
  void work();
};

}  // namespace troupe::inline v0
"""
EXAMPLE = "int main() {\n  // example: Thing\n  Thing thing;\n  thing.work();\n  // end\n}\n"


class Filter(unittest.TestCase):
    def setUp(self):
        self.read = reference_filter.header(HEADER, "troupe/thing.hpp").splitlines()

    def test_the_opening_describes_the_file_and_has_code(self):
        self.assertEqual(self.read[:7], ["/// @file troupe/thing.hpp", "/// A thing. It is here", "/// for this test:",
                                         "///", "/// @code{.cpp}", "/// Thing thing;", "/// @endcode"])

    def test_comments_behind_and_above_fields_describe_them(self):
        self.assertIn("  int size_of_it = 0;  ///< in elements", self.read)
        self.assertIn("  /// How it is done.", self.read)

    def test_an_overload_belongs_to_the_one_above_it(self):
        self.assertEqual(self.read[self.read.index("  void work();") - 1], "  /// @overload")

    def test_details_are_left_out(self):
        self.assertFalse([line for line in self.read if "Hidden" in line])
        self.assertIn("namespace troupe {", self.read)

    def test_what_a_class_has_from_a_base_in_detail_is_its_own(self):
        read = reference_filter.header("\nclass Scope : public detail::ScopeBase {\n public:\n  int own();\n", "a.hpp")
        self.assertRegex(read, r"(?s) public:\n.*\n  void cancel\(.*\n  int own\(\);")
        self.assertNotIn("operator=", read)
        self.assertNotIn("~ScopeBase", read)


@unittest.skipUnless(shutil.which("doxygen"), "there is no doxygen")
class Check(unittest.TestCase):
    def faults(self, header=HEADER, example=EXAMPLE, names="Thing\n"):
        """What the check says about a repository with one header."""
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            for path, text in {"troupe/thing.hpp": header, "examples/reference/thing.cpp": example,
                               "cmake/public_names.txt": names, "cmake/public_headers.txt": "troupe/thing.hpp\n",
                               "docs/reference.md": "# Reference\n"}.items():
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                (root / path).write_text(text)
            (root / "tools").mkdir()
            for tool in ("reference.py", "reference_filter.py"):
                shutil.copy(TOOLS / tool, root / "tools")
            run = subprocess.run([sys.executable, root / "tools" / "reference.py", root, root / "out", "--check"],
                                 check=False, capture_output=True, text=True)
            self.assertEqual(run.stderr, "")
            said = run.stdout.splitlines()
            self.assertEqual(run.returncode, 1 if len(said) > 1 else 0)
            return said[:-1]

    def test_a_whole_one_is_good(self):
        self.assertEqual(self.faults(), [])

    def test_what_has_no_description_is_named(self):
        self.assertEqual(self.faults(header=HEADER.replace("  /// Does it.\n", "")),
                         ["troupe::Thing::work has no description"])
        self.assertEqual(self.faults(header=HEADER.replace("/// A thing.\n", "")),
                         ["troupe::Thing has no description"])

    def test_what_has_no_example_is_named(self):
        self.assertIn("troupe::Thing has no example", self.faults(example="int main() {}\n")[0])
        self.assertEqual(self.faults(example=EXAMPLE.replace("example: Thing", "example: Thing, Other")),
                         ["examples/ has an example of Other, which is no public name"])

    def test_a_warning_of_doxygen_is_a_fault(self):
        faults = self.faults(header=HEADER.replace("/// Does it.", "/// Does it, see @ref nowhere."))
        self.assertTrue(faults and "nowhere" in faults[0], faults)


if __name__ == "__main__":
    unittest.main()
