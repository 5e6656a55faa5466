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
    28: [f"emotion {index}" for index in range(27)] + ["\U0001f610 neutral"],
}
# Model types whose first position is pad_token_id + 1.
POSITIONS_AFTER_PADDING = ("roberta", "xlm-roberta", "camembert", "data2vec-text", "mpnet")


@dataclass(frozen=True)
class Spec:
    """One model directory. `config`: entries of config.json beyond the sizes. `raw_config`: entries
    put into config.json by hand afterwards (None removes one)."""

    name: str
    architecture: str  # "Bert" of transformers.BertForSequenceClassification, and so on
    tokenizer: Callable[..., int]
    num_labels: int
    seed: int  # one with which every label is the answer to some text
    problem_type: str | None = None
    dtype: torch.dtype = torch.float32
    weights: str = "safetensors"  # or "sharded", "bin", "legacy-bin", "sharded-bin"
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
        name="bert-legacy-bin-base-keys",
        architecture="Bert",
        tokenizer=tiny_tokenizers.save_bert_vocab_txt,
        num_labels=2,
        seed=19,
        dtype=torch.float16,
        weights="legacy-bin",
    ),
    Spec(
        name="roberta-sharded-bin-unused-keys",
        architecture="Roberta",
        tokenizer=tiny_tokenizers.save_roberta,
        num_labels=3,
        seed=4,
        dtype=torch.float64,
        weights="sharded-bin",
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
        dtype=torch.float16,
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
        dtype=torch.float16,
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
        dtype=torch.float16,
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
        dtype=torch.float16,
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

# Smaller than those above: what is new in them is the network, not what it is stored in.
SPECS += [
    Spec(
        name="electra-narrow-embeddings-float16",
        architecture="Electra",
        tokenizer=tiny_tokenizers.save_bert,
        num_labels=2,
        seed=9,
        dtype=torch.float16,
        config={"embedding_size": 16},
    ),
    Spec(
        name="electra-28-labels-float16",
        architecture="Electra",
        tokenizer=tiny_tokenizers.save_bert_vocab_txt,
        num_labels=28,
        seed=1,
        problem_type="multi_label_classification",
        dtype=torch.float16,
        config={"embedding_size": 32, "hidden_act": "gelu_fast"},
    ),
    Spec(
        name="albert-one-shared-layer",
        architecture="Albert",
        tokenizer=tiny_tokenizers.save_albert,
        num_labels=3,
        seed=5,
        config={"embedding_size": 16, "num_hidden_layers": 4},
    ),
    Spec(
        name="albert-groups-float16",
        architecture="Albert",
        tokenizer=tiny_tokenizers.save_bert,
        num_labels=2,
        seed=2,
        dtype=torch.float16,
        config={
            "embedding_size": 16,
            "num_hidden_layers": 5,
            "num_hidden_groups": 2,
            "inner_group_num": 2,
            "hidden_act": "gelu",
        },
    ),
    Spec(
        name="mpnet-far-positions-float16",
        architecture="MPNet",
        tokenizer=tiny_tokenizers.save_bert,
        num_labels=2,
        seed=0,
        dtype=torch.float16,
        config={"max_position_embeddings": 202},
    ),
    Spec(
        name="mpnet-regression-float16",
        architecture="MPNet",
        tokenizer=tiny_tokenizers.save_roberta,
        num_labels=1,
        seed=1,
        problem_type="regression",
        dtype=torch.float16,
        config={"hidden_act": "gelu_new", "relative_attention_num_buckets": 40},
    ),
    Spec(
        name="deberta-v2-as-v3-float16",
        architecture="DebertaV2",
        tokenizer=tiny_tokenizers.save_deberta_v2,
        num_labels=3,
        seed=3,
        dtype=torch.float16,
        config={
            "max_position_embeddings": 90,
            "relative_attention": True,
            "position_buckets": 16,
            "norm_rel_ebd": "layer_norm",
            "share_att_key": True,
            "pos_att_type": "p2c|c2p",
            "position_biased_input": False,
            "layer_norm_eps": 1e-7,
        },
    ),
    Spec(
        name="deberta-v2-convolution-float16",
        architecture="DebertaV2",
        tokenizer=tiny_tokenizers.save_deberta_v2,
        num_labels=2,
        seed=0,
        dtype=torch.float16,
        config={
            "embedding_size": 16,
            "relative_attention": True,
            "max_relative_positions": 24,
            "pos_att_type": ["c2p", "p2c"],
            "type_vocab_size": 2,
            "conv_kernel_size": 3,
            "conv_groups": 2,
            "conv_act": "gelu",
            "pooler_hidden_act": "tanh",
        },
    ),
    Spec(
        name="deberta-v2-c2p-float16",
        architecture="DebertaV2",
        tokenizer=tiny_tokenizers.save_bert,
        num_labels=2,
        seed=8,
        problem_type="multi_label_classification",
        dtype=torch.float16,
        config={"relative_attention": True, "pos_att_type": ["c2p"]},
    ),
    Spec(
        name="deberta-v2-absolute-float16",
        architecture="DebertaV2",
        tokenizer=tiny_tokenizers.save_deberta_v2,
        num_labels=2,
        seed=7,
        dtype=torch.float16,
        config={"pos_att_type": ["p2c"]},
    ),
    Spec(
        name="modernbert-float16",
        architecture="ModernBert",
        tokenizer=tiny_tokenizers.save_modernbert,
        num_labels=2,
        seed=67,
        dtype=torch.float16,
        config={"num_hidden_layers": 4, "local_attention": 12, "max_position_embeddings": 90},
    ),
    Spec(
        name="modernbert-mean-biases-bfloat16",
        architecture="ModernBert",
        tokenizer=tiny_tokenizers.save_modernbert,
        num_labels=2,
        seed=0,
        dtype=torch.bfloat16,
        config={
            "local_attention": 7,
            "classifier_pooling": "mean",
            "classifier_activation": "silu",
            "hidden_activation": "relu",
            "norm_bias": True,
            "attention_bias": True,
            "mlp_bias": True,
            "classifier_bias": True,
            "layer_types": ["sliding_attention", "full_attention"],
            "rope_parameters": {
                "full_attention": {"rope_type": "default", "rope_theta": 5000.0},
                "sliding_attention": {"rope_type": "default", "rope_theta": 300.0},
            },
        },
    ),
    Spec(
        name="modernbert-older-config-float16",
        architecture="ModernBert",
        tokenizer=tiny_tokenizers.save_modernbert,
        num_labels=2,
        seed=23,
        problem_type="single_label_classification",
        dtype=torch.float16,
        config={"num_hidden_layers": 3, "local_attention": 10},
        raw_config={
            "layer_types": None,
            "rope_parameters": None,
            "global_attn_every_n_layers": 2,
            "global_rope_theta": 7000.0,
            "local_rope_theta": 500.0,
        },
    ),
    Spec(
        name="data2vec-text-float16",
        architecture="Data2VecText",
        tokenizer=tiny_tokenizers.save_roberta,
        num_labels=2,
        seed=0,
        dtype=torch.float16,
    ),
    Spec(
        name="ernie-task-embedding-float16",
        architecture="Ernie",
        tokenizer=tiny_tokenizers.save_bert,
        num_labels=2,
        seed=3,
        dtype=torch.float16,
        config={"use_task_id": True},
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
