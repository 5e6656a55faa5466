"""Training on randomly placed windows, class- and subject-balanced, and prediction."""

from __future__ import annotations

import argparse
import copy
from collections.abc import Iterator
from dataclasses import dataclass, fields

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from data import CLASS_COUNT, WINDOW, Doubles, Ints, Recordings
from network import EegNet


@dataclass(frozen=True)
class Config:
    """What cross-validation fixed.

    noise: each window gets white noise of a standard deviation drawn from [0, noise], in
    units of the window's own. mixup: parameter of the beta distribution, 0 for none.
    averaging: decay of the moving average of the weights, which is what is shipped.
    """

    steps: int = 800
    batch: int = 128
    learning_rate: float = 2e-3
    warmup: int = 50
    weight_decay: float = 1e-2
    dropout: float = 0.3
    noise: float = 0.1
    mixup: float = 0.0
    smoothing: float = 0.05
    averaging: float = 0.99


def add_options(parser: argparse.ArgumentParser) -> None:
    """One option per field of Config, with its default."""
    for field in fields(Config):
        kind = int if isinstance(field.default, int) else float
        parser.add_argument(f"--{field.name.replace('_', '-')}", type=kind, default=field.default)


def config_of(arguments: argparse.Namespace) -> Config:
    return Config(**{field.name: getattr(arguments, field.name) for field in fields(Config)})


def make_deterministic() -> None:
    """One thread and deterministic algorithms: same seed and machine type, same weights."""
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)


def normalize(windows: torch.Tensor) -> torch.Tensor:
    """The service's z-normalization in float32, along the last axis."""
    mean = windows.mean(dim=-1, keepdim=True)
    std = windows.std(dim=-1, keepdim=True, correction=0)
    return (windows - mean) / (std + 1e-8)


def batches(
    recordings: Recordings, subjects: Ints, config: Config, seed: int
) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    """Yields windows [batch, 1, WINDOW] and target probabilities [batch, classes].

    Class, then subject within the class, then position in the recording, then sign: each
    drawn uniformly.
    """
    random = np.random.default_rng(seed)
    noise = torch.Generator().manual_seed(seed)
    signal = torch.from_numpy(recordings.signal)
    members = [subjects[recordings.labels[subjects] == c] for c in range(CLASS_COUNT)]
    samples = torch.arange(WINDOW)
    shape = (config.batch, 1)
    for _ in range(config.steps):
        classes = random.integers(0, CLASS_COUNT, config.batch)
        chosen = np.array([random.choice(members[c]) for c in classes])
        room = recordings.lengths[chosen] - WINDOW + 1
        starts = recordings.starts[chosen] + (random.random(config.batch) * room).astype(np.int64)
        windows = normalize(signal[torch.from_numpy(starts)[:, None] + samples])
        signs = torch.from_numpy(random.choice([-1.0, 1.0], shape).astype(np.float32))
        level = torch.from_numpy(random.uniform(0.0, config.noise, shape).astype(np.float32))
        windows = signs * windows + level * torch.randn(windows.shape, generator=noise)
        targets = functional.one_hot(torch.from_numpy(classes), CLASS_COUNT).float()
        if config.mixup > 0.0:
            share = random.beta(config.mixup, config.mixup, shape).astype(np.float32)
            keep, other = torch.from_numpy(share), torch.from_numpy(random.permutation(config.batch))
            windows = keep * normalize(windows) + (1 - keep) * normalize(windows[other])
            targets = keep * targets + (1 - keep) * targets[other]
        yield normalize(windows)[:, None], targets


@torch.no_grad()
def average_into(average: nn.Module, network: nn.Module, decay: float) -> None:
    """average = decay * average + (1 - decay) * network; counters are copied."""
    for kept, new in zip(average.state_dict().values(), network.state_dict().values(), strict=True):
        if kept.dtype.is_floating_point:
            kept.lerp_(new, 1.0 - decay)
        else:
            kept.copy_(new)


def train(recordings: Recordings, subjects: Ints, config: Config, seed: int) -> EegNet:
    """Trains for exactly config.steps on these subjects; returns the averaged network."""
    torch.manual_seed(seed)
    network = EegNet(config.dropout)
    average = copy.deepcopy(network)
    optimizer = torch.optim.AdamW(
        network.parameters(), lr=config.learning_rate, weight_decay=config.weight_decay
    )
    network.train()
    for step, (windows, targets) in enumerate(batches(recordings, subjects, config, seed), start=1):
        for group in optimizer.param_groups:
            group["lr"] = config.learning_rate * min(1.0, step / config.warmup)
        logits = network(windows)
        loss = functional.cross_entropy(logits, targets, label_smoothing=config.smoothing)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        average_into(average, network, min(config.averaging, (1 + step) / (10 + step)))
    return average.eval()


@torch.inference_mode()
def predict(network: nn.Module, windows: Doubles) -> Doubles:
    """Probabilities [windows, classes] of z-normalized windows [windows, WINDOW]."""
    inputs = torch.from_numpy(windows.astype(np.float32))[:, None]
    parts = [functional.softmax(network(part), dim=-1) for part in inputs.split(1024)]
    return torch.cat(parts).numpy().astype(np.float64)
