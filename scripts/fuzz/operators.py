"""Which operators that a program may use end the process, or read beyond their tensors.

Takes the calls that PyTorch's own samples make (torch.testing's op_db), changes one to three of their
arguments, and makes them where each tensor lies right before a page that may not be read, each
operator in a process of its own from its first crash on. Those with a precondition
(native/backend/programs/preconditions.cc) are marked: a program is kept from such calls, this is not.

    pip install torch==2.15.0 expecttest
    python scripts/fuzz/operators.py [--calls 200] [--seed 1]

With 200 calls each, some ten minutes on one core. Linux only.
"""

import argparse
import ctypes
import mmap
import os
import random
import re
import resource
import signal
import struct
import subprocess
import tempfile
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten, tree_leaves, tree_map, tree_unflatten

ROOT = Path(__file__).resolve().parents[2]
BACKEND = ROOT / "native" / "backend"
SECONDS = 20  # of a call that is given up
SAMPLES = 40  # of an operator
CRASHES = 5  # after which the next operator's turn comes
INTEGERS = [-1, 0, 1, 2, 3, -2, 7, 64, 1000, 2**31, 2**62, -(2**63), 2**63 - 1]
NUMBERS = [0.0, -1.0, 2.0, 1e30, float("nan"), float("inf")]
TYPES = [torch.float64, torch.float32, torch.int64, torch.int32, torch.bool, torch.uint8]
TYPES += [torch.float16, torch.bfloat16, torch.complex64]

Call = tuple[Any, tuple[list[Any], dict[str, Any]]]


def names_in(*files: str) -> set[str]:
    text = "".join((BACKEND / file).read_text() for file in files)
    return set(" ".join(re.findall(r'"([^"]*)"', text)).split())


def is_allowed(name: str, allowed: set[str]) -> bool:
    operator, _, overload = name.removeprefix("aten::").partition(".")
    forms = {operator, f"aten::{operator}"}
    if operator.endswith("_") and not operator.endswith("__"):
        forms.add(operator[:-1])
    return bool(forms & allowed) and "out" not in overload


def use_guarded_allocator() -> None:
    folder = Path(torch.__file__).parent
    with tempfile.TemporaryDirectory() as temporary:
        library = Path(temporary) / "guarded.so"
        source = Path(__file__).with_name("guarded_allocator.cc")
        flags = ["-std=c++20", "-shared", "-fPIC", "-O1", f"-I{folder}/include", f"-L{folder}/lib"]
        subprocess.run(["c++", *flags, str(source), "-lc10", "-o", str(library)], check=True)
        ctypes.CDLL(str(library)).use_guarded_allocator()


class Recorder(TorchDispatchMode):
    """What a call comes down to."""

    def __init__(self, calls: dict[str, list[Call]]) -> None:
        super().__init__()
        self.calls = calls

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):  # noqa: ANN001, ANN204
        kept = self.calls.setdefault(func.name(), [])
        if len(kept) < SAMPLES:
            arguments = (list(args), dict(kwargs or {}))
            kept.append((func, tree_map(lambda x: x.clone() if is_dense(x) else x, arguments)))
        return func(*args, **(kwargs or {}))


def is_dense(value: object) -> bool:
    return isinstance(value, torch.Tensor) and value.layout == torch.strided


def calls_of_samples() -> dict[str, list[Call]]:
    from torch.testing._internal.common_methods_invocations import op_db

    calls: dict[str, list[Call]] = {}
    for op in op_db:
        for dtype in {torch.float32, torch.int64} & set(op.dtypes):
            try:
                samples = list(op.sample_inputs("cpu", dtype, requires_grad=False))[:13]
            except Exception:  # noqa: BLE001, S112: some samples need what is not installed
                continue
            for sample in samples:
                arguments = ([sample.input, *sample.args], dict(sample.kwargs))
                packet = getattr(torch.ops.aten, op.aten_name, None)
                whole = calls.setdefault(f"aten::{op.aten_name}", [])
                if packet is not None and len(whole) < SAMPLES:
                    whole.append((packet, arguments))
                try:
                    with Recorder(calls):
                        op(*arguments[0], **arguments[1])
                except Exception:  # noqa: BLE001, S110: it has been recorded
                    pass
    return calls


