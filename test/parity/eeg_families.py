"""Tiny models of the families that people train on EEG, and the ways in which they return scores.

Each maps n x 1 x 256 to n x 3 and ends in `classifier`, a linear layer."""

import torch
from torch import Tensor, nn


class EegNetSame(nn.Module):
    """EEGNet (Lawhern et al. 2018) with padding='same': an even kernel pads unevenly."""

    def __init__(self) -> None:
        super().__init__()
        self.block1 = nn.Sequential(
            nn.Conv2d(1, 4, (1, 64), padding="same", bias=False),
            nn.BatchNorm2d(4),
            nn.Conv2d(4, 8, (1, 1), groups=4, bias=False),
            nn.BatchNorm2d(8),
            nn.ELU(),
            nn.AvgPool2d((1, 4)),
            nn.Dropout(0.5),
        )
        self.block2 = nn.Sequential(
            nn.Conv2d(8, 8, (1, 16), groups=8, padding="same", bias=False),
            nn.Conv2d(8, 8, 1, bias=False),
            nn.BatchNorm2d(8),
            nn.ELU(),
            nn.AvgPool2d((1, 8)),
            nn.Dropout(0.5),
        )
        self.classifier = nn.Linear(64, 3)

    def forward(self, x: Tensor) -> Tensor:
        return self.classifier(self.block2(self.block1(x.unsqueeze(1))).flatten(1))


class Residual(nn.Module):
    """Two convolutions beside a shortcut, which is a convolution where the shape changes."""

    def __init__(self, inputs: int, outputs: int, stride: int) -> None:
        super().__init__()
        self.convolutions = nn.Sequential(
            nn.Conv1d(inputs, outputs, 9, stride=stride, padding=4, bias=False),
            nn.BatchNorm1d(outputs),
            nn.ReLU(inplace=True),
            nn.Conv1d(outputs, outputs, 9, padding=4, bias=False),
            nn.BatchNorm1d(outputs),
        )
        self.shortcut = (
            nn.Identity()
            if inputs == outputs and stride == 1
            else nn.Conv1d(inputs, outputs, 1, stride=stride)
        )

    def forward(self, x: Tensor) -> Tensor:
        out = self.convolutions(x)
        out += self.shortcut(x)
        return torch.relu_(out)


class ResNet1d(nn.Module):
    """1-D ResNet: stem, residual stages, pooling, batch normalization of features."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Sequential(
            nn.Conv1d(1, 4, 21, stride=2, padding=10, bias=False),
            nn.BatchNorm1d(4),
            nn.ReLU(inplace=True),
            nn.MaxPool1d(3, 2, 1),
        )
        self.stages = nn.Sequential(Residual(4, 4, 1), Residual(4, 6, 2))
        self.pool = nn.AdaptiveMaxPool1d(1)
        self.norm = nn.BatchNorm1d(6)
        self.classifier = nn.Linear(6, 3)

    def forward(self, x: Tensor) -> Tensor:
        features = self.pool(self.stages(self.stem(x)))
        return self.classifier(self.norm(features.reshape(features.size(0), -1)))


class CausalBlock(nn.Module):
    """A dilated convolution over the past alone: what looks ahead is cut off."""

    def __init__(self, channels: int, dilation: int) -> None:
        super().__init__()
        self.padding = 2 * dilation
        self.convolution = nn.Conv1d(
            channels, channels, 3, padding=self.padding, dilation=dilation
        )
        self.activation = nn.GELU()

    def forward(self, x: Tensor) -> Tensor:
        return x + self.activation(self.convolution(x)[:, :, : -self.padding])


class DilatedTcn(nn.Module):
    """Temporal convolutional network (Bai et al. 2018): dilations 1, 2, 4, 8."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Conv1d(1, 6, 7, padding=3)
        self.blocks = nn.ModuleList([CausalBlock(6, 2**level) for level in range(4)])
        self.classifier = nn.Linear(6, 3)

    def forward(self, x: Tensor) -> Tensor:
        x = self.stem(x)
        for block in self.blocks:
            x = block(x)
        return self.classifier(x.mean(dim=2))


class WeightNormTcn(DilatedTcn):
    """As in the paper. Parametrized weights can be traced, not scripted."""

    def __init__(self) -> None:
        super().__init__()
        for block in self.blocks:
            nn.utils.parametrizations.weight_norm(block.convolution)


