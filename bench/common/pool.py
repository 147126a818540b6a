# SPDX-License-Identifier: Apache-2.0
"""What --pool-debug prints when a server of ours ends."""
import re


def parse(text):
    """{"jobs": [per handler], "wakes": {site: count}, "parks", "spurious", "grown"}; {} where there is no pool."""
    wakes = re.search(r"^wakes:(.*)$", text, re.MULTILINE)
    parks = re.search(r"^parks (\d+), spurious (\d+); grown (\d+)", text, re.MULTILINE)
    if not wakes or not parks:
        return {}
    words = wakes.group(1).split()
    rows = text[text.find("\nhandler "):].splitlines()[2:]
    jobs = []
    for row in rows:
        cells = row.split()
        if len(cells) < 4 or not cells[0].isdigit():
            break
        jobs.append(int(cells[1]))
    return {"jobs": jobs, "wakes": {site: int(count) for site, count in zip(words[::2], words[1::2])}, "parks": int(parks.group(1)),
            "spurious": int(parks.group(2)), "grown": int(parks.group(3))}
