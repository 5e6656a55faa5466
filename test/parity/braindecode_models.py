"""Every model of braindecode with random weights, exported with torch.export, and its outputs in PyTorch.

    python test/parity/braindecode_models.py build/braindecode [MODEL ...]

Writes a folder for each model: `model.pt2`, `model.json` (the settings), `windows.json` (windows and outputs of
PyTorch) and `report.json`, which names the reason if the model cannot be exported. bench/braindecode.mjs serves them.
The packages are those of braindecode-requirements.txt.
"""

import json
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "scripts"))

import torch
from export_braindecode import Described, ExportFailure, electrodes, export_program, models, settings_of

CHANNELS, SAMPLES, OUTPUTS, RATE = 8, 256, 4, 128.0
WINDOWS = 6
NAMES = ["Fp1", "Fp2", "C3", "C4", "P7", "P8", "O1", "O2"]
# What a model needs other than 8 channels and 256 samples at 128 Hz: its documentation, or its constructor.
NEEDS = {
    "AttnSleep": {"channels": 1, "samples": 3000, "rate": 100.0},
    "BENDR": {"samples": 1024, "channels": 20},
    "CBraMod": {"samples": 400, "rate": 200.0},
    "CodeBrain": {"channels": 19, "samples": 6000, "rate": 200.0},
    "DANCE": {"channels": 19, "samples": 6400, "rate": 200.0},
    "DeepSleepNet": {"samples": 3000, "rate": 100.0},
    "Deep4Net": {"samples": 1000},
    "EEGPT": {"samples": 1024},
    "EMG2QwertyNet": {"channels": 32, "samples": 8000, "rate": 2000.0},
    "Labram": {"channels": 128, "samples": 1000, "rate": 200.0},
    "LUNA": {"samples": 320},
    "MetaNeuromotorHand": {"channels": 16, "samples": 32000, "rate": 2000.0},
    "MVPFormer": {"samples": 2000, "rate": 100.0},
    "NeuroPose": {"channels": 16, "samples": 10000, "rate": 2000.0},
    "REVE": {"samples": 1000, "rate": 200.0},
    "SensingDynamics": {"channels": 16, "samples": 480, "rate": 2000.0},
    "SleepStagerChambon2018": {"samples": 3000, "rate": 100.0},
    "USleep": {"samples": 3840},
    "VEMG2Pose": {"channels": 16, "samples": 11790, "rate": 2000.0},
    "ZUNA": {"samples": 1280, "rate": 256.0},
}


def described(name: str) -> Described:
    """Signal parameters of a model."""
    needs = {"channels": CHANNELS, "samples": SAMPLES, "rate": RATE, **NEEDS.get(name, {})}
    count = needs["channels"]
    names = NAMES if count == CHANNELS else list(electrodes())[:count]
    return Described(name, tuple(names), needs["samples"], OUTPUTS, needs["rate"])


def outputs_of(model: torch.nn.Module, windows: torch.Tensor, constants: dict[str, torch.Tensor]) -> list:
    """Output of each window alone."""
    extra = {name: value[None] for name, value in constants.items()}
    with torch.no_grad():
        return [model(window[None], **extra)[0].tolist() for window in windows]


def summary(error: BaseException | None) -> str:
    """Class and first line."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[0] if lines else ''}"[:200]


def prepare_positions(folder: Path) -> None:
    """A position bank for REVE, which otherwise downloads one. Inputs `pos` replace it, so its values have no effect."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "reve_positions.json").write_text(json.dumps(electrodes()))
    os.environ["REVE_POSITIONS_PATH"] = str(folder.resolve())


def make(name: str, folder: Path) -> dict:
    """Exports one model. Returns the report."""
    given = described(name)
    report = {"model": name, "channels": len(given.channels), "samples": given.samples}
    torch.manual_seed(20)
    try:
        model, constants = given.build()
        report["parameters"] = sum(parameter.numel() for parameter in model.parameters())
        windows = torch.randn(WINDOWS, len(given.channels), given.samples)
        outputs = outputs_of(model, windows, constants)
        shape = list(torch.tensor(outputs[0]).shape)
        if shape != [OUTPUTS]:
            return {**report, "reason": f"Output of a window has the shape {shape}, not [classes]"}
        program, open_batch = export_program(model, windows[:2], constants)
    except ExportFailure as error:
        return {**report, "reason": f"torch.export fails: {summary(error.__cause__)}"}
    except Exception as error:  # of the constructors and forward methods of many models
        return {**report, "reason": f"braindecode fails: {summary(error)}"}
    torch.export.save(program, folder / "model.pt2")
    settings = settings_of(given, constants)
    (folder / "model.json").write_text(json.dumps(settings) + "\n")
    content = {"windows": windows.flatten(1).tolist(), "outputs": outputs}
    (folder / "windows.json").write_text(json.dumps(content) + "\n")
    return {**report, "batch": "any" if open_batch else "1"}


def main() -> None:
    """Exports the given models, otherwise all."""
    output = Path(sys.argv[1])
    prepare_positions(output / "positions")
    for name in sys.argv[2:] or sorted(models()):
        folder = output / name
        folder.mkdir(parents=True, exist_ok=True)
        report = make(name, folder)
        (folder / "report.json").write_text(json.dumps(report) + "\n")
        print(name, report.get("reason") or f"exported, batch: {report['batch']}", flush=True)


if __name__ == "__main__":
    main()
