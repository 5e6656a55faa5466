"""From the trained network to the TorchScript file, and what is checked of that file."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.nn.utils.fusion import fuse_conv_bn_eval

from data import CLASS_COUNT, WINDOW, Doubles
from network import EegNet


class DeployedNet(nn.Module):
    """EegNet without what only training needs: [n, 1, WINDOW] to [n, CLASS_COUNT] logits.

    Batch norm is folded into the convolutions, dropout is gone, and the head is divided by
    the temperature, so that a softmax over the logits is as confident as it may be.
    """

    def __init__(self, trained: EegNet, temperature: float) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        for layer in trained.eval().features:
            if isinstance(layer, nn.BatchNorm1d):
                layers[-1] = fuse_conv_bn_eval(layers[-1], layer)
            else:
                layers.append(layer)
        self.features = nn.Sequential(*layers)
        self.head = nn.Linear(trained.head.in_features, CLASS_COUNT)
        with torch.no_grad():
            self.head.weight.copy_(trained.head.weight / temperature)
            self.head.bias.copy_(trained.head.bias / temperature)

    def forward(self, windows: torch.Tensor) -> torch.Tensor:
        return self.head(self.features(windows).mean(dim=-1))


def copy_without_debug_records(source: Path, target: Path) -> None:
    """Leaves out the .debug_pkl records: they hold this machine's source paths."""
    reader = torch._C.PyTorchFileReader(str(source))
    writer = torch._C.PyTorchFileWriter(str(target))
    for name in reader.get_all_records():
        if not name.endswith(".debug_pkl") and name not in ("version", ".data/serialization_id"):
            record = reader.get_record(name)
            writer.write_record(name, record, len(record))
    writer.write_end_of_file()


def save(network: EegNet, temperature: float, target: Path) -> None:
    """Writes the TorchScript file."""
    scripted = torch.jit.script(DeployedNet(network, temperature).eval())
    raw = target.with_suffix(".tmp")
    scripted.save(str(raw))
    copy_without_debug_records(raw, target)
    raw.unlink()


@torch.inference_mode()
def check(target: Path, network: EegNet, temperature: float, normalized: Doubles) -> None:
    """Loads the file again; raises if it isn't what the service expects of it.

    normalized: [windows, WINDOW], z-normalized.
    """
    loaded = torch.jit.freeze(torch.jit.load(str(target)).eval())
    windows = torch.from_numpy(normalized[:256].astype(np.float32))[:, None]
    together = loaded(windows)
    alone = torch.cat([loaded(window[None]) for window in windows])
    differences = {
        "alone and in a batch": (together - alone).abs().max().item(),
        "file and network": (together - network(windows) / temperature).abs().max().item(),
    }
    for what, difference in differences.items():
        print(f"largest logit difference, {what}: {difference:.1e}")
        if not difference < 1e-4:
            raise RuntimeError(f"{what}: logits differ by {difference}")
    zeros = loaded(torch.zeros(1, 1, WINDOW))
    print(f"probabilities of an all-zero window: {zeros.softmax(-1).numpy().round(4).tolist()}")
    if tuple(together.shape) != (len(windows), CLASS_COUNT) or not torch.isfinite(zeros).all():
        raise RuntimeError("the output is not finite or has the wrong shape")


@torch.inference_mode()
def measure(target: Path, batch: int, seconds: float = 2.0) -> float:
    """Median milliseconds a window, one thread, frozen TorchScript."""
    loaded = torch.jit.freeze(torch.jit.load(str(target)).eval())
    windows = torch.randn(batch, 1, WINDOW)
    for _ in range(30):
        loaded(windows)
    times: list[float] = []
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        began = time.perf_counter()
        loaded(windows)
        times.append(time.perf_counter() - began)
    return 1000.0 * float(np.median(times)) / batch
