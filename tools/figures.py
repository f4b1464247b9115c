"""What the scripts that draw figures have in common: colours, and what figures must be."""
import math

OURS, OTHER, THIRD = "#0b7285", "#868e96", "#e8590c"
INK, SOFT, LINE = "#212529", "#5c636a", "#dee2e6"
WIDTH = 800


class Mistake(Exception):
    pass


def is_positive(figure):
    return isinstance(figure, (int, float)) and math.isfinite(figure) and figure > 0


def round_step(at_least):
    """The next of 1, 2, 5, 10, 20, 50 ... that is not smaller.

    >>> round_step(3.3), round_step(13.8), round_step(0.4)
    (5, 20, 0.5)
    """
    power = 10 ** math.floor(math.log10(at_least))
    return next(power * digit for digit in (1, 2, 5, 10) if power * digit >= at_least * (1 - 1e-9))
