"""TorchScript files that must be refused, or that end within bounds when they are tried.

Each does one thing that no classifier has use for. What torch.jit.script would not write is put into
the archive afterwards, as somebody would who means harm.
"""

import io
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path

import torch
from eeg_golden import drop_debug_records
from torch import Tensor, nn


class Plain(nn.Module):
    """What the files below are made from: three numbers of a window."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.tensor([1.0, -1.0, 0.5]))

    def forward(self, x: Tensor) -> Tensor:
        return x.mean((1, 2)).unsqueeze(1) * self.weight


class AsStrided(Plain):
    def forward(self, x: Tensor) -> Tensor:
        return torch.as_strided(x, [x.size(0), 3], [1, 1 << 40])


class SetsMemory(Plain):
    def forward(self, x: Tensor) -> Tensor:
        logits = x.mean((1, 2)).unsqueeze(1) * self.weight
        return logits.set_(x)


class RawMemory(Plain):
    def forward(self, x: Tensor) -> Tensor:
        return torch.empty_strided([x.size(0), 3], [3, 1])


class Resizes(Plain):
    def forward(self, x: Tensor) -> Tensor:
        return x.resize_(x.size(0), 300)[:, 297:]


class Seeds(Plain):
    def forward(self, x: Tensor) -> Tensor:
        torch.manual_seed(1)
        return x.mean((1, 2)).unsqueeze(1) * self.weight


class PrintsForEver(Plain):
    def forward(self, x: Tensor) -> Tensor:
        while True:
            print("still here")
        return x.mean((1, 2)).unsqueeze(1) * self.weight


class PrintsOnce(Plain):
    """As one does who looks for a mistake: served."""

    def forward(self, x: Tensor) -> Tensor:
        print(x.shape)
        return x.mean((1, 2)).unsqueeze(1) * self.weight


class EmptyMemory(Plain):
    """Models make such tensors to fill them; this one shows what is in them: served, as zeros."""

    def forward(self, x: Tensor) -> Tensor:
        kept = torch.empty_like(x).sum() + x.new_empty([2, 2]).sum()
        return torch.empty(x.size(0), 3) + kept


class Terabytes(Plain):
    def forward(self, x: Tensor) -> Tensor:
        return x.mean((1, 2)).unsqueeze(1) * self.weight + torch.ones(1 << 40).sum()


class TerabytesComputed(Plain):
    def forward(self, x: Tensor) -> Tensor:
        ones = torch.ones(x.size(2) << 32)
        return x.mean((1, 2)).unsqueeze(1) * self.weight + ones.sum()


class Gigabytes(Plain):
    """Each is small; the list of them is not."""

    def forward(self, x: Tensor) -> Tensor:
        kept = [x]
        for _ in range(64):
            kept.append(torch.ones(x.size(2), 1 << 18))
        return x.mean((1, 2)).unsqueeze(1) * self.weight + float(len(kept))


class RepeatsList(Plain):
    def forward(self, x: Tensor) -> Tensor:
        zeros = [0] * (x.size(2) << 22)
        return x.mean((1, 2)).unsqueeze(1) * self.weight + float(len(zeros))


class DoublesList(Plain):
    def forward(self, x: Tensor) -> Tensor:
        numbers = [x.size(0), x.size(1)]
        numbers = numbers + numbers
        numbers = numbers + numbers
        numbers = numbers + numbers
        numbers = numbers + numbers
        numbers = numbers + numbers
        numbers = numbers + numbers
        numbers = numbers + numbers
        numbers = numbers + numbers
        numbers = numbers + numbers
        numbers = numbers + numbers
        numbers = numbers + numbers
        numbers = numbers + numbers
        numbers = numbers + numbers
        numbers = numbers + numbers
        numbers = numbers + numbers
        numbers = numbers + numbers
        numbers = numbers + numbers
        numbers = numbers + numbers
        numbers = numbers + numbers
        numbers = numbers + numbers
        numbers = numbers + numbers
        numbers = numbers + numbers
        numbers = numbers + numbers
        numbers = numbers + numbers
        numbers = numbers + numbers
        numbers = numbers + numbers
        numbers = numbers + numbers
        numbers = numbers + numbers
        numbers = numbers + numbers
        numbers = numbers + numbers
        numbers = numbers + numbers
        numbers = numbers + numbers
        return x.mean((1, 2)).unsqueeze(1) * self.weight + float(len(numbers))


class GrowsList(Plain):
    def forward(self, x: Tensor) -> Tensor:
        numbers = [0]
        for i in range(x.size(2) << 30):
            numbers.append(i)
        return x.mean((1, 2)).unsqueeze(1) * self.weight + float(len(numbers))


class GrowsText(Plain):
    def forward(self, x: Tensor) -> Tensor:
        text = "grows"
        for _ in range(60):
            text = text + text
        return x.mean((1, 2)).unsqueeze(1) * self.weight + float(len(text))


class Divides(Plain):
    """The processor traps it: an error in Python."""

    def forward(self, x: Tensor) -> Tensor:
        return x.mean((1, 2)).unsqueeze(1) * self.weight + float(x.size(2) % (x.size(1) - 1))


class DividesTooFar(Plain):
    def forward(self, x: Tensor) -> Tensor:
        least = -(1 << 62) * (x.size(1) + 1)
        return x.mean((1, 2)).unsqueeze(1) * self.weight + float(least // -x.size(1))


class DividesTensors(Plain):
    def forward(self, x: Tensor) -> Tensor:
        least = torch.tensor([-(1 << 62) * (x.size(1) + 1)])
        quotient = torch.div(least, torch.tensor([-x.size(1)]), rounding_mode="trunc")
        return x.mean((1, 2)).unsqueeze(1) * self.weight + quotient


class ReadsBeyondWeights(Plain):
    """The LSTM of oneDNN takes weights to be as long as the states say."""

    def __init__(self) -> None:
        super().__init__()
        self.small = nn.Parameter(torch.zeros(1))

    def forward(self, x: Tensor) -> Tensor:
        state = torch.zeros(1, x.size(0), 3)
        weights = [self.small, self.small, self.small, self.small]
        states = [state, state]
        output = torch.lstm(x.transpose(1, 2), states, weights, True, 1, 0.0, False, False, True)
        return output[0].mean(1) * self.weight


class ReadsBeyondWhenFrozen(Plain):
    """Depends on no input: it runs when the file is loaded."""

    def __init__(self) -> None:
        super().__init__()
        self.v = nn.Parameter(torch.ones(1, 1).expand(1 << 20, 3), requires_grad=False)
        self.g = nn.Parameter(torch.ones(1, 1))

    def forward(self, x: Tensor) -> Tensor:
        return x.mean((1, 2)).unsqueeze(1) * torch._weight_norm(self.v, self.g, 0)[0]


class ConstantOfGigabytes(Plain):
    """Depends on no input, and lies where no window of the trial comes: freezing alone runs it."""

    def forward(self, x: Tensor) -> Tensor:
        logits = x.mean((1, 2)).unsqueeze(1) * self.weight
        if x.size(0) > 1 << 20:
            side = 20_000
            for _ in range(2):
                side += 1
            logits = logits + torch.ones([side, side]).sum()
        return logits


@torch.jit.interface
class Part(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        pass


class Half(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x / 2


class SwapsParts(Plain):
    """LibTorch cannot freeze it: served as it is."""

    part: Part

    def __init__(self) -> None:
        super().__init__()
        self.part = Half()
        self.other = Half()

    def forward(self, x: Tensor) -> Tensor:
        self.part = self.other
        return self.part.forward(x.mean((1, 2)).unsqueeze(1) * self.weight)


class OpaqueTensor(Plain):
    def forward(self, x: Tensor) -> Tensor:
        zeros = torch.zeros([3], layout=torch._mkldnn)
        return x.mean((1, 2)).unsqueeze(1) * self.weight + zeros


class WritesIntoWeights(Plain):
    def forward(self, x: Tensor) -> Tensor:
        return torch.add(x.mean((1, 2)).unsqueeze(1), 1, out=self.weight)


class LookedAt(Plain):
    """Uses what is looked at before it runs as it is meant to be used: served."""

    def __init__(self) -> None:
        super().__init__()
        self.lstm = nn.LSTM(1, 2, num_layers=2, bidirectional=True, batch_first=True)
        self.projected = nn.LSTM(4, 3, proj_size=2, bias=False, batch_first=True)
        self.g = nn.Parameter(torch.ones(3, 1))
        self.v = nn.Parameter(torch.tensor([[1.0, 2.0], [3.0, -1.0], [0.5, 0.25]]))

    def forward(self, x: Tensor) -> Tensor:
        states, _ = self.lstm(x.transpose(1, 2))
        states, _ = self.projected(states)
        logits = states.mean(1) @ torch._weight_norm(self.v, self.g, 0).t()
        halves = torch.div(torch.tensor([x.size(2)]), 2, rounding_mode="trunc")
        return logits + float(x.size(2) % 256 + x.size(2) // 300) + 0 * halves


SCRIPTED: list[type[nn.Module]] = [
    AsStrided,
    SetsMemory,
    RawMemory,
    Resizes,
    Seeds,
    PrintsForEver,
    PrintsOnce,
    EmptyMemory,
    Terabytes,
    TerabytesComputed,
    Gigabytes,
    RepeatsList,
    DoublesList,
    GrowsList,
    GrowsText,
    Divides,
    DividesTooFar,
    DividesTensors,
    ReadsBeyondWeights,
    ReadsBeyondWhenFrozen,
    ConstantOfGigabytes,
    SwapsParts,
    OpaqueTensor,
    WritesIntoWeights,
    LookedAt,
]

Records = dict[str, bytes]


def records_of(module: type[nn.Module], directory: Path) -> Records:
    """Names without the archive's folder."""
    path = directory / "made.pt"
    torch.jit.save(torch.jit.script(module().eval()), path)
    with zipfile.ZipFile(path) as archive:
        records = {name.split("/", 1)[1]: archive.read(name) for name in archive.namelist()}
    path.unlink()
    return {name: data for name, data in records.items() if not name.endswith(".debug_pkl")}


