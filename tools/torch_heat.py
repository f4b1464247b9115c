"""Draws what `./dev bench --torch --json FILE` wrote as a map: `./dev plots --torch FILE`, or the run's own `--svg`.

    docs/pictures/torch_host.svg, torch_cuda.svg   our time by PyTorch's, for each op, type and layout (down) and size

The figures that are drawn are kept in docs/measured/torch_host.json and torch_cuda.json.
"""
import math

import svg
from figures import INK, OTHER, OURS, SOFT, THIRD, WIDTH, Mistake, is_positive

CELL, LINE_HEIGHT, LABEL = 33, 14, 176
# From here on the colour is full: so many times as fast, or as slow.
FULL = 4

PARTS = {"fill": "memory", "copy": "memory", "cast": "casts", "permute": "permutations", "unary": "functions of one",
         "binary": "functions of two", "ternary": "functions of three", "reduce": "reductions", "gemm": "products",
         "layer": "products", "gemv": "products", "dot": "vectors", "axpy": "vectors", "einsum": "products"}


def colour_of(ratio):
    """White for equal, towards our colour where we are faster, towards the third where we are slower.

    >>> colour_of(1), colour_of(1 / FULL) == OURS, colour_of(100) == THIRD
    ('#ffffff', True, True)
    """
    part = min(abs(math.log(ratio)) / math.log(FULL), 1)
    end = OURS if ratio < 1 else THIRD
    return "#" + "".join(f"{round(255 + (int(end[at:at + 2], 16) - 255) * part):02x}" for at in (1, 3, 5))


def ink_of(ratio):
    return "#ffffff" if max(ratio, 1 / ratio) > 2.5 else INK


def ratio_text(ratio):
    """
    >>> ratio_text(0.123), ratio_text(1.2345), ratio_text(12.345), ratio_text(123)
    ('0.12', '1.23', '12.3', '123')
    """
    return f"{ratio:.{2 if ratio < 9.995 else 1 if ratio < 99.95 else 0}f}"


def size_text(size, unit):
    """
    >>> size_text(1024, "bytes"), size_text(2**28, "bytes"), size_text(512, "extent")
    ('1 KiB', '256 MiB', '512')
    """
    if unit == "extent":
        return str(size)
    exponent = (size.bit_length() - 1) // 10
    return f"{size >> 10 * exponent} {('B', 'KiB', 'MiB', 'GiB')[exponent]}"


def label_of(row):
    """
    >>> label_of({"op": "exp", "dtype": "f32", "layout": "contiguous"})
    'exp f32'
    >>> label_of({"op": "gemm", "dtype": "f32", "layout": "by_16_columns"})
    'gemm f32 by 16 columns'
    """
    layout = "" if row["layout"] == "contiguous" else " " + row["layout"].replace("_", " ")
    return f"{row['op']} {row['dtype']}{layout}"


def parts_of(rows):
    """{(part, unit): {label: {size: ratio}}}, all in the order of the rows."""
    parts = {}
    for row in rows:
        if is_positive(row.get("ratio")):
            part = parts.setdefault((PARTS[row["kind"]], row["size_is"]), {})
            part.setdefault(label_of(row), {})[row["size"]] = row["ratio"]
    return parts


class Block:
    """A part of the map: its title, its sizes, and a line for each group."""

    def __init__(self, title, unit, groups):
        self.title, self.unit, self.groups = title, unit, groups
        self.sizes = sorted({size for cells in groups.values() for size in cells})
        self.height = (len(groups) + 2) * LINE_HEIGHT + 10
        self.width = LABEL + CELL * len(self.sizes)

    def draw(self, picture, left, top):
        picture.text(left, top + 11, self.title, 12, INK, weight="600")
        for number, size in enumerate(self.sizes):
            picture.text(left + LABEL + CELL * (number + 0.5), top + 11 + LINE_HEIGHT * 0.2,
                         size_text(size, self.unit).replace(" ", "").removesuffix("iB"), 9, SOFT, anchor="middle")
        for line, (label, cells) in enumerate(self.groups.items()):
            y = top + LINE_HEIGHT * (line + 1.4)
            picture.text(left, y + 10, label, 10, INK)
            for number, size in enumerate(self.sizes):
                if size in cells:
                    x = left + LABEL + CELL * number
                    picture.bar(x + 0.5, y + 0.5, CELL - 1, LINE_HEIGHT - 1, colour_of(cells[size]))
                    picture.text(x + CELL / 2, y + 10, ratio_text(cells[size]), 9, ink_of(cells[size]),
                                 anchor="middle")


def placed(blocks, top):
    """[(block, left, top)] in two columns, and what is too wide for one of them below; and where all of it ends."""
    narrow = [block for block in blocks if block.width <= WIDTH / 2 - 30]
    half = sum(block.height for block in narrow) / 2
    places, column, y, ends = [], 0, top, [top]
    for block in narrow:
        if column == 0 and y - top + block.height / 2 > half:
            column, y = 1, top
        places.append((block, 28 + column * WIDTH / 2, y))
        y += block.height
        ends.append(y)
    bottom = max(ends)
    for block in blocks:
        if block not in narrow:
            places.append((block, 28, bottom))
            bottom += block.height
    return places, bottom


def draw_legend(picture, y):
    ratios = (0.25, 0.5, 0.8, 1, 1.25, 2, 4)
    for number, ratio in enumerate(ratios):
        picture.bar(28 + CELL * number + 0.5, y, CELL - 1, LINE_HEIGHT, colour_of(ratio))
        picture.text(28 + CELL * (number + 0.5), y + 10, f"{ratio:g}", 9, ink_of(ratio), anchor="middle")
    picture.text(28 + CELL * len(ratios) + 8, y + 10, "below 1 we are faster, above 1 slower", 11, SOFT)


def source_of(content):
    machine, torch = content["machine"], content["torch"]
    where = torch.get("gpu") or f"{machine['cpu']}, {machine['cores']} cores, {torch['threads']} threads"
    quick = ", a quick run" if content.get("quick") else ""
    return f"{where}, beside PyTorch {torch['version']}; ./dev bench --torch, {machine['date']}{quick}"


def draw(content):
    """The picture as text."""
    if not isinstance(content, dict) or not isinstance(content.get("rows"), list) or "torch" not in content:
        raise Mistake("this is not what `./dev bench --torch --json` writes: it has no rows beside PyTorch's")
    blocks = [Block(title, unit, groups) for (title, unit), groups in parts_of(content["rows"]).items()]
    if not blocks:
        raise Mistake("no row was measured on both sides")
    places, bottom = placed(blocks, 116)
    picture = svg.Picture(WIDTH, bottom + 36, "Our ops beside PyTorch's")
    picture.text(28, 40, "Our time by PyTorch's, op by op", 19, INK, weight="600")
    picture.text(28, 62, "Sizes are the bytes of the largest array; of products, the extent n.", 13, SOFT)
    draw_legend(picture, 78)
    for block, left, top in places:
        block.draw(picture, left, top)
    picture.text(28, bottom + 16, source_of(content), 11, OTHER)
    return picture.to_string()
