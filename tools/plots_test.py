#!/usr/bin/env python3
"""The pictures of the README, from a small file of figures and, where it is, from the one that is kept."""
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

import figures
import plots
import svg
import training_curves


def row(name, unit, ours, *references):
    """A row as bench/report.cpp writes it; references are (name, figure, over)."""
    return {"name": name, "unit": unit, "ours": {"value": ours, "low": ours, "high": ours}, "why": "",
            "references": [{"name": text, "figure": {"value": figure}, "ratio": 1, "over": over}
                           for text, figure, over in references]}


FIGURES = {
    "machine": {"gpu": "A GPU", "cuda": "1.0", "date": "2001-02-03"}, "quick": False,
    "rows": [row(name, "us", 10, ("raw: a way", 8, 2), ("PyTorch's way", 40, -30)) for name, _ in plots.COSTS] + [
        row(plots.HANG_ERROR, "ms", 1), row(plots.HANG_NEXT, "ms", 4),
        row(plots.FAULT_NEXT, "ms", 101, ("the same one: reported", 100, 0.5)),
        row(plots.FAULT_COLD, "ms", 302, ("the same one: reported", 100, 202)),
        row(plots.NEW_PROCESS, "ms", 300, ("PyTorch: imported", 4000, -3700))]}


def without_row(name):
    figures = copy.deepcopy(FIGURES)
    figures["rows"] = [each for each in figures["rows"] if each["name"] != name]
    return figures


def words_of(picture):
    elements = xml.etree.ElementTree.fromstring(picture).iter()
    return [element.text for element in elements if element.tag.endswith("text")]


def drawn(figures):
    return plots.draw(plots.Measured(figures, "gpu.json"))


class Pictures(unittest.TestCase):
    def test_say_each_figure_with_its_unit(self):
        takeover = words_of(drawn(FIGURES)["takeover.svg"])
        for words in ("1.00 ms: its caller has the error", "4.00 ms: next op done", "0.50 ms: next op done",
                      "202 ms: next op done", "4.00 s: first op done"):
            self.assertIn(words, takeover)
        cost = words_of(drawn(FIGURES)["cost_per_op.svg"])
        for words in ("10.0 us Troupe", "8.00 us raw CUDA", "40.0 us PyTorch"):
            self.assertEqual(cost.count(words), len(plots.COSTS))

    def test_say_where_and_when_it_was_measured(self):
        for picture in drawn(FIGURES).values():
            self.assertIn("A GPU, CUDA 1.0, measured by ./dev gpu, 2001-02-03", words_of(picture))

    def test_do_without_pytorch_where_it_was_not_measured(self):
        figures = without_row(plots.NEW_PROCESS)
        for each in figures["rows"]:
            for reference in each["references"]:
                if reference["name"].startswith("PyTorch"):
                    reference["figure"]["value"] = None
        for picture in drawn(figures).values():
            self.assertFalse([words for words in words_of(picture) if "PyTorch" in words])

    def test_stay_on_their_sheet(self):
        for picture in drawn(FIGURES).values():
            for element in xml.etree.ElementTree.fromstring(picture).iter():
                if element.tag.endswith("text"):
                    width = svg.text_width(element.text, float(element.get("font-size")))
                    left = float(element.get("x")) - {"start": 0, "middle": width / 2, "end": width}[
                        element.get("text-anchor")]
                    self.assertTrue(0 < left and left + width < plots.WIDTH, element.text)

    def test_take_the_difference_of_the_medians_from_files_without_over(self):
        figures = copy.deepcopy(FIGURES)
        for each in figures["rows"]:
            for reference in each["references"]:
                del reference["over"]
        self.assertIn("1.00 ms: next op done", words_of(drawn(figures)["takeover.svg"]))


class Training(unittest.TestCase):
    CURVES = {"peace": [0.7, 0.4, 0.2, 0.1], "killed": [0.7, 0.4, 0.2, 0.1], "kills_at_steps": [1, 3]}

    def words(self, **changes):
        return " ".join(words_of(training_curves.draw({**self.CURVES, **changes}, "training.json")))

    def test_says_whether_the_losses_are_the_same(self):
        self.assertIn("2 workers killed, and the losses are the same, number for number", self.words())
        self.assertIn("the losses are not the same", self.words(killed=[0.7, 0.4, 0.2, 0.100001]))

    def test_is_of_two_runs_of_one_length(self):
        for changes, sentence in (({"killed": [0.7]}, "4 losses in peace and 1 of the other"),
                                  ({"peace": None}, "is not what")):
            with self.assertRaisesRegex(figures.Mistake, sentence):
                self.words(**changes)

    def test_has_drawn_what_is_kept(self):
        kept = plots.ACTORS.parent / "training.json"
        self.assertEqual(plots.outdated(plots.draw_training(kept), plots.PICTURES), [])


class Refusals(unittest.TestCase):
    def refused(self, figures, sentence):
        with self.assertRaisesRegex(plots.Mistake, re.escape(sentence)):
            drawn(figures)

    def test_name_what_the_file_lacks(self):
        self.refused([], "has no rows")
        self.refused({**FIGURES, "quick": True}, "is of a quick run")
        self.refused({**FIGURES, "machine": {"gpu": "A GPU"}}, "does not say where it was measured")
        self.refused(without_row("4 KiB in"), 'has no row "4 KiB in"')

    def test_name_a_row_that_was_not_measured(self):
        figures = copy.deepcopy(FIGURES)
        figures["rows"][0]["ours"]["value"] = None
        self.refused(figures, f'"{plots.COSTS[0][0]}" was not measured')

    def test_name_a_file_that_is_not_there(self):
        with self.assertRaisesRegex(plots.Mistake, "there is no .*nowhere.json"):
            plots.load(pathlib.Path("nowhere.json"))


class Command(unittest.TestCase):
    def test_keeps_the_figures_it_draws(self):
        with tempfile.TemporaryDirectory() as name, contextlib.redirect_stdout(io.StringIO()), \
                contextlib.redirect_stderr(io.StringIO()):
            folder = pathlib.Path(name)
            given, kept, pictures = folder / "given.json", folder / "kept" / "gpu.json", folder / "pictures"
            given.write_text(json.dumps(FIGURES), encoding="utf-8")
            places = (kept, pictures, folder / "kept" / "actors.json")
            self.assertEqual(plots.main(["--json", str(given)], *places), 0)
            self.assertEqual(kept.read_bytes(), given.read_bytes())
            self.assertEqual(plots.main(["--check"], *places), 0)
            (pictures / "takeover.svg").write_text("<svg/>", encoding="utf-8")
            self.assertEqual(plots.main(["--check"], *places), 1)

    def test_has_drawn_what_is_kept(self):
        if not plots.MEASURED.is_file():
            self.skipTest("docs/measured/gpu.json is not there; `./dev plots --json FILE` keeps one")
        self.assertEqual(plots.outdated(plots.draw(plots.load(plots.MEASURED)), plots.PICTURES), [])


def load_tests(loader, tests, pattern):
    del loader, pattern
    tests.addTests(doctest.DocTestSuite(plots))
    tests.addTests(doctest.DocTestSuite(figures))
    tests.addTests(doctest.DocTestSuite(svg))
    return tests


if __name__ == "__main__":
    unittest.main()
