#!/usr/bin/env python3
"""What the check of the README finds, and what it lets pass."""
import doctest
import pathlib
import tempfile
import unittest

import readme_check

README = """# A thing

```cpp
int main() {}
```

```text
worker 7 was killed
```

Words behind it.
"""
SOURCE = "// A comment.\nint main() {}\n"


def findings(text, sources=(SOURCE,), printed="worker 7 was killed\n"):
    with tempfile.TemporaryDirectory() as folder:
        readme = pathlib.Path(folder) / "README.md"
        readme.write_text(text, encoding="utf-8")
        return list(readme_check.findings(readme, sources, printed))


class Readme(unittest.TestCase):
    def test_passes_when_it_shows_what_runs(self):
        self.assertEqual(findings(README), [])

    def test_may_differ_in_the_number_of_a_process(self):
        self.assertEqual(findings(README, printed="worker 123 was killed\n"), [])

    def test_must_not_differ_in_anything_else_that_is_printed(self):
        self.assertIn("the program prints something else", findings(README, printed="worker 7 was lost\n")[0])
        self.assertEqual(len(findings(README, printed="")), 1)

    def test_must_not_show_code_that_no_example_has(self):
        found = findings(README, sources=("int main() { return 1; }\n",))
        self.assertEqual(len(found), 1)
        self.assertIn("README.md:4: this block stands in no example", found[0])

    def test_needs_the_output(self):
        self.assertIn("it has 0", findings("# A thing\n")[0])


def load_tests(loader, tests, pattern):
    del loader, pattern
    tests.addTests(doctest.DocTestSuite(readme_check))
    return tests


if __name__ == "__main__":
    unittest.main()
