"""Tiny encoders with rotary positions or ALiBi, in test/fixtures/embeddings/encoders: embeddings by the
mean of all tokens. Families with two naming schemes have a folder for each. Called by
embedding_golden.py."""

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import jina_bert
import jina_lora
import jina_tasks
import tiny_models
import tiny_tokenizers
import torch
import transformers
from embedding_specs import pooling
from safetensors.torch import load_file, save_file
from tiny_specs import Spec
from transformers.models.lfm2 import modeling_lfm2

SIZES = {"hidden_size": 16, "num_attention_heads": 2, "intermediate_size": 32}
# Shorter than the texts, so that scaled positions and windows take effect.
TRAINED, WINDOW = 16, 8


@dataclass(frozen=True)
class Rotary:
    """`original`: entries of config.json in the form of the original code; None: transformers' form."""

    name: str
    architecture: str
    tokenizer: object
    config: dict = field(default_factory=dict)
    original: dict | None = None
    prefix: str = ""  # of the original names
    seed: int = 3
    has_task_adapters: bool = False


def rope(theta: float, **entries) -> dict:
    return {"rope_parameters": {"rope_theta": theta, "rope_type": "default", **entries}}


NOMIC_ORIGINAL = {
    **{"model_type": "nomic_bert", "architectures": ["NomicBertModel"], "activation_function": "swiglu"},
    **{"n_embd": 16, "n_head": 2, "n_inner": 256, "n_layer": 2, "n_positions": tiny_models.POSITION_LIMIT},
    **{"type_vocab_size": 2, "layer_norm_epsilon": 1e-12, "rotary_emb_base": 1000, "rotary_emb_fraction": 1.0},
    **{"rotary_emb_interleaved": False, "prenorm": False, "qkv_proj_bias": False, "mlp_fc1_bias": False},
    "mlp_fc2_bias": False,
}
GTE_ORIGINAL = {
    **{"model_type": "new", "architectures": ["NewModel"], "hidden_act": "gelu", "layer_norm_type": "layer_norm"},
    **{"num_hidden_layers": 2, "layer_norm_eps": 1e-12, "max_position_embeddings": tiny_models.POSITION_LIMIT},
    **{"position_embedding_type": "rope", "rope_theta": 20000, "pack_qkv": True, "type_vocab_size": 1},
    **SIZES,
}
JINA_V3_ORIGINAL = {
    **{"model_type": "xlm-roberta", "architectures": ["XLMRobertaModel"], "position_embedding_type": "rotary"},
    **{"rotary_emb_base": 20000.0, "layer_norm_eps": 1e-5, "hidden_act": "gelu", "type_vocab_size": 1},
    **{"num_hidden_layers": 2, "max_position_embeddings": tiny_models.POSITION_LIMIT, **SIZES},
}
GROUPED = {**SIZES, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 8}
GEMMA3 = {
    **GROUPED,
    **{"num_hidden_layers": 3, "sliding_window": WINDOW, "query_pre_attn_scalar": 24},
    "layer_types": ["sliding_attention", "full_attention", "sliding_attention"],
}

LFM2 = {
    **{**GROUPED, "num_hidden_layers": 3, "layer_types": ["conv", "full_attention", "conv"], "conv_L_cache": 3},
    **{"intermediate_size": 48, "block_multiple_of": 8, "block_ffn_dim_multiplier": 1.2, **rope(1000.0)},
}

