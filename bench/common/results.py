# SPDX-License-Identifier: Apache-2.0
"""Figures of rounds, and what is made of them: medians, the rounds' own ratios, rows."""
import statistics


class Results:
    """add() a figure as it is measured; rows() when all rounds are done."""

    def __init__(self):
        self.figures = {}  # (case, arm, metric) -> {round: value}
        self.units = {}
        self.order = []

    def add(self, round_number, case, arm, metric, unit, value):
        key = (case, arm, metric)
        if key not in self.figures:
            self.figures[key] = {}
            self.order.append(key)
        self.figures[key][round_number] = value
        self.units[metric] = unit

    def median(self, case, arm, metric):
        values = self.figures.get((case, arm, metric))
        return statistics.median(values.values()) if values else None

    def ratio(self, case, arm, metric, to, to_case=None):
        """The median of the rounds' own ratios to the other arm (or, of the same arm, to another case)."""
        ours = self.figures.get((case, arm, metric), {})
        theirs = self.figures.get((to_case or case, to, metric), {})
        ratios = [ours[number] / theirs[number] for number in ours if theirs.get(number)]
        return statistics.median(ratios) if ratios else None

    def rows(self, compare):
        """compare(case, arm, metric): the arms (or (arm, case) pairs) that the row is held against; one row for each."""
        rows = []
        for case, arm, metric in self.order:
            values = list(self.figures[case, arm, metric].values())
            row = {"case": case, "arm": arm, "metric": metric, "unit": self.units[metric], "median": rounded(statistics.median(values)),
                   "min": rounded(min(values)), "max": rounded(max(values)), "ratio": None, "to": None}
            made = False
            for other in compare(case, arm, metric):
                to, to_case = other if isinstance(other, tuple) else (other, None)
                ratio = self.ratio(case, arm, metric, to, to_case)
                if ratio is None or (to == arm and to_case is None):
                    continue
                extra = {"to_case": to_case} if to_case else {}
                rows.append({**row, "ratio": rounded(ratio), "to": to, **extra})
                made = True
            if not made:
                rows.append(row)
        return rows


def rounded(value):
    """Four digits that mean something; a recording is read by people, too."""
    return float(f"{value:.4g}") if isinstance(value, float) else value


def table(head, lines):
    """Columns as wide as they need, the first to the left."""
    widths = [max(len(str(line[i])) for line in [head, *lines]) for i in range(len(head))]
    text = []
    for line in [head, *lines]:
        cells = [str(cell).ljust(width) if i == 0 else str(cell).rjust(width) for i, (cell, width) in enumerate(zip(line, widths))]
        text.append("  ".join(cells).rstrip())
    return "\n".join(text)


def short(value, digits=3):
    if value is None:
        return "-"
    if value == 0:
        return "0"
    if value >= 10000:
        return f"{value:.0f}"
    return f"{value:.{digits}g}" if value < 1000 else f"{value:.0f}"
