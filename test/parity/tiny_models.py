"""The tiny random text models: which there are, and how each is written."""

import json
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Callable

import tiny_tokenizers
import torch
import transformers

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
}


@dataclass(frozen=True)
class Spec:
    """One model directory. `config`: entries of config.json beyond the sizes. `raw_config`: entries
    put into config.json by hand afterwards (None removes one)."""

    name: str
    architecture: str  # "Bert", "DistilBert", "Roberta", "XLMRoberta", "Camembert"
    tokenizer: Callable[..., int]
    num_labels: int
    seed: int  # one with which every label is the answer to some text
    problem_type: str | None = None
    dtype: torch.dtype = torch.float32
    weights: str = "safetensors"  # or "sharded", "bin"
    config: dict = field(default_factory=dict)
    raw_config: dict = field(default_factory=dict)
    tokenizer_settings: dict = field(default_factory=dict)


SPECS = [
    Spec(
        name="bert-single-label",
        architecture="Bert",
        tokenizer=tiny_tokenizers.save_bert,
        num_labels=3,
        seed=0,
        problem_type="single_label_classification",
        tokenizer_settings={"model_max_length": 512},
    ),
    Spec(
        name="bert-cased-vocab-txt-sharded-float16",
        architecture="Bert",
        tokenizer=tiny_tokenizers.save_bert_vocab_txt,
        num_labels=2,
        seed=27,
        dtype=torch.float16,
        weights="sharded",
        config={"hidden_act": "gelu_new"},
        tokenizer_settings={"do_lower_case": False, "model_max_length": 32},
    ),
    Spec(
        name="bert-multi-label-bfloat16",
        architecture="Bert",
        tokenizer=tiny_tokenizers.save_bert,
        num_labels=3,
        seed=0,
        problem_type="multi_label_classification",
        dtype=torch.bfloat16,
        config={"hidden_act": "relu", "layer_norm_eps": 1e-5},
        tokenizer_settings={"strip_accents": False},
    ),
    Spec(
        name="bert-regression-bin",
        architecture="Bert",
        tokenizer=tiny_tokenizers.save_bert,
        num_labels=1,
        seed=8,
        problem_type="regression",
        weights="bin",
        config={"hidden_act": "silu"},
        tokenizer_settings={"model_max_length": 24, "truncation_side": "left"},
    ),
    Spec(
        name="bert-no-labels-old-keys-bin",
        architecture="Bert",
        tokenizer=tiny_tokenizers.save_bert_vocab_txt,
        num_labels=2,
        seed=19,
        weights="bin",
        raw_config={"id2label": None, "label2id": None},
    ),
    Spec(
        name="distilbert-two-labels",
        architecture="DistilBert",
        tokenizer=tiny_tokenizers.save_bert_vocab_txt,
        num_labels=2,
        seed=57,
        raw_config={"function_to_apply": "none"},
        tokenizer_settings={"tokenizer_class": "DistilBertTokenizer"},
    ),
    Spec(
        name="distilbert-multi-label-bfloat16-bin",
        architecture="DistilBert",
        tokenizer=tiny_tokenizers.save_bert,
        num_labels=3,
        seed=18,
        problem_type="multi_label_classification",
        dtype=torch.bfloat16,
        weights="bin",
        config={"activation": "relu", "sinusoidal_pos_embds": True},
    ),
    Spec(
        name="roberta-three-labels-float16",
        architecture="Roberta",
        tokenizer=tiny_tokenizers.save_roberta,
        num_labels=3,
        seed=72,
        dtype=torch.float16,
        raw_config={"id2label": None, "label2id": None, "num_labels": 3},
        tokenizer_settings={"model_max_length": 512},
    ),
    Spec(
        name="roberta-vocab-json-sharded",
        architecture="Roberta",
        tokenizer=tiny_tokenizers.save_roberta_vocab_json,
        num_labels=3,
        seed=4,
        problem_type="single_label_classification",
        weights="sharded",
        config={"hidden_act": "gelu_pytorch_tanh", "type_vocab_size": 2},
        tokenizer_settings={"add_prefix_space": True, "model_max_length": 30},
    ),
    Spec(
        name="roberta-one-label",
        architecture="Roberta",
        tokenizer=tiny_tokenizers.save_roberta,
        num_labels=1,
        seed=9,
        raw_config={"function_to_apply": "softmax"},
    ),
    Spec(
        name="roberta-regression-bfloat16",
        architecture="Roberta",
        tokenizer=tiny_tokenizers.save_roberta_vocab_json,
        num_labels=1,
        seed=9,
        problem_type="regression",
        dtype=torch.bfloat16,
    ),
    Spec(
        name="xlm-roberta-multi-label-sharded",
        architecture="XLMRoberta",
        tokenizer=tiny_tokenizers.save_xlm_roberta,
        num_labels=3,
        seed=18,
        problem_type="multi_label_classification",
        weights="sharded",
    ),
    Spec(
        name="camembert-two-labels-float16-bin",
        architecture="Camembert",
        tokenizer=tiny_tokenizers.save_camembert,
        num_labels=2,
        seed=37,
        dtype=torch.float16,
        weights="bin",
        tokenizer_settings={"model_max_length": 28},
    ),
]

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


