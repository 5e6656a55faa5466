"""Tiny TorchScript files: models that must be served, and files that must be refused or fail."""

import math
from typing import Callable

import eeg_families as families
import torch
from torch import Tensor, nn


class PlainCnn(nn.Module):
    """The common layer list: convolution, batch normalization, ReLU, pooling; then a linear layer."""

    def __init__(self) -> None:
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv1d(1, 8, 7, padding=3),
            nn.BatchNorm1d(8),
            nn.ReLU(),
            nn.MaxPool1d(4),
            nn.Conv1d(8, 12, 5, padding=2),
            nn.BatchNorm1d(12),
            nn.ReLU(),
            nn.AdaptiveAvgPool1d(1),
        )
        self.dropout = nn.Dropout(0.5)
        self.classifier = nn.Linear(12, 3)

    def forward(self, x: Tensor) -> Tensor:
        return self.classifier(self.dropout(self.features(x).flatten(1)))


class EegNet(nn.Module):
    """EEGNet (Lawhern et al. 2018) for one channel: temporal, depthwise and separable convolution."""

    def __init__(self) -> None:
        super().__init__()
        self.temporal = nn.Conv2d(1, 4, (1, 64), padding=(0, 32), bias=False)
        self.norm1 = nn.BatchNorm2d(4)
        self.spatial = nn.Conv2d(4, 8, (1, 1), groups=4, bias=False)
        self.norm2 = nn.BatchNorm2d(8)
        self.depthwise = nn.Conv2d(8, 8, (1, 16), groups=8, padding=(0, 8), bias=False)
        self.pointwise = nn.Conv2d(8, 8, 1, bias=False)
        self.norm3 = nn.BatchNorm2d(8)
        self.classifier = nn.Linear(64, 3)

    def forward(self, x: Tensor) -> Tensor:
        x = self.norm1(self.temporal(x.unsqueeze(1)))
        x = nn.functional.elu(self.norm2(self.spatial(x)))
        x = nn.functional.avg_pool2d(x, (1, 4))
        x = nn.functional.elu(self.norm3(self.pointwise(self.depthwise(x))))
        x = nn.functional.avg_pool2d(x, (1, 8))
        return self.classifier(x.flatten(1))


class CnnGru(nn.Module):
    """A recurrent layer over convolution features: weights as a list, a hidden state made inside."""

    def __init__(self) -> None:
        super().__init__()
        self.convolution = nn.Conv1d(1, 8, 8, stride=4)
        self.gru = nn.GRU(8, 10, num_layers=2, batch_first=True, bidirectional=True)
        self.classifier = nn.Linear(20, 3)

    def forward(self, x: Tensor) -> Tensor:
        features = torch.relu(self.convolution(x)).permute(0, 2, 1)
        sequence, _ = self.gru(features)
        return self.classifier(sequence[:, -1])


class BatchDependent(PlainCnn):
    """Normalizes over the batch: a window's answer depends on its company."""

    def forward(self, x: Tensor) -> Tensor:
        features = self.features(x).flatten(1)
        return self.classifier(features - features.mean(0, keepdim=True) * 0.5)


class FixedBatch(PlainCnn):
    """Works for one window at a time only, as a model with a hard-wired view does."""

    def forward(self, x: Tensor) -> Tensor:
        return self.classifier(self.features(x).view(1, 12))


class NotANumber(PlainCnn):
    def forward(self, x: Tensor) -> Tensor:
        return self.classifier(self.features(x).flatten(1)) * float("nan")


class Infinite(PlainCnn):
    """NaN for a window whose largest value is over 3, else finite."""

    def forward(self, x: Tensor) -> Tensor:
        logits = self.classifier(self.features(x).flatten(1))
        return logits + torch.where(x.amax((1, 2)) > 3.0, float("inf"), 0.0).unsqueeze(1)


class FourOutputs(PlainCnn):
    def __init__(self) -> None:
        super().__init__()
        self.classifier = nn.Linear(12, 4)


class RaisesOnLargeInput(PlainCnn):
    def forward(self, x: Tensor) -> Tensor:
        if bool(x.abs().max() > 5.0):
            raise ValueError("amplitude over 5")
        return self.classifier(self.features(x).flatten(1))


class EndlessLoop(PlainCnn):
    def forward(self, x: Tensor) -> Tensor:
        rounds = 0
        while rounds >= 0:
            rounds += 1
        return self.classifier(self.features(x).flatten(1)) + rounds


class EndlessFork(PlainCnn):
    def rounds(self, count: int) -> int:
        rounds = 0
        while rounds < count:
            rounds += 1
        return rounds

    def forward(self, x: Tensor) -> Tensor:
        rounds = torch.jit.fork(self.rounds, 1 << 62)
        return self.classifier(self.features(x).flatten(1)) + torch.jit.wait(rounds)