def write(path: Path, records: Records) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in records.items():
            info = zipfile.ZipInfo(f"archive/{name}", (1980, 1, 1, 0, 0, 0))
            is_text = name.startswith("code/") or name.endswith(".pkl")
            info.compress_type = zipfile.ZIP_DEFLATED if is_text else zipfile.ZIP_STORED
            archive.writestr(info, data)


def in_code(old: str, new: str) -> Callable[[Records], None]:
    def change(records: Records) -> None:
        changed = 0
        for name, data in records.items():
            if name.startswith("code/") and old in data.decode():
                records[name] = data.decode().replace(old, new).encode()
                changed += 1
        assert changed == 1, (old, [d for n, d in records.items() if n.startswith("code/")])

    return change


def nest_brackets(records: Records) -> None:
    depth = 100_000
    in_code("unsqueeze(", "unsqueeze(" + "(" * depth)(records)
    in_code(", 1)", ")" * depth + ", 1)")(records)


def laugh(records: Records) -> None:
    """Functions that call each other twice: 2^40 when each is written into the other."""
    name = next(n for n in records if n.startswith("code/"))
    code = records[name].decode()
    functions = ["def f0(x: Tensor) -> Tensor:\n  return torch.add(x, x)\n"]
    module = name.removeprefix("code/").removesuffix(".py").replace("/", ".")
    functions += [
        f"def f{i}(x: Tensor) -> Tensor:\n"
        f"  return {module}.f{i - 1}({module}.f{i - 1}(x, ), )\n"
        for i in range(1, 41)
    ]
    code = code.replace("return torch.mul(", f"return torch.mul({module}.f40(", 1)
    code = code.replace(", weight)", ", ), weight)", 1)
    records[name] = (code + "".join(functions)).encode()


