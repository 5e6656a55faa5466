"""The tiny EEG models' files and the answers of torch for them."""

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
    for name, module, form, seed in eeg_models.BAD:
        save(directory, name, module, form, seed)
    (directory / "not-an-archive.pt").write_text("This is a text file, not a TorchScript archive.\n")
    write_json(directory / "golden.json", {"versions": versions()}, "models", rows)


def save(directory: Path, name: str, module: type, form: eeg_models.Form, seed: int) -> Path:
    path = directory / f"{name}.pt"
    torch.jit.save(form(eeg_models.build(module, seed)), path)
    drop_debug_records(path)
    return path


def drop_debug_records(path: Path) -> None:
    """Source positions: they hold the paths of the machine that made the file, and differ from run
    to run."""
    reader = torch._C.PyTorchFileReader(str(path))
    names = [name for name in reader.get_all_records() if not name.endswith(".debug_pkl")]
    records = {name: reader.get_record(name) for name in names}
    del reader
    writer = torch._C.PyTorchFileWriter(str(path))
    for name, content in records.items():
        # These two the writer adds by itself.
        if name not in ("version", ".data/serialization_id"):
            writer.write_record(name, content, len(content))
    writer.write_end_of_file()


def answer(path: Path, normalized: list[list[float]]) -> list[dict]:
    """In the order of the windows, each window alone."""
    model = torch.jit.load(path, map_location="cpu").eval()
    rows = []
    for values in normalized:
        window = torch.tensor(values, dtype=torch.float32).reshape(1, 1, 256)
        with torch.inference_mode():
            logits = model(window)[0]
        rows.append({"logits": floats(logits), "probabilities": floats(logits.softmax(0))})
    return rows
