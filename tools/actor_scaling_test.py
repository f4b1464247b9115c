#!/usr/bin/env python3
"""The picture of how actors scale, from a small file of figures and, where it is, from the one that is kept."""
import contextlib
import copy
import doctest
import io
import json
import pathlib
import re
import tempfile
import unittest
import xml.etree.ElementTree

import actor_scaling
import plots
import svg


def line(row, threads, ours, caf, asio):
    return {"row": row, "figure": "", "unit": "ns", "threads": threads, "ratio": 1, "ours": {"value": ours},
            "caf": {"value": caf}, "asio": {"value": asio}}


FIGURES = {
    "machine": {"cpu": "A processor", "cores": 4, "date": "2001-02-03"}, "sides": ["Troupe", "CAF 1", "Asio 2"],
    "quick": False,
    "lines": [line(row, threads, 100 / threads, 400, 300) for row, _ in actor_scaling.ROWS for threads in (1, 2, 4)]}


def elements(figures, kind):
    tree = xml.etree.ElementTree.fromstring(actor_scaling.draw(figures, "actors.json"))
    return [element for element in tree.iter() if element.tag.endswith(kind)]


class Picture(unittest.TestCase):
    def test_says_where_when_and_beside_what_it_was_measured(self):
        self.assertIn("A processor, 4 cores, beside CAF 1 and Asio 2; ./dev bench actors, 2001-02-03",
                      [each.text for each in elements(FIGURES, "text")])

    def test_has_a_dot_for_each_side_at_each_number_of_threads(self):
        legend = len(actor_scaling.SIDES)
        self.assertEqual(len(elements(FIGURES, "circle")), legend + 3 * 3 * len(actor_scaling.ROWS))

    def test_leaves_out_a_side_that_was_not_measured(self):
        figures = copy.deepcopy(FIGURES)
        for each in figures["lines"]:
            each["caf"]["value"] = None
        self.assertEqual(len(elements(figures, "circle")), 3 + 2 * 3 * len(actor_scaling.ROWS))

    def test_stays_on_its_sheet(self):
        for each in elements(FIGURES, "text"):
            width = svg.text_width(each.text, float(each.get("font-size")))
            left = float(each.get("x")) - {"start": 0, "middle": width / 2, "end": width}[each.get("text-anchor")]
            self.assertTrue(0 < left and left + width < actor_scaling.WIDTH, each.text)

    def test_is_what_is_kept(self):
        if not plots.ACTORS.is_file():
            self.skipTest("docs/measured/actors.json is not there; `./dev plots --actors FILE` keeps one")
        self.assertEqual(plots.outdated(plots.draw_actors(plots.ACTORS), plots.PICTURES), [])


class Refusals(unittest.TestCase):
    def refused(self, figures, sentence):
        with self.assertRaisesRegex(plots.Mistake, re.escape(sentence)):
            actor_scaling.draw(figures, "actors.json")

    def test_name_what_the_file_lacks(self):
        self.refused([], "has no lines")
        self.refused({**FIGURES, "quick": True}, "is of a quick run")
        self.refused({**FIGURES, "lines": FIGURES["lines"][:-3]}, f'has no row "{actor_scaling.ROWS[-1][0]}"')


class Command(unittest.TestCase):
    def test_keeps_the_figures_it_draws(self):
        with tempfile.TemporaryDirectory() as name, contextlib.redirect_stdout(io.StringIO()):
            folder = pathlib.Path(name)
            given, kept, pictures = folder / "given.json", folder / "actors.json", folder / "pictures"
            given.write_text(json.dumps(FIGURES), encoding="utf-8")
            self.assertEqual(plots.main(["--actors", str(given)], plots.MEASURED, pictures, kept), 0)
            self.assertEqual(kept.read_bytes(), given.read_bytes())
            self.assertEqual(plots.main(["--check"], plots.MEASURED, pictures, kept), 0)


def load_tests(loader, tests, pattern):
    del loader, pattern
    tests.addTests(doctest.DocTestSuite(actor_scaling))
    return tests


if __name__ == "__main__":
    unittest.main()