class CnnLstm(nn.Module):
    """Parallel strided convolutions, then a bidirectional LSTM (after ChronoNet, Roy et al. 2019)."""

    def __init__(self) -> None:
        super().__init__()
        self.short = nn.Conv1d(1, 3, 4, stride=4)
        self.long = nn.Conv1d(1, 3, 8, stride=4, padding=2)
        self.lstm = nn.LSTM(6, 6, batch_first=True, bidirectional=True)
        self.classifier = nn.Linear(12, 3)

    def forward(self, x: Tensor) -> Tensor:
        features = torch.cat([self.short(x), self.long(x)], dim=1).relu().transpose(1, 2)
        _, (hidden, _) = self.lstm(features)
        return self.classifier(torch.cat([hidden[-2], hidden[-1]], dim=1))


class ConvTransformer(nn.Module):
    """A convolution makes tokens; a class token and positions; a Transformer encoder."""

    def __init__(self) -> None:
        super().__init__()
        self.tokenizer = nn.Conv1d(1, 8, 16, stride=16)
        self.class_token = nn.Parameter(torch.randn(1, 1, 8))
        self.positions = nn.Parameter(torch.randn(1, 17, 8))
        layer = nn.TransformerEncoderLayer(8, 2, 16, activation="gelu", batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.norm = nn.LayerNorm(8)
        self.classifier = nn.Linear(8, 3)

    def forward(self, x: Tensor) -> Tensor:
        tokens = self.tokenizer(x).transpose(1, 2)
        first = self.class_token.expand(x.size(0), -1, -1)
        states = self.encoder(torch.cat([first, tokens], dim=1) + self.positions)
        return self.classifier(self.norm(states[:, 0]))


class StateForOne(nn.Module):
    """The first hidden state is made for a batch of one: windows cannot share a run."""

    def __init__(self) -> None:
        super().__init__()
        self.gru = nn.GRU(8, 6, batch_first=True)
        self.classifier = nn.Linear(6, 3)

    def forward(self, x: Tensor) -> Tensor:
        steps = x.reshape(x.size(0), 32, 8)
        sequence, _ = self.gru(steps, torch.zeros(1, 1, 6))
        return self.classifier(sequence[:, -1])


class StateKept(nn.Module):
    """Keeps its hidden state in an attribute, begun anew each time: runs at the same time must not
    see each other's."""

    hidden: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.cell = nn.GRUCell(16, 6)
        self.hidden = torch.zeros(1, 6)
        self.classifier = nn.Linear(6, 3)

    def forward(self, x: Tensor) -> Tensor:
        steps = x.reshape(x.size(0), 16, 16)
        self.hidden = torch.zeros(x.size(0), 6)
        for step in range(16):
            self.hidden = self.cell(steps[:, step], self.hidden)
        return self.classifier(self.hidden)


class ShortWindows(nn.Module):
    """For windows of 100 samples and four classes: no other length fits its linear layer."""

    window_length = 100

    def __init__(self) -> None:
        super().__init__()
        self.convolution = nn.Conv1d(1, 4, 9, stride=4)
        self.classifier = nn.Linear(92, 4)

    def forward(self, x: Tensor) -> Tensor:
        return self.classifier(torch.relu(self.convolution(x)).flatten(1))


class Wrapper(nn.Module):
    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model


class InTuple(Wrapper):
    def forward(self, x: Tensor) -> tuple[Tensor]:
        return (self.model(x),)


class InDict(Wrapper):
    def forward(self, x: Tensor) -> dict[str, Tensor]:
        return {"logits": self.model(x)}


class InDictOfTwo(Wrapper):
    def forward(self, x: Tensor) -> dict[str, Tensor]:
        return {"logits": self.model(x), "window": x}


class InTupleWithState(Wrapper):
    """As a recurrent model that hands out its state: (scores, (state, state))."""

    def forward(self, x: Tensor) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        return self.model(x), (x, x)


class Squeezed(Wrapper):
    """[3] for one window, [n, 3] for several."""

    def forward(self, x: Tensor) -> Tensor:
        return self.model(x).squeeze()


class Probabilities(Wrapper):
    """Ends in a softmax."""

    def forward(self, x: Tensor) -> Tensor:
        return self.model(x).softmax(dim=1)
