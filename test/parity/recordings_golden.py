"""Recordings of several programs, and what MNE-Python, pyEDFlib and pyxdf read in them.

    pip install -r test/parity/recordings-requirements.txt
    python test/parity/recordings_golden.py  # test/fixtures/recordings
"""

import datetime
import importlib.metadata
import json
import warnings
from pathlib import Path

import mne
import numpy as np
import pybv
import pyedflib
from recordings_by_hand import UNUSUAL, write_unusual
from recordings_xdf import xdf_cases

FOLDER = Path(__file__).parent.parent / "fixtures" / "recordings"
START = datetime.datetime(2024, 2, 29, 13, 5, 7, 250000, tzinfo=datetime.timezone.utc)
#: Factor from the SI units in which MNE-Python returns samples.
PER_UNIT = {"V": 1, "mV": 1e3, "µV": 1e6, "uV": 1e6, "nV": 1e9, "µS": 1e6}
LABELS = ["Fp1", "T3", "O2"]
#: Formats of pybv with the resolution in microvolts.
PYBV_FORMATS = {"binary_int16": 0.1, "binary_float32": 0.5}


def signals(seconds: float, rate: float, seed: int) -> np.ndarray:
    """Signals in microvolts, one row per channel."""
    random = np.random.default_rng(seed)
    time = np.arange(round(seconds * rate)) / rate
    rows = [30 * np.sin(2 * np.pi * hz * time) + random.normal(0, 8, len(time)) for hz in (6, 10, 17)]
    return np.round(np.array(rows), 2)


def raw_of(seconds: float = 3, rate: float = 100) -> mne.io.RawArray:
    info = mne.create_info(LABELS, rate, "eeg")
    raw = mne.io.RawArray(signals(seconds, rate, 1) * 1e-6, info)
    raw.set_meas_date(START)
    onsets, durations, texts = [0.25, 1.5, 1.75], [0, 0.5, 0.1], ["start", "Augen zu – ü", "spike"]
    annotations = mne.Annotations(onsets, durations, texts, orig_time=START, ch_names=[[], [], ["T3"]])
    return raw.set_annotations(annotations)


def write_pyedflib(name: str, kind: int) -> None:
    """Channels of different sampling rates, and annotations with and without durations."""
    writer = pyedflib.EdfWriter(str(FOLDER / name), 2, file_type=kind)
    bits = 23 if kind == pyedflib.FILETYPE_BDFPLUS else 15
    for index, (label, rate) in enumerate((("EEG T3-Ref", 200), ("ECG", 50))):
        writer.setSignalHeader(index, {
            "label": label, "dimension": "uV" if index == 0 else "mV", "sample_frequency": rate,
            "physical_min": -200.0, "physical_max": 200.0,
            "digital_min": -(2**bits), "digital_max": 2**bits - 1, "transducer": "", "prefilter": "",
        })
    writer.setStartdatetime(datetime.datetime(2024, 2, 29, 13, 5, 7, 250000))
    writer.writeSamples([signals(2, 200, 2)[0], signals(2, 50, 3)[1]])
    writer.writeAnnotation(0.1, -1, "begin")
    writer.writeAnnotation(1.2345, 0.5, "Müdigkeit")
    writer.close()


def write_files() -> None:
    raw = raw_of()
    for name in ("mne-export.edf", "mne-export.bdf", "mne-export.vhdr"):
        mne.export.export_raw(FOLDER / name, raw, overwrite=True)
    write_pyedflib("pyedflib.edf", pyedflib.FILETYPE_EDFPLUS)
    write_pyedflib("pyedflib.bdf", pyedflib.FILETYPE_BDFPLUS)
    events = [
        {"onset": 10, "duration": 1, "description": 1, "type": "Stimulus"},
        {"onset": 100, "duration": 25, "description": "Augen zu ü", "type": "Comment", "channels": ["T3"]},
        {"onset": 200, "duration": 1, "description": 255, "type": "Response"},
    ]
    for kind, resolution in PYBV_FORMATS.items():
        pybv.write_brainvision(
            data=signals(3, 100, 4) * 1e-6, sfreq=100, ch_names=LABELS, fname_base=f"pybv-{kind}",
            folder_out=FOLDER, overwrite=True, events=events, resolution=resolution, unit="µV", fmt=kind,
            meas_date=START.replace(tzinfo=None),
        )
    write_unusual(FOLDER)


def read_mne(name: str) -> dict:
    path = FOLDER / name
    readers = {".edf": mne.io.read_raw_edf, ".bdf": mne.io.read_raw_bdf, ".vhdr": mne.io.read_raw_brainvision}
    options = {} if path.suffix == ".vhdr" else {"stim_channel": False}
    raw = readers[path.suffix](path, preload=True, **options)
    units = raw._orig_units
    channels = [
        {
            "label": label, "unit": units.get(label), "rate": raw.info["sfreq"],
            "samples": (raw.get_data([label])[0] * PER_UNIT.get(units.get(label), 1)).tolist(),
        }
        for label in raw.ch_names
    ]
    annotations = [
        {"onset": float(one["onset"]), "duration": float(one["duration"]), "text": str(one["description"]),
         "channels": list(one.get("ch_names") or [])}
        for one in raw.annotations
    ]
    date = raw.info["meas_date"]
    return {"file": name, "reader": "mne", "start": date and date.isoformat(), "channels": channels,
            "annotations": annotations}


def read_pyedflib(name: str) -> dict:
    """Channels at their own rates, which MNE-Python resamples to one rate."""
    reader = pyedflib.EdfReader(str(FOLDER / name))
    channels = [
        {"label": reader.getLabel(i), "unit": reader.getPhysicalDimension(i), "rate": reader.getSampleFrequency(i),
         "samples": reader.readSignal(i).tolist()}
        for i in range(reader.signals_in_file)
    ]
    onsets, durations, texts = reader.readAnnotations()
    annotations = [
        {"onset": float(onset), "duration": float(duration), "text": str(text), "channels": []}
        for onset, duration, text in zip(onsets, durations, texts)
    ]
    start = reader.getStartdatetime().isoformat()
    reader.close()
    return {"file": name, "reader": "pyedflib", "start": start, "channels": channels, "annotations": annotations}


def events_of(name: str) -> list[dict]:
    """Triggers of the Status channel of BioSemi."""
    raw = mne.io.read_raw_bdf(FOLDER / name, preload=True, stim_channel="Status")
    events = mne.find_events(raw, stim_channel="Status", shortest_event=1, consecutive=True, mask=0xFFFF,
                             mask_type="and")
    return [{"onset": int(sample) / raw.info["sfreq"], "text": str(code)} for sample, _, code in events]


def main() -> None:
    warnings.simplefilter("ignore")
    mne.set_log_level("ERROR")
    FOLDER.mkdir(parents=True, exist_ok=True)
    write_files()
    files = [read_mne(name) for name in ("mne-export.edf", "mne-export.bdf", "mne-export.vhdr")]
    files += [read_mne(f"pybv-{kind}.vhdr") for kind in PYBV_FORMATS]
    files += [read_pyedflib(name) for name in ("pyedflib.edf", "pyedflib.bdf")]
    files += [read_mne(name) for name in UNUSUAL]
    triggers = {name: events_of(name) for name in UNUSUAL if name.startswith("biosemi")}
    names = ("edfio", "mne", "numpy", "pybv", "pyEDFlib", "pyxdf")
    golden = {
        "versions": {name: importlib.metadata.version(name) for name in names},
        "files": files, "triggers": triggers, "xdf": xdf_cases(FOLDER),
    }
    (FOLDER / "golden.json").write_text(json.dumps(golden, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
