"""JinaBert v2 and its variant for code, which transformers does not have: the network in plain PyTorch,
written from the description of its checkpoints, with random weights."""

import json
import math
import shutil
from pathlib import Path

import tiny_models
import tiny_tokenizers
import torch
from safetensors.torch import save_file
from texts import TEXTS
from transformers import AutoTokenizer

HIDDEN, HEADS, INNER, LAYERS, EPSILON = 24, 3, 32, 2, 1e-12
INDICES = [0, 5, 7, 13, 18, 27, 34, 40, 42, 45]  # of TEXTS


def slopes(heads: int) -> torch.Tensor:
    """Of "Train Short, Test Long": three heads have the two of 2, and the first of 4."""
    power = 2 ** math.floor(math.log2(heads))
    of = lambda n: [2 ** (-8 * (i + 1) / n) for i in range(n)]  # noqa: E731
    return torch.tensor([*of(power), *of(2 * power)[0::2][: heads - power]])


def names(code: bool) -> dict[str, tuple[int, ...]]:
    """Shapes by name. Linear layers have weights [out, in]."""
    shapes = {
        "embeddings.word_embeddings.weight": (0, HIDDEN),
        "embeddings.token_type_embeddings.weight": (2, HIDDEN),
        "embeddings.LayerNorm": (HIDDEN,),
    }
    for i in range(LAYERS):
        layer = f"encoder.layer.{i}."
        for name in ("query", "key", "value"):
            shapes[f"{layer}attention.self.{name}"] = (HIDDEN, HIDDEN)
        shapes[f"{layer}attention.output.dense"] = (HIDDEN, HIDDEN)
        if code:
            shapes[f"{layer}attention.self.layer_norm_q"] = (HIDDEN,)
            shapes[f"{layer}attention.self.layer_norm_k"] = (HIDDEN,)
            shapes[f"{layer}layer_norm_1"] = shapes[f"{layer}layer_norm_2"] = (HIDDEN,)
            shapes[f"{layer}mlp.up_gated_layer.weight"] = (2 * INNER, HIDDEN)
            shapes[f"{layer}mlp.down_layer"] = (HIDDEN, INNER)
        else:
            shapes[f"{layer}attention.output.LayerNorm"] = shapes[f"{layer}mlp.layernorm"] = (HIDDEN,)
            shapes[f"{layer}mlp.gated_layers.weight"] = (2 * INNER, HIDDEN)
            shapes[f"{layer}mlp.wo"] = (HIDDEN, INNER)
    return shapes


def random_weights(code: bool, vocabulary_size: int) -> dict[str, torch.Tensor]:
    generator = torch.Generator().manual_seed(5)
    weights = {}
    for name, shape in names(code).items():
        noise = lambda *size: torch.randn(*size, generator=generator)  # noqa: E731
        if name.endswith(".weight"):
            size = (vocabulary_size, HIDDEN) if "word" in name else shape
            weights[name] = noise(*size) * (0.7 if "embeddings" in name else 0.25)
        elif len(shape) == 1:
            weights[name + ".weight"] = 1 + 0.3 * noise(*shape)
            weights[name + ".bias"] = 0.2 * noise(*shape)
        else:
            weights[name + ".weight"] = 0.25 * noise(*shape)
            weights[name + ".bias"] = 0.2 * noise(shape[0])
    return {name: value.to(torch.float16).contiguous() for name, value in weights.items()}


class JinaBert:
    def __init__(self, weights: dict[str, torch.Tensor], code: bool, dtype: torch.dtype):
        self.weights = {name: value.to(dtype) for name, value in weights.items()}
        self.code = code

    def linear(self, name: str, x: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.linear(x, self.weights[name + ".weight"], self.weights.get(name + ".bias"))

    def norm(self, name: str, x: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.layer_norm(
            x, (HIDDEN,), self.weights[name + ".weight"], self.weights[name + ".bias"], EPSILON
        )

    def attention(self, layer: str, x: torch.Tensor) -> torch.Tensor:
        query, key, value = (self.linear(f"{layer}attention.self.{name}", x) for name in ("query", "key", "value"))
        if self.code:
            query = self.norm(layer + "attention.self.layer_norm_q", query)
            key = self.norm(layer + "attention.self.layer_norm_k", key)
        heads = [states.view(len(x), HEADS, -1).transpose(0, 1) for states in (query, key, value)]
        places = torch.arange(len(x))
        distance = (places[:, None] - places[None, :]).abs()
        scores = heads[0] @ heads[1].transpose(1, 2) / math.sqrt(HIDDEN // HEADS)
        scores = scores - slopes(HEADS).to(x.dtype)[:, None, None] * distance
        context = (scores.softmax(-1) @ heads[2]).transpose(0, 1).reshape(len(x), HIDDEN)
        return self.linear(layer + "attention.output.dense", context)

    def mlp(self, layer: str, x: torch.Tensor) -> torch.Tensor:
        gelu = torch.nn.functional.gelu
        if self.code:
            up, gate = self.linear(layer + "mlp.up_gated_layer", x).split(INNER, -1)
            return self.linear(layer + "mlp.down_layer", up * gelu(gate))
        gate, up = self.linear(layer + "mlp.gated_layers", x).split(INNER, -1)
        return self.linear(layer + "mlp.wo", gelu(gate) * up)

    def __call__(self, ids: list[int]) -> torch.Tensor:
        x = self.weights["embeddings.word_embeddings.weight"][ids]
        x = self.norm("embeddings.LayerNorm", x + self.weights["embeddings.token_type_embeddings.weight"][0])
        attention_norm = "layer_norm_1" if self.code else "attention.output.LayerNorm"
        output_norm = "layer_norm_2" if self.code else "mlp.layernorm"
        for i in range(LAYERS):
            layer = f"encoder.layer.{i}."
            x = self.norm(layer + attention_norm, x + self.attention(layer, x))
            x = self.norm(layer + output_norm, x + self.mlp(layer, x))
        return x


def make(directory: Path, code: bool) -> list[dict]:
    """Writes the folder, and returns the rows of golden.json: the mean of all tokens."""
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    save = tiny_tokenizers.save_roberta if code else tiny_tokenizers.save_bert
    size = save(directory, tiny_models.VOCABULARY_SIZE, model_max_length=tiny_models.POSITION_LIMIT)
    weights = random_weights(code, size)
    save_file(weights, directory / "model.safetensors", metadata={"format": "pt"})
    config = {
        **{"model_type": "bert", "architectures": ["JinaBertModel"], "position_embedding_type": "alibi"},
        **{"hidden_size": HIDDEN, "num_attention_heads": HEADS, "intermediate_size": INNER},
        **{"num_hidden_layers": LAYERS, "vocab_size": size, "type_vocab_size": 2, "layer_norm_eps": EPSILON},
        **{"max_position_embeddings": tiny_models.POSITION_LIMIT, "feed_forward_type": "geglu"},
        "hidden_act": "gelu",
    }
    (directory / "config.json").write_text(json.dumps(config, indent=1) + "\n")
    tokenizer = AutoTokenizer.from_pretrained(directory)
    model, exact = JinaBert(weights, code, torch.float32), JinaBert(weights, code, torch.float64)
    rows = []
    for index in INDICES:
        ids = tokenizer(TEXTS[index][1], truncation=True, max_length=tiny_models.POSITION_LIMIT)["input_ids"]
        values = model(ids).mean(0)
        assert (values.double() - exact(ids).mean(0)).abs().max() < 3e-6
        rows.append({"text": index, "input_ids": ids, "values": [float(str(v)) for v in values.numpy()]})
    return rows
