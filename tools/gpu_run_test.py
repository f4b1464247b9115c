#!/usr/bin/env python3
"""What `./dev gpu` chooses to run, tested without a GPU."""
import doctest
import pathlib
import unittest

import gpu_run

BUILD = pathlib.Path("build/gpu")


def command_of(part):
    return " ".join(part.command)


class Selection(unittest.TestCase):
    def test_all_parts_have_a_stage_and_a_line_of_help(self):
        staged = [part for stage in gpu_run.STAGES for part in stage]
        self.assertEqual(sorted(staged), sorted(gpu_run.PARTS))
        self.assertEqual(sorted(gpu_run.all_parts(BUILD)), sorted(gpu_run.PARTS))

    def test_no_part_takes_longer_than_nine_minutes(self):
        for name, parts in gpu_run.all_parts(BUILD).items():
            for part in parts:  # side by side
                self.assertLessEqual(part.limit_s, gpu_run.PART_LIMIT_S, name)

    def test_the_names_of_parts_and_families_differ(self):
        self.assertFalse(set(gpu_run.families()) & set(gpu_run.PARTS))

    def test_every_family_that_is_there_can_be_chosen(self):
        self.assertIn("blas", gpu_run.families())
        for family in gpu_run.families():
            parts, chosen = gpu_run.select([family], gpu_run.families())
            self.assertEqual((parts, chosen), (gpu_run.PARTS_OF_FAMILIES, [family]))

    def test_a_family_restricts_conformance_memcheck_and_bench(self):
        parts = gpu_run.all_parts(BUILD, ["sparse"])
        self.assertEqual(len(parts["conformance"]), gpu_run.SHARDS)
        for part in parts["conformance"]:
            self.assertIn("--gtest_filter=Sparse*/Gpu_*", command_of(part))
        for part in parts["memcheck"]:
            self.assertIn("--gtest_filter=Sparse*/Gpu_f32.*:Sparse*/Gpu_c64.*", command_of(part))
        self.assertEqual(parts["bench"][0].command[-2:], ["--only", "^Sp(MV|MM|SV)"])

    def test_without_a_family_everything_runs(self):
        parts = gpu_run.all_parts(BUILD)
        self.assertIn("--gtest_filter=*/Gpu_*", command_of(parts["conformance"][0]))
        self.assertNotIn("--only", parts["bench"][0].command)

    def test_records_of_some_families_are_not_those_of_all(self):
        some = gpu_run.all_parts(BUILD, ["blas"])["conformance"][0].environment["TROUPE_CAPABILITIES"]
        whole = [part.environment["TROUPE_CAPABILITIES"] for part in gpu_run.all_parts(BUILD)["conformance"]]
        self.assertNotIn(some, whole)
        self.assertEqual(len(set(whole)), gpu_run.SHARDS)

    def test_words_that_mean_nothing_are_refused_with_a_sentence(self):
        self.assertIn("there is no part or family fish", gpu_run.select(["fish"], ["blas"]))
        self.assertIn("chaos cannot be run for some families", gpu_run.select(["chaos", "blas"], ["blas"]))


def load_tests(loader, tests, pattern):
    del loader, pattern
    tests.addTests(doctest.DocTestSuite(gpu_run))
    return tests


if __name__ == "__main__":
    unittest.main()
