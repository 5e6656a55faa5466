"""Exported programs as one version of PyTorch writes them, with its own answers.

How to run it (never needed to build, run or test the project): in an environment of the version in
question, 2.6 or newer, with nothing but torch and numpy:

    pip install torch==2.6.0 numpy
    python test/parity/exported_versions.py

Writes VERSION-training.pt2, VERSION-decomposed.pt2 and VERSION.json to test/fixtures/exported/versions.
The model holds what a reader of archives must tell apart: a buffer that is not contiguous, one that is not
saved, shared weights, a constant of the code, a view into another weight's storage, float16, bfloat16, int64
and bool; and arguments that are infinite or sizes of the input.
"""

import json
import math
import sys
from pathlib import Path

import torch
from torch import Tensor, nn

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures"
DIRECTORY = FIXTURES / "exported/versions"
WINDOWS = 12
SIZE = 4


class Varied(nn.Module):
    """n x 1 x 256 to n x 3."""

    def __init__(self) -> None:
        super().__init__()
        self.convolution = nn.Conv1d(1, SIZE, 7, stride=4)
        self.norm = nn.BatchNorm1d(SIZE)
        self.dropout = nn.Dropout(0.5)
        self.mixed = nn.Linear(SIZE, SIZE)
        self.tied = nn.Linear(SIZE, SIZE)
        self.tied.weight = self.mixed.weight
        self.in_float16 = nn.Parameter(torch.randn(SIZE).half())
        self.in_bfloat16 = nn.Parameter(torch.randn(SIZE).bfloat16())
        self.classifier = nn.Linear(SIZE, 3)
        self.register_buffer("across", torch.randn(SIZE, 2).t())
        self.register_buffer("part", torch.randn(3 * SIZE)[SIZE::2])
        self.register_buffer("order", torch.tensor([2, 0, 3, 1]), persistent=False)
        self.register_buffer("kept", torch.tensor([True, True, False, True]))
        self.register_buffer("scale", torch.tensor(1.5))

    def forward(self, x: Tensor) -> Tensor:
        states = torch.relu_(self.norm(self.convolution(x))).transpose(1, 2)
        states = torch.tanh(self.tied(self.dropout(self.mixed(states))))
        states = states.reshape(x.shape[0] * states.shape[1], SIZE) * self.in_float16.float()
        states = states[:, self.order].view(x.shape[0], -1, SIZE) + self.in_bfloat16.float()
        highest = states.masked_fill(~self.kept, -math.inf).clamp(max=math.inf).amax(2)
        weights = torch.softmax(highest * torch.tensor([0.5]), dim=1).unsqueeze(2)
        pooled = (states * weights).sum(1) * self.scale + self.across[1] - self.part[:SIZE]
        return self.classifier(pooled)


def build(samples: Tensor) -> nn.Module:
    """With logits of mean 0 and deviation 1.

    The states are made to differ among windows. As they are drawn they hardly do, the classifier is scaled
    a hundredfold for that, and with it what float32 rounds: torch is then 1.6e-5 off the probabilities in
    float64, in one direction or the other by its instructions (ATEN_CPU_CAPABILITY). So it is 5e-7.
    """
    torch.manual_seed(6)
    model = Varied().eval()
    with torch.no_grad():
        model.tied.weight.mul_(3)
        model.norm.running_mean.copy_(0.3 * torch.randn(SIZE))
        model.norm.running_var.copy_(0.5 + torch.rand(SIZE))
        logits = model(samples)
        scale = 1 / logits.std(0)
        model.classifier.weight.mul_(scale.unsqueeze(1))
        model.classifier.bias.sub_(logits.mean(0)).mul_(scale)
    return model


def windows() -> Tensor:
    """The first of the fixtures, as a model gets them."""
    content = json.loads((FIXTURES / "eeg/windows.json").read_text())
    rows = [window["normalized"] for window in content["windows"][:WINDOWS]]
    return torch.tensor(rows, dtype=torch.float32).unsqueeze(1)


def without_traces(program: torch.export.ExportedProgram) -> torch.export.ExportedProgram:
    """Where in which file a node comes from: paths of the machine that made it."""
    for module in program.graph_module.modules():
        for node in module.graph.nodes if isinstance(module, torch.fx.GraphModule) else ():
            for key in ("stack_trace", "nn_module_stack", "source_fn_stack", "torch_fn", "from_node"):
                node.meta.pop(key, None)
    program._example_inputs = None
    return program


def main() -> None:
    DIRECTORY.mkdir(parents=True, exist_ok=True)
    version = torch.__version__.split("+")[0]
    samples = windows()
    model = build(samples)
    batch = torch.export.Dim("batch", min=1, max=64)
    # What export() gave in 2.6 is decomposed in part.
    export = torch.export.export_for_training if version.startswith("2.6") else torch.export.export
    program = export(model, (samples[:2],), dynamic_shapes=({0: batch},))
    forms = {"training": program, "decomposed": program.run_decompositions()}
    for form, program in forms.items():
        path = DIRECTORY / f"{version}-{form}.pt2"
        torch.export.save(program if "--traces" in sys.argv else without_traces(program), path)
        print(f"{path.name}: {path.stat().st_size} bytes")
    rows = []
    for window in samples:
        with torch.no_grad():
            logits = model(window.unsqueeze(0))[0]
        rows.append({"logits": logits.tolist(), "probabilities": logits.softmax(0).tolist()})
    lines = ",\n".join(json.dumps(row) for row in rows)
    (DIRECTORY / f"{version}.json").write_text(f'{{"answers": [\n{lines}\n]}}\n')
    print("answers by class", [max(range(3), key=row["logits"].__getitem__) for row in rows])


if __name__ == "__main__":
    main()
