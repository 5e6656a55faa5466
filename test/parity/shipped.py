"""The answers of transformers and torch for the models that the project ships."""

from pathlib import Path

import torch
from common import floats, versions, write_json
from eeg_golden import answer
from eeg_windows import as_float32, z_normalize
from shipped_inputs import sentences, synthetic_windows
from text_golden import LABEL_MARGIN, answers, margin, position_limit


def make(sentiment: Path, eeg: Path, directory: Path) -> None:
    rows = [row for row in answers(sentiment, sentences()) if margin(row) > LABEL_MARGIN]
    head = {"versions": versions(), "max_length": position_limit(sentiment)}
    write_json(directory / "shipped-sentiment.json", head, "texts", rows)
    labels = [row["label"] for row in rows]
    counts = {label: labels.count(label) for label in sorted(set(labels))}
    print(f"shipped-sentiment.json: {len(rows)} texts, {counts}")

    signals = synthetic_windows()
    normalized = [as_float32(z_normalize(signal)) for signal in signals]
    windows = [
        {"signal": signal, **row}
        for signal, row in zip(signals, answer(eeg / "eeg_model.pt", normalized))
    ]
    write_json(directory / "shipped-eeg.json", {"versions": versions()}, "windows", windows)
    best = torch.tensor([window["logits"] for window in windows]).argmax(1).bincount(minlength=3)
    print(f"shipped-eeg.json: {len(windows)} windows, answers by class {[int(x) for x in floats(best)]}")
