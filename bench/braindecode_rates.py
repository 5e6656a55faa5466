"""Windows a second of braindecode's models in PyTorch; bench/braindecode.mjs asks for them.

Reads lines {"model", "batch", "seconds", "threads"}, and writes {"rate"} for each."""

import json
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "test/parity"))

import torch
from braindecode_models import described, prepare_positions

# MNE prints what it fits.
ANSWERS = sys.stdout
sys.stdout = sys.stderr


def rate(model: torch.nn.Module, windows: torch.Tensor, constants: dict, seconds: float) -> float:
    """Windows a second."""
    began = time.perf_counter()
    done, batch = 0, len(windows)
    while True:
        model(windows, **constants)
        done += batch
        if (elapsed := time.perf_counter() - began) >= seconds:
            return done / elapsed


def main() -> None:
    """Answers until the input ends."""
    known: dict = {}
    prepare_positions(Path("build/braindecode/positions"))
    for line in sys.stdin:
        asked = json.loads(line)
        name, batch = asked["model"], asked["batch"]
        torch.set_num_threads(asked["threads"])
        if name not in known:
            known = {name: described(name).build()}
        model, constants = known[name]
        given = described(name)
        windows = torch.randn(batch, len(given.channels), given.samples)
        extra = {key: value.expand(batch, *value.shape) for key, value in constants.items()}
        with torch.inference_mode():
            print(json.dumps({"rate": rate(model, windows, extra, asked["seconds"])}), flush=True, file=ANSWERS)


if __name__ == "__main__":
    main()
