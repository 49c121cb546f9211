"""Draws docs/results.svg from the table of vectors in RESULTS.md: `python benchmarks/picture.py`."""

from __future__ import annotations

import re
from pathlib import Path

from gensim_hilbert.report.svg import Picture, text_width

ROOT = Path(__file__).parents[1]
MEASURES = {
    "mean": "similarity, mean",
    "S999": "SimLex-999",
    "RARE": "Rare Words",
    "Google": "Google analogies",
    "BATS": "BATS analogies",
}
NOTE = "Spearman’s correlation and shares of right answers; lines are spreads over runs; each column has its own scale."
PANEL, GAP, ROW, TOP = 122, 24, 32, 44
Score = tuple[float, float]  # and its spread


def read_table(text: str) -> dict[str, dict[str, Score]]:
    """{system: {measure: score}}, of the first table under the heading "Vectors"."""
    section = text.split("\n## Vectors\n", 1)[1].split("\n## ", 1)[0]
    rows = [line.strip().strip("|").split("|") for line in section.splitlines() if line.startswith("|")]
    heading, _, *body = [[cell.strip() for cell in row] for row in rows]
    systems, place_of_mean = {}, heading.index("mean") - 1
    for name, *cells in body:
        if len(cells) != len(heading) - 1 or not re.match(r"\d*\.\d", cells[place_of_mean]):
            break  # another table
        scores = dict(zip(heading[1:], cells, strict=True))
        systems[plain(name)] = {measure: score(scores[measure]) for measure in MEASURES if scores.get(measure)}
    return systems


def plain(name: str) -> str:
    return name.replace('`vectors="v+w"`', "v + w").replace("`", "")


def score(cell: str) -> Score:
    value, _, spread = cell.partition("±")
    return float(value), float(spread or 0)


def draw(systems: dict[str, dict[str, Score]]) -> Picture:
    labels = max(map(text_width, systems))
    width = labels + len(MEASURES) * (PANEL + GAP) + 2 * GAP
    height = TOP + ROW * len(systems) + 38
    picture = Picture(width, height, "Scores of word vectors on similarity and analogies, by system")
    for row, name in enumerate(systems):
        picture.text(GAP, TOP + ROW * (row + 0.5) + 4, name, class_="strong" if "Hilbert" in name else None)
    picture.text(width - GAP, height - 12, NOTE, anchor="end", class_="muted", font_size=10)
    for column, (measure, title) in enumerate(MEASURES.items()):
        left = labels + 2 * GAP + column * (PANEL + GAP)
        found = {row: scores[measure] for row, scores in enumerate(systems.values()) if measure in scores}
        panel(picture, left, title, found, [("Hilbert" in name) for name in systems])
    return picture


def panel(picture: Picture, left: float, title: str, found: dict[int, Score], ours: list[bool]) -> None:
    """A dot a row, with its spread, and its number above it."""
    low = min(value - spread for value, spread in found.values())
    high = max(value + spread for value, spread in found.values())
    room = max(0.02, 0.25 * (high - low))
    low, high = low - room, high + room

    def at(value: float) -> float:
        return left + (value - low) / (high - low) * PANEL

    picture.text(left, 30, title, class_="strong")
    best = max(value for value, _ in found.values())
    for row, (value, spread) in found.items():
        y = TOP + ROW * (row + 0.5)
        picture.line(left, y, left + PANEL, y, "grid")
        picture.line(at(value - spread), y, at(value + spread), y, "counted-line" if ours[row] else "axis")
        picture.add("circle", cx=at(value), cy=y, r=4, class_="counted" if ours[row] else "muted")
        weight = "strong" if value == best else "muted"
        picture.text(at(value), y - 8, f"{value:.3f}".lstrip("0"), anchor="middle", class_=weight, font_size=10)


def main() -> None:
    systems = read_table((ROOT / "benchmarks" / "RESULTS.md").read_text(encoding="utf-8"))
    target = ROOT / "docs" / "results.svg"
    target.parent.mkdir(exist_ok=True)
    target.write_text(draw(systems).standalone() + "\n", encoding="utf-8")
    print(f"{target.relative_to(ROOT)}: {len(systems)} systems")


if __name__ == "__main__":
    main()
