#!/usr/bin/env python3
"""The comparison with PyTorch, without PyTorch: joining, statistics, the order of the table, and the picture."""
import contextlib
import doctest
import io
import json
import pathlib
import tempfile
import unittest
import xml.etree.ElementTree

import plots
import svg
import torch_heat
import torch_matrix
import torch_ops


def row(name, size=1024, kind="unary", size_is="bytes"):
    return {"id": f"{name}/f32/contiguous/{size}", "kind": kind, "op": name, "dtype": "f32", "layout": "contiguous",
            "size": size, "size_is": size_is, "shape": [16, 16], "bytes": 2 * size, "inputs": [], "output": {},
            "axes": [], "text": ""}


def lines(**ratios):
    rows = [row(name) for name in ratios]
    ours = [{"id": each["id"], "ns": 1000 * ratio, "rounds": 3} for each, ratio in zip(rows, ratios.values())]
    return torch_matrix.join(rows, ours, [{"id": each["id"], "ns": 1000, "rounds": 3} for each in rows])


CONTENT = {"machine": {"cpu": "A processor", "cores": 2, "date": "2001-02-03"}, "device": "host", "quick": False,
           "torch": {"version": "1.2", "threads": 2, "gpu": None}, "max_bytes": 1 << 28}


def content(rows=None):
    return {**CONTENT, "rows": rows or lines(exp=2, log=0.5)}


class Joining(unittest.TestCase):
    def test_goes_by_id_and_not_by_place(self):
        rows = [row("a"), row("b")]
        ours = [{"id": each["id"], "ns": ns} for each, ns in zip(reversed(rows), (10, 20))]
        torch = [{"id": each["id"], "ns": ns} for each, ns in zip(rows, (5, 20))]
        self.assertEqual([line["ratio"] for line in torch_matrix.join(rows, ours, torch)], [4, 0.5])

    def test_keeps_a_row_that_one_side_lacks_and_why(self):
        rows = [row("a"), row("b")]
        joined = torch_matrix.join(rows, [{"id": rows[0]["id"], "why": "no memory"}],
                                   [{"id": rows[0]["id"], "ns": 5}])
        self.assertEqual([line["ratio"] for line in joined], [None, None])
        self.assertIn("not compared: a/f32/contiguous/1024: ours: no memory", torch_matrix.table(joined))
        self.assertIn("No row was measured on both sides", torch_matrix.table(joined))


class Statistics(unittest.TestCase):
    def test_count_what_is_lost_and_name_the_worst(self):
        figures = torch_matrix.summary(lines(a=2, b=0.5, c=1.2, d=1.05))
        self.assertEqual((figures["rows"], figures["lost"], figures["badly_lost"]), (4, 2, 1))
        self.assertEqual(figures["worst"], "a/f32/contiguous/1024")

    def test_have_the_geometric_mean(self):
        self.assertAlmostEqual(torch_matrix.summary(lines(a=4, b=0.25))["mean"], 1)


class Table(unittest.TestCase):
    def test_has_the_worst_first_and_the_others_as_they_come(self):
        lost, others = torch_matrix.in_order(lines(a=0.9, b=1.2, c=0.1, d=3, e=1.1))
        self.assertEqual([line["op"] for line in lost], ["d", "b"])
        self.assertEqual([line["op"] for line in others], ["a", "c", "e"])

    def test_shows_both_times_the_ratio_and_our_rate(self):
        self.assertIn("1.50 us    1.00 us    1.50      1.37", torch_matrix.table(lines(a=1.5)))


class Measuring(unittest.TestCase):
    def test_takes_as_many_ops_as_fill_a_round(self):
        counts = []
        figures = torch_ops.measure(lambda count: counts.append(count) or 1e4 * count, torch_ops.Effort(quick=True))
        self.assertEqual((figures["ns"], figures["rounds"]), (1e4, 3))
        self.assertEqual(counts[-1], 256)

    def test_takes_few_rounds_of_what_takes_long(self):
        figures = torch_ops.measure(lambda count: 1e9 * count, torch_ops.Effort(quick=False))
        self.assertEqual(figures["rounds"], torch_ops.ROUNDS_OF_LONG)

    def test_asks_the_sides_in_turns_and_keeps_the_better_one(self):
        asked = []

        class Side:
            def __init__(self, name, times):
                self.name, self.times = name, iter(times)

            def measure(self, _):
                asked.append(self.name)
                return {"ns": next(self.times)}

        compared = torch_matrix.compare([row("a")], Side("ours", [3, 2]), Side("torch", [4, 5]), 2, print)
        self.assertEqual(asked, ["ours", "torch", "torch", "ours"])
        self.assertEqual(compared[0]["ratio"], 0.5)


class Picture(unittest.TestCase):
    def texts(self, drawn):
        return [each for each in xml.etree.ElementTree.fromstring(drawn).iter() if each.tag.endswith("text")]

    def test_has_a_number_for_each_row_and_says_where_it_was_measured(self):
        words = [each.text for each in self.texts(torch_heat.draw(content()))]
        self.assertTrue({"exp f32", "2.00", "0.50"} <= set(words))
        self.assertIn("A processor, 2 cores, 2 threads, beside PyTorch 1.2; ./dev bench --torch, 2001-02-03", words)

    def test_stays_on_its_sheet(self):
        rows = [row("gemm", 1 << n, "gemm", "extent") for n in range(3, 14)] + [row("exp", 1 << n)
                                                                              for n in (10, 16, 20, 24, 28, 30)]
        figures = [{"id": each["id"], "ns": 10} for each in rows]
        for each in self.texts(torch_heat.draw(content(torch_matrix.join(rows, figures, figures)))):
            width = svg.text_width(each.text, float(each.get("font-size")))
            left = float(each.get("x")) - {"start": 0, "middle": width / 2, "end": width}[each.get("text-anchor")]
            self.assertTrue(0 < left and left + width < torch_heat.WIDTH, each.text)

    def test_refuses_what_is_something_else(self):
        for wrong in ([], {"rows": []}, {**CONTENT, "rows": []}):
            with self.assertRaises(plots.Mistake):
                torch_heat.draw(wrong)

    def test_is_kept_with_its_figures_and_not_of_a_quick_run(self):
        with tempfile.TemporaryDirectory() as name, contextlib.redirect_stdout(io.StringIO()):
            folder = pathlib.Path(name)
            given, actors = folder / "given.json", folder / "measured" / "actors.json"
            given.write_text(torch_matrix.to_json(content()), encoding="utf-8")
            plots.main(["--torch", str(given)], plots.MEASURED, folder / "pictures", actors)
            self.assertEqual((folder / "measured" / "torch_host.json").read_bytes(), given.read_bytes())
            self.assertEqual(plots.main(["--check"], plots.MEASURED, folder / "pictures", actors), 0)
            given.write_text(json.dumps({**content(), "quick": True}), encoding="utf-8")
            with self.assertRaisesRegex(plots.Mistake, "is of a quick run"):
                plots.main(["--torch", str(given)], plots.MEASURED, folder / "pictures", actors)


def load_tests(loader, tests, pattern):
    del loader, pattern
    for module in (torch_heat, torch_matrix, torch_ops):
        tests.addTests(doctest.DocTestSuite(module))
    return tests


if __name__ == "__main__":
    unittest.main()