def instead_of_training(value: bytes) -> Callable[[Records], None]:
    """Another value for the attribute of this name, which is False."""

    def change(records: Records) -> None:
        data = records["data.pkl"]
        at = data.index(b"\x89", data.index(b"X\x08\x00\x00\x00training"))
        records["data.pkl"] = data[:at] + value + data[at + 1 :]

    return change


def claim_more(records: Records) -> None:
    """The storage is said to have 2^20 elements, and the tensor takes them."""
    data = records["data.pkl"]
    at = data.index(b"X\x03\x00\x00\x00cpu")
    at = data.index(b"K\x03t", at)
    data = data[:at] + b"J" + struct.pack("<i", 1 << 20) + data[at + 2 :]
    records["data.pkl"] = data


def take_more(records: Records) -> None:
    """The tensor has 2^20 elements, its storage three."""
    data = records["data.pkl"]
    at = data.index(b"K\x03", data.index(b"Q", data.index(b"cpu")))
    records["data.pkl"] = data[:at] + b"J" + struct.pack("<i", 1 << 20) + data[at + 2 :]


def change_class(records: Records) -> None:
    records["data.pkl"] = b"\x80\x02cos\nsystem\nX\x04\x00\x00\x00true\x85R."


def grow_code(records: Records) -> None:
    name = next(n for n in records if n.startswith("code/"))
    records[name] += b"# " + b"x" * (9 << 20)


