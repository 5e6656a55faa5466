"""A text embedder of the shape of Qwen3-Embedding-0.6B with random weights in bfloat16, as a sentence-transformers
folder and as GGUF files for llama.cpp (bfloat16 and Q8_0).

    python random_embedder.py TEXTS.json OUTPUT [--layers 28]

TEXTS.json: [text, …], on which the tokenizer (byte-level BPE like Qwen's) is trained.
"""

import argparse
import json
from pathlib import Path

import gguf
import numpy as np
import torch
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, processors, trainers
from transformers import PreTrainedTokenizerFast, Qwen3Config, Qwen3Model

END = "<|endoftext|>"
VOCABULARY = 4096
# Source: tokenizer.json of Qwen/Qwen3-Embedding-0.6B, pre_tokenizer.
WORDS = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
SHAPE = {
    "hidden_size": 1024,
    "num_attention_heads": 16,
    "num_key_value_heads": 8,
    "head_dim": 128,
    "intermediate_size": 3072,
    "max_position_embeddings": 32768,
    "rope_parameters": {"rope_type": "default", "rope_theta": 1_000_000.0},
    "rms_norm_eps": 1e-6,
    "tie_word_embeddings": True,
}
# Names of GGUF's tensors by those of Hugging Face. Source: gguf.constants, MODEL_ARCH.QWEN3.
TENSORS = {
    "input_layernorm": "attn_norm",
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "self_attn.q_norm": "attn_q_norm",
    "self_attn.k_norm": "attn_k_norm",
    "post_attention_layernorm": "ffn_norm",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
}


def train_tokenizer(texts):
    tokenizer = Tokenizer(models.BPE())
    split = pre_tokenizers.Split(Regex(WORDS), behavior="isolated")
    bytes_only = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([split, bytes_only])
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    tokenizer.train_from_iterator(
        texts, trainers.BpeTrainer(vocab_size=VOCABULARY, initial_alphabet=alphabet, special_tokens=[END])
    )
    end = (END, tokenizer.token_to_id(END))
    tokenizer.post_processor = processors.TemplateProcessing(single=f"$A {END}", special_tokens=[end])
    return tokenizer


def save_folder(output, model, tokenizer):
    model.save_pretrained(output)
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token=END, eos_token=END, padding_side="left", model_max_length=32768
    )
    fast.save_pretrained(output)
    modules = [
        {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
        {"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
        {"idx": 2, "name": "2", "path": "2_Normalize", "type": "sentence_transformers.models.Normalize"},
    ]
    (output / "modules.json").write_text(json.dumps(modules))
    pooling = {"word_embedding_dimension": SHAPE["hidden_size"], "pooling_mode_lasttoken": True}
    others = {"cls_token", "mean_tokens", "max_tokens", "mean_sqrt_len_tokens", "weightedmean_tokens"}
    pooling |= {f"pooling_mode_{name}": False for name in others} | {"include_prompt": True}
    (output / "1_Pooling").mkdir(exist_ok=True)
    (output / "1_Pooling/config.json").write_text(json.dumps(pooling))
    (output / "2_Normalize").mkdir(exist_ok=True)


def write_gguf(path, model, tokenizer, matrices):
    """matrices: GGMLQuantizationType of the weight matrices. Vectors stay float32."""
    writer = gguf.GGUFWriter(path, "qwen3")
    config = model.config
    writer.add_block_count(config.num_hidden_layers)
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(config.num_attention_heads)
    writer.add_head_count_kv(config.num_key_value_heads)
    writer.add_key_length(config.head_dim)
    writer.add_value_length(config.head_dim)
    writer.add_rope_freq_base(SHAPE["rope_parameters"]["rope_theta"])
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    writer.add_pooling_type(gguf.PoolingType.LAST)
    content = json.loads(tokenizer.to_str())["model"]
    tokens = sorted(content["vocab"], key=content["vocab"].get)
    end = tokens.index(END)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("qwen2")
    writer.add_token_list(tokens)
    kinds = [gguf.TokenType.CONTROL if i == end else gguf.TokenType.NORMAL for i in range(len(tokens))]
    writer.add_token_types(kinds)
    writer.add_token_merges([" ".join(pair) for pair in content["merges"]])
    writer.add_eos_token_id(end)
    writer.add_pad_token_id(end)
    writer.add_add_bos_token(False)
    writer.add_add_eos_token(True)
    for name, tensor in model.state_dict().items():
        values = tensor.float().numpy()
        kind = matrices if values.ndim == 2 else gguf.GGMLQuantizationType.F32
        writer.add_tensor(gguf_name(name), gguf.quants.quantize(values, kind), raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def gguf_name(name):
    stem = name.removesuffix(".weight")
    if stem == "embed_tokens":
        return "token_embd.weight"
    if stem == "norm":
        return "output_norm.weight"
    _, layer, part = stem.split(".", 2)
    return f"blk.{layer}.{TENSORS[part]}.weight"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("texts")
    parser.add_argument("output", type=Path)
    parser.add_argument("--layers", type=int, default=28)
    arguments = parser.parse_args()
    torch.manual_seed(1)
    tokenizer = train_tokenizer(json.loads(Path(arguments.texts).read_text()))
    end = tokenizer.token_to_id(END)
    config = Qwen3Config(
        **SHAPE,
        num_hidden_layers=arguments.layers,
        vocab_size=tokenizer.get_vocab_size(),
        bos_token_id=end,
        eos_token_id=end,
        pad_token_id=end,
    )
    model = Qwen3Model(config).to(torch.bfloat16)
    np.seterr(all="raise", under="ignore")
    arguments.output.mkdir(parents=True, exist_ok=True)
    save_folder(arguments.output, model, tokenizer)
    for kind in (gguf.GGMLQuantizationType.BF16, gguf.GGMLQuantizationType.Q8_0):
        write_gguf(arguments.output / f"{kind.name.lower()}.gguf", model, tokenizer, kind)
