"""Which operators do exported programs use, and how often?

    python test/parity/exported_operators.py [--by-file] [FILE.pt2 or folder ...]

Without a name: those of test/fixtures. Reads the graphs alone; torch is not needed.
"""

import argparse
import json
import sys
import zipfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures"


def graphs(value: object) -> Iterator[list[dict]]:
    """The nodes of each graph, those of branches too."""
    if isinstance(value, dict):
        if "nodes" in value and "tensor_values" in value:
            yield value["nodes"]
        for inner in value.values():
            yield from graphs(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from graphs(inner)


def operators(path: Path) -> Counter:
    with zipfile.ZipFile(path) as archive:
        names = [name for name in archive.namelist() if name.endswith(("models/model.json", "exported_program.json"))]
        programs = [json.loads(archive.read(name)) for name in names]
    return Counter(node["target"] for nodes in graphs(programs) for node in nodes)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("paths", nargs="*", type=Path, default=[FIXTURES])
    parser.add_argument("--by-file", action="store_true", help="for each file, not for all")
    arguments = parser.parse_args()
    files = [file for path in arguments.paths for file in ([path] if path.is_file() else sorted(path.rglob("*.pt2")))]
    if not files:
        sys.exit("no .pt2 file")
    used = {file: operators(file) for file in files}
    if arguments.by_file:
        for file, counts in used.items():
            print(f"{file.parent.name}/{file.name}: {', '.join(sorted(counts))}")
        return
    total = sum(used.values(), Counter())
    print(f"{len(files)} files, {len(total)} operators")
    for target, count in sorted(total.items()):
        holders = [file for file, counts in used.items() if target in counts]
        example = f"{holders[0].parent.name}/{holders[0].name}"
        print(f"{target}: {count} times in {len(holders)} files, as {example}")


if __name__ == "__main__":
    main()