def configuration(spec: Spec, vocabulary_size: int) -> transformers.PreTrainedConfig:
    labels = dict(enumerate(LABELS[spec.num_labels]))
    bert_like = spec.architecture in ("Bert", "DistilBert")
    if spec.architecture == "DistilBert":
        sizes = DISTILBERT_SIZES
    else:
        sizes = SIZES
    entries = {
        **sizes,
        "vocab_size": vocabulary_size,
        "pad_token_id": 0 if bert_like else 1,
        # RoBERTa's positions start after the padding index.
        "max_position_embeddings": POSITION_LIMIT + (0 if bert_like else 2),
        "id2label": labels,
        "label2id": {label: index for index, label in labels.items()},
        "problem_type": spec.problem_type,
        **({} if bert_like else {"type_vocab_size": 1, "layer_norm_eps": 1e-5}),
        **spec.config,
    }
    return getattr(transformers, f"{spec.architecture}Config")(**entries)


def randomize(model: torch.nn.Module, seed: int) -> None:
    """Wide random weights everywhere (biases, LayerNorm and the padding row too): with the default
    initialisation all texts would give nearly the same logits, and a forgotten bias none at all."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, parameter in sorted(model.named_parameters()):
            noise = torch.randn(parameter.shape, generator=generator)
            if "LayerNorm.weight" in name or "layer_norm.weight" in name:
                parameter.copy_(1 + 0.3 * noise)
            elif "embeddings" in name:
                parameter.copy_(0.7 * noise)
            elif name in ("classifier.weight", "classifier.out_proj.weight"):
                # What DistilBERT's head reads is not bounded by a tanh.
                parameter.copy_((0.3 if hasattr(model, "pre_classifier") else 0.8) * noise)
            else:
                parameter.copy_(0.22 * noise)


def save(model: transformers.PreTrainedModel, directory: Path, spec: Spec) -> None:
    if spec.weights == "bin":
        model.config.save_pretrained(directory)
        state = model.state_dict()  # an OrderedDict with a _metadata attribute
        if "old-keys" in spec.name:
            state = with_old_keys(state)  # a plain dict
        edit_config(
            directory / "config.json", {"dtype": str(spec.dtype).removeprefix("torch.")}
        )
        torch.save(state, directory / "pytorch_model.bin")
    elif spec.weights == "sharded":
        model.save_pretrained(directory, max_shard_size="60KB")
    else:
        model.save_pretrained(directory)


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


def edit_config(path: Path, entries: dict) -> None:
    config = json.loads(path.read_text(encoding="utf-8"))
    for key, value in entries.items():
        if value is None:
            config.pop(key, None)
        else:
            config[key] = value
    path.write_text(json.dumps(config, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
