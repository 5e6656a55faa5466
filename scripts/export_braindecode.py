"""Models of braindecode by name: construction, torch.export and settings. scripts/export.py calls it."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor, nn

# torchaudio, which braindecode imports, refuses a PyTorch for another CUDA. Nothing here runs on a GPU.
torch.version.cuda = None

Constants = dict[str, Tensor]

# Functions and abstract classes among the names of braindecode.models, and wrappers of other models.
NOT_MODELS = {"EEGModuleMixin", "InterpolatedModel", "HybridNet", "TCN"}
MOST_WINDOWS = 1024


class ExportFailure(Exception):
    """torch.export does not take the model. The cause is its error."""


def models() -> dict[str, type[nn.Module]]:
    """Classes of braindecode by name."""
    import braindecode.models as every

    found = {name: getattr(every, name) for name in every.__all__ if name not in NOT_MODELS}
    return {name: model for name, model in found.items() if isinstance(model, type) and issubclass(model, nn.Module)}


@dataclass(frozen=True)
class Described:
    """A model and its signal."""

    name: str
    channels: tuple[str, ...]
    samples: int
    outputs: int
    rate: float
    weights: Path | None = None

    def build(self) -> tuple[nn.Module, Constants]:
        """The model in eval mode, and its inputs other than the windows, without the batch dimension.

        Weights: a folder of the hub mixin (config.json, model.safetensors); otherwise random."""
        import inspect

        kind = models()[self.name]
        if self.weights is not None:
            model = kind.from_pretrained(str(self.weights))
        else:
            taken = inspect.signature(kind.__init__).parameters
            given = {
                "n_chans": len(self.channels),
                "n_times": self.samples,
                "n_outputs": self.outputs,
                "sfreq": self.rate,
            }
            needs_positions = "chs_info" in taken
            if needs_positions:
                given["chs_info"] = channel_information(self.name, self.channels)
            model = kind(**{name: value for name, value in given.items() if name in taken})
        return model.eval(), constants_of(model, self)


def channel_information(name: str, channels: tuple[str, ...]) -> list[dict]:
    """Names of the electrodes, and their positions if all are of the 10-05 system."""
    if name in ("Labram", "BENDR"):
        from braindecode.models import util

        canonical = util._get_labram_chs_info() if name == "Labram" else util._get_bendr_chs_info()
        if len(canonical) == len(channels):
            return canonical
    known = electrodes()
    if not all(channel in known for channel in channels):
        return [{"ch_name": channel, "kind": "eeg"} for channel in channels]
    return [{"ch_name": channel, "kind": "eeg", "loc": [*known[channel], *[0.0] * 9]} for channel in channels]


def electrodes() -> dict[str, list[float]]:
    """Position of each electrode of the 10-05 system in meters, [x, y, z]."""
    import mne

    places = mne.channels.make_standard_montage("standard_1005").get_positions()["ch_pos"]
    return {name: [float(value) for value in place] for name, place in places.items()}


def positions(channels: tuple[str, ...]) -> list[list[float]]:
    """Position of each channel, [x, y, z]. Raises ValueError for a name outside the 10-05 system."""
    known = electrodes()
    unknown = [channel for channel in channels if channel not in known]
    if unknown:
        raise ValueError(f"{unknown[0]}: expected an electrode of the 10-05 system, whose position the model needs")
    return [known[channel] for channel in channels]


def constants_of(model: nn.Module, given: Described) -> Constants:
    """Inputs other than the windows, which such models need in each call."""
    name = type(model).__name__
    if name == "REVE":
        return {"pos": torch.tensor(positions(given.channels))}
    if name == "LUNA":
        return {"channel_locations": torch.tensor(positions(given.channels))}
    if name == "BrainModule" and getattr(model, "subject_layers", None) is not None:
        return {"subject_index": torch.tensor(0)}
    return {}


def export_program(
    model: nn.Module, windows: Tensor, constants: Constants
) -> tuple[torch.export.ExportedProgram, bool]:
    """The program, and whether it takes any number of windows; otherwise it takes one.

    windows: [2, channels, samples]. Raises ExportFailure."""
    failure = None
    for rows in (2, 1):
        extra = {name: value.expand(rows, *value.shape).contiguous() for name, value in constants.items()}
        batch = {0: torch.export.Dim("batch", min=1, max=MOST_WINDOWS)} if rows > 1 else None
        first = first_input(model)
        shapes = None if batch is None else {first: batch, **{name: batch for name in extra}}
        try:
            with torch.no_grad():
                program = torch.export.export(
                    model, (windows[:rows],), extra, dynamic_shapes=shapes, strict=False
                )
            return program, batch is not None
        except Exception as error:  # of many classes, from every layer of the tracer
            failure = error
    raise ExportFailure(str(failure)) from failure


def first_input(model: nn.Module) -> str:
    """Name of the windows in forward()."""
    import inspect

    return next(iter(inspect.signature(model.forward).parameters))


def settings_of(given: Described, constants: Mapping[str, Tensor]) -> dict[str, object]:
    """The settings file of the model."""
    settings: dict[str, object] = {
        "name": given.name,
        "classes": [f"class {index}" for index in range(given.outputs)],
        "output": "logits",
        "channels": list(given.channels),
        "sampling_rate_hz": given.rate,
        "window_length": given.samples,
    }
    if constants:
        settings["constant_inputs"] = {name: value.tolist() for name, value in constants.items()}
    return settings


def write_settings(path: Path, given: Described, constants: Constants) -> None:
    """Writes model.json next to model.pt2."""
    path.with_suffix(".json").write_text(json.dumps(settings_of(given, constants), indent=2) + "\n")
