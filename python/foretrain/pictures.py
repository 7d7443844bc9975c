"""Small charts of an answer as SVG, drawn here so that a notebook needs no matplotlib."""

from __future__ import annotations

import math
from html import escape
from typing import Any, List, Mapping, Optional, Sequence, Tuple

_WIDTH, _HEIGHT = 560, 320
_LEFT, _RIGHT, _TOP, _BOTTOM = 70, 150, 20, 50
_COLOUR = "#0b62a4"
#: Bars of a chart, the first rows.
_MOST_BARS = 16


class Picture:
    """A chart; a notebook shows it, save() writes it."""

    def __init__(self, svg: str, title: str) -> None:
        self.svg, self.title = svg, title

    def _repr_svg_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return f"<Picture: {self.title}>"

    def save(self, path: str) -> None:
        """Writes the SVG, which browsers and word processors show."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.svg)


def number(value: float) -> str:
    """Three significant digits; from a million on with M, G, T, which are powers of ten."""
    for factor, unit in ((1e12, " T"), (1e9, " G"), (1e6, " M")):
        if abs(value) >= factor:
            return number(value / factor) + unit
    if value and abs(value) < 1e-3:
        return f"{value:.3g}"
    digits = 0 if not value else max(0, 2 - math.floor(math.log10(abs(value))))
    text = f"{value:,.{digits}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _text(x: float, y: float, text: str, anchor: str = "start", more: str = "") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{more}>{escape(text)}</text>'


def _whole(marks: Sequence[str], height: float, title: str) -> Picture:
    begin = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height:.0f}" width="{_WIDTH}" '
        f'height="{height:.0f}" font-family="sans-serif" font-size="12" fill="#333" role="img">'
        f'<title>{escape(title)}</title><rect width="100%" height="100%" fill="#fff"/>'
    )
    return Picture("\n".join([begin, *marks, "</svg>"]), title)


def _ticks(highest: float) -> List[float]:
    step = 10.0 ** math.floor(math.log10(highest))
    step = next(s for s in (step / 5, step / 2, step, step * 2) if highest / s <= 6)
    return [i * step for i in range(int(highest / step + 1e-9) + 1)]


Point = Tuple[float, float]
Band = Tuple[float, float, float]


def line(
    points: Sequence[Point], x: str, y: str, band: Sequence[Band] = (), perfect: bool = False
) -> Picture:
    """A line through (across, up), logarithmic across where that spans more than a factor of 1000.

    band: (across, low, high) of an interval. perfect: also the line up = across / first across.
    """
    title = f"{y} by {x}"
    points = sorted(points)
    if not points or max(up for _, up in points) <= 0 or points[0][0] <= 0:
        return _whole([_text(_LEFT, 60, "nothing to draw")], 100, title)
    least, most = points[0][0], points[-1][0]
    highest = max(
        [up for _, up in points] + [high for _, _, high in band] + ([most / least] if perfect else [])
    )
    right, bottom = _WIDTH - _RIGHT, _HEIGHT - _BOTTOM
    logarithmic = most > 1000 * least

    def place(at: float, up: float) -> str:
        share = math.log(at / least) / math.log(most / least) if logarithmic else at / most
        return f"{_LEFT + (right - _LEFT) * share:.1f},{bottom - (bottom - _TOP) * up / highest:.1f}"

    made = []
    for tick in _ticks(highest):
        height = bottom - (bottom - _TOP) * tick / highest
        made.append(f'<path d="M{_LEFT} {height:.1f}H{right}" stroke="#e5e5e5"/>')
        made.append(_text(_LEFT - 8, height + 4, number(tick), "end"))
    written = -100.0
    for at, _ in points:
        left = float(place(at, 0).split(",")[0])
        if left - written >= 8 + 7 * len(number(at)):
            made.append(_text(left, bottom + 18, number(at), "middle"))
            written = left
    if band:
        around = [place(at, high) for at, _, high in band] + [place(at, low) for at, low, _ in reversed(band)]
        made.append(f'<polygon points="{" ".join(around)}" fill="{_COLOUR}" fill-opacity="0.15"/>')
        made.append(_text(right + 8, _TOP + 40, "shaded: 90 % interval"))
    if perfect:
        ends = f"{place(least, 1)} {place(most, most / least)}"
        made.append(f'<polyline points="{ends}" fill="none" stroke="#888" stroke-dasharray="4 4"/>')
        made.append(_text(right + 8, _TOP + 20, "dashed: perfect"))
    listed = " ".join(place(at, up) for at, up in points)
    made.append(f'<polyline points="{listed}" fill="none" stroke="{_COLOUR}" stroke-width="2"/>')
    for at, up in points:
        centre = place(at, up).split(",")
        made.append(f'<circle cx="{centre[0]}" cy="{centre[1]}" r="3.5" fill="{_COLOUR}"/>')
    made.append(f'<path d="M{_LEFT} {_TOP}V{bottom}H{right}" fill="none" stroke="#888"/>')
    middle = (_TOP + bottom) / 2
    made.append(_text((_LEFT + right) / 2, _HEIGHT - 10, x, "middle"))
    made.append(_text(16, middle, y, "middle", f' transform="rotate(-90 16 {middle})"'))
    return _whole(made, _HEIGHT, title)


def bars(named: Sequence[Tuple[str, Optional[float]]], x: str, y: str) -> Picture:
    """A bar for each (name, number), in their order; one without a number says so."""
    shown = named[:_MOST_BARS]
    highest = max((value for _, value in shown if value is not None), default=0.0) or 1.0
    left = 24 + 7.2 * max((len(name) for name, _ in shown), default=0)
    made = [_text(16, 18, f"{y} by {x}")]
    for i, (name, value) in enumerate(shown):
        top = 30 + 24 * i
        made.append(_text(left - 8, top + 13, name, "end"))
        if value is None:
            made.append(_text(left, top + 13, "none"))
            continue
        width = max(1.0, (_WIDTH - 80 - left) * value / highest)
        made.append(f'<rect x="{left:.1f}" y="{top}" width="{width:.1f}" height="18" fill="{_COLOUR}"/>')
        made.append(_text(left + width + 6, top + 13, number(value)))
    return _whole(made, 40 + 24 * len(shown), f"{y} by {x}")


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def chart(rows: Sequence[Mapping[str, Any]], x: str, y: str) -> Picture:
    """Over a column of numbers a line, over one of names a bar for each row.

    A line has its 90 % interval where the rows have it.
    """
    if not all(_is_number(row.get(x)) for row in rows):
        return bars([(str(row.get(x)), row[y] if _is_number(row.get(y)) else None) for row in rows], x, y)
    band = [
        (row[x], row[f"{y}_interval_low"], row[f"{y}_interval_high"])
        for row in rows
        if _is_number(row.get(f"{y}_interval_low"))
    ]
    points = [(row[x], row[y]) for row in rows if _is_number(row.get(y))]
    return line(points, x, y, sorted(band), y == "speedup")
