"""The baseline: log band powers and logistic regression."""

from __future__ import annotations

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from data import SAMPLE_RATE_HZ, WINDOW, Doubles, Ints

# delta, theta, alpha, beta, gamma
BAND_EDGES_HZ = (0.5, 4.0, 8.0, 13.0, 25.0, 45.0)


def log_band_powers(windows: Doubles) -> Doubles:
    """[windows, WINDOW] to [windows, 5]: log of the mean Hann periodogram in each band."""
    centred = windows - windows.mean(axis=1, keepdims=True)
    power = np.abs(np.fft.rfft(centred * np.hanning(WINDOW), axis=1)) ** 2
    frequencies = np.fft.rfftfreq(WINDOW, 1.0 / SAMPLE_RATE_HZ)
    bands = [
        power[:, (frequencies >= low) & (frequencies < high)].mean(axis=1)
        for low, high in zip(BAND_EDGES_HZ[:-1], BAND_EDGES_HZ[1:], strict=True)
    ]
    return np.asarray(np.log(np.stack(bands, axis=1) + 1e-6), dtype=np.float64)


def fit_and_predict(features: Doubles, labels: Ints, train: Ints, test: Ints) -> Doubles:
    """Probabilities [test, classes] of a class-balanced logistic regression.

    features: [windows, 5]; labels: [windows]; train and test index windows.
    """
    model = make_pipeline(StandardScaler(), LogisticRegression(class_weight="balanced", max_iter=500))
    model.fit(features[train], labels[train])
    return np.asarray(model.predict_proba(features[test]), dtype=np.float64)
