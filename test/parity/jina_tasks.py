"""Embeddings of jina-embeddings-v3 for each task and without a task, in tasks.json next to the model. The reference is
this forward pass in PyTorch over the tensors of the original code, whose weights are parametrized as in modeling_lora.py
of jinaai/xlm-roberta-flash-implementation (LoRAParametrization, XLMRobertaLoRA.encode). Called by rotary_golden.py."""

import json
import math
from pathlib import Path

import torch
from common import versions, write_json
from safetensors.torch import load_file
from texts import TEXTS
from torch.nn.functional import gelu, layer_norm, linear
from transformers import AutoTokenizer

INDICES = [0, 5, 7, 18, 34, 45]  # of TEXTS
ERROR = 3e-6  # largest difference to float64
WEIGHT = "parametrizations.weight."


class Reference:
    """The encoder with the LoRA update of one task; task None: without an update."""

    def __init__(self, directory: Path, task: str | None, dtype: torch.dtype) -> None:
        self.config = json.loads((directory / "config.json").read_text())
        tensors = load_file(directory / "model.safetensors")
        self.tensors = {name.removeprefix("roberta."): tensor.to(dtype) for name, tensor in tensors.items()}
        self.task = None if task is None else self.config["lora_adaptations"].index(task)

    def weight(self, layer: str) -> torch.Tensor:
        place = f"{layer}.{WEIGHT}"
        weight = self.tensors[f"{place}original"]
        if self.task is None:
            return weight
        down, up = (self.tensors[f"{place}0.lora_{name}"][self.task] for name in "AB")
        update = down @ up if layer.endswith("_embeddings") else up @ down
        return weight + update * (self.config["lora_alpha"] / self.config["lora_rank"])

    def linear(self, layer: str, states: torch.Tensor) -> torch.Tensor:
        return linear(states, self.weight(layer), self.tensors[f"{layer}.bias"])

    def norm(self, layer: str, states: torch.Tensor) -> torch.Tensor:
        weight, bias = self.tensors[f"{layer}.weight"], self.tensors[f"{layer}.bias"]
        return layer_norm(states, weight.shape, weight, bias, self.config["layer_norm_eps"])

    def rotate(self, states: torch.Tensor) -> torch.Tensor:
        """states: [heads, tokens, size of a head]"""
        tokens, size = states.shape[1:]
        frequencies = self.config["rotary_emb_base"] ** (-torch.arange(0, size, 2).to(states) / size)
        angles = torch.outer(torch.arange(tokens).to(states), frequencies).repeat(1, 2)
        first, second = states.chunk(2, dim=-1)
        return states * angles.cos() + torch.cat([-second, first], dim=-1) * angles.sin()

    def attend(self, layer: str, states: torch.Tensor) -> torch.Tensor:
        heads = self.config["num_attention_heads"]
        all_heads = self.linear(f"{layer}.Wqkv", states).view(len(states), 3, heads, -1).permute(1, 2, 0, 3)
        query, key, value = self.rotate(all_heads[0]), self.rotate(all_heads[1]), all_heads[2]
        scores = query @ key.transpose(1, 2) / math.sqrt(query.shape[-1])
        context = (scores.softmax(-1) @ value).transpose(0, 1).reshape(len(states), -1)
        return self.linear(f"{layer}.out_proj", context)

    def states(self, ids: list[int]) -> torch.Tensor:
        words, types = (self.weight(f"embeddings.{name}_embeddings") for name in ("word", "token_type"))
        states = self.norm("emb_ln", words[ids] + types[0])
        for index in range(self.config["num_hidden_layers"]):
            layer = f"encoder.layers.{index}"
            states = self.norm(f"{layer}.norm1", states + self.attend(f"{layer}.mixer", states))
            inner = gelu(self.linear(f"{layer}.mlp.fc1", states))
            states = self.norm(f"{layer}.norm2", states + self.linear(f"{layer}.mlp.fc2", inner))
        return states


def shortest(values: torch.Tensor) -> list[float]:
    """float32's own shortest decimals."""
    return [float(str(value)) for value in values.numpy()]


def make(directory: Path) -> None:
    tokenizer = AutoTokenizer.from_pretrained(directory)
    config = json.loads((directory / "config.json").read_text())
    rows = []
    for task in [None, *config["lora_adaptations"]]:
        model, exact = (Reference(directory, task, dtype) for dtype in (torch.float32, torch.float64))
        instruction = config["task_instructions"].get(task, "")
        for index in INDICES:
            ids = tokenizer(instruction + TEXTS[index][1], truncation=True)["input_ids"]
            states, exact_states = model.states(ids), exact.states(ids)
            error = (states.double() - exact_states).abs().max().item()
            assert error < ERROR, f"{task}, text {index}: {error}"
            rows.append({"task": task, "text": index, "mean": shortest(states.mean(0)), "cls": shortest(states[0])})
    write_json(directory / "tasks.json", {"versions": versions()}, "answers", rows)
