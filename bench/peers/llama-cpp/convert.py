"""An embedding model as GGUF files: float32.gguf and int8.gguf (Q8_0).

Usage: python convert.py MODEL_DIR OUT_DIR

MODEL_DIR: a BERT model with mean pooling, or a Qwen3 model with the pooling of the last token, float32. The names of
keys and tensors are those that llama.cpp's own converter writes.
"""

import json
import sys
from pathlib import Path

import gguf
import numpy as np
from gguf import GGMLQuantizationType as Format
from safetensors.numpy import load_file

NAMES = {
    "bert": {
        "embeddings.word_embeddings": "token_embd",
        "embeddings.position_embeddings": "position_embd",
        "embeddings.token_type_embeddings": "token_types",
        "embeddings.LayerNorm": "token_embd_norm",
        "encoder.layer.{}.attention.self.query": "blk.{}.attn_q",
        "encoder.layer.{}.attention.self.key": "blk.{}.attn_k",
        "encoder.layer.{}.attention.self.value": "blk.{}.attn_v",
        "encoder.layer.{}.attention.output.dense": "blk.{}.attn_output",
        "encoder.layer.{}.attention.output.LayerNorm": "blk.{}.attn_output_norm",
        "encoder.layer.{}.intermediate.dense": "blk.{}.ffn_up",
        "encoder.layer.{}.output.dense": "blk.{}.ffn_down",
        "encoder.layer.{}.output.LayerNorm": "blk.{}.layer_output_norm",
    },
    "qwen3": {
        "embed_tokens": "token_embd",
        "norm": "output_norm",
        "layers.{}.input_layernorm": "blk.{}.attn_norm",
        "layers.{}.self_attn.q_proj": "blk.{}.attn_q",
        "layers.{}.self_attn.k_proj": "blk.{}.attn_k",
        "layers.{}.self_attn.v_proj": "blk.{}.attn_v",
        "layers.{}.self_attn.o_proj": "blk.{}.attn_output",
        "layers.{}.self_attn.q_norm": "blk.{}.attn_q_norm",
        "layers.{}.self_attn.k_norm": "blk.{}.attn_k_norm",
        "layers.{}.post_attention_layernorm": "blk.{}.ffn_norm",
        "layers.{}.mlp.gate_proj": "blk.{}.ffn_gate",
        "layers.{}.mlp.up_proj": "blk.{}.ffn_up",
        "layers.{}.mlp.down_proj": "blk.{}.ffn_down",
    },
}
LAST = {"weight", "bias"}


def add_shape(writer: gguf.GGUFWriter, config: dict) -> None:
    writer.add_context_length(config["max_position_embeddings"])
    writer.add_embedding_length(config["hidden_size"])
    writer.add_block_count(config["num_hidden_layers"])
    writer.add_feed_forward_length(config["intermediate_size"])
    writer.add_head_count(config["num_attention_heads"])
    if config["model_type"] == "bert":
        writer.add_layer_norm_eps(config["layer_norm_eps"])
        writer.add_causal_attention(False)
        writer.add_pooling_type(gguf.PoolingType.MEAN)
        return
    writer.add_head_count_kv(config["num_key_value_heads"])
    writer.add_key_length(config["head_dim"])
    writer.add_value_length(config["head_dim"])
    writer.add_layer_norm_rms_eps(config["rms_norm_eps"])
    writer.add_rope_freq_base(config["rope_parameters"]["rope_theta"])
    writer.add_pooling_type(gguf.PoolingType.LAST)


def add_vocabulary(writer: gguf.GGUFWriter, config: dict, tokenizer: dict) -> None:
    special = {token["id"]: token["content"] for token in tokenizer["added_tokens"]}
    known = {index: token for token, index in tokenizer["model"]["vocab"].items()} | special
    tokens = [known[index] for index in range(len(known))]
    kinds = [gguf.TokenType.CONTROL if index in special else gguf.TokenType.NORMAL for index in range(len(tokens))]
    if config["model_type"] == "bert":
        writer.add_tokenizer_model("bert")
        writer.add_token_type_count(config["type_vocab_size"])
        tokens = [token if index in special else spaced(token) for index, token in enumerate(tokens)]
        ids = {token: index for index, token in special.items()}
        writer.add_unk_token_id(ids["[UNK]"])
        writer.add_sep_token_id(ids["[SEP]"])
        writer.add_pad_token_id(ids["[PAD]"])
        writer.add_bos_token_id(ids["[CLS]"])
        writer.add_mask_token_id(ids["[MASK]"])
    else:
        writer.add_tokenizer_model("gpt2")
        writer.add_tokenizer_pre("qwen2")
        writer.add_token_merges([pair if isinstance(pair, str) else " ".join(pair) for pair in merges(tokenizer)])
        [end] = special
        writer.add_eos_token_id(end)
        writer.add_pad_token_id(end)
        writer.add_add_bos_token(False)
        writer.add_add_eos_token(True)
    writer.add_token_list(tokens)
    writer.add_token_types(kinds)


def merges(tokenizer: dict) -> list:
    return tokenizer["model"]["merges"]


def spaced(token: str) -> str:
    """WordPiece in llama.cpp: words begin with a space, and their continuations have no mark."""
    return token[2:] if token.startswith("##") else f"\u2581{token}"


def named(architecture: str, name: str) -> str | None:
    """The tensor's name in a GGUF file; None: llama.cpp does not read it."""
    name = name.removeprefix("model.").removeprefix("bert.")
    stem, _, last = name.rpartition(".")
    parts = stem.split(".")
    layer = next((part for part in parts if part.isdigit()), "")
    pattern = ".".join("{}" if part.isdigit() else part for part in parts)
    target = NAMES[architecture].get(pattern)
    return f"{target.format(layer)}.{last}" if target and last in LAST else None


def convert(folder: Path, target: Path, weights: Format) -> None:
    config = json.loads((folder / "config.json").read_text())
    architecture = config["model_type"]
    writer = gguf.GGUFWriter(target, architecture)
    writer.add_file_type(gguf.LlamaFileType.ALL_F32 if weights == Format.F32 else gguf.LlamaFileType.MOSTLY_Q8_0)
    writer.add_name(folder.name)
    add_shape(writer, config)
    add_vocabulary(writer, config, json.loads((folder / "tokenizer.json").read_text()))
    for name, tensor in load_file(folder / "model.safetensors").items():
        own = named(architecture, name)
        if own is None:
            continue
        tensor = tensor.astype(np.float32)
        # As llama.cpp quantizes: matrices, but positions and types.
        if tensor.ndim == 2 and not own.startswith(("position", "token_types")):
            tensor = gguf.quants.quantize(tensor, weights)
            writer.add_tensor(own, tensor, raw_dtype=weights)
        else:
            writer.add_tensor(own, tensor)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


if __name__ == "__main__":
    source, output = Path(sys.argv[1]), Path(sys.argv[2])
    output.mkdir(parents=True, exist_ok=True)
    convert(source, output / "float32.gguf", Format.F32)
    convert(source, output / "int8.gguf", Format.Q8_0)
