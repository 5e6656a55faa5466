"""Windows as numpy z-normalizes them, for test/fuzz/javascript.test.ts.

How to run it: as make_golden.py, of whose packages it needs numpy alone.

    python test/parity/z_normalization.py      # test/fixtures/eeg/z-normalization-numpy.json

The windows themselves follow from their seeds, by the generator of test/helpers/random.ts.
"""

import base64
import json
import platform
from collections.abc import Iterator
from pathlib import Path

import numpy

FIXTURE = Path(__file__).resolve().parent.parent / "fixtures" / "eeg" / "z-normalization-numpy.json"
LENGTH = 256
# (scale, offset): numpy does not rescale, so magnitudes beyond 1e150 are not comparable.
KINDS = [
    (scale, offset)
    for scale in (1e-12, 1e-8, 1e-6, 1.0, 100.0, 1e6, 1e100)
    for offset in (0.0, 3.5, -4200.5)
    if abs(offset) <= 1e7 * scale
]


def mulberry32(seed: int) -> Iterator[float]:
    """Numbers in [0, 1)."""
    state = seed
    while True:
        state = (state + 0x6D2B79F5) & 0xFFFFFFFF
        mixed = ((state ^ (state >> 15)) * (state | 1)) & 0xFFFFFFFF
        mixed ^= (mixed + (((mixed ^ (mixed >> 7)) * (mixed | 61)) & 0xFFFFFFFF)) & 0xFFFFFFFF
        yield ((mixed ^ (mixed >> 14)) & 0xFFFFFFFF) / 2**32


def normalize(seed: int, scale: float, offset: float) -> dict:
    random = mulberry32(seed)
    window = numpy.array([offset + (next(random) - 0.5) * scale for _ in range(LENGTH)])
    normalized = (window - window.mean()) / (window.std() + 1e-8)
    float32 = normalized.astype("<f4").tobytes()
    return {"seed": seed, "scale": scale, "offset": offset, "float32": base64.b64encode(float32).decode()}


def main() -> None:
    rows = [normalize(2 * index + half, *kind) for index, kind in enumerate(KINDS) for half in (0, 1)]
    head = {"python": platform.python_version(), "numpy": numpy.__version__}
    body = ",\n".join(f"    {json.dumps(row)}" for row in rows)
    FIXTURE.write_text(f'{{\n  "versions": {json.dumps(head)},\n  "windows": [\n{body}\n  ]\n}}\n')
    print(f"{len(rows)} windows")


if __name__ == "__main__":
    main()
