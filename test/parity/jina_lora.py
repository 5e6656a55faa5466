"""A tiny jina-embeddings-v3 with the names of its original code and LoRA factors of several tasks, in
test/fixtures/embeddings/encoders/jina-embeddings-v3-lora. The reference is the model of transformers,
which has no such factors, with the updates of one task added to its weights. Called by
rotary_golden.py."""

import json
import shutil
from pathlib import Path

import torch
import transformers
from safetensors.torch import load_file, save_file

TASKS = ["retrieval.query", "retrieval.passage", "separation", "classification", "text-matching"]
SELECTED, RANK, ALPHA = 1, 2, 3.0
PREFIX = "roberta."


def factors(name: str, weight: torch.Tensor, generator: torch.Generator) -> tuple[torch.Tensor, torch.Tensor]:
    """Of all tasks. Linear layers: W + B A; embedding tables: W + A B."""
    rows, columns = weight.shape
    is_embedding = name.endswith("_embeddings.weight")
    down = (len(TASKS), rows, RANK) if is_embedding else (len(TASKS), RANK, columns)
    up = (len(TASKS), RANK, columns) if is_embedding else (len(TASKS), rows, RANK)
    return tuple((0.2 * torch.randn(shape, generator=generator)).half() for shape in (down, up))


def update(name: str, down: torch.Tensor, up: torch.Tensor) -> torch.Tensor:
    a, b = down[SELECTED].float(), up[SELECTED].float()
    return (a @ b if name.endswith("_embeddings.weight") else b @ a) * (ALPHA / RANK)


def original_tensors(directory: Path) -> dict[str, torch.Tensor]:
    """A model that was not loaded is saved under the original names."""
    loaded = transformers.JinaEmbeddingsV3Model.from_pretrained(directory, dtype=torch.float16)
    model = transformers.JinaEmbeddingsV3Model(loaded.config).to(torch.float16)
    model.load_state_dict(loaded.state_dict())
    saved = directory.with_suffix(".original")
    model.save_pretrained(saved)
    tensors = load_file(saved / "model.safetensors")
    shutil.rmtree(saved)
    return tensors


def adapt(directory: Path, model: torch.nn.Module, original: dict) -> None:
    """Adds the updates of the selected task to the weights of `model`, and rewrites the folder."""
    tensors = original_tensors(directory)
    generator = torch.Generator().manual_seed(11)
    stored, merged = {}, {}
    for name, weight in sorted(tensors.items()):
        if weight.dim() != 2:
            stored[PREFIX + name] = merged[name] = weight
            continue
        down, up = factors(name, weight, generator)
        place = PREFIX + name.removesuffix("weight") + "parametrizations.weight."
        stored |= {place + "original": weight, place + "0.lora_A": down, place + "0.lora_B": up}
        merged[name] = weight.float() + update(name, down, up)
    whole = directory.with_suffix(".merged")
    shutil.copytree(directory, whole)
    save_file(merged, whole / "model.safetensors", metadata={"format": "pt"})
    reference = transformers.JinaEmbeddingsV3Model.from_pretrained(whole, dtype=torch.float32)
    model.load_state_dict(reference.state_dict())
    shutil.rmtree(whole)
    save_file(stored, directory / "model.safetensors", metadata={"format": "pt"})
    entries = {
        **{**original, "torch_dtype": "float16", "vocab_size": reference.config.vocab_size},
        **{"lora_adaptations": TASKS, "lora_rank": RANK, "lora_alpha": ALPHA},
        "task_instructions": {TASKS[0]: "Represent the query: ", TASKS[1]: "Represent the document: "},
    }
    (directory / "config.json").write_text(json.dumps(entries, indent=1) + "\n")
    (directory / "model.json").write_text(json.dumps({"adapter": TASKS[SELECTED]}) + "\n")
