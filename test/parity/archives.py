"""pytorch_model.bin files that must be refused with a clear message; tests put them in the place of
a good one."""

import os
from collections import OrderedDict
from pathlib import Path

import torch


class RunsOnLoad:
    """Unpickled by a careless reader, it makes the directory that a test then looks for."""

    def __reduce__(self) -> tuple:
        return os.mkdir, ("malicious-pickle-ran",)


def make(directory: Path) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    weights = OrderedDict({"classifier.weight": torch.arange(6.0).reshape(2, 3)})
    torch.save({**weights, "classifier.bias": RunsOnLoad()}, directory / "runs-code.bin")
    # The format before torch 1.6: no zip archive.
    torch.save(weights, directory / "legacy-format.bin", _use_new_zipfile_serialization=False)
    # A training checkpoint, with the weights one level down.
    torch.save({"epoch": 3, "state_dict": weights}, directory / "training-checkpoint.bin")
    torch.save([weights["classifier.weight"]], directory / "list.bin")
