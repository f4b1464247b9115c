"""A picture as SVG text: lines, bars, dots and words on a white sheet with round corners, which reads on light pages
and on dark ones. Nothing but what the pictures of the documents need."""
import html

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"


def number(value):
    """
    >>> number(3.0), number(2.346)
    ('3', '2.3')
    """
    return f"{value:.1f}".removesuffix(".0")


def text_width(words, size):
    """About how wide words are; fonts differ."""
    return len(words) * size * 0.54


class Picture:
    def __init__(self, width, height, title):
        self.parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {number(width)} {number(height)}" '
            f'width="{number(width)}" height="{number(height)}" role="img" font-family="{FONT}">',
            f"<title>{html.escape(title)}</title>",
            f'<rect x="0.5" y="0.5" width="{number(width - 1)}" height="{number(height - 1)}" rx="10" fill="#ffffff" '
            'stroke="#dee2e6"/>',
        ]

    def line(self, x1, y1, x2, y2, colour, width=1):
        self.parts.append(f'<line x1="{number(x1)}" y1="{number(y1)}" x2="{number(x2)}" y2="{number(y2)}" '
                          f'stroke="{colour}" stroke-width="{number(width)}"/>')

    def bar(self, x, y, width, height, colour):
        self.parts.append(f'<rect x="{number(x)}" y="{number(y)}" width="{number(width)}" height="{number(height)}" '
                          f'rx="2" fill="{colour}"/>')

    def dot(self, x, y, radius, inside, edge):
        self.parts.append(f'<circle cx="{number(x)}" cy="{number(y)}" r="{number(radius)}" fill="{inside}" '
                          f'stroke="{edge}" stroke-width="2.5"/>')

    def text(self, x, y, words, size, colour, anchor="start", weight="400"):
        self.parts.append(f'<text x="{number(x)}" y="{number(y)}" font-size="{size}" font-weight="{weight}" '
                          f'fill="{colour}" text-anchor="{anchor}">{html.escape(words)}</text>')

    def to_string(self):
        return "\n".join([*self.parts, "</svg>"]) + "\n"
