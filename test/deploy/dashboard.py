"""Reads a dashboard as Grafana's own SDK does, and says what is lost, or changed, on the way.

    python dashboard.py < dashboard.json

Fields that Grafana does not know, or that are not of the kind it expects, do not come out again. Prints a
line for each, and ends with 1 if any.
"""

import json
import sys

from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.cog.plugins import register_default_plugins
from grafana_foundation_sdk.models.dashboard import Dashboard


def differences(before, after, place):
    if isinstance(before, dict) and isinstance(after, dict):
        lost = [f"{place}.{key}: Grafana does not know it" for key in before if key not in after]
        kept = [key for key in before if key in after]
        return lost + [text for key in kept for text in differences(before[key], after[key], f"{place}.{key}")]
    if isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        pairs = enumerate(zip(before, after))
        return [text for i, (one, other) in pairs for text in differences(one, other, f"{place}[{i}]")]
    return [] if before == after else [f"{place}: {before!r} became {after!r}"]


def main():
    register_default_plugins()
    source = json.load(sys.stdin)
    read = json.loads(JSONEncoder().encode(Dashboard.from_json(source)))
    problems = differences(source, read, "dashboard")
    for problem in problems:
        print(problem)
    print(f"{len(source['panels'])} panels, {len(problems)} problems")
    return 1 if problems else 0


sys.exit(main())