# name, what is changed in the records of Plain
CHANGED: list[tuple[str, Callable[[Records], None]]] = [
    (
        "default-reads-file",
        in_code("x: Tensor) ->", 'x: Tensor,\n    y: Tensor=torch.from_file("/etc/hostname")) ->'),
    ),
    (
        "default-of-terabytes",
        in_code("x: Tensor) ->", "x: Tensor,\n    y: List[int]=[0]*1099511627776) ->"),
    ),
    (
        "named-tuple-reads-file",
        lambda records: records.update(
            {
                "code/__torch__/other.py": b"class Other(NamedTuple):\n"
                b'  field : Tensor=torch.from_file("/etc/hostname")\n'
            }
        ),
    ),
    ("cpp-class", in_code("x: Tensor) ->", "x: __torch__.torch.classes.rnn.CellParamsBase) ->")),
    ("nested-brackets", nest_brackets),
    (
        "nested-operators",
        in_code("torch.mean(x", "torch.mean(" + "- " * 100_000 + "x"),
    ),
    ("functions-that-double", laugh),
    ("nested-values", instead_of_training(b"]" * 100_000 + b"a" * 99_999)),
    ("value-in-itself", instead_of_training(b"]r\x63\x00\x00\x00j\x63\x00\x00\x00a")),
    ("storage-too-long", claim_more),
    ("tensor-too-long", take_more),
    ("pickle-runs-code", change_class),
    ("too-much-code", grow_code),
    ("no-constants", lambda records: records.pop("constants.pkl") and None),
    ("no-weights", lambda records: records.pop("data/0") and None),
]


def overlapping(whole: bytes) -> bytes:
    """One record's data is another one's: the directory points twice to one place."""
    at = whole.index(b"PK\x01\x02", whole.index(b"PK\x01\x02") + 4)
    first = struct.unpack_from("<I", whole, whole.index(b"PK\x01\x02") + 42)[0]
    return whole[: at + 42] + struct.pack("<I", first) + whole[at + 46 :]


def listed_twice(records: Records) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for _ in range(2):
            for name, data in records.items():
                archive.writestr(zipfile.ZipInfo(f"archive/{name}"), data)
    return buffer.getvalue()


def bomb(whole: bytes) -> bytes:
    """The directory says that a deflated record unpacks to half a gigabyte: LibTorch would make room."""
    at = whole.rindex(b"archive/code/") - 46
    return whole[: at + 24] + struct.pack("<I", 512 << 20) + whole[at + 28 :]


def make(directory: Path) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    for module in SCRIPTED:
        name = "".join("-" + c.lower() if c.isupper() else c for c in module.__name__).lstrip("-")
        path = directory / f"{name}.pt"
        torch.jit.save(torch.jit.script(module().eval()), path)
        drop_debug_records(path)
    for name, change in CHANGED:
        records = records_of(Plain, directory)
        change(records)
        write(directory / f"{name}.pt", records)
    records = records_of(Plain, directory)
    for name, change_bytes in (("overlapping-records", overlapping), ("bomb", bomb)):
        path = directory / f"{name}.pt"
        write(path, records)
        path.write_bytes(change_bytes(path.read_bytes()))
    (directory / "record-twice.pt").write_bytes(listed_twice(records))
    for path in sorted(directory.glob("*.pt")):
        print(f"{path.name}: {path.stat().st_size} bytes")
