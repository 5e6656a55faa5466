"""The tiny EEG models' files and the answers of torch for them."""

import zipfile
from pathlib import Path

import eeg_models
import eeg_windows
import torch
from common import floats, versions, write_json


def make(directory: Path) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    windows = [
        {"name": name, "signal": signal, "normalized": eeg_windows.z_normalize(signal)}
        for name, signal in eeg_windows.windows()
    ]
    for window in windows:
        eeg_windows.as_float32(window["normalized"])
    write_json(directory / "windows.json", {"versions": versions()}, "windows", windows)
    rows = []
    for name, module, form, seed in eeg_models.GOOD:
        path = save(directory, name, module, form, seed)
        answers = answer(path, [window["normalized"] for window in windows])
        classes = [max(range(3), key=row["logits"].__getitem__) for row in answers]
        counts = [classes.count(index) for index in range(3)]
        rows.append({"file": path.name, "classes": counts, "answers": answers})
        print(f"{path.name}: {path.stat().st_size} bytes, answers by class {counts}")
    make_custom(directory)
    for name, module, form, seed in eeg_models.BAD:
        save(directory, name, module, form, seed)
    (directory / "not-an-archive.pt").write_text("This is a text file, not a TorchScript archive.\n")
    write_json(directory / "golden.json", {"versions": versions()}, "models", rows)


def make_custom(directory: Path) -> None:
    """A model of other windows and classes, and its answers: probabilities, no softmax to come."""
    path = save(directory, *eeg_models.CUSTOM)
    length = eeg_models.CUSTOM[1].window_length
    signals = [signal[:length] for _, signal in eeg_windows.windows()[:10]]
    answers = answer(path, [eeg_windows.z_normalize(signal) for signal in signals])
    rows = [
        {"signal": signal, "probabilities": row["logits"]} for signal, row in zip(signals, answers)
    ]
    write_json(directory / f"{path.stem}-golden.json", {"versions": versions()}, "windows", rows)
    best = [max(range(4), key=row["probabilities"].__getitem__) for row in rows]
    print(f"{path.name}: {path.stat().st_size} bytes, answers {best}")


def save(directory: Path, name: str, module: type, form: eeg_models.Form, seed: int) -> Path:
    path = directory / f"{name}.pt"
    torch.jit.save(form(eeg_models.build(module, seed)), path)
    drop_debug_records(path)
    return path


def drop_debug_records(path: Path) -> None:
    """Source positions: they hold the paths of the machine that made the file, and differ from run
    to run. Code is deflated, as torch.jit.save does it."""
    with zipfile.ZipFile(path) as archive:
        records = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in records.items():
            if not name.endswith(".debug_pkl"):
                code = zipfile.ZIP_DEFLATED if "/code/" in name else zipfile.ZIP_STORED
                archive.writestr(zipfile.ZipInfo(name), content, compress_type=code)


def answer(path: Path, normalized: list[list[float]]) -> list[dict]:
    """In the order of the windows, each window alone."""
    model = torch.jit.load(path, map_location="cpu").eval()
    rows = []
    for values in normalized:
        window = torch.tensor(values, dtype=torch.float32).reshape(1, 1, -1)
        with torch.inference_mode():
            logits = single(model(window)).flatten()
        rows.append({"logits": floats(logits), "probabilities": floats(logits.softmax(0))})
    return rows


def single(output: torch.Tensor | tuple | dict) -> torch.Tensor:
    if isinstance(output, torch.Tensor):
        return output
    (tensor,) = output.values() if isinstance(output, dict) else output
    return tensor