class EndlessLoopInPart(nn.Module):
    """The loop is in a method of a part that is called through an interface: nothing inlines it."""

    def forward(self, x: Tensor) -> Tensor:
        while bool(x.abs().max() > 5.0):
            x = x + 1.0
        return x


@torch.jit.interface
class Part(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        pass


class EndlessOnLargeInput(PlainCnn):
    """Loops for ever for an amplitude over 5, so in no trial."""

    part: Part

    def __init__(self) -> None:
        super().__init__()
        self.part = EndlessLoopInPart()

    def forward(self, x: Tensor) -> Tensor:
        return self.classifier(self.features(self.part(x)).flatten(1))


class SlowOperator(PlainCnn):
    """One operator, which nothing can interrupt: products of matrices for seconds where the amplitude
    is over 5, for a minute and more where it is over 12."""

    def slow(self, x: Tensor, size: int, products: int) -> Tensor:
        matrix = torch.zeros(size, size) + x.sum() * 0.0
        return torch.linalg.matrix_power(matrix, 1 << products).sum()

    def forward(self, x: Tensor) -> Tensor:
        logits = self.classifier(self.features(x).flatten(1))
        amplitude = float(x.abs().max())
        if amplitude > 12.0:
            logits = logits + self.slow(x, 4096, 62)
        elif amplitude > 5.0:
            logits = logits + self.slow(x, 2048, 20)
        return logits


class SlowAlways(SlowOperator):
    def forward(self, x: Tensor) -> Tensor:
        logits = self.classifier(self.features(x).flatten(1))
        return logits + self.slow(x, 4096, 62)


class TupleOutput(PlainCnn):
    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        features = self.features(x).flatten(1)
        return self.classifier(features), features


class RunsCodeOnLoad(nn.Module):
    """__setstate__ is TorchScript that torch.jit.load runs before anybody has asked for it."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = torch.ones(3)

    @torch.jit.export
    def __getstate__(self) -> tuple[Tensor, bool]:
        return self.weight, self.training

    @torch.jit.export
    def __setstate__(self, state: tuple[Tensor, bool]) -> None:
        self.weight = state[0] * 2
        self.training = state[1]

    def forward(self, x: Tensor) -> Tensor:
        return x.mean((1, 2)).unsqueeze(1) * self.weight


class ReadsFile(nn.Module):
    """Uses an operator that no classifier needs: it maps a file of the server."""

    def forward(self, x: Tensor) -> Tensor:
        data = torch.from_file("/etc/hostname", size=1, dtype=torch.uint8)
        return x[:, 0, :3] + data.to(torch.float32)


class ReadsFileInFork(ReadsFile):
    def read(self, x: Tensor) -> Tensor:
        data = torch.from_file("/etc/hostname", size=1, dtype=torch.uint8)
        return x[:, 0, :3] + data.to(torch.float32)

    def forward(self, x: Tensor) -> Tensor:
        return torch.jit.wait(torch.jit.fork(self.read, x))


class ReadsFileInPart(nn.Module):
    """The part is called through an interface: its code is not in forward()."""

    part: Part

    def __init__(self) -> None:
        super().__init__()
        self.part = ReadsFile()

    def forward(self, x: Tensor) -> Tensor:
        return self.part(x)


def window_length(model: nn.Module) -> int:
    return getattr(model, "window_length", 256)


def scripted(model: nn.Module) -> torch.jit.ScriptModule:
    return torch.jit.script(model)


def traced(model: nn.Module) -> torch.jit.ScriptModule:
    """strict=False: so may a dict be returned. no_grad: a Transformer encoder is then traced as one
    fused operator a layer, in evaluation as in the check of the trace."""
    inner = getattr(model, "model", model)
    with torch.no_grad():
        return torch.jit.trace(model, torch.zeros(1, 1, window_length(inner)), strict=False)


def traced_in_training(model: nn.Module) -> torch.jit.ScriptModule:
    """As when model.eval() was forgotten: dropout stays."""
    return torch.jit.trace(model.train(), torch.zeros(1, 1, 256), check_trace=False)


def frozen(model: nn.Module) -> torch.jit.ScriptModule:
    return torch.jit.freeze(torch.jit.script(model))


Form = Callable[[nn.Module], torch.jit.ScriptModule]


def within(wrapper: type[families.Wrapper], form: Form) -> Form:
    return lambda model: form(wrapper(model).eval())


# name, module, form, seed: served, with golden answers
GOOD: list[tuple[str, type[nn.Module], Form, int]] = [
    ("plain-cnn-scripted", PlainCnn, scripted, 1),
    ("plain-cnn-traced", PlainCnn, traced, 2),
    ("plain-cnn-frozen", PlainCnn, frozen, 3),
    ("eegnet-scripted", EegNet, scripted, 4),
    ("eegnet-traced", EegNet, traced, 5),
    ("cnn-gru-scripted", CnnGru, scripted, 6),
    ("batch-dependent", BatchDependent, scripted, 7),
    ("fixed-batch", FixedBatch, scripted, 8),
    ("eegnet-same-traced-tuple", families.EegNetSame, within(families.InTuple, traced), 21),
    ("eegnet-same-scripted-dict", families.EegNetSame, within(families.InDict, scripted), 22),
    ("resnet-traced-dict", families.ResNet1d, within(families.InDict, traced), 23),
    ("resnet-scripted-tuple", families.ResNet1d, within(families.InTuple, scripted), 24),
    ("tcn-traced", families.WeightNormTcn, traced, 25),
    ("tcn-scripted", families.DilatedTcn, scripted, 26),
    ("cnn-gru-traced", CnnGru, traced, 27),
    ("cnn-lstm-traced", families.CnnLstm, traced, 28),
    ("cnn-lstm-scripted", families.CnnLstm, scripted, 29),
    ("transformer-traced", families.ConvTransformer, traced, 30),
    ("transformer-scripted", families.ConvTransformer, scripted, 31),
    ("state-for-one", families.StateForOne, traced, 32),
    ("state-kept", families.StateKept, scripted, 33),
    ("squeezed", families.CnnLstm, within(families.Squeezed, traced), 34),
    ("probabilities", families.CnnLstm, within(families.Probabilities, traced), 35),
]

# Served with the eeg_model.json of a test: other windows, other classes.
CUSTOM = ("short-windows", families.ShortWindows, within(families.Probabilities, scripted), 36)

# Loaded or refused, but never answering 200 to everything.
BAD: list[tuple[str, type[nn.Module], Form, int]] = [
    ("nan-output", NotANumber, scripted, 11),
    ("infinite-on-large-input", Infinite, scripted, 12),
    ("four-outputs", FourOutputs, scripted, 13),
    ("raises-on-large-input", RaisesOnLargeInput, scripted, 14),
    ("tuple-output", TupleOutput, scripted, 15),
    ("setstate", RunsCodeOnLoad, scripted, 16),
    ("reads-file", ReadsFile, scripted, 17),
    ("dict-of-two", families.StateForOne, within(families.InDictOfTwo, traced), 41),
    ("tuple-with-state", families.StateForOne, within(families.InTupleWithState, scripted), 42),
    ("saved-in-training", PlainCnn, traced_in_training, 43),
    ("endless-loop", EndlessLoop, scripted, 44),
    ("endless-fork", EndlessFork, scripted, 48),
    ("reads-file-in-fork", ReadsFileInFork, scripted, 49),
    ("reads-file-in-part", ReadsFileInPart, scripted, 50),
    ("endless-on-large-input", EndlessOnLargeInput, scripted, 45),
    ("slow-on-large-input", SlowOperator, scripted, 46),
    ("slow-always", SlowAlways, scripted, 47),
]


def build(module: type[nn.Module], seed: int) -> nn.Module:
    """Random weights, and batch-normalization statistics that are not the identity."""
    torch.manual_seed(seed)
    model = module()
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for part in model.modules():
            if isinstance(part, (nn.BatchNorm1d, nn.BatchNorm2d)):
                size = part.running_mean.shape
                part.running_mean.copy_(0.3 * torch.randn(size, generator=generator))
                part.running_var.copy_(0.5 + torch.rand(size, generator=generator))
                part.weight.copy_(1 + 0.3 * torch.randn(size, generator=generator))
                part.bias.copy_(0.3 * torch.randn(size, generator=generator))
    model.eval()
    if hasattr(model, "classifier"):
        spread_logits(model)
    return model


def spread_logits(model: nn.Module) -> None:
    """So that different windows are put into different classes: logits of mean 0 and deviation 1
    over rhythms in noise."""
    generator = torch.Generator().manual_seed(0)
    shape = getattr(model, "window", (1, window_length(model)))
    length = math.prod(shape)
    time = torch.arange(length) / 95
    hertz = torch.arange(1, 33).unsqueeze(1)
    rhythms = torch.sin(2 * torch.pi * hertz * time) + torch.randn((32, length), generator=generator)
    with torch.no_grad():
        plain = PlainCnn.forward if isinstance(model, PlainCnn) else type(model).forward
        windows = rhythms.reshape(32, *shape)
        parts = windows.split(1 if isinstance(model, families.StateForOne) else 32)
        logits = torch.cat([plain(model, part) for part in parts])
        scale = 1 / logits.std(0)
        model.classifier.weight.mul_(scale.unsqueeze(1))
        model.classifier.bias.sub_(logits.mean(0)).mul_(scale)
