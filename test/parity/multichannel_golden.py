"""A model of five channels, and its probabilities for the windows of a signal, computed with SciPy and PyTorch.

    python test/parity/multichannel_golden.py

Writes test/fixtures/multichannel/. The packages are those of recordings-requirements.txt and requirements.txt.
"""

import json
from pathlib import Path

import mne
import numpy as np
import pybv
import torch
from scipy import signal
from torch import Tensor, nn

OUTPUT = Path(__file__).parents[1] / "fixtures/multichannel"
CHANNELS = ["Fp1", "Fp2", "Cz", "O1", "O2"]
RATE, LENGTH, STEP = 128, 64, 32
SETTINGS = {
    "name": "five-channels",
    "version": "1",
    "classes": ["left", "right", "rest"],
    "channels": CHANNELS,
    "sampling_rate_hz": RATE,
    "window_length": LENGTH,
    "step": STEP,
    "unit": "uV",
    "missing_channels": "interpolate",
    "preprocess": [
        {"type": "reference"},
        {"type": "filter", "high_pass_hz": 1, "low_pass_hz": 40, "phase": "causal"},
        {"type": "standardize"},
        {"type": "clip", "min": -3, "max": 3},
    ],
}


class ChannelCnn(nn.Module):
    """A convolution over time and one over channels, for windows of [batch, channels, times]."""

    def __init__(self) -> None:
        super().__init__()
        self.temporal = nn.Conv2d(1, 6, (1, 15), padding=(0, 7))
        self.spatial = nn.Conv2d(6, 8, (len(CHANNELS), 1))
        self.classifier = nn.Linear(8 * (LENGTH // 8), len(SETTINGS["classes"]))

    def forward(self, x: Tensor) -> Tensor:
        x = torch.relu(self.spatial(self.temporal(x.unsqueeze(1))))
        return self.classifier(nn.functional.avg_pool2d(x, (1, 8)).flatten(1)) * 4


def preprocess(data: np.ndarray) -> np.ndarray:
    """The steps over the signal."""
    data = data - data.mean(axis=0, keepdims=True)
    return signal.sosfilt(signal.butter(4, [1, 40], "bandpass", fs=RATE, output="sos"), data)


def probabilities(model: nn.Module, window: np.ndarray) -> list[float]:
    """The steps over the window, and the model."""
    deviation = window.std(axis=1, keepdims=True) + 1e-8
    prepared = np.clip((window - window.mean(axis=1, keepdims=True)) / deviation, -3, 3)
    with torch.no_grad():
        return model(torch.tensor(prepared[None], dtype=torch.float32)).softmax(1)[0].tolist()


def epochs(model: nn.Module, data: np.ndarray) -> list[dict]:
    """Writes the signal as a BrainVision recording with events, and classifies windows around them as MNE cuts them."""
    events = [
        {"onset": at, "duration": 1, "description": name, "type": "Comment"}
        for at, name in [(10, "L"), (40, "L"), (101, "R"), (150, "rest"), (200, "R"), (300, "L")]
    ]
    pybv.write_brainvision(
        data=np.vstack([np.zeros(data.shape[1]), data]) * 1e-6,
        sfreq=RATE,
        ch_names=["EOG", *CHANNELS],
        fname_base="recording",
        folder_out=str(OUTPUT),
        events=events,
        fmt="binary_float32",
        overwrite=True,
    )
    raw = mne.io.read_raw_brainvision(OUTPUT / "recording.vhdr", preload=True, verbose="error").pick(CHANNELS)
    processed = mne.io.RawArray(preprocess(raw.get_data() * 1e6), raw.info, verbose="error").set_annotations(raw.annotations)
    found, names = mne.events_from_annotations(processed, {"Comment/L": 1, "Comment/R": 2}, verbose="error")
    tmin = -13 / RATE
    cut = mne.Epochs(
        processed, found, names, tmin, tmin + (LENGTH - 1) / RATE, baseline=(-0.1, 0), preload=True, verbose="error"
    )
    labels = {1: "Comment/L", 2: "Comment/R"}
    return [
        {"event": labels[code], "sample": int(sample), "probabilities": probabilities(model, window)}
        for window, (sample, _, code) in zip(cut.get_data(verbose="error"), cut.events)
    ]


def main() -> None:
    """Writes the model, its settings and the golden values."""
    torch.manual_seed(5)
    model = ChannelCnn().eval()
    OUTPUT.mkdir(parents=True, exist_ok=True)
    torch.jit.save(torch.jit.script(model), OUTPUT / "eeg_model.pt")
    montage = mne.channels.make_standard_montage("colin27_1020").get_positions()["ch_pos"]
    positions = {name: [round(value, 5) for value in montage[name]] for name in CHANNELS}
    (OUTPUT / "eeg_model.json").write_text(json.dumps({**SETTINGS, "positions": positions}, indent=2) + "\n")
    random = np.random.default_rng(11)
    times = np.arange(320) / RATE
    data = np.array([100 * i + 30 * np.sin(2 * np.pi * (4 + 3 * i) * times) + random.normal(0, 10, 320) for i in range(5)])
    data = np.round(data, 2).astype(np.float32).astype(np.float64)
    whole = preprocess(data)
    windows = [probabilities(model, whole[:, at : at + LENGTH]) for at in range(0, 320 - LENGTH + 1, STEP)]
    alone = [probabilities(model, preprocess(data[:, at : at + LENGTH])) for at in range(0, 320 - LENGTH + 1, STEP)]
    content = {"signal": data.tolist(), "windows": windows, "alone": alone, "epochs": epochs(model, data)}
    (OUTPUT / "golden.json").write_text(json.dumps(content) + "\n")


if __name__ == "__main__":
    main()
