#!/usr/bin/env python3
"""How the table of capabilities is put together from what suites have recorded."""
import doctest
import pathlib
import tempfile
import unittest

import capabilities


class Records(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = pathlib.Path(self.folder.name)

    def test_a_folder_of_records_is_summed(self):
        (self.path / "a.txt").write_text("host\tblas\tdot\tf32\t3\n", encoding="utf-8")
        (self.path / "b.txt").write_text("host\tblas\tdot\tf32\t4\nhost\tblas\tdot\tf64\t1\n", encoding="utf-8")
        records = capabilities.read_records([self.path])
        self.assertEqual(records, {("blas", "dot", "f32", "host"): 7, ("blas", "dot", "f64", "host"): 1})

    def test_backends_without_records_keep_their_entries(self):
        document = self.path / "table.md"
        entries = {("blas", "dot", "f32", "cuda"), ("blas", "dot", "f32", "host")}
        cases = {("blas", "dot", "cuda"): 5, ("blas", "dot", "host"): 2}
        document.write_text(capabilities.render(entries, cases), encoding="utf-8")
        entries, cases = capabilities.merge(document, {("blas", "dot", "f32", "host"): 9})
        self.assertIn(("blas", "dot", "f32", "cuda"), entries)
        self.assertEqual(cases, {("blas", "dot", "cuda"): 5, ("blas", "dot", "host"): 9})


def load_tests(loader, tests, pattern):
    del loader, pattern
    tests.addTests(doctest.DocTestSuite(capabilities))
    return tests


if __name__ == "__main__":
    unittest.main()
