"""The picture of the rooms and what imports what: ``python docs/rooms.py`` writes ``docs/img/rooms.svg``.

It is made from the imports in the source: a room stands in the first row below all rooms that it imports from. Of the
arrows, those are left out that follow from others; dashed ones are imports that are made when a method is called.
"""

import sys
from collections.abc import Iterable
from html import escape
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from test_layers import ROOMS, TREES, UPWARD, imports_of, room_of  # noqa: E402

PICTURE = ROOT / "docs" / "img" / "rooms.svg"
LEFT_OUT = {"_version", "_late", "_warn", "__init__", "__main__"}
"""What every room may use, and the package itself."""
WIDTH, HIGH, WIDE, GAP = 900, 34, 118, 74
Edges = set[tuple[str, str]]


def edges() -> tuple[Edges, Edges]:
    """Which room imports from which: always, and when a method is called."""
    found = {
        (room_of(name), path[0])
        for name, tree in TREES.items()
        for path, _ in imports_of(tree)
        if room_of(name) != path[0] and not {room_of(name), path[0]} & LEFT_OUT
    }
    late = {(room_of(name), room) for name, room in UPWARD}
    return found - late, late


def rows(always: Edges) -> list[list[str]]:
    """The rooms, row by row: each below all that it imports from."""
    depth: dict[str, int] = {}
    for room in ROOMS:
        if room not in LEFT_OUT:
            depth[room] = max((depth[other] + 1 for name, other in always if name == room), default=0)
    return [[room for room in depth if depth[room] == row] for row in range(max(depth.values()) + 1)]


def reduced(always: Edges) -> Edges:
    """Without those that follow from others."""

    def reached(room: str, seen: frozenset[str] = frozenset()) -> frozenset[str]:
        for name, other in always:
            if name == room and other not in seen:
                seen = reached(other, seen | {other})
        return seen

    return {
        (room, other)
        for room, other in always
        if not any(other in reached(between) for name, between in always if name == room and between != other)
    }


def drawn(places: dict[str, tuple[float, float]], pairs: Iterable[tuple[str, str]], style: str) -> list[str]:
    """Arrows from the top of a room to the bottom of the one that it imports from."""
    found = []
    for room, other in sorted(pairs):
        (x, y), (to_x, to_y) = places[room], places[other]
        if to_y < y:
            to_y, bend = to_y + HIGH, (y - to_y - HIGH) / 2
        else:
            y, bend = y + HIGH, (y + HIGH - to_y) / 2
        path = f"M{x:g},{y:g} C{x:g},{y - bend:g} {to_x:g},{to_y + bend:g} {to_x:g},{to_y:g}"
        found.append(f'<path class="{style}" d="{path}" marker-end="url(#end)"/>')
    return found


def picture() -> str:
    """The whole picture."""
    always, late = edges()
    places = {}
    for row, names in enumerate(rows(always)):
        for column, room in enumerate(names):
            places[room] = (WIDTH * (column + 1) / (len(names) + 1), 10.0 + row * GAP)
    high = max(y for _, y in places.values()) + HIGH + 10
    boxes = [
        f'<rect x="{x - WIDE / 2:g}" y="{y:g}" width="{WIDE}" height="{HIGH}" rx="6"/>'
        f'<text x="{x:g}" y="{y + 22:g}">{escape(room)}</text>'
        for room, (x, y) in places.items()
    ]
    style = (
        "rect{fill:#eef3f8;stroke:#4878a8}text{font:14px sans-serif;text-anchor:middle;fill:#1a1a1a}"
        "path{fill:none;stroke:#8a8a8a;stroke-width:1.2}.late{stroke-dasharray:4 4}"
        "marker path{fill:#8a8a8a;stroke:none}"
    )
    marker = '<marker id="end" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {high:g}" role="img">',
        "<title>The rooms of certivote, and which imports from which</title>",
        f"<style>{style}</style>",
        f'<rect width="{WIDTH}" height="{high:g}" style="fill:#fff;stroke:none"/>',
        f'<defs>{marker}<path d="M0,0 L8,4 L0,8 z"/></marker></defs>',
        *drawn(places, reduced(always), "always"),
        *drawn(places, late, "late"),
        *boxes,
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    PICTURE.write_text(picture(), encoding="utf-8")
