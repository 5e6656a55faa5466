"""The models of a guard with random weights, which cost what trained ones do, and the guard's file.

Usage: python guard_models.py TOKENIZER_DIR OUT_DIR

OUT_DIR/injection, toxicity, intent: classifiers of the shape of deberta-v3-xsmall (22 M parameters beside the
embeddings). OUT_DIR/names: a token classifier of BERT base. All have the vocabulary of TOKENIZER_DIR, uncased BERT's.
The file's thresholds let every score through, so that all answers can be compared.
"""

import json
import sys
from pathlib import Path

BENCH = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(BENCH / "families"))

import torch
from random_models import DEBERTA, XSMALL  # noqa: E402
from transformers import (  # noqa: E402
    AutoTokenizer,
    BertConfig,
    BertForTokenClassification,
    DebertaV2Config,
    DebertaV2ForSequenceClassification,
)

CLASSIFIERS = ("injection", "toxicity", "intent")
LABELS = ["O", "B-NAME", "I-NAME", "B-PLACE", "I-PLACE"]


def save(tokenizer, folder: Path, model) -> None:
    torch.nn.init.normal_(model.classifier.weight, std=0.2)
    tokenizer.model_max_length = 512
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def guard() -> dict:
    common = {"action": "flag"}
    classifiers = [
        {"name": name, "type": "text-classification", "model": name, "labels": {"LABEL_0": 0, "LABEL_1": 0}, **common}
        for name in CLASSIFIERS
    ]
    names = {"name": "names", "type": "token-classification", "model": "names", "threshold": 0, **common}
    return {"checks": [*classifiers, names]}


if __name__ == "__main__":
    own, target = AutoTokenizer.from_pretrained(sys.argv[1]), Path(sys.argv[2])
    own.init_kwargs.pop("max_length", None)
    sizes = {"vocab_size": len(own), "pad_token_id": own.pad_token_id}
    torch.manual_seed(1)
    for name in CLASSIFIERS:
        save(own, target / name, DebertaV2ForSequenceClassification(DebertaV2Config(**XSMALL, **DEBERTA, **sizes)))
    ids = {"id2label": dict(enumerate(LABELS)), "label2id": {label: index for index, label in enumerate(LABELS)}}
    save(own, target / "names", BertForTokenClassification(BertConfig(**sizes, **ids)))
    (target / "guard.json").write_text(json.dumps(guard(), indent=2))
