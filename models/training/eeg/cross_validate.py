"""Cross-validation by subject: the network and the baseline on the same folds.

    python cross_validate.py --data DIR [--repeats 3] [--first-split 100]

Stratified folds over subjects, repeated with other splits and seeds. Prints balanced
accuracy by window and by subject (mean probability over the subject's windows), mean and
standard deviation over the repeats, 95 % intervals from a bootstrap over subjects, log
loss, calibration error and the temperature that fits best. No fold's own subjects decide
anything about its training: the number of steps is fixed.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
from sklearn.metrics import confusion_matrix
from sklearn.model_selection import StratifiedKFold

import metrics
from baseline import fit_and_predict, log_band_powers
from data import CLASS_COUNT, Doubles, Recordings, Windows, cut_windows, load_recordings, znormalize
from training import Config, add_options, config_of, make_deterministic, predict, train

METHODS = ("logistic, raw", "logistic, z-normalized", "network")


def one_split(
    recordings: Recordings,
    windows: Windows,
    features: tuple[Doubles, Doubles],
    config: Config,
    split: int,
    folds: int,
) -> Doubles:
    """Out-of-fold probabilities [methods, windows, classes] of one split into folds."""
    normalized = znormalize(windows.raw)
    result = np.zeros((len(METHODS), len(windows.labels), CLASS_COUNT))
    splitter = StratifiedKFold(folds, shuffle=True, random_state=split)
    for fold, (kept, held) in enumerate(splitter.split(recordings.labels, recordings.labels)):
        out = np.isin(windows.subjects, held)
        test, rest = np.flatnonzero(out), np.flatnonzero(~out)
        for method in range(2):
            result[method, test] = fit_and_predict(features[method], windows.labels, rest, test)
        network = train(recordings, kept, config, seed=1000 * split + fold)
        result[2, test] = predict(network, normalized[test])
    return result


def report_method(
    name: str, probabilities: Doubles, windows: Windows, recordings: Recordings, draws: metrics.Ints
) -> Doubles:
    """Prints one method's figures, returns its bootstrap figures [draws, 2]."""
    result = metrics.outcome(probabilities, windows.subjects, windows.labels, recordings.labels)
    figures = metrics.resampled(result, recordings.labels, draws)
    print(f"{name}:")
    for column, level in enumerate(("window", "subject")):
        values = result.by_repeat[:, column]
        low, high = metrics.interval(figures[:, column])
        print(
            f"  balanced accuracy by {level}: {values.mean():.3f}, standard deviation over"
            f" repeats {values.std():.3f}, 95 % interval over subjects {low:.3f} to {high:.3f}"
        )
    losses = [metrics.log_loss(one, windows.labels) for one in probabilities]
    errors = [metrics.calibration_error(one, windows.labels) for one in probabilities]
    print(f"  log loss {np.mean(losses):.3f}, calibration error {np.mean(errors):.3f}")
    return figures


def report(probabilities: Doubles, windows: Windows, recordings: Recordings) -> None:
    """Prints everything of [repeats, methods, windows, classes]."""
    draws = metrics.bootstrap_draws(recordings.labels, count=4000, seed=0)
    figures = [
        report_method(name, probabilities[:, method], windows, recordings, draws)
        for method, name in enumerate(METHODS)
    ]
    for method in range(2):
        for column, level in enumerate(("window", "subject")):
            difference = figures[2][:, column] - figures[method][:, column]
            low, high = metrics.interval(difference)
            print(
                f"network minus {METHODS[method]}, by {level}: {difference.mean():+.3f}, 95 % interval"
                f" {low:+.3f} to {high:+.3f}, above zero in {np.mean(difference > 0):.1%} of the draws"
            )
    network = probabilities[:, 2]
    temperature = float(np.mean([metrics.fit_temperature(one, windows.labels) for one in network]))
    cooled = [metrics.apply_temperature(one, temperature) for one in network]
    losses = [metrics.log_loss(one, windows.labels) for one in cooled]
    errors = [metrics.calibration_error(one, windows.labels) for one in cooled]
    print(
        f"network at its best temperature, {temperature:.2f}: log loss {np.mean(losses):.3f},"
        f" calibration error {np.mean(errors):.3f}"
    )
    by_window = [confusion_matrix(windows.labels, one.argmax(axis=1), normalize="true") for one in network]
    print("network, rows true, columns predicted, by window (share of the row):")
    print(np.mean(by_window, axis=0).round(2))
    by_subject = [
        confusion_matrix(
            recordings.labels, metrics.subject_probabilities(one, windows.subjects).argmax(axis=1)
        )
        for one in network
    ]
    print("by subject (subjects, mean over repeats):")
    print(np.mean(by_subject, axis=0).round(1))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder of signal_T3.npy and index.csv")
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--first-split", type=int, default=100, help="seed of the first repeat's split")
    parser.add_argument(
        "--store",
        type=Path,
        help=".npy of the out-of-fold probabilities: repeats found there are kept, new ones are added;"
        " delete it when an option changes",
    )
    add_options(parser)
    arguments = parser.parse_args()
    make_deterministic()
    config = config_of(arguments)
    print(config)
    recordings = load_recordings(arguments.data)
    windows = cut_windows(recordings)
    features = (log_band_powers(windows.raw), log_band_powers(znormalize(windows.raw)))
    repeats: list[Doubles] = []
    store: Path | None = arguments.store
    if store is not None and store.exists():
        repeats = [one.astype(np.float64) for one in np.load(store)[: arguments.repeats]]
    for repeat in range(len(repeats), arguments.repeats):
        began = time.monotonic()
        split = arguments.first_split + repeat
        repeats.append(one_split(recordings, windows, features, config, split, arguments.folds))
        print(f"repeat {repeat + 1} of {arguments.repeats}: {time.monotonic() - began:.0f} s", flush=True)
        if store is not None:
            np.save(store, np.stack(repeats).astype(np.float32))
    report(np.stack(repeats), windows, recordings)


if __name__ == "__main__":
    main()
