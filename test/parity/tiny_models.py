"""How each tiny random text model is written."""

import json
import shutil
from pathlib import Path

import torch
import transformers
from tiny_specs import Spec

SIZES = {
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 64,
}
DISTILBERT_SIZES = {"dim": 32, "n_layers": 2, "n_heads": 4, "hidden_dim": 64}
LABELS = {
    1: ["STARS"],
    2: ["NEGATIVE", "POSITIVE"],
    3: ["anger", "joy \u2014 \u559c\u60a6", "Sadness"],
    28: [f"emotion {index}" for index in range(27)] + ["\U0001f610 neutral"],
}
# Model types whose first position is pad_token_id + 1.
POSITIONS_AFTER_PADDING = ("roberta", "xlm-roberta", "camembert", "data2vec-text", "mpnet")
VOCABULARY_SIZE = 420
POSITION_LIMIT = 40  # tokens, special ones included


def make(spec: Spec, directory: Path) -> None:
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    vocabulary_size = spec.tokenizer(directory, VOCABULARY_SIZE, **spec.tokenizer_settings)
    config = configuration(spec, vocabulary_size)
    model_class = getattr(transformers, f"{spec.architecture}ForSequenceClassification")
    model = model_class(config).eval()
    randomize(model, spec.seed)
    save(model.to(spec.dtype), directory, spec)
    edit_config(directory / "config.json", spec.raw_config)
    compact(directory / "tokenizer.json")


def configuration(spec: Spec, vocabulary_size: int) -> transformers.PreTrainedConfig:
    labels = dict(enumerate(LABELS[spec.num_labels]))
    config_class = getattr(transformers, f"{spec.architecture}Config")
    after_padding = config_class.model_type in POSITIONS_AFTER_PADDING
    roberta_like = after_padding and spec.architecture != "MPNet"
    entries = {
        **(DISTILBERT_SIZES if spec.architecture == "DistilBert" else SIZES),
        "vocab_size": vocabulary_size,
        "pad_token_id": 1 if after_padding else 0,
        "max_position_embeddings": POSITION_LIMIT + (2 if after_padding else 0),
        "id2label": labels,
        "label2id": {label: index for index, label in labels.items()},
        "problem_type": spec.problem_type,
        **({"type_vocab_size": 1, "layer_norm_eps": 1e-5} if roberta_like else {}),
        **spec.config,
    }
    return config_class(**entries)


def randomize(model: torch.nn.Module, seed: int) -> None:
    """Wide random weights everywhere (biases, LayerNorm and the padding row too): with the default
    initialisation all texts would give nearly the same logits, and a forgotten bias none at all."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, parameter in sorted(model.named_parameters()):
            noise = torch.randn(parameter.shape, generator=generator)
            if name.lower().endswith("norm.weight"):
                parameter.copy_(1 + 0.3 * noise)
            elif "embeddings" in name:
                parameter.copy_(0.7 * noise)
            elif name in ("classifier.weight", "classifier.out_proj.weight"):
                # What DistilBERT's head reads is not bounded by a tanh.
                parameter.copy_((0.3 if hasattr(model, "pre_classifier") else 0.8) * noise)
            else:
                parameter.copy_(0.22 * noise)


def save(model: transformers.PreTrainedModel, directory: Path, spec: Spec) -> None:
    if spec.weights == "sharded":
        model.save_pretrained(directory, max_shard_size="60KB")
    elif spec.weights == "safetensors":
        model.save_pretrained(directory)
    else:
        model.config.save_pretrained(directory)
        dtype = str(spec.dtype).removeprefix("torch.")
        edit_config(directory / "config.json", {"dtype": dtype})
        state = model.state_dict()  # an OrderedDict with a _metadata attribute
        if "old-keys" in spec.name:
            state = with_old_keys(state)  # a plain dict
        elif "base-keys" in spec.name:
            state = {name.removeprefix("bert."): tensor for name, tensor in state.items()}
        elif "unused-keys" in spec.name:
            state = with_unused_keys(state)
        save_pickled(state, directory, spec.weights)


def save_pickled(state: dict[str, torch.Tensor], directory: Path, form: str) -> None:
    path = directory / "pytorch_model.bin"
    if form == "legacy-bin":  # as torch.save wrote before 1.6
        torch.save(state, path, _use_new_zipfile_serialization=False)
    elif form == "bin":
        torch.save(state, path)
    else:
        names = sorted(state)
        weight_map = {}
        for number in (1, 2):
            shard = f"pytorch_model-{number:05}-of-00002.bin"
            part = names[number - 1 :: 2]
            torch.save({name: state[name] for name in part}, directory / shard)
            weight_map.update(dict.fromkeys(part, shard))
        index = json.dumps({"metadata": {}, "weight_map": weight_map}, indent=1)
        path.with_suffix(".bin.index.json").write_text(index + "\n", encoding="utf-8")


def with_unused_keys(state: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """What a classifier that was made from a masked language model may still carry: its head, with
    the decoder tied to the words and therefore left out, and the pooler."""
    return {
        **state,
        "lm_head.dense.bias": torch.ones(32),
        "lm_head.bias": torch.ones(5),
        "roberta.pooler.dense.weight": torch.ones(32, 32),
        "roberta.embeddings.position_ids": torch.arange(42).unsqueeze(0),
        "roberta.embeddings.token_type_ids": torch.zeros(1, 42, dtype=torch.int64),
    }


def with_old_keys(state: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """LayerNorm parameters as checkpoints converted from TensorFlow name them, and the position
    buffer that old releases saved."""
    renamed = {
        name.replace("LayerNorm.weight", "LayerNorm.gamma").replace(
            "LayerNorm.bias", "LayerNorm.beta"
        ): tensor
        for name, tensor in state.items()
    }
    positions = torch.arange(POSITION_LIMIT).unsqueeze(0)
    return {"bert.embeddings.position_ids": positions, **renamed}


def compact(path: Path) -> None:
    """The same JSON without the white space that save_pretrained writes."""
    if path.exists():
        content = json.loads(path.read_text(encoding="utf-8"))
        text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
        path.write_text(text + "\n", encoding="utf-8")


def edit_config(path: Path, entries: dict) -> None:
    config = json.loads(path.read_text(encoding="utf-8"))
    for key, value in entries.items():
        if value is None:
            config.pop(key, None)
        else:
            config[key] = value
    path.write_text(json.dumps(config, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
