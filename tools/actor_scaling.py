"""Draws how actors scale from what `./dev bench actors --json FILE` wrote: `./dev plots --actors FILE`.

    docs/pictures/actor_scaling.svg   messages and actors per second over the threads of the pool: ours, CAF's, Asio's

The figures that are drawn are kept in docs/measured/actors.json.
"""
import math

import svg
from figures import INK, LINE, OTHER, OURS, SOFT, THIRD, WIDTH, Mistake, is_positive, round_step

COLUMNS, PANEL = 3, 190
SIDES = [("ours", "Troupe", OURS), ("caf", "CAF", THIRD), ("asio", "Asio", OTHER)]

# What is drawn: the row of the benchmark, which is in nanoseconds, and what the picture calls it.
ROWS = [
    ("big: 120, all to all", "all to all, 120 actors"),
    ("all pairs of 64 workers", "all pairs, with work"),
    ("many to one: 32 producers", "many to one"),
    ("counting: one to one", "one to one"),
    ("fork-join messages, by a thread", "sent by a plain thread"),
    ("fork-join creation, by a thread", "actors made by a plain thread"),
]


def lines_of(content, name):
    """The lines of one run; a Mistake when it is not to be drawn."""
    if not isinstance(content, dict) or not isinstance(content.get("lines"), list):
        raise Mistake(f"{name} is not what `./dev bench actors --json` writes: it has no lines")
    if content.get("quick"):
        raise Mistake(f"{name} is of a quick run, which is not to be quoted; run `./dev bench actors` without --quick")
    return content["lines"]


def points(lines, row, side):
    """[(threads, millions per second)] of one side, by threads.

    >>> points([{"row": "a", "threads": 2, "caf": {"value": 500}}, {"row": "a", "threads": 1, "caf": {"value": 250}},
    ...         {"row": "a", "threads": 4, "caf": {"value": None}}, {"row": "b", "threads": 1, "caf": {"value": 1}}],
    ...        "a", "caf")
    [(1, 4.0), (2, 2.0)]
    """
    return sorted((line["threads"], 1000 / line[side]["value"]) for line in lines
                  if line["row"] == row and is_positive(line[side]["value"]))


def draw_panel(picture, left, top, title, curves, threads):
    """One row: its curves, each [(threads, millions per second)] with its colour."""
    right, bottom = left + (WIDTH - 56) / COLUMNS - 40, top + PANEL - 62
    end = round_step(max(rate for curve, _ in curves for _, rate in curve))

    def x_of(count):
        return left + (right - left) * (threads.index(count) + 0.5) / len(threads)

    def y_of(rate):
        return bottom - (bottom - top) * rate / end

    picture.text(left - 22, top - 14, title, 13, INK, weight="600")
    for part in (0, 0.5, 1):
        picture.line(left, y_of(part * end), right, y_of(part * end), LINE)
        picture.text(left - 6, y_of(part * end) + 4, f"{part * end:g}", 11, SOFT, anchor="end")
    for count in threads:
        picture.text(x_of(count), bottom + 16, str(count), 11, SOFT, anchor="middle")
    for curve, colour in curves:
        for (from_count, from_rate), (to_count, to_rate) in zip(curve, curve[1:]):
            picture.line(x_of(from_count), y_of(from_rate), x_of(to_count), y_of(to_rate), colour, 2)
        for count, rate in curve:
            picture.dot(x_of(count), y_of(rate), 2.5, colour, colour)


def draw(content, name):
    """The picture as text."""
    lines = lines_of(content, name)
    threads = sorted({line["threads"] for line in lines if line["row"] == ROWS[0][0]})
    panels = []
    for row, title in ROWS:
        curves = [(points(lines, row, side), colour) for side, _, colour in SIDES]
        curves = [(curve, colour) for curve, colour in curves if curve]
        if not curves or curves[0][1] != OURS:
            raise Mistake(f'{name} has no row "{row}"; run `./dev bench actors` without --only')
        panels.append((title, curves))
    top = 128
    bottom = top + PANEL * math.ceil(len(panels) / COLUMNS) - 40
    picture = svg.Picture(WIDTH, bottom + 44, "How actors scale with threads, beside CAF and Asio")
    picture.text(28, 40, "How actors scale, beside CAF and Asio", 19, INK, weight="600")
    picture.text(28, 62, "Millions of messages (in the last, of actors) per second, over the threads of the pool: "
                 "medians.", 13, SOFT)
    for number, (_, called, colour) in enumerate(SIDES):
        picture.dot(34 + 84 * number, 83, 4, colour, colour)
        picture.text(44 + 84 * number, 87, called, 12, INK)
    for number, (title, curves) in enumerate(panels):
        left = 56 + (number % COLUMNS) * (WIDTH - 56) / COLUMNS
        draw_panel(picture, left, top + number // COLUMNS * PANEL, title, curves, threads)
    machine = content.get("machine", {})
    picture.text(28, bottom + 22, f"{machine.get('cpu')}, {machine.get('cores')} cores, beside "
                 f"{' and '.join(filter(None, content.get('sides', [])[1:]))}; ./dev bench actors, "
                 f"{machine.get('date')}", 11, SOFT)
    return picture.to_string()
