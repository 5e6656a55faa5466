"""Tiny random classifiers of the families with rotary positions."""

import tiny_tokenizers
import torch
from rotary_golden import GROUPED, WINDOW, rope
from tiny_specs import Spec


def spec(name: str, architecture: str, tokenizer, seed: int, config: dict, **more) -> Spec:
    more = {"num_labels": 3, **more}
    return Spec(name, architecture, tokenizer, seed=seed, dtype=torch.float16, config=config, **more)


ROTARY_SPECS = [
    spec("nomic-bert-float16", "NomicBert", tiny_tokenizers.save_bert, 0, rope(1000.0)),
    spec("gte-float16", "Gte", tiny_tokenizers.save_xlm_roberta, 0, rope(20000.0)),
    spec("jina-embeddings-v3-float16", "JinaEmbeddingsV3", tiny_tokenizers.save_xlm_roberta, 15, rope(20000.0)),
    spec(
        "eurobert-late-float16", "EuroBert", tiny_tokenizers.save_modernbert, 0, {**GROUPED, **rope(10000.0)}
    ),
    spec(
        "eurobert-mean-float16",
        "EuroBert",
        tiny_tokenizers.save_modernbert,
        0,
        {**GROUPED, **rope(10000.0), "classifier_pooling": "mean"},
    ),
    spec(
        "eurobert-bos-float16",
        "EuroBert",
        tiny_tokenizers.save_modernbert,
        1,
        {**GROUPED, **rope(10000.0), "classifier_pooling": "bos"},
    ),
    spec("qwen3-float16", "Qwen3", tiny_tokenizers.save_t5, 0, {**GROUPED, **rope(10000.0)}),
    spec("gemma-float16", "Gemma", tiny_tokenizers.save_llama, 4, {**GROUPED, **rope(10000.0)}),
    spec(
        "gemma3-float16",
        "Gemma3Text",
        tiny_tokenizers.save_llama,
        1,
        {**GROUPED, "sliding_window": WINDOW, "layer_types": ["sliding_attention", "full_attention"]},
    ),
]
