"""The picture of examples/51_training_survives.cpp: the losses of a training in peace, and of the same one while its
workers were killed. Both are drawn, the second as dots on the line of the first; lines say when a worker was killed."""
import svg
from figures import INK, LINE, OTHER, OURS, SOFT, WIDTH, Mistake, round_step


def curves_of(content, name):
    """(losses in peace, losses while workers were killed, the steps at which that was)"""
    keys = ("peace", "killed", "kills_at_steps")
    if not isinstance(content, dict) or not all(isinstance(content.get(key), list) for key in keys):
        raise Mistake(f"{name} is not what `build/release/example_51_training_survives FILE` writes")
    peace, killed, kills = (content[key] for key in keys)
    if len(peace) < 2 or len(peace) != len(killed):
        raise Mistake(f"{name} has {len(peace)} losses in peace and {len(killed)} of the other run")
    return peace, killed, kills


def draw(content, name):
    peace, killed, kills = curves_of(content, name)
    left, right, top, bottom = 70, WIDTH - 40, 92, 320
    step = round_step(max(peace + killed) / 5)
    end = step * (int(max(peace + killed) / step) + 1)
    same = "the same, number for number" if peace == killed else "not the same"
    picture = svg.Picture(WIDTH, bottom + 84, "Losses of a training whose workers are killed, beside one in peace")
    picture.text(28, 40, f"{len(kills)} workers killed, and the losses are {same}", 19, INK, weight="600")
    picture.text(28, 62, "A small convolutional network learns: its loss by steps. Red: a worker was killed.", 13, SOFT)

    def across(at):
        return left + (right - left) * at / (len(peace) - 1)

    def down(loss):
        return bottom - (bottom - top) * loss / end

    for number in range(round(end / step) + 1):
        y = down(number * step)
        picture.line(left, y, right, y, LINE)
        picture.text(left - 10, y + 4, f"{number * step:g}", 12, SOFT, anchor="end")
    for at in range(0, len(peace), max(1, round_step(len(peace) / 6))):
        picture.text(across(at), bottom + 20, f"{at}", 12, SOFT, anchor="middle")
    for at in kills:
        picture.line(across(at), top, across(at), bottom, "#c92a2a", 1)
    for at in range(len(peace) - 1):
        picture.line(across(at), down(peace[at]), across(at + 1), down(peace[at + 1]), OURS, 2)
    for at in range(0, len(killed), max(1, len(killed) // 60)):
        picture.dot(across(at), down(killed[at]), 3, "#ffffff", OTHER)
    picture.line(left, bottom + 44, left + 24, bottom + 44, OURS, 2)
    picture.text(left + 32, bottom + 48, "in peace", 12, INK)
    picture.dot(left + 130, bottom + 44, 3, "#ffffff", OTHER)
    picture.text(left + 142, bottom + 48, "while workers are killed", 12, INK)
    picture.text(28, bottom + 70, "examples/51_training_survives.cpp on the CPU", 11, SOFT)
    return picture.to_string()