ROTARY = [
    Rotary("nomic-bert", "NomicBert", tiny_tokenizers.save_bert, {**SIZES, **rope(1000.0)}),
    Rotary(
        "nomic-bert-original",
        "NomicBert",
        tiny_tokenizers.save_bert,
        {**SIZES, "intermediate_size": 256, **rope(1000.0)},
        {**NOMIC_ORIGINAL, "rotary_scaling_factor": None},
    ),
    Rotary(
        "nomic-bert-original-scaled",
        "NomicBert",
        tiny_tokenizers.save_bert,
        {
            **{**SIZES, "intermediate_size": 256, "max_position_embeddings": TRAINED},
            **rope(1000.0, rope_type="dynamic", factor=2.0),
        },
        {**NOMIC_ORIGINAL, "rotary_scaling_factor": 2.0, "max_trained_positions": TRAINED},
    ),
    Rotary("gte", "Gte", tiny_tokenizers.save_xlm_roberta, {**SIZES, **rope(20000.0)}),
    Rotary(
        "gte-original",
        "Gte",
        tiny_tokenizers.save_bert,
        {**SIZES, **rope(20000.0), "type_vocab_size": 0},
        {**GTE_ORIGINAL, "type_vocab_size": 0},
    ),
    Rotary(
        "gte-original-ntk",
        "Gte",
        tiny_tokenizers.save_xlm_roberta,
        {**SIZES, **rope(20000.0)},
        {**GTE_ORIGINAL, "rope_scaling": {"type": "ntk", "factor": 8.0}},
        prefix="new.",
    ),
    Rotary(
        "gte-original-ntk-mixed",
        "Gte",
        tiny_tokenizers.save_xlm_roberta,
        {**SIZES, **rope(20000.0)},
        {**GTE_ORIGINAL, "rope_scaling": {"type": "ntk", "factor": 4.0, "mixed_b": 0.7}},
    ),
    Rotary("jina-embeddings-v3", "JinaEmbeddingsV3", tiny_tokenizers.save_xlm_roberta, {**SIZES, **rope(20000.0)}),
    Rotary(
        "jina-embeddings-v3-original",
        "JinaEmbeddingsV3",
        tiny_tokenizers.save_xlm_roberta,
        {**SIZES, **rope(20000.0)},
        JINA_V3_ORIGINAL,
        prefix="roberta.",
    ),
    Rotary(
        "jina-embeddings-v3-lora",
        "JinaEmbeddingsV3",
        tiny_tokenizers.save_xlm_roberta,
        {**SIZES, **rope(20000.0)},
        JINA_V3_ORIGINAL,
        has_task_adapters=True,
    ),
    Rotary("eurobert", "EuroBert", tiny_tokenizers.save_modernbert, {**GROUPED, **rope(250000.0)}),
    Rotary("qwen2", "Qwen2", tiny_tokenizers.save_llama, {**GROUPED, **rope(10000.0)}),
    Rotary("qwen3", "Qwen3", tiny_tokenizers.save_llama, {**GROUPED, **rope(1000000.0)}),
    Rotary("gemma", "Gemma", tiny_tokenizers.save_llama, {**GROUPED, "num_key_value_heads": 1, **rope(10000.0)}),
    Rotary("gemma3-causal", "Gemma3Text", tiny_tokenizers.save_llama, GEMMA3),
    Rotary(
        "gemma3-bidirectional", "Gemma3Text", tiny_tokenizers.save_llama, {**GEMMA3, "use_bidirectional_attention": True}
    ),
    Rotary("lfm2", "Lfm2", tiny_tokenizers.save_llama, {**LFM2, "conv_bias": True}),
    Rotary(
        "lfm2-bidirectional",
        "Lfm2",
        tiny_tokenizers.save_llama,
        LFM2,
        {
            **{key: value for key, value in LFM2.items() if key != "layer_types"},
            **{"model_type": "lfm2", "architectures": ["Lfm2BidirectionalModel"], "full_attn_idxs": [1]},
            "max_position_embeddings": tiny_models.POSITION_LIMIT,
        },
    ),
]


def make(directory: Path, write_golden, encode_all, load) -> None:
    """write_golden, encode_all: of embedding_golden.py. load: a folder to its SentenceTransformer."""
    head = {"name": "embedding", "modules": [pooling("mean")]}
    for rotary in ROTARY:
        folder = directory / rotary.name
        save(folder, rotary)
        model = load(folder)
        model.max_seq_length = tiny_models.POSITION_LIMIT  # longer than TRAINED
        scale_positions(model[0].auto_model, rotary)
        if rotary.has_task_adapters:
            jina_lora.adapt(folder, model[0].auto_model, rotary.original)
        with without_causality(rotary):
            rows = encode_all(folder, model, "", by_token=False)
        if rotary.original is not None and not rotary.has_task_adapters:
            as_original(folder, rotary)
        write_golden(folder, head, {"prompt": ""}, rows)
        if rotary.has_task_adapters:
            jina_tasks.make(folder)
    for name, code in (("jina-bert", False), ("jina-bert-code", True)):
        rows = jina_bert.make(directory / name, code)
        write_golden(directory / name, head, {"prompt": ""}, rows)