def changed_tensor(tensor: torch.Tensor, chance: random.Random) -> torch.Tensor:
    sizes = list(tensor.shape)
    dimension = chance.randrange(len(sizes)) if sizes else 0
    integral = tensor.dtype in (torch.int64, torch.int32)
    match chance.randrange(9):
        case 0 if sizes:
            length = max(0, sizes[dimension] - chance.choice([1, 1, 2, 3]))
            return tensor.narrow(dimension, 0, length).clone()
        case 1 if sizes and sizes[dimension]:
            return tensor.select(dimension, 0).clone()
        case 2:
            return tensor.unsqueeze(0)
        case 3:
            shape = chance.choice([(0,), (1,), (), (1, 1), (2, 3), (1, 1, 1), (1, 1, 1, 1)])
            return torch.zeros(shape, dtype=tensor.dtype)
        case 4:
            return tensor.to(chance.choice(TYPES))
        case 5 if sizes:
            return torch.cat([tensor, tensor], dimension)
        case 6 if integral and tensor.numel():
            copy = tensor.clone().contiguous()
            value = chance.choice([-1, 0, 1, 100, -100, 2**31 - 1, -(2**31)])
            copy.view(-1)[chance.randrange(copy.numel())] = value
            return copy
        case 7 if len(sizes) >= 2:
            return tensor.transpose(0, -1)
        case 8 if sizes:
            sizes[dimension] = chance.choice([0, 1, 2, 3, 5])
            return torch.ones(sizes, dtype=tensor.dtype)
    return tensor


def changed(calls: list[Call], seed: int) -> Call:
    chance = random.Random(seed)
    operator, arguments = chance.choice(calls)
    values, tree = tree_flatten(arguments)
    places = [i for i, value in enumerate(values) if isinstance(value, torch.Tensor | int | float)]
    for place in chance.choices(places, k=chance.choice([1, 1, 1, 2, 2, 3])) if places else []:
        value = values[place]
        if isinstance(value, torch.Tensor):
            values[place] = changed_tensor(value, chance)
        elif isinstance(value, bool):
            values[place] = not value
        else:
            values[place] = chance.choice(INTEGERS if isinstance(value, int) else NUMBERS)
    return operator, tree_unflatten(values, tree)


def make(call: Call) -> None:
    operator, (positional, named) = call
    signal.alarm(SECONDS)
    try:
        copies = tree_map(lambda x: x.clone() if is_dense(x) else x, (positional, named))
        for result in tree_leaves(operator(*copies[0], **copies[1])):
            if is_dense(result):
                result.clone()
    except Exception:  # noqa: BLE001, S110: an error is what is hoped for
        pass


def shown(value: object) -> str:
    if isinstance(value, torch.Tensor):
        return f"{str(value.dtype).removeprefix('torch.')}{list(value.shape)}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(shown, value))}]"
    if isinstance(value, dict):
        return ", ".join(f"{key}={shown(item)}" for key, item in value.items())
    return str(value)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--calls", type=int, default=200, help="of each operator")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    torch.set_grad_enabled(False)
    use_guarded_allocator()
    allowed = names_in("program/allowed_operators.cc", "exported/operators.cc")
    guarded = names_in("program/preconditions.cc")
    calls = {name: c for name, c in calls_of_samples().items() if c and is_allowed(name, allowed)}
    names = sorted(calls)
    print(f"{len(names)} operators", flush=True)

    place = mmap.mmap(-1, 16)  # shared with the process that makes the calls: operator, call
    crashes: Counter[str] = Counter()
    seed_of = lambda operator, call: hash((options.seed, operator, call))  # noqa: E731
    while True:
        first, next_call = struct.unpack("qq", place[:])
        if first >= len(names):
            break
        child = os.fork()
        if child == 0:
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
            for operator in range(first, len(names)):
                for call in range(next_call if operator == first else 0, options.calls):
                    place[:] = struct.pack("qq", operator, call)
                    make(changed(calls[names[operator]], seed_of(operator, call)))
            place[:] = struct.pack("qq", len(names), 0)
            os._exit(0)
        ended = os.WTERMSIG(os.waitpid(child, 0)[1])
        operator, call = struct.unpack("qq", place[:])
        if operator >= len(names):
            break
        name = names[operator]
        crashes[name] += 1
        note = " (looked at before it runs)" if name.partition(".")[0] in guarded else ""
        what = shown(list(changed(calls[name], seed_of(operator, call))[1]))
        print(f"{signal.Signals(ended).name} {name}{note} {what}", flush=True)
        after = (operator + 1, 0) if crashes[name] >= CRASHES else (operator, call + 1)
        place[:] = struct.pack("qq", *after)
    print(f"{len(crashes)} operators ended the process or took over {SECONDS} s")


main()
