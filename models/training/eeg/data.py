"""Recordings, windows and the service's z-normalization.

The data folder holds `signal_T3.npy` (float32, microvolt, 95 Hz, all subjects end to
end) and `index.csv` (subject, group, class_index, class_name, start, length). They are
the T3 channel of OpenNeuro ds004504 (Miltiadous et al., Data 2023, 8(6):95), CC0.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

SAMPLE_RATE_HZ = 95.0
WINDOW = 256
CLASS_NAMES = ("Control", "Alzheimer's Disease (AD)", "Frontotemporal Dementia (FTD)")
CLASS_COUNT = len(CLASS_NAMES)

Floats = npt.NDArray[np.float32]
Doubles = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Recordings:
    """All subjects' signals end to end.

    signal: [samples], microvolt. starts, lengths, labels: [subjects]; starts and lengths
    count samples into signal; labels are class indices in the order of CLASS_NAMES.
    """

    signal: Floats
    starts: Ints
    lengths: Ints
    labels: Ints

    @property
    def subject_count(self) -> int:
        return len(self.labels)


@dataclass(frozen=True)
class Windows:
    """Consecutive windows that don't overlap.

    raw: [windows, WINDOW], microvolt. subjects, labels: [windows]; subjects index into
    the recordings.
    """

    raw: Doubles
    subjects: Ints
    labels: Ints


def load_recordings(folder: Path) -> Recordings:
    """Reads signal_T3.npy and index.csv of a data folder."""
    with (folder / "index.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        if CLASS_NAMES[int(row["class_index"])] != row["class_name"]:
            raise ValueError(f"{row['subject']}: class {row['class_index']} is not {row['class_name']}")

    def column(name: str) -> Ints:
        return np.array([int(row[name]) for row in rows], dtype=np.int64)

    return Recordings(
        signal=np.load(folder / "signal_T3.npy"),
        starts=column("start"),
        lengths=column("length"),
        labels=column("class_index"),
    )


def cut_windows(recordings: Recordings) -> Windows:
    """Cuts each subject into floor(length / WINDOW) windows, in time order."""
    raw: list[Doubles] = []
    subjects: list[Ints] = []
    for subject in range(recordings.subject_count):
        count = int(recordings.lengths[subject]) // WINDOW
        start = int(recordings.starts[subject])
        part = recordings.signal[start : start + count * WINDOW]
        raw.append(part.reshape(count, WINDOW).astype(np.float64))
        subjects.append(np.full(count, subject, dtype=np.int64))
    owner = np.concatenate(subjects)
    return Windows(raw=np.concatenate(raw), subjects=owner, labels=recordings.labels[owner])


def znormalize(windows: Doubles) -> Doubles:
    """(v - mean) / (population std + 1e-8) along the last axis, as the service does."""
    mean = windows.mean(axis=-1, keepdims=True)
    std = windows.std(axis=-1, keepdims=True)
    return (windows - mean) / (std + 1e-8)
