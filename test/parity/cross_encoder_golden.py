"""What sentence-transformers' CrossEncoder and the zero-shot pipeline of transformers say of pairs.

    pip install -r test/parity/requirements.txt sentence-transformers==6.2.0
    python test/parity/cross_encoder_golden.py  # test/fixtures/{reranking,zero-shot}.json

The models are those of test/fixtures/models, copied, with other entries in their config.json: each
case says which.
"""

import json
import os
import shutil
import tempfile
from pathlib import Path

os.environ["HF_HUB_OFFLINE"] = "1"

import sentence_transformers  # noqa: E402
import torch  # noqa: E402
from common import FIXTURES, set_up, versions, write_json  # noqa: E402
from sentence_transformers import CrossEncoder  # noqa: E402
from text_golden import position_limit  # noqa: E402
from transformers import AutoTokenizer, pipeline  # noqa: E402
from transformers import AutoModelForSequenceClassification  # noqa: E402

IDENTITY = "torch.nn.modules.linear.Identity"
SIGMOID = "torch.nn.modules.activation.Sigmoid"

QUERIES = [
    ("How long is the film?", [
        "It runs for two hours and ten minutes.",
        "The film is a quiet marvel.",
        "A dull plot, wooden acting and a score that never stops shouting. " * 4,
        "",
        " ",
        "Two hours.",
        "这部电影非常好看，我很喜欢。",
        "😀😡👍🏽 film [SEP] </s>",
    ]),
    ("He reads the letter twice, folds it, and puts it back. " * 3, ["The bill came twice. " * 5, "bad"]),
    ("été", [f"The bill came {word}." for word in ("once", "twice", "late", "early", "never", "today")]),
]

# As version 6 writes them.
SAVED = {"model_type": "CrossEncoder", "activation_fn": IDENTITY, "prompts": {}, "default_prompt_name": None}
MODULES = [{"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.base.modules.transformer.Transformer"}]
TRANSFORMER = {
    "transformer_task": "sequence-classification",
    "modality_config": {"text": {"method": "forward", "method_output_name": "logits"}},
    "module_output_name": "scores",
}

# Directory, entries of config.json, other files.
RERANKERS = [
    ("bert-regression-bin", {"architectures": ["BertForSequenceClassification"],
                             "sentence_transformers": {"activation_fn": IDENTITY, "version": "5.1.0"}}, {}),
    ("roberta-one-label", {"sbert_ce_default_activation_function": SIGMOID}, {}),
    ("roberta-one-label", {"sbert_ce_default_activation_function": IDENTITY}, {}),
    ("mpnet-regression-float16", {"sentence_transformers": {"version": "4.1.0"}}, {}),
    ("roberta-regression-bfloat16", {"sentence_transformers": {"activation_fn": SIGMOID, "version": "5.0.0"}},
     {"config_sentence_transformers.json": SAVED}),
    ("mpnet-regression-float16", {"sentence_transformers": {"activation_fn": SIGMOID, "version": "5.0.0"}},
     {"config_sentence_transformers.json": SAVED, "modules.json": MODULES, "sentence_bert_config.json": TRANSFORMER}),
    ("mpnet-regression-float16", {},
     {"config_sentence_transformers.json": SAVED, "modules.json": MODULES,
      "sentence_bert_config.json": {**TRANSFORMER, "max_seq_length": 20}}),
    ("roberta-three-labels-float16", {"sentence_transformers": {"version": "4.1.0"}}, {}),
    ("modernbert-float16", {"sentence_transformers": {"activation_fn": "torch.nn.modules.activation.Softmax"}}, {}),
]

LABELS = ["sports", "a quiet film", "politics", "été"]
SEQUENCES = [
    "He reads the letter twice, folds it, and puts it back.",
    "The film is a quiet marvel.",
    "A dull plot, wooden acting and a score that never stops shouting. " * 4,
    "这部电影非常好看",
]
ENTAILMENT = [
    ("roberta-three-labels-float16", ["contradiction", "neutral", "entailment"]),
    ("roberta-three-labels-float16", ["ENTAILMENT", "NEUTRAL", "CONTRADICTION"]),
    ("distilbert-two-labels", ["entails", "not_entails"]),
    ("bert-single-label", ["contradiction", "entailment", "neutral"]),
]


def patched(folder: Path, fixture: str, config: dict, files: dict) -> Path:
    target = folder / f"{fixture}-{len(list(folder.iterdir()))}"
    shutil.copytree(FIXTURES / "models" / fixture, target)
    known = json.loads((target / "config.json").read_text())
    for name, content in {"config.json": {**known, **config}, **files}.items():
        (target / name).write_text(json.dumps(content))
    return target


def rerank(folder: Path, fixture: str, config: dict, files: dict) -> dict:
    directory = patched(folder, fixture, config, files)
    says = "max_seq_length" in files.get("sentence_bert_config.json", {})
    limit = None if says else position_limit(directory)
    model = CrossEncoder(
        str(directory), device="cpu", max_length=limit, model_kwargs={"dtype": torch.float32}, local_files_only=True
    )
    answers = answers_of(model)
    print(f"reranking: {fixture} {config}: {type(model.activation_fn).__name__}, {answers[2]['predicted']}")
    return {"model": fixture, "config": config, "files": files, "answers": answers}


def answers_of(model: CrossEncoder) -> list[dict]:
    answers = []
    for query, documents in QUERIES:
        predicted = model.predict([(query, document) for document in documents]).tolist()
        ranked = [row["corpus_id"] for row in model.rank(query, documents)] if model.num_labels == 1 else None
        answers.append({"query": query, "documents": documents, "predicted": predicted, "ranked": ranked})
    return answers


def zero_shot(folder: Path, fixture: str, names: list[str]) -> dict:
    config = {
        "id2label": {str(index): name for index, name in enumerate(names)},
        "label2id": {name: index for index, name in enumerate(names)},
    }
    directory = patched(folder, fixture, config, {})
    tokenizer = AutoTokenizer.from_pretrained(directory)
    tokenizer.model_max_length = position_limit(directory)
    model = AutoModelForSequenceClassification.from_pretrained(directory, dtype=torch.float32).eval()
    classify = pipeline("zero-shot-classification", model=model, tokenizer=tokenizer, device="cpu")
    answers = []
    for sequence in SEQUENCES:
        for options in ({}, {"multi_label": True}, {"hypothesis_template": "{} it is."}):
            for labels in (LABELS, LABELS[:1]):
                said = classify(sequence, labels, **options)
                answers.append({"sequence": sequence, "candidate_labels": labels, **options,
                                "labels": said["labels"], "scores": said["scores"]})
    print(f"zero-shot: {fixture} {names}: {answers[0]['labels']} {answers[0]['scores']}")
    return {"model": fixture, "config": config, "answers": answers}


def main() -> None:
    set_up()
    made = {**versions(), "sentence-transformers": sentence_transformers.__version__}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_json(FIXTURES / "reranking.json", {"versions": made}, "cases",
                   [rerank(folder, *case) for case in RERANKERS])
        write_json(FIXTURES / "zero-shot.json", {"versions": made}, "cases",
                   [zero_shot(folder, *case) for case in ENTAILMENT])


if __name__ == "__main__":
    main()
