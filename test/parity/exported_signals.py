"""Tiny signal models as torch.export writes them: which there are."""

from dataclasses import dataclass

import eeg_families as families
import eeg_models
import torch
from torch import Tensor, nn

MOST_ROWS = 64


class Conv2dNorm(nn.Sequential):
    def __init__(self, inputs: int, outputs: int, stride: int, groups: int = 1) -> None:
        super().__init__(
            nn.Conv2d(inputs, outputs, 3, stride=stride, padding=1, groups=groups, bias=False),
            nn.BatchNorm2d(outputs),
            nn.Hardswish(),
        )


class MobileImage(nn.Module):
    """As MobileNetV3: depthwise convolutions, squeeze and excitation. n x 3 x 16 x 16."""

    window = (3, 16, 16)

    def __init__(self) -> None:
        super().__init__()
        self.stem = Conv2dNorm(self.window[0], 6, 2)
        self.depthwise = Conv2dNorm(6, 6, 1, groups=6)
        self.squeeze = nn.Sequential(
            nn.AdaptiveAvgPool2d(1), nn.Conv2d(6, 2, 1), nn.ReLU(), nn.Conv2d(2, 6, 1), nn.Hardsigmoid()
        )
        self.pointwise = nn.Conv2d(6, 8, 1)
        self.classifier = nn.Linear(8, 3)

    def forward(self, x: Tensor) -> Tensor:
        x = self.depthwise(self.stem(x))
        x = nn.functional.hardswish(self.pointwise(x * self.squeeze(x)))
        return self.classifier(nn.functional.adaptive_avg_pool2d(x, 1).flatten(1))


class PatchTransformer(nn.Module):
    """As a vision transformer: patches, a class token, attention written out. n x 1 x 16 x 16."""

    window = (1, 16, 16)

    def __init__(self) -> None:
        super().__init__()
        self.patches = nn.Conv2d(1, 8, 4, stride=4)
        self.class_token = nn.Parameter(torch.randn(1, 1, 8))
        self.positions = nn.Parameter(torch.randn(1, 17, 8))
        self.norm = nn.LayerNorm(8)
        self.qkv = nn.Linear(8, 24)
        self.out = nn.Linear(8, 8)
        self.mix = nn.Sequential(nn.LayerNorm(8), nn.Linear(8, 16), nn.GELU(), nn.Linear(16, 8))
        self.classifier = nn.Linear(8, 3)

    def forward(self, x: Tensor) -> Tensor:
        n = x.shape[0]
        x = self.patches(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.class_token.expand(n, -1, -1), x], dim=1) + self.positions
        q, k, v = self.qkv(self.norm(x)).reshape(n, -1, 3, 2, 4).permute(2, 0, 3, 1, 4).unbind(0)
        states = nn.functional.scaled_dot_product_attention(q, k, v).transpose(1, 2)
        x = x + self.out(states.reshape(n, -1, 8))
        return self.classifier((x + self.mix(x))[:, 0])


class Spectrogram(nn.Module):
    """As audio models begin: short-time Fourier transform, bands, logarithm. n x 256, without channels."""

    window = (256,)

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("hann", torch.hann_window(32), persistent=False)
        self.bands = nn.Linear(17, 8, bias=False)
        self.convolution = nn.Conv1d(8, 6, 3, padding=1)
        self.classifier = nn.Linear(6, 3)

    def forward(self, x: Tensor) -> Tensor:
        spectrum = torch.stft(x, 32, 8, window=self.hann, return_complex=True).abs().square()
        bands = torch.log(self.bands(spectrum.transpose(1, 2)).square() + 1e-3)
        return self.classifier(torch.relu(self.convolution(bands.transpose(1, 2))).mean(2))


class Conditional(eeg_models.PlainCnn):
    """torch.cond, on what is the same in every run, and on how many windows there are."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("threshold", torch.tensor(0.5))

    def forward(self, x: Tensor) -> Tensor:
        features = self.features(x).flatten(1)
        features = torch.cond(self.threshold > 0, torch.tanh, torch.sin, (features,))
        return self.classifier(features)


class ConditionalOnData(eeg_models.PlainCnn):
    """torch.cond on the signal: one window at a time. The branches hold weights."""

    rows = 1

    def forward(self, x: Tensor) -> Tensor:
        def loud(features: Tensor) -> Tensor:
            return self.classifier(torch.tanh(features)) * 1.5

        def quiet(features: Tensor) -> Tensor:
            return self.classifier(features)

        return torch.cond(x.amax() > 3.0, loud, quiet, (self.features(x).flatten(1),))


class CountsRuns(eeg_models.PlainCnn):
    """Writes into a buffer in each run: no run may see what the one before it left."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("runs", torch.zeros(3))

    def forward(self, x: Tensor) -> Tensor:
        self.runs.add_(1.0)
        return self.classifier(self.features(x).flatten(1)) + self.runs


