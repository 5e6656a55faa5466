"""Signals after the steps of `preprocess`, computed by SciPy, pandas and MNE.

    python test/parity/preprocessing_golden.py

Writes test/fixtures/preprocessing/golden.json.
"""

import json
from pathlib import Path

import mne
import numpy as np
import pandas as pd
from scipy import signal

OUTPUT = Path(__file__).parents[1] / "fixtures/preprocessing/golden.json"
RATE = 250
CHANNELS = ["Fp1", "Cz", "O2", "A1"]
SAMPLES = 500


def make_signal() -> np.ndarray:
    """Sines, noise and an offset per channel, in microvolts."""
    random = np.random.default_rng(7)
    times = np.arange(SAMPLES) / RATE
    rows = [
        offset + 20 * np.sin(2 * np.pi * frequency * times) + 5 * np.sin(2 * np.pi * 50 * times) + random.normal(0, 3, SAMPLES)
        for offset, frequency in [(0, 10), (40, 6), (-15, 22), (1000, 3)]
    ]
    return np.round(np.array(rows), 3)


def sections(settings: dict) -> np.ndarray:
    """The filter of a step of type filter or notch."""
    if settings["type"] == "notch":
        all_sections = [
            np.concatenate(signal.iirnotch(frequency, settings.get("quality", 30), RATE))
            for frequency in np.atleast_1d(settings["frequency_hz"])
        ]
        return np.array(all_sections)
    low, high = settings.get("high_pass_hz"), settings.get("low_pass_hz")
    kind, band = ("bandpass", [low, high]) if low and high else ("highpass", low) if low else ("lowpass", high)
    return signal.butter(settings.get("order", 4), band, kind, fs=RATE, output="sos")


def filtered(data: np.ndarray, settings: dict) -> np.ndarray:
    """SciPy's result of a step of type filter or notch."""
    sos = sections(settings)
    if settings.get("phase", "zero") == "zero":
        return signal.sosfiltfilt(sos, data)
    if settings.get("initial") != "steady":
        return signal.sosfilt(sos, data)
    state = signal.sosfilt_zi(sos)[:, None, :] * data[None, :, :1]
    return signal.sosfilt(sos, data, zi=state)[0]


def moving_standardized(data: np.ndarray, settings: dict) -> np.ndarray:
    """braindecode.preprocessing.exponential_moving_standardize."""
    factor, size, eps = settings.get("factor_new", 0.001), settings.get("init_block_size"), settings.get("eps", 1e-4)
    frame = pd.DataFrame(data.T)
    demeaned = frame - frame.ewm(alpha=factor).mean()
    squares = (demeaned * demeaned).ewm(alpha=factor).mean()
    result = np.array(demeaned / np.maximum(eps, np.sqrt(np.array(squares))))
    if size is not None:
        first = data.T[:size]
        deviation = np.maximum(eps, first.std(axis=0, keepdims=True))
        result[:size] = (first - first.mean(axis=0, keepdims=True)) / deviation
    return result.T


def raw_of(data: np.ndarray) -> mne.io.RawArray:
    """A recording of MNE."""
    return mne.io.RawArray(data.copy(), mne.create_info(CHANNELS, RATE, "eeg"), verbose="error")


def referenced(data: np.ndarray, settings: dict) -> np.ndarray:
    """MNE's result of a step of type reference."""
    names = settings.get("channels") or "average"
    return mne.set_eeg_reference(raw_of(data), names, projection=False, verbose="error")[0].get_data()


def resampled(data: np.ndarray, settings: dict) -> np.ndarray:
    """SciPy's result of a step of type resample."""
    return signal.resample_poly(data, settings["sampling_rate_hz"], RATE, axis=1)


COMPUTE = {
    "filter": filtered,
    "notch": filtered,
    "exponential_moving_standardize": moving_standardized,
    "reference": referenced,
    "resample": resampled,
}
STEPS = [
    {"type": "filter", "high_pass_hz": 1, "low_pass_hz": 40},
    {"type": "filter", "high_pass_hz": 0.5, "order": 2, "phase": "causal"},
    {"type": "filter", "low_pass_hz": 30, "order": 5},
    {"type": "filter", "low_pass_hz": 30, "order": 1},
    {"type": "filter", "high_pass_hz": 4, "order": 3},
    {"type": "filter", "high_pass_hz": 1, "low_pass_hz": 120, "order": 3, "phase": "causal"},
    {"type": "filter", "high_pass_hz": 8, "low_pass_hz": 13, "order": 10},
    {"type": "filter", "high_pass_hz": 4, "low_pass_hz": 38, "phase": "causal", "initial": "steady"},
    {"type": "notch", "frequency_hz": 50},
    {"type": "notch", "frequency_hz": [50, 100], "quality": 10, "phase": "causal"},
    {"type": "resample", "sampling_rate_hz": 128},
    {"type": "resample", "sampling_rate_hz": 95},
    {"type": "resample", "sampling_rate_hz": 512},
    {"type": "exponential_moving_standardize"},
    {"type": "exponential_moving_standardize", "factor_new": 0.02, "init_block_size": 100},
    {"type": "reference"},
    {"type": "reference", "channels": ["A1"]},
]


def interpolation() -> dict:
    """A missing electrode, interpolated by MNE."""
    names = ["Fp1", "Fp2", "F3", "F4", "C3", "Cz", "C4", "P3", "P4", "O1", "O2"]
    montage = mne.channels.make_standard_montage("colin27_1020")
    data = np.random.default_rng(3).normal(0, 20e-6, (len(names), 50))
    raw = mne.io.RawArray(data.copy(), mne.create_info(names, RATE, "eeg"), verbose="error")
    raw.set_montage(montage)
    raw.info["bads"] = ["Cz", "P4"]
    raw.interpolate_bads(origin=(0.0, 0.0, 0.0), verbose="error")
    positions = {info["ch_name"]: info["loc"][:3].tolist() for info in raw.info["chs"]}
    missing = {name: (raw.get_data([name])[0] * 1e6).tolist() for name in ["Cz", "P4"]}
    signals = {name: (row * 1e6).tolist() for name, row in zip(names, data) if name not in missing}
    return {"positions": positions, "signals": signals, "missing": missing}


def main() -> None:
    """Writes the fixture."""
    data = make_signal()
    cases = [{"steps": [step], "result": COMPUTE[step["type"]](data, step)} for step in STEPS]
    chain = [
        {"type": "reference", "channels": ["A1"]},
        {"type": "filter", "high_pass_hz": 1, "low_pass_hz": 40, "phase": "causal"},
        {"type": "resample", "sampling_rate_hz": 125},
        {"type": "exponential_moving_standardize", "init_block_size": 50},
    ]
    result = data
    for step in chain:
        result = COMPUTE[step["type"]](result, step)
    cases.append({"steps": chain, "result": result})
    for case in cases:
        case["result"] = [[float(f"{value:.12g}") for value in row] for row in case["result"].tolist()]
    OUTPUT.parent.mkdir(parents=True, exist_ok=True)
    content = {
        "sampling_rate_hz": RATE,
        "channels": CHANNELS,
        "signal": data.tolist(),
        "cases": cases,
        "interpolation": interpolation(),
    }
    OUTPUT.write_text(json.dumps(content) + "\n")


if __name__ == "__main__":
    main()
