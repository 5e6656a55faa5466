"""Tiny models of braindecode, exported with torch.export, and the outputs of PyTorch for random windows.

    python test/parity/braindecode_golden.py

Writes test/fixtures/braindecode/. The packages are those of braindecode-requirements.txt.
"""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "scripts"))

import torch
from braindecode_models import prepare_positions
from export_braindecode import Described, channel_information, constants_of, export_program, models, settings_of

OUTPUT = Path(__file__).parents[1] / "fixtures/braindecode"
CHANNELS = ("C3", "Cz", "C4", "Pz")
SAMPLES, OUTPUTS, RATE, WINDOWS = 128, 3, 128.0, 4
TINY = {
    "EEGNet": {"F1": 4},
    "ShallowFBCSPNet": {"n_filters_time": 8, "n_filters_spat": 8},
    "ATCNet": {"conv_block_n_filters": 4, "n_windows": 1, "tcn_depth": 1},
    "EEGNeX": {"filter_1": 2, "filter_2": 4},
    "REVE": {"embed_dim": 8, "depth": 1, "use_geglu": False, "heads": 2, "head_dim": 8, "patch_size": 32, "patch_overlap": 8},
}


def build(name: str, given: Described) -> torch.nn.Module:
    """The model in eval mode, with seeded weights and statistics of batch normalization."""
    torch.manual_seed(7)
    common = {"n_chans": len(CHANNELS), "n_times": SAMPLES, "n_outputs": OUTPUTS, "sfreq": RATE}
    if name == "REVE":
        common["chs_info"] = channel_information(name, CHANNELS)
    model = models()[name](**common, **TINY[name])
    for buffer_name, buffer in model.named_buffers():
        if buffer_name.endswith(("running_mean", "running_var")):
            buffer.uniform_(0.5, 1.5)
    return model.eval()


def main() -> None:
    """Writes each model, its settings and the golden outputs."""
    OUTPUT.mkdir(parents=True, exist_ok=True)
    golden = {}
    prepare_positions(Path("build/braindecode/positions"))
    for name in sys.argv[1:] or TINY:
        given = Described(name, CHANNELS, SAMPLES, OUTPUTS, RATE)
        model = build(name, given)
        constants = constants_of(model, given)
        windows = torch.randn(WINDOWS, len(CHANNELS), SAMPLES).mul(1000).round().div(1000)
        with torch.no_grad():
            logits = [model(window[None], *[value[None] for value in constants.values()])[0] for window in windows]
        program, is_open = export_program(model, windows[:2], constants)
        for node in program.graph.nodes:  # traces and examples are most of a small file
            for key in ("stack_trace", "source_fn_stack", "nn_module_stack", "torch_fn"):
                node.meta.pop(key, None)
        program._example_inputs = None
        torch.export.save(program, OUTPUT / f"{name}.pt2")
        (OUTPUT / f"{name}.json").write_text(json.dumps(settings_of(given, constants)) + "\n")
        golden[name] = {
            "batching": is_open,
            "windows": [[round(value, 3) for value in window.flatten().tolist()] for window in windows],
            "probabilities": [row.softmax(0).tolist() for row in logits],
        }
        print(name, (OUTPUT / f"{name}.pt2").stat().st_size, is_open, flush=True)
    (OUTPUT / "golden.json").write_text(json.dumps(golden) + "\n")


if __name__ == "__main__":
    main()
