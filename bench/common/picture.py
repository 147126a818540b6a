# SPDX-License-Identifier: Apache-2.0
"""A recording as SVG: a panel a case, a bar an arm. Plain text and rectangles, readable on light and dark ground."""
from html import escape

from .results import short

OURS = {"null", "threads0", "threads1", "zero", "threads8", "shared", "off"}
STYLE = """
text { font: 12px system-ui, sans-serif; fill: #24292f; }
.head { font-weight: 600; font-size: 13px; } .note { fill: #6e7781; font-size: 11px; }
.ground { fill: #ffffff; } .ours { fill: #0969da; } .zero { fill: #0550ae; } .peer { fill: #8c959f; } .floor { fill: #57606a; }
.line { stroke: #d0d7de; }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3; } .note { fill: #8b949e; } .ground { fill: #0d1117; } .ours { fill: #4493f8; } .zero { fill: #79c0ff; }
  .peer { fill: #6e7681; } .floor { fill: #9198a1; } .line { stroke: #30363d; }
}
"""
NAME_WIDTH, BAR_WIDTH, VALUE_WIDTH, ROW, HEAD = 125, 300, 90, 19, 46
PANEL_WIDTH = NAME_WIDTH + BAR_WIDTH + VALUE_WIDTH


def kind(arm):
    if arm == "zero":
        return "zero"
    return "floor" if arm in ("floor", "nginx") else "ours" if arm in OURS else "peer"


def panel(x, y, title, note, bars, top, mark):
    """bars: (arm, value, label). A bar longer than top is cut, its label says what it is. mark: a line at that value."""
    parts = [f'<text class="head" x="{x}" y="{y + 16}">{escape(title)}</text>',
             f'<text class="note" x="{x}" y="{y + 32}">{escape(note)}</text>']
    base = x + NAME_WIDTH
    for number, (arm, value, label) in enumerate(bars):
        line = y + HEAD + number * ROW
        width = min(value / top, 1) * BAR_WIDTH
        parts.append(f'<text x="{base - 8}" y="{line + 12}" text-anchor="end">{escape(arm)}</text>')
        parts.append(f'<rect class="{kind(arm)}" x="{base}" y="{line}" width="{max(width, 1):.1f}" height="{ROW - 5}" rx="2"/>')
        more = " →" if value > top else ""
        parts.append(f'<text x="{base + width + 6:.1f}" y="{line + 12}">{escape(label)}{more}</text>')
    if mark is not None and mark <= top:
        at = base + mark / top * BAR_WIDTH
        parts.append(f'<line class="line" x1="{at:.1f}" x2="{at:.1f}" y1="{y + HEAD - 4}" y2="{y + HEAD + len(bars) * ROW}"/>')
    return parts, HEAD + len(bars) * ROW + 20


def draw(panels, foot, columns=2):
    """panels: (title, note, bars, top, mark)."""
    parts, bottoms = [], [16] * columns
    for panel_spec in panels:
        column = bottoms.index(min(bottoms))
        drawn, height = panel(16 + column * (PANEL_WIDTH + 20), bottoms[column], *panel_spec)
        parts += drawn
        bottoms[column] += height
    width, height = 32 + columns * PANEL_WIDTH + (columns - 1) * 20, max(bottoms) + 24
    parts.append(f'<text class="note" x="16" y="{height - 12}">{escape(foot)}</text>')
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" role="img">\n'
            f'<style>{STYLE}</style>\n<rect class="ground" width="100%" height="100%"/>\n' + "\n".join(parts) + "\n</svg>\n")


def of(document):
    machine = document["machine"]
    foot = (f"{machine['cpu']}, {machine['cpus']} CPUs, virtual: {machine['virtual']}, Linux {machine['kernel']}; commit "
            f"{document['commit']}; medians of {document['rounds']} rounds; {100 * document['foreign_cpu']:.1f} % of the CPUs to others")
    return draw(PANELS[document["bench"]](document["rows"]), foot)


def cases_of(rows, metric):
    cases = []
    for row in rows:
        if row["metric"] == metric and row["case"] not in cases:
            cases.append(row["case"])
    return cases


def serve_panels(rows):
    for case in cases_of(rows, "cpu"):
        bars = [(row["arm"], row["median"], f"{short(row['median'])} us" + (f", {row['ratio']:.2f} F" if row["to"] == "floor" else ""))
                for row in rows if row["case"] == case and row["metric"] == "cpu" and row["to"] in ("floor", None)]
        bars.sort(key=lambda bar: bar[1])
        middle = bars[len(bars) // 2][1]
        floor = next((value for arm, value, _ in bars if arm == "floor"), None)
        yield case, "CPU a request (less is better)", bars, 3 * middle, floor


def slow_panels(rows):
    for case in (case for case in cases_of(rows, "open p99") if not case.endswith("undisturbed")):
        kept = [(row["arm"], row["ratio"], f"{row['ratio']:.2f}") for row in rows if row["case"] == case and row["metric"] == "closed rate"
                and row.get("to_case", "").endswith("undisturbed")]
        late = {row["arm"]: row["median"] for row in rows if row["case"] == case and row["metric"] == "open p99"}
        bars = [(arm, value, f"{label}; p99 {milliseconds(late[arm])}" if arm in late else label) for arm, value, label in kept]
        bars.sort(key=lambda bar: -bar[1])
        if bars:
            yield case, "rate of fast requests, of undisturbed; p99 at 2,000/s", bars, 1.25, 1.0


def idle_panels(rows):
    for case, metric, title in (("start", "first answer", "exec to first answer, ms"), ("after-use", "cpu", "CPU of ten idle seconds, ms"),
                                ("connections", "memory", "bytes of an idle keep-alive connection")):
        bars = sorted({row["arm"]: (row["arm"], row["median"], short(row["median"])) for row in rows
                       if row["case"] == case and row["metric"] == metric}.values(), key=lambda bar: bar[1])
        if bars:
            yield case, f"{title} (less is better)", bars, max(1, 3 * bars[len(bars) // 2][1]), None


def milliseconds(us):
    return f"{short(us / 1000)} ms"


PANELS = {"serve": serve_panels, "slow": slow_panels, "idle": idle_panels}
