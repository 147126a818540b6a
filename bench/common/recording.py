# SPDX-License-Identifier: Apache-2.0
"""bench/results: what is kept, what is refused, and what a new run is held against."""
import datetime
import glob
import json
import os

from . import picture
from .bench import TOP
from .results import table

RESULTS = os.path.join(TOP, "bench", "results")
FOREIGN_MOST = 0.05
MOVED_MOST = 0.10
OURS = picture.OURS


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def last(bench, machine):
    """The newest recording of the bench on a machine of the same kind, or None."""
    found = [load(path) for path in sorted(glob.glob(os.path.join(RESULTS, f"{bench}-*.json")))]
    found = [doc for doc in found if all(doc["machine"][key] == machine[key] for key in ("cpu", "cpus", "virtual"))]
    return max(found, key=lambda doc: doc["recorded"], default=None)


def ratios(document):
    """{(case, arm, metric, to, to_case): ratio} of what a recording is quoted for."""
    metrics = {"serve": ("cpu",), "slow": ("closed rate",), "idle": ("cpu", "memory", "first answer")}[document["bench"]]
    return {(row["case"], row["arm"], row["metric"], row["to"], row.get("to_case")): row["ratio"] for row in document["rows"]
            if row["ratio"] is not None and row["metric"] in metrics}


def moved(document, before):
    """Ratios of comparator arms (nothing that is built here) that differ from the last recording's by too much."""
    then = ratios(before)
    found = []
    for key, ratio in ratios(document).items():
        case, arm, metric, to, _to_case = key
        if arm in OURS or to in OURS or not then.get(key) or min(ratio, then[key]) < 0.1:
            continue
        change = ratio / then[key] - 1
        if abs(change) > MOVED_MOST:
            found.append(f"{case}: {metric} of {arm} to {to} was {then[key]:.3g}, is {ratio:.3g}")
    return found


def objections(document, before):
    found = []
    if document["foreign_cpu"] > FOREIGN_MOST:
        found.append(f"{100 * document['foreign_cpu']:.1f} % of the CPUs went to others; {100 * FOREIGN_MOST:.0f} % are allowed")
    if document["quick"]:
        found.append("a quick run has too few rounds to be quoted")
    if document["commit"].endswith("+changes"):
        found.append("the tree has changes that are in no commit")
    return found + (moved(document, before) if before else [])


def keep(document, reason):
    """Writes the recording and its picture; the paths, or what speaks against it."""
    before = last(document["bench"], document["machine"])
    against = objections(document, before)
    if against and not reason:
        return [], against
    if against:
        document["accepted"] = {"reason": reason, "objections": against}
    now = datetime.datetime.now(datetime.timezone.utc)
    document["recorded"] = now.strftime("%Y-%m-%dT%H:%M:%SZ")
    os.makedirs(RESULTS, exist_ok=True)
    base = os.path.join(RESULTS, f"{document['bench']}-{now.strftime('%Y-%m-%d-%H%M')}-{document['commit'][:8]}")
    with open(base + ".json", "w", encoding="utf-8") as file:
        json.dump(document, file, indent=1)
        file.write("\n")
    with open(base + ".svg", "w", encoding="utf-8") as file:
        file.write(picture.of(document))
    return [base + ".json", base + ".svg"], against


def beside_last(document):
    """A table: this run's ratios beside those of the last recording; None without one."""
    before = last(document["bench"], document["machine"])
    if not before:
        return None
    then, lines = ratios(before), []
    for key, ratio in ratios(document).items():
        if then.get(key):
            case, arm, metric, to, to_case = key
            lines.append([f"{case} {metric}", f"{arm}:{to_case or to}", f"{then[key]:.2f}", f"{ratio:.2f}", f"{100 * (ratio / then[key] - 1):+.0f} %"])
    return table([f"recorded {before['recorded'][:10]}, {before['commit'][:8]}", "ratio", "then", "now", ""], lines) if lines else None


def markdown(document):
    """The README's table: CPU of a request, of F, from one recording."""
    cases = [case for case in picture.cases_of(document["rows"], "cpu") if case.startswith("wsgi/browser/")]
    if not cases:
        return None
    value, arms = {}, []
    for row in document["rows"]:
        if row["metric"] == "cpu" and row["case"] in cases and row["to"] in ("floor", None):
            value[row["arm"], row["case"]] = row["ratio"] if row["to"] else 1.0
            if row["arm"] not in arms:
                arms.append(row["arm"])
    arms.sort(key=lambda arm: value.get((arm, cases[min(1, len(cases) - 1)]), 1e9))
    versions = document["versions"]
    lines = ["| CPU a request, of F | " + " | ".join(case.rsplit("/", 1)[1] for case in cases) + " |", "|---|" + "---|" * len(cases)]
    for arm in arms:
        version = versions.get("ringtail" if arm in OURS else arm.split("-")[0], "")
        cells = [f"{value[arm, case]:.2f}" if (arm, case) in value else "-" for case in cases]
        lines.append(f"| {('ringtail ' + arm) if arm in OURS else arm} {version} | " + " | ".join(cells) + " |")
    machine = document["machine"]
    lines.append("")
    lines.append(f"F: a bare io_uring hello in C. {machine['cpu']}, virtual: {machine['virtual']}, Linux {machine['kernel']}, Python "
                 f"{versions['python']}; commit {document['commit'][:8]}, {document['rounds']} rounds, {document['recorded'][:10]}.")
    return "\n".join(lines) + "\n"
