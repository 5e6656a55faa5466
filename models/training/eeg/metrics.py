"""Figures by window and by subject, with their uncertainty.

Everything starts from out-of-fold probabilities, shape [repeats, windows, classes]: each
window was predicted, in each repeat, by a model that never saw its subject.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize_scalar

from data import CLASS_COUNT, Doubles, Ints


def balanced_accuracy(labels: Ints, predicted: Ints) -> float:
    """Mean over the classes of the recall."""
    return float(np.mean([np.mean(predicted[labels == c] == c) for c in range(CLASS_COUNT)]))


def subject_probabilities(probabilities: Doubles, subjects: Ints) -> Doubles:
    """[windows, classes] to [subjects, classes]: the mean over each subject's windows."""
    sums = np.zeros((int(subjects.max()) + 1, CLASS_COUNT))
    np.add.at(sums, subjects, probabilities)
    return sums / np.bincount(subjects)[:, None]


def class_weights(labels: Ints) -> Doubles:
    """[windows]: weights that sum to 1 and give each class the same share."""
    weights = 1.0 / np.bincount(labels, minlength=CLASS_COUNT)[labels]
    return np.asarray(weights / weights.sum(), dtype=np.float64)


def log_loss(probabilities: Doubles, labels: Ints) -> float:
    """Mean negative log-likelihood in nats, each class with the same share."""
    chosen = probabilities[np.arange(len(labels)), labels]
    return float(-(class_weights(labels) * np.log(np.maximum(chosen, 1e-12))).sum())


def calibration_error(probabilities: Doubles, labels: Ints, bins: int = 15) -> float:
    """Expected calibration error of the top class, each class with the same share."""
    weights = class_weights(labels)
    confidence = probabilities.max(axis=1)
    gap = weights * ((probabilities.argmax(axis=1) == labels) - confidence)
    index = np.minimum((confidence * bins).astype(np.int64), bins - 1)
    return float(np.abs(np.bincount(index, weights=gap, minlength=bins)).sum())


def fit_temperature(probabilities: Doubles, labels: Ints) -> float:
    """The temperature that minimizes log_loss of softmax(log p / temperature)."""

    def loss(temperature: float) -> float:
        return log_loss(apply_temperature(probabilities, temperature), labels)

    return float(minimize_scalar(loss, bounds=(0.3, 5.0), method="bounded").x)


def apply_temperature(probabilities: Doubles, temperature: float) -> Doubles:
    """softmax(log p / temperature) along the last axis."""
    scaled = np.maximum(probabilities, 1e-12) ** (1.0 / temperature)
    return np.asarray(scaled / scaled.sum(axis=-1, keepdims=True), dtype=np.float64)


@dataclass(frozen=True)
class Outcome:
    """What a bootstrap over subjects needs of one method.

    window_hits, subject_hits: [subjects], the share of a subject's windows that were
    right and whether the subject was, both averaged over the repeats. window_counts:
    [subjects]. by_repeat: [repeats, 2], balanced accuracy by window and by subject.
    """

    window_hits: Doubles
    subject_hits: Doubles
    window_counts: Doubles
    by_repeat: Doubles


def outcome(probabilities: Doubles, subjects: Ints, labels: Ints, subject_labels: Ints) -> Outcome:
    """Scores [repeats, windows, classes]."""
    counts = np.bincount(subjects).astype(np.float64)
    window_hits, subject_hits, by_repeat = [], [], []
    for one in probabilities:
        predicted = one.argmax(axis=1)
        by_subject = subject_probabilities(one, subjects).argmax(axis=1)
        window_hits.append(np.bincount(subjects, weights=predicted == labels) / counts)
        subject_hits.append(by_subject == subject_labels)
        by_repeat.append(
            (balanced_accuracy(labels, predicted), balanced_accuracy(subject_labels, by_subject))
        )
    return Outcome(
        window_hits=np.mean(window_hits, axis=0),
        subject_hits=np.mean(subject_hits, axis=0),
        window_counts=counts,
        by_repeat=np.array(by_repeat),
    )


def resampled(result: Outcome, subject_labels: Ints, draws: Ints) -> Doubles:
    """[draws, 2]: balanced accuracy by window and by subject of each bootstrap draw.

    draws: [draws, subjects], subject indices drawn with replacement within each class.
    """
    figures = np.zeros((len(draws), 2))
    for c in range(CLASS_COUNT):
        picked = draws[:, subject_labels == c]
        counts = result.window_counts[picked]
        figures[:, 0] += (result.window_hits[picked] * counts).sum(axis=1) / counts.sum(axis=1)
        figures[:, 1] += result.subject_hits[picked].mean(axis=1)
    return figures / CLASS_COUNT


def bootstrap_draws(subject_labels: Ints, count: int, seed: int) -> Ints:
    """[count, subjects]: in each class's places, members of that class with replacement."""
    generator = np.random.default_rng(seed)
    draws = np.zeros((count, len(subject_labels)), dtype=np.int64)
    for c in range(CLASS_COUNT):
        members = np.flatnonzero(subject_labels == c)
        draws[:, members] = generator.choice(members, size=(count, len(members)))
    return draws


def interval(values: Doubles) -> tuple[float, float]:
    """The 2.5 and 97.5 percentiles."""
    low, high = np.percentile(values, [2.5, 97.5])
    return float(low), float(high)