class FourAtMost(eeg_models.PlainCnn):
    """Exported for at most four windows at once."""

    rows = 4


class OneAtATime(eeg_models.PlainCnn):
    """Exported with a batch of one, as without dynamic_shapes."""

    rows = 1


class OtherName(eeg_models.PlainCnn):
    """Its input has another name; in a second argument what it is given is no tensor."""

    def forward(self, recording: Tensor, scale: float = 1.0) -> Tensor:
        return self.classifier(self.features(recording * scale).flatten(1))


class SizesComputed(eeg_models.PlainCnn):
    """Arithmetic on sizes that are known in each run only."""

    def forward(self, x: Tensor) -> Tensor:
        n, _, length = x.shape
        halves = x.reshape(n * 2, 1, length // 2)
        features = self.features(halves).reshape(-1, 2, 12)[: max(n, 1)].mean(1)
        rank = torch.arange(n * 3 - 2 * n).float().unsqueeze(1) * 0
        return self.classifier((features + rank) * (n / (2 * n)) * 2)


class TwoInputs(eeg_models.PlainCnn):
    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        return self.classifier(self.features(x + y).flatten(1))


class TwoOutputs(eeg_models.PlainCnn):
    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        features = self.features(x).flatten(1)
        return self.classifier(features), features


class DrawsNumbers(eeg_models.PlainCnn):
    """Another answer each time."""

    def forward(self, x: Tensor) -> Tensor:
        return self.classifier(self.features(x + torch.rand_like(x)).flatten(1))


@dataclass(frozen=True)
class Spec:
    name: str
    module: type[nn.Module]
    seed: int
    decomposed: bool = False
    within: type[families.Wrapper] | None = None  # what it returns its scores in


# Served, with golden answers.
GOOD = [
    Spec("plain-cnn", eeg_models.PlainCnn, 1),
    Spec("plain-cnn-decomposed", eeg_models.PlainCnn, 2, decomposed=True),
    Spec("eegnet", eeg_models.EegNet, 4),
    Spec("eegnet-same-dict-decomposed", families.EegNetSame, 22, True, families.InDict),
    Spec("resnet-tuple", families.ResNet1d, 24, within=families.InTuple),
    Spec("resnet-decomposed", families.ResNet1d, 23, decomposed=True),
    Spec("tcn-weight-norm", families.WeightNormTcn, 25),
    Spec("tcn-decomposed", families.DilatedTcn, 26, decomposed=True),
    Spec("cnn-gru", eeg_models.CnnGru, 27),
    Spec("cnn-lstm", families.CnnLstm, 28),
    Spec("transformer", families.ConvTransformer, 30),
    Spec("transformer-decomposed", families.ConvTransformer, 31, decomposed=True),
    Spec("spectrogram", Spectrogram, 51),
    Spec("spectrogram-decomposed", Spectrogram, 51, decomposed=True),
    Spec("patch-transformer", PatchTransformer, 52),
    Spec("conditional", Conditional, 53),
    Spec("conditional-on-data", ConditionalOnData, 54),
    Spec("counts-runs", CountsRuns, 55),
    Spec("counts-runs-decomposed", CountsRuns, 55, decomposed=True),
    Spec("four-at-most", FourAtMost, 56),
    Spec("one-at-a-time", OneAtATime, 57),
    Spec("other-name", OtherName, 58),
    Spec("sizes-computed", SizesComputed, 59),
    Spec("batch-dependent", eeg_models.BatchDependent, 7),
    Spec("squeezed", families.CnnLstm, 34, within=families.Squeezed),
    Spec("probabilities", families.CnnLstm, 35, within=families.Probabilities),
]

# Windows of another size: of 768 numbers.
CUSTOM = Spec("mobile-image", MobileImage, 60)

# Refused at load, or failing on what is asked.
BAD = [
    Spec("two-inputs", TwoInputs, 71),
    Spec("two-outputs", TwoOutputs, 72),
    Spec("draws-numbers", DrawsNumbers, 73),
    Spec("four-outputs", eeg_models.FourOutputs, 13),
    Spec("nan-output", eeg_models.NotANumber, 11),
]


def build(spec: Spec) -> nn.Module:
    model = eeg_models.build(spec.module, spec.seed)
    return spec.within(model).eval() if spec.within else model


def shape_of(spec: Spec) -> tuple[int, ...]:
    """Of one window."""
    return getattr(spec.module, "window", (1, 256))


def rows_of(spec: Spec) -> int:
    """How many windows may share a run."""
    return getattr(spec.module, "rows", MOST_ROWS)
