"""Files of torch.save: checkpoints that must be refused with a clear message, which tests put in the
place of a good one, and small ones with every kind of tensor that must be read."""

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
    # A training checkpoint, with the weights one level down.
    torch.save({"epoch": 3, "state_dict": weights}, directory / "training-checkpoint.bin")
    torch.save([weights["classifier.weight"]], directory / "list.bin")
    torch.save(varied_tensors(), directory / "varied-zip.bin")
    torch.save(varied_tensors(), directory / "varied-zip-protocol-4.bin", pickle_protocol=4)
    legacy = {"_use_new_zipfile_serialization": False}  # the format before torch 1.6
    torch.save(varied_tensors(), directory / "varied-legacy.bin", **legacy)
    torch.save(
        varied_tensors(), directory / "varied-legacy-protocol-4.bin", pickle_protocol=4, **legacy
    )


def varied_tensors() -> OrderedDict:
    """Views of one storage, each stored type, buffers that are no weights, a parameter, an empty
    tensor. The C++ suite knows these values."""
    flat = torch.arange(24, dtype=torch.float32)
    state = OrderedDict(
        {
            "flat": flat,
            "rows": flat[4:16].view(3, 4),
            "transposed": flat[4:16].view(3, 4).t(),
            "column": flat.view(6, 4)[:, 1],
            "expanded": flat[5:6].expand(3, 2),
            "half": torch.tensor([1.0, -2.5]).half(),
            "bfloat16": torch.tensor([0.5, 3.0]).bfloat16(),
            "double": torch.tensor([1.0, 0.1], dtype=torch.float64),
            "parameter": torch.nn.Parameter(torch.tensor([[7.0]])),
            "scalar": torch.tensor(9.0),
            "empty": torch.zeros(0, 3),
            "position_ids": torch.arange(5).unsqueeze(0),
            "mask": torch.tensor([True, False]),
        }
    )
    state._metadata = {"": {"version": 1}}
    return state
