"""Text classifiers of published shapes, with random weights, which cost what trained ones do;
their tokenizer is that of another model.

    python bench/families/random_models.py models/sentiment build/bench/shapes/bert-base
    npm run bench -- --model build/bench/shapes/bert-base --peers fastapi --clients 1,64

The name of the folder to write is that of the shape.
"""

import argparse
from pathlib import Path

import torch
from transformers import (
    AutoModelForSequenceClassification,
    AutoTokenizer,
    BertConfig,
    DebertaV2Config,
    EuroBertConfig,
    GteConfig,
    ModernBertConfig,
    NomicBertConfig,
    Qwen3Config,
)

DEBERTA = {
    "type_vocab_size": 0,
    "relative_attention": True,
    "position_buckets": 256,
    "norm_rel_ebd": "layer_norm",
    "share_att_key": True,
    "pos_att_type": ["p2c", "c2p"],
    "position_biased_input": False,
    "pooler_dropout": 0,
    "pooler_hidden_act": "gelu",
}
XSMALL = {"hidden_size": 384, "num_hidden_layers": 12, "num_attention_heads": 6, "intermediate_size": 1536}
LARGE = {"hidden_size": 1024, "num_hidden_layers": 24, "num_attention_heads": 16, "intermediate_size": 4096}
QWEN = {"hidden_size": 1024, "num_hidden_layers": 28, "num_attention_heads": 16, "num_key_value_heads": 8} | {
    "intermediate_size": 3072,
    "head_dim": 128,
}
# What a constructor gives without more is the base size.
SHAPES = {
    "bert-base": (BertConfig, {}),
    "bert-large": (BertConfig, LARGE),
    "bert-xsmall": (BertConfig, XSMALL),
    "deberta-v3-xsmall": (DebertaV2Config, XSMALL | DEBERTA),
    "deberta-v3-base": (DebertaV2Config, DEBERTA),
    "eurobert-210m": (EuroBertConfig, {}),
    "gte-base": (GteConfig, {}),
    "modernbert-base": (ModernBertConfig, {}),
    "nomic-bert-base": (NomicBertConfig, {}),
    "qwen3-0.6b": (Qwen3Config, QWEN),
}

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("tokenizer", help="folder of a model with a BERT tokenizer")
    parser.add_argument("output", help=f"folder to write, by name one of {', '.join(SHAPES)}")
    parser.add_argument("--half", action="store_true", help="weights stored in float16")
    arguments = parser.parse_args()
    kind, shape = SHAPES[Path(arguments.output).name]
    torch.manual_seed(1)
    tokenizer = AutoTokenizer.from_pretrained(arguments.tokenizer)
    tokens = {
        "vocab_size": len(tokenizer),
        "pad_token_id": tokenizer.pad_token_id,
        "num_labels": 2,
        "bos_token_id": tokenizer.cls_token_id,
        "eos_token_id": tokenizer.sep_token_id,
        "cls_token_id": tokenizer.cls_token_id,
        "sep_token_id": tokenizer.sep_token_id,
    }
    model = AutoModelForSequenceClassification.from_config(kind(**shape, **tokens))
    tokenizer.model_max_length = model.config.max_position_embeddings
    if arguments.half:
        model.half()
    model.save_pretrained(arguments.output)
    tokenizer.save_pretrained(arguments.output)
