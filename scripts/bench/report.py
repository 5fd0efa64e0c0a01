"""The figures: medians over the rounds, each beside its floor, as a table, as Markdown and as JSON."""

import json
import statistics
import sys
from dataclasses import asdict, dataclass, field

HEAD = ("measure", "who", "a second", "p50 ms", "p95 ms", "rows of 10", "recall@10", "of the floor")
# The rows, of ten on average, from which an answer counts as whole.
COMPLETE = 9.95


@dataclass
class Line:
    """A line of the table.

    Attributes:
        measure: What was measured.
        who: Who was measured.
        rate: How many a second, if that is what counts.
        p50_ms, p95_ms: Of one call.
        rows: How many of the ten rows that were asked for came, on average.
        recall: The share of the ten nearest rows, by exact search, among those.
        ratio: How fast it was, as a share of the floor's speed; None without a floor.
        rounds: The figures of each round, by the names above.
    """

    measure: str
    who: str
    rate: float | None = None
    p50_ms: float | None = None
    p95_ms: float | None = None
    rows: float | None = None
    recall: float | None = None
    ratio: float | None = None
    rounds: list[dict[str, float]] = field(default_factory=list)

    def cells(self):
        rows = "" if self.rows is None else f"{self.rows:.1f}"
        recall = "" if self.recall is None else f"{self.recall:.0%}"
        ratio = "" if self.ratio is None else f"{_short(self.ratio)}×"
        if self.rows is not None and self.rows < COMPLETE:  # less was done than by the floor
            ratio = f"({ratio})"
        figures = (_short(figure) for figure in (self.rate, self.p50_ms, self.p95_ms))
        return (self.measure, self.who, *figures, rows, recall, ratio)


class Report:
    """The lines, as they are measured, and the reasons of what is missing."""

    def __init__(self):
        self.lines, self.notes = [], []

    def add(self, measure, rounds, floor=None):
        """Adds a line for each name of `rounds`, with the figures of its rounds. `floor` is the one to compare with."""
        made = {name: _median(measure, name, figures) for name, figures in rounds.items() if figures}
        if base := made.get(floor):
            for line in made.values():
                line.ratio = line.rate / base.rate if base.rate else base.p50_ms / line.p50_ms
        self.lines += made.values()

    def table(self):
        """The table for a terminal."""
        rows = [HEAD, *(line.cells() for line in self.lines)]
        widths = [max(len(row[column]) for row in rows) for column in range(len(HEAD))]
        return "\n".join(
            "  ".join(cell.ljust(width) if column < 2 else cell.rjust(width)
                      for column, (cell, width) in enumerate(zip(row, widths))).rstrip()
            for row in rows
        )

    def markdown(self):
        rows = [HEAD, ("---", "---", *["---:"] * (len(HEAD) - 2)), *(line.cells() for line in self.lines)]
        return "\n".join(f"| {' | '.join(row)} |" for row in rows)

    def json(self, **about):
        return json.dumps({**about, "lines": [asdict(line) for line in self.lines], "notes": self.notes}, indent=1)


class Progress:
    """The progress, on a terminal only."""

    def __init__(self):
        self._shown = sys.stderr.isatty()

    def __call__(self, text):
        if self._shown:
            print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


def _median(measure, who, figures):
    """A line of the medians of `figures`, which are of one kind."""
    medians = {name: statistics.median(it[name] for it in figures) for name in figures[0]}
    return Line(measure, who, **medians, rounds=figures)


def _short(figure):
    """Three digits that count."""
    if figure is None:
        return ""
    digits = 0 if figure >= 100 else 1 if figure >= 10 else 2
    return f"{figure:,.{digits}f}"
