"""A model of the shape of EEGNet for 64 channels and 512 samples, random weights, as TorchScript with its settings.

    python bench/channels/model.py FOLDER
"""

import json
import sys
from pathlib import Path

import torch
from torch import Tensor, nn

CHANNELS = [f"E{index}" for index in range(1, 65)]
RATE, LENGTH = 512, 512


class EegNet(nn.Module):
    """EEGNet (Lawhern et al. 2018): temporal, spatial and separable convolution."""

    def __init__(self) -> None:
        super().__init__()
        self.temporal = nn.Sequential(nn.Conv2d(1, 8, (1, 64), padding="same", bias=False), nn.BatchNorm2d(8))
        self.spatial = nn.Sequential(nn.Conv2d(8, 16, (64, 1), groups=8, bias=False), nn.BatchNorm2d(16), nn.ELU())
        self.separable = nn.Sequential(
            nn.Conv2d(16, 16, (1, 16), padding="same", groups=16, bias=False),
            nn.Conv2d(16, 16, 1, bias=False),
            nn.BatchNorm2d(16),
            nn.ELU(),
        )
        self.classifier = nn.Linear(16 * (LENGTH // 32), 3)

    def forward(self, x: Tensor) -> Tensor:
        x = nn.functional.avg_pool2d(self.spatial(self.temporal(x.unsqueeze(1))), (1, 4))
        x = nn.functional.avg_pool2d(self.separable(x), (1, 8))
        return self.classifier(x.flatten(1))


def main() -> None:
    """Writes eeg_model.pt and eeg_model.json."""
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(3)
    torch.jit.save(torch.jit.script(EegNet().eval()), folder / "eeg_model.pt")
    settings = {
        "classes": ["left", "right", "rest"],
        "channels": CHANNELS,
        "sampling_rate_hz": RATE,
        "window_length": LENGTH,
        "step": 64,
        "preprocess": [
            {"type": "reference"},
            {"type": "filter", "high_pass_hz": 1, "low_pass_hz": 40, "phase": "causal"},
            {"type": "standardize"},
        ],
    }
    (folder / "eeg_model.json").write_text(json.dumps(settings))


if __name__ == "__main__":
    main()
