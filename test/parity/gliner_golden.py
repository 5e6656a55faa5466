"""Tiny GLiNER models with the entities that the package gliner finds.

    pip install -r test/parity/requirements.txt && pip install --no-deps gliner==0.2.29
    python test/parity/gliner_golden.py  # all of test/fixtures/gliner, or the names of some

gliner 0.2.29 asks for an older transformers than test/parity/requirements.txt has. It runs with both.
"""

import json
import shutil
import sys
from pathlib import Path

import gliner
import tiny_models
import tiny_tokenizers
import torch
from common import FIXTURES, set_up, versions, write_json
from gliner import GLiNER
from gliner.config import GLiNERConfig
from tiny_encoders import SIZE, bert, deberta, modernbert

ROOT = FIXTURES / "gliner"
DEBERTA = deberta(256)
BERT = bert(256)
MODERNBERT = modernbert(256)
# Name: tokenizer, encoder, settings of gliner.
MODELS = {
    "deberta-marker-v0": (tiny_tokenizers.save_deberta_v2, DEBERTA, {}),
    "bert-marker-v1": (tiny_tokenizers.save_bert, BERT, {"span_mode": "markerV1", "embed_ent_token": False}),
    "bert-marker-v2": (tiny_tokenizers.save_bert, BERT, {"span_mode": "markerV2", "num_rnn_layers": 0, "hidden_size": 16}),
    "modernbert-marker": (tiny_tokenizers.save_modernbert, MODERNBERT, {"span_mode": "marker", "num_rnn_layers": 2}),
    "bi-modernbert-marker": (tiny_tokenizers.save_modernbert, MODERNBERT, {}),
    "bi-deberta-token": (tiny_tokenizers.save_deberta_v2, DEBERTA, {"span_mode": "token_level"}),
    "deberta-token": (tiny_tokenizers.save_deberta_v2, DEBERTA, {"span_mode": "token_level", "hidden_size": 24}),
}
# Bi-encoders: tokenizer and encoder of the labels.
LABEL_ENCODERS = {
    "bi-modernbert-marker": (tiny_tokenizers.save_bert, {**BERT, "hidden_size": 24}),
    "bi-deberta-token": (tiny_tokenizers.save_modernbert, MODERNBERT),
}
LABELS = [
    ["person"],
    ["city", "film", "date of birth"],
    ["organization", "person", "time", "é 日本", "product name, in quotation marks", "x"],
]
TEXTS = [
    "Ada Lovelace met Charles Babbage in London on 5 June 1833.",
    "A film.",
    "The well-known actor's first_film (1994) cost $25 million — and earned 28.3!",
    "Zoë und Jürgen wohnen in Köln 😀 with 👩‍🚀 e\u0301lan in 東京都 today.",
    "\t one \n two\u00a0three ... ",
    "A warm, funny film that the whole family can watch together at home. " * 2,
]
# BERT's tokenizer removes combining marks and joiners. gliner then assigns the following words to wrong tokens.
BERT_TEXTS = [text.replace("\u200d", "").replace("e\u0301", "\u00e9") for text in TEXTS]
SETTINGS = [
    {"threshold": 0.5, "flat_ner": True, "multi_label": False},
    {"threshold": 0.3, "flat_ner": True, "multi_label": False},
    {"threshold": 0.4, "flat_ner": False, "multi_label": False},
    {"threshold": 0.6, "flat_ner": True, "multi_label": True},
    {"threshold": 0.25, "flat_ner": False, "multi_label": True},
]


def randomize(model: torch.nn.Module, seed: int) -> None:
    """Wide random weights, so that labels, words and biases change scores."""
    tiny_models.randomize(model, seed)
    generator = torch.Generator().manual_seed(seed + 100)
    with torch.no_grad():
        for name, parameter in sorted(model.named_parameters()):
            if "bert_layer" in name or "labels_encoder" in name:
                continue
            noise = torch.randn(parameter.shape, generator=generator)
            scale = 1.3 / parameter.shape[-1] ** 0.5 if parameter.dim() > 1 else 0.2
            if name.startswith("scorer.out_mlp.3"):
                scale *= 3
            parameter.copy_(scale * noise)


def save_label_tokenizer(name: str, source: Path) -> dict:
    make_tokenizer, encoder = LABEL_ENCODERS[name]
    source.mkdir()
    count = make_tokenizer(source, tiny_models.VOCABULARY_SIZE, model_max_length=16)
    config = {"vocab_size": count, "pad_token_id": 0, **encoder}
    return {"labels_encoder": str(source), "labels_encoder_config": config}


def save(name: str, seed: int) -> Path:
    make_tokenizer, encoder, settings = MODELS[name]
    folder = ROOT / name
    source = folder.with_suffix(".source")
    source.mkdir(parents=True)
    count = make_tokenizer(source, tiny_models.VOCABULARY_SIZE, model_max_length=256)
    if name in LABEL_ENCODERS:
        settings = {**settings, **save_label_tokenizer(name, source / "labels")}
    config = GLiNERConfig(
        model_name=str(source),
        encoder_config={"vocab_size": count, "pad_token_id": 0, **encoder},
        **{"hidden_size": SIZE, "max_width": 5, "max_len": 60, **settings},
    )
    model = GLiNER.from_config(config, backbone_from_pretrained=False)
    model.eval()
    randomize(model.model, seed)
    model.save_pretrained(str(folder), safe_serialization=True)
    shutil.rmtree(source)
    tiny_models.compact(folder / "tokenizer.json")
    path = folder / "gliner_config.json"
    saved = json.loads(path.read_text())
    saved["model_name"] = name  # not a path of this machine
    if name in LABEL_ENCODERS:
        saved["labels_encoder"] = f"{name}-labels"
        tiny_models.compact(folder / "labels_tokenizer" / "tokenizer.json")
    path.write_text(json.dumps(saved, indent=2) + "\n")
    return folder


def load(name: str, seed: int) -> GLiNER:
    shutil.rmtree(ROOT / name, ignore_errors=True)
    return GLiNER.from_pretrained(str(save(name, seed)), local_files_only=True).eval()


def finds_some(model: GLiNER) -> bool:
    """Some random weights score all spans near 0 or near 1."""
    found = [len(model.predict_entities(TEXTS[2], labels, threshold=0.5)) for labels in LABELS]
    return 3 <= sum(found) <= 20


def main() -> None:
    set_up()
    for name in sys.argv[1:] or MODELS:
        model = next(filter(finds_some, (load(name, seed) for seed in range(1, 100))))
        texts = BERT_TEXTS if name.startswith("bert") else TEXTS
        rows = []
        for labels in LABELS:
            for settings in SETTINGS:
                for index, text in enumerate(texts):
                    found = model.predict_entities(text, labels, **settings)
                    entities = [[one["start"], one["end"], one["label"], one["score"]] for one in found]
                    rows.append({"text": index, "labels": labels, **settings, "entities": entities})
        count = sum(len(row["entities"]) for row in rows)
        head = {"versions": {**versions(), "gliner": gliner.__version__}, "texts": texts}
        write_json(ROOT / name / "golden.json", head, "answers", rows)
        print(name, len(rows), "answers,", count, "entities")


if __name__ == "__main__":
    main()
