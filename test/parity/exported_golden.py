"""The files of exported_signals.py and the answers of the modules themselves, not of what was exported."""

import copy
from pathlib import Path

import eeg_windows
import exported_signals as signals
import torch
from common import floats, versions, write_json
from eeg_golden import single
from torch import Tensor, nn

WINDOWS = 16
TRACES = ("stack_trace", "nn_module_stack", "source_fn_stack", "torch_fn", "from_node")


def make(directory: Path) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    samples = [eeg_windows.z_normalize(signal) for _, signal in eeg_windows.windows()[:WINDOWS]]
    rows = []
    for spec in signals.GOOD:
        path = directory / f"{spec.name}.pt2"
        save(signals.build(spec), spec, path)
        answers = [answer(spec, window) for window in samples]
        rows.append({"file": path.name, "answers": answers})
        report(path, answers)
    write_json(directory / "golden.json", {"versions": versions()}, "models", rows)
    make_custom(directory)
    for spec in signals.BAD:
        save(signals.build(spec), spec, directory / f"{spec.name}.pt2")


def make_custom(directory: Path) -> None:
    """A model of windows of another size, with the windows."""
    path = directory / f"{signals.CUSTOM.name}.pt2"
    save(signals.build(signals.CUSTOM), signals.CUSTOM, path)
    raw = [signal for _, signal in eeg_windows.windows()[:10]]
    joined = [raw[i] + raw[i + 1] + raw[i + 2] for i in range(6)]
    answers = [answer(signals.CUSTOM, eeg_windows.z_normalize(window)) for window in joined]
    rows = [{"signal": window, **row} for window, row in zip(joined, answers)]
    write_json(directory / f"{path.stem}-golden.json", {"versions": versions()}, "windows", rows)
    report(path, answers)


def report(path: Path, answers: list[dict]) -> None:
    classes = [max(range(3), key=row["logits"].__getitem__) for row in answers]
    counts = [classes.count(index) for index in range(3)]
    print(f"{path.name}: {path.stat().st_size} bytes, answers by class {counts}")


def save(module: nn.Module, spec: signals.Spec, path: Path) -> None:
    most = signals.rows_of(spec)
    inputs = 2 if spec.module is signals.TwoInputs else 1
    windows = tuple(torch.zeros(min(most, 2), *signals.shape_of(spec)) for _ in range(inputs))
    rows = torch.export.Dim("batch", min=1, max=most) if most > 1 else None
    dimensions = tuple({0: rows} if rows else {} for _ in range(inputs))
    save_without_traces(export(module, windows, dimensions), path, spec.decomposed)


def export(module: nn.Module, inputs: tuple[Tensor, ...], dimensions: tuple) -> torch.export.ExportedProgram:
    with torch.no_grad():
        try:
            return torch.export.export(module, inputs, dynamic_shapes=dimensions)
        except Exception:
            if any(dimensions):
                return torch.export.export(module, tuple(row[:1] for row in inputs))
            raise


def save_without_traces(program: torch.export.ExportedProgram, path: Path, decomposed: bool) -> None:
    """Where in which file a node comes from holds the paths of the machine that made it, and example inputs
    are larger than these models. Otherwise the file is as torch.export.save wrote it."""
    if decomposed:
        program = program.run_decompositions()
    for module in program.graph_module.modules():
        for node in module.graph.nodes if isinstance(module, torch.fx.GraphModule) else ():
            for key in TRACES:
                node.meta.pop(key, None)
    program._example_inputs = None
    path.parent.mkdir(parents=True, exist_ok=True)
    torch.export.save(program, path)


def answer(spec: signals.Spec, normalized: list[float]) -> dict:
    """Of a module that has seen no window before."""
    module = copy.deepcopy(signals.build(spec))
    window = torch.tensor(normalized, dtype=torch.float32).reshape(1, *signals.shape_of(spec))
    with torch.inference_mode():
        logits = single(module(window)).flatten()
    return {"logits": floats(logits), "probabilities": floats(logits.softmax(0))}