@contextmanager
def without_causality(rotary: Rotary) -> Iterator[None]:
    """LFM2.5-Encoder is Lfm2Model with another mask, and convolutions around their token."""
    if "Lfm2BidirectionalModel" not in (rotary.original or {}).get("architectures", []):
        yield
        return
    mask, convolution = modeling_lfm2.create_causal_mask, modeling_lfm2.causal_conv1d_fn
    modeling_lfm2.create_causal_mask = lambda **_: None
    modeling_lfm2.causal_conv1d_fn = lambda x, weight, bias, **_: torch.nn.functional.conv1d(
        x, weight[:, None], bias, padding=weight.shape[-1] // 2, groups=len(weight)
    )
    attention = modeling_lfm2.Lfm2Attention
    init = attention.forward

    def forward(self, *args, **kwargs):
        self.is_causal = False
        return init(self, *args, **kwargs)

    attention.forward = forward
    try:
        yield
    finally:
        modeling_lfm2.create_causal_mask, modeling_lfm2.causal_conv1d_fn = mask, convolution
        attention.forward = init


def save(directory: Path, rotary: Rotary) -> None:
    """In the names of transformers."""
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    limit = {"model_max_length": tiny_models.POSITION_LIMIT}
    vocabulary_size = rotary.tokenizer(directory, tiny_models.VOCABULARY_SIZE, **limit)
    spec = Spec(rotary.name, rotary.architecture, rotary.tokenizer, 1, rotary.seed, config=rotary.config)
    config = tiny_models.configuration(spec, vocabulary_size)
    model = getattr(transformers, f"{rotary.architecture}Model")(config).eval()
    tiny_models.randomize(model, rotary.seed)
    model.to(torch.float16).save_pretrained(directory, save_original_format=False)
    tiny_models.compact(directory / "tokenizer.json")


def scale_positions(model: torch.nn.Module, rotary: Rotary) -> None:
    """The NTK scaling of the original code of GTE, which transformers does not have. Dynamic scaling
    in transformers remembers the longest text; it is computed anew for each."""

    def forget(rotary_embedding: torch.nn.Module, _) -> None:
        rotary_embedding.max_seq_len_cached = rotary_embedding.original_max_seq_len
        rotary_embedding.inv_freq = rotary_embedding.original_inv_freq

    if rotary.config.get("rope_parameters", {}).get("rope_type") == "dynamic":
        model.rotary_emb.register_forward_pre_hook(forget)
    scaling = (rotary.original or {}).get("rope_scaling")
    if scaling is None:
        return
    size = SIZES["hidden_size"] // SIZES["num_attention_heads"]
    factor, mixed = scaling["factor"], scaling.get("mixed_b")
    base = rotary.original["rope_theta"] * (factor if mixed is None else 1)
    inverse = 1.0 / (base ** (torch.arange(0, size, 2).float() / size))
    if mixed is None:
        inverse = inverse / factor ** (2 / size)
    else:
        a = torch.tensor(factor).log() / (size / 2) ** mixed
        inverse = inverse / (a * torch.arange(1, size // 2 + 1).float() ** mixed).exp()
    model.rotary_emb.inv_freq = torch.nn.Buffer(inverse, persistent=False)


def as_original(directory: Path, rotary: Rotary) -> None:
    """Rewrites the folder with the names and the config.json of the original code."""
    if rotary.architecture == "Lfm2":
        size = json.loads((directory / "config.json").read_text())["vocab_size"]
        write_original_config(directory, rotary, size)
        return
    model_class = getattr(transformers, f"{rotary.architecture}Model")
    loaded = model_class.from_pretrained(directory, dtype=torch.float16)
    size = loaded.config.vocab_size
    saved = directory.with_suffix(".original")
    # A model that was not loaded is saved under the original names.
    model = model_class(loaded.config).to(torch.float16)
    model.load_state_dict(loaded.state_dict())
    model.save_pretrained(saved)
    tensors = {rotary.prefix + name: value for name, value in load_file(saved / "model.safetensors").items()}
    assert not any("self_attn" in name for name in tensors), sorted(tensors)
    save_file(tensors, directory / "model.safetensors", metadata={"format": "pt"})
    shutil.rmtree(saved)
    write_original_config(directory, rotary, size)


def write_original_config(directory: Path, rotary: Rotary, size: int) -> None:
    entries = {**rotary.original, "vocab_size": size, "torch_dtype": "float16"}
    (directory / "config.json").write_text(json.dumps(entries, indent=1) + "\n")
