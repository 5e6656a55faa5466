"""The network: three convolutions, global average, one linear layer."""

from __future__ import annotations

from itertools import pairwise

import torch
from torch import nn

from data import CLASS_COUNT, WINDOW

CHANNELS = (1, 16, 32, 64)
KERNELS = (15, 7, 5)
STRIDES = (2, 1, 1)
POOLS = (2, 4, 2)


class EegNet(nn.Module):
    """[n, 1, WINDOW] float32, z-normalized, to [n, CLASS_COUNT] logits.

    Each block is convolution (no bias) - batch norm - ReLU - max pool; freezing a scripted
    copy folds the batch norm into the convolution.
    """

    def __init__(self, dropout: float = 0.0) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        for (inputs, outputs), kernel, stride, pool in zip(
            pairwise(CHANNELS), KERNELS, STRIDES, POOLS, strict=True
        ):
            layers += [
                nn.Conv1d(inputs, outputs, kernel, stride, padding=kernel // 2, bias=False),
                nn.BatchNorm1d(outputs),
                nn.ReLU(),
                nn.MaxPool1d(pool),
            ]
        self.features = nn.Sequential(*layers)
        self.dropout = nn.Dropout(dropout)
        self.head = nn.Linear(CHANNELS[-1], CLASS_COUNT)

    def forward(self, windows: torch.Tensor) -> torch.Tensor:
        return self.head(self.dropout(self.features(windows).mean(dim=-1)))


def multiply_accumulates() -> int:
    """Multiply-accumulates of one window, convolutions and linear layer."""
    length, total = WINDOW, CHANNELS[-1] * CLASS_COUNT
    for (inputs, outputs), kernel, stride, pool in zip(
        pairwise(CHANNELS), KERNELS, STRIDES, POOLS, strict=True
    ):
        length = (length + 2 * (kernel // 2) - kernel) // stride + 1
        total += inputs * outputs * kernel * length
        length //= pool
    return total
