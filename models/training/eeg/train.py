"""Trains the shipped model on all subjects and writes the TorchScript file.

    python train.py --data DIR --output eeg_model.pt

Every choice is cross_validate.py's. The accuracy printed here is on the training
subjects themselves and says nothing about new ones.
"""

from __future__ import annotations

import argparse
import hashlib
from pathlib import Path

import numpy as np

import metrics
from data import cut_windows, load_recordings, znormalize
from export import check, measure, save
from network import multiply_accumulates
from training import add_options, config_of, make_deterministic, predict, train

SEED = 20240504
TEMPERATURE = 1.4


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder of signal_T3.npy and index.csv")
    parser.add_argument("--output", type=Path, required=True, help="the TorchScript file to write")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--temperature", type=float, default=TEMPERATURE, help="from cross_validate.py")
    add_options(parser)
    arguments = parser.parse_args()
    make_deterministic()
    config = config_of(arguments)
    print(config, f"seed {arguments.seed}, temperature {arguments.temperature}")

    recordings = load_recordings(arguments.data)
    windows = cut_windows(recordings)
    normalized = znormalize(windows.raw)
    network = train(recordings, np.arange(recordings.subject_count), config, arguments.seed)
    predicted = predict(network, normalized).argmax(axis=1)
    resubstitution = metrics.balanced_accuracy(windows.labels, predicted)
    print(f"balanced accuracy by window on the training subjects: {resubstitution:.3f}")

    save(network, arguments.temperature, arguments.output)
    check(arguments.output, network, arguments.temperature, normalized)
    content = arguments.output.read_bytes()
    parameters = sum(parameter.numel() for parameter in network.parameters())
    print(f"{parameters} parameters, {multiply_accumulates()} multiply-accumulates a window")
    print(f"{len(content)} bytes, SHA-256 {hashlib.sha256(content).hexdigest()}")
    for batch in (1, 32):
        print(f"batch {batch}: {measure(arguments.output, batch):.4f} ms a window, one thread")


if __name__ == "__main__":
    main()
