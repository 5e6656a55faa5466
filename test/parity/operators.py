"""Which operators do the models of a library use, and which of them may a TorchScript file not use?

How to run it (never needed to build, run or test the project; minutes a library):

    pip install -r test/parity/requirements.txt torchvision torchaudio braindecode timm
    python test/parity/operators.py torchvision torchaudio braindecode timm transformers

Each model is scripted and traced, as far as that can be done; the operators of its forward() are
compared with those of native/backend/programs/allowed_operators.cc. What is left is printed with the models.
"""

import inspect
import re
import sys
import warnings
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from torch import nn

SOURCE = Path(__file__).parents[2] / "native/backend/programs/allowed_operators.cc"

Model = tuple[str, nn.Module, Any]  # name, module, example inputs


def allowed() -> set[str]:
    text = SOURCE.read_text()
    names = set()
    for prefix, list_name in (("aten::", "kAten"), ("prim::", "kPrim")):
        block = re.search(list_name + r"\{(.*?)\};", text, re.DOTALL).group(1)
        for words in re.findall(r'"([^"]*)"', block):
            names |= {prefix + word for word in words.split()}
    return names


def torchvision_models() -> Iterator[Model]:
    import torchvision

    for name in torchvision.models.list_models(module=torchvision.models):
        if not re.search(r"_l|_h_|huge|\d\dgf|128gf|152|_b[3-7]|_x[2-9]", name):
            size = 299 if name == "inception_v3" else 224
            module = torchvision.models.get_model(name, weights=None)
            yield name, module, torch.zeros(1, 3, size, size)


def torchaudio_models() -> Iterator[Model]:
    from torchaudio import models, transforms

    waves = torch.rand(1, 16000)
    for name in ("wav2vec2_base", "hubert_base", "wavlm_base"):
        yield name, getattr(models, name)(aux_num_out=3), waves
    speech = (torch.randn(1, 100, 80), torch.tensor([100]))
    yield "Conformer", models.Conformer(80, 4, 128, 2, 31), speech
    yield "DeepSpeech", models.DeepSpeech(80), torch.randn(1, 1, 100, 80)
    yield "ConvTasNet", models.ConvTasNet(), torch.randn(1, 1, 2000)
    for name in ("Spectrogram", "MelSpectrogram", "MFCC", "LFCC", "Resample", "MuLawEncoding"):
        yield name, getattr(transforms, name)(), waves


def braindecode_models() -> Iterator[Model]:
    import braindecode.models
    import mne

    names = mne.channels.make_standard_montage("biosemi64").ch_names[:22]
    info = mne.create_info(names, 250.0, "eeg")
    info.set_montage("biosemi64")
    shape = {"n_outputs": 4, "n_times": 1000, "sfreq": 250, "n_chans": 22, "chs_info": info["chs"]}
    for name, kind in inspect.getmembers(braindecode.models, inspect.isclass):
        try:
            yield name, kind(**shape), torch.randn(1, 22, 1000)
        except Exception as error:  # some take other channels, or files from the network
            print(f"-- {name}: {error}".splitlines()[0])


def timm_models() -> Iterator[Model]:
    import timm

    for name in timm.list_models():
        if re.search(r"(tiny|nano|small|_s\d\d|xxs|resnet18|_b0)", name):
            module = timm.create_model(name)
            yield name, module, torch.randn(1, *module.default_cfg["input_size"])


def transformers_models() -> Iterator[Model]:
    from transformers import AutoConfig, AutoModelForSequenceClassification
    from transformers.models.auto.modeling_auto import (
        MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING_NAMES as NAMES,
    )

    input_ids = torch.arange(1, 13).reshape(1, 12)
    for name in NAMES:
        try:
            config = AutoConfig.for_model(name)
            config.update({"return_dict": False, "use_cache": False, "pad_token_id": 0})
            module = AutoModelForSequenceClassification.from_config(config)
            yield name, module, (input_ids, torch.ones_like(input_ids))
        except Exception as error:  # decoders of many billion parameters among them
            print(f"-- {name}: {error}".splitlines()[0])


def operators(block: Any) -> Iterator[str]:
    for node in block.nodes():
        yield node.kind()
        for inner in node.blocks():
            yield from operators(inner)
        if node.hasAttribute("Subgraph"):
            yield from operators(node.g("Subgraph"))


def scripts_of(module: nn.Module, example: Any) -> Iterator[torch.jit.ScriptModule]:
    """Scripted and traced, if it can be."""
    for make in (
        lambda: torch.jit.script(module),
        lambda: torch.jit.trace(module, example, strict=False, check_trace=False),
    ):
        try:
            with torch.no_grad():
                yield make()
        except Exception:  # many models can be only one of the two
            continue


def main() -> None:
    warnings.filterwarnings("ignore")
    known = allowed()
    for library in sys.argv[1:]:
        used: dict[str, set[str]] = defaultdict(set)
        scripts = 0
        for name, module, example in globals()[f"{library}_models"]():
            for script in scripts_of(module.eval(), example):
                scripts += 1
                graph = script.graph.copy()
                torch._C._jit_pass_inline(graph)
                for operator in operators(graph):
                    used[operator].add(name)
        print(f"{library}: {scripts} scripts use {len(used)} operators; not allowed:")
        for operator in sorted(used):
            if operator not in known and operator.removesuffix("_") not in known:
                print(f"  {operator}: {', '.join(sorted(used[operator])[:5])}")


if __name__ == "__main__":
    main()
