"""A reranker and a token classifier of published shapes with random weights, which cost what trained ones do.

Usage: python random_models.py TOKENIZER_DIR OUT_DIR

OUT_DIR/reranker: the shape of ms-marco-MiniLM-L6-v2 (6 layers of 384, one label). OUT_DIR/tagger: BERT base with nine
labels (12 layers of 768). Both with the vocabulary of TOKENIZER_DIR, uncased BERT's. The reranker's weights are larger
than those that a training begins with, so that scores differ from document to document.
"""

import json
import sys
from pathlib import Path

import torch
from transformers import AutoTokenizer, BertConfig, BertForSequenceClassification, BertForTokenClassification

LABELS = ["O"] + [f"{place}-{kind}" for kind in ("PER", "ORG", "LOC", "MISC") for place in "BI"]
SHAPES = {
    "reranker": (
        BertForSequenceClassification,
        {
            **{"num_hidden_layers": 6, "hidden_size": 384, "intermediate_size": 1536, "num_labels": 1},
            "initializer_range": 0.05,
        },
    ),
    "tagger": (
        BertForTokenClassification,
        {"id2label": dict(enumerate(LABELS)), "label2id": {label: index for index, label in enumerate(LABELS)}},
    ),
}


def make(tokenizer, folder: Path, kind, shape: dict) -> None:
    torch.manual_seed(1)
    config = BertConfig(vocab_size=len(tokenizer), pad_token_id=tokenizer.pad_token_id, **shape)
    config.num_attention_heads = 12
    model = kind(config)
    torch.nn.init.normal_(model.classifier.weight, std=0.2)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def mark_as_cross_encoder(folder: Path) -> None:
    """As sentence-transformers writes it: scores are the model's outputs."""
    file = folder / "config.json"
    config = json.loads(file.read_text())
    config["sentence_transformers"] = {"activation_fn": "torch.nn.modules.linear.Identity"}
    file.write_text(json.dumps(config, indent=2))


if __name__ == "__main__":
    own, target = AutoTokenizer.from_pretrained(sys.argv[1], model_max_length=512), Path(sys.argv[2])
    # Of all-MiniLM-L6-v2: it would cut pairs where fastembed reads them.
    own.init_kwargs.pop("max_length", None)
    for name, (model_class, options) in SHAPES.items():
        make(own, target / name, model_class, options)
    mark_as_cross_encoder(target / "reranker")
