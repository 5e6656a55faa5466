"""Probabilities of an NLI model as a decision model, from sequence classification of transformers.

    pip install -r test/parity/requirements.txt
    python test/parity/decision_golden.py  # test/fixtures/decisions.json

The rules are those of Ollaya's `families/nli`: the state is the premise, each option a hypothesis. They are written here
again, independently of src/tasks/decision.
"""

import os
import tempfile
from pathlib import Path

os.environ["HF_HUB_OFFLINE"] = "1"

import torch  # noqa: E402
from common import FIXTURES, floats, set_up, versions, write_json  # noqa: E402
from cross_encoder_golden import patched  # noqa: E402
from text_golden import position_limit  # noqa: E402
from transformers import AutoModelForSequenceClassification, AutoTokenizer  # noqa: E402

STATES = [
    "The film is a quiet marvel.",
    "A dull plot, wooden acting and a score that never stops shouting. " * 4,
    "",
    "这部电影非常好看 😀 [SEP] </s>  two  spaces",
]
NONE = {"true": None, "false": None}
OPTIONS = [
    {"label": "sports", "description": None},
    {"label": "film", "description": "It is about a film."},
    {"label": "été", "description": None},
]
QUESTIONS = [
    {"type": "predicate", "instructions": "The film is good.", "criteria": NONE},
    {"type": "predicate", "instructions": None, "criteria": {"true": "It rains.", "false": None}},
    {"type": "predicate", "instructions": None, "criteria": {"true": None, "false": "It rains."}},
    {"type": "predicate", "instructions": "Good?", "criteria": {"true": "It is good.", "false": "It is bad."}},
    {"type": "choice", "instructions": None, "options": OPTIONS},
    {"type": "choice", "instructions": "The topic", "options": OPTIONS},
    {"type": "choice", "instructions": "The topic", "options": OPTIONS[:1]},
    {"type": "score", "instructions": "How good?", "levels": ["bad", "fair", None, "a marvel"]},
    {"type": "score", "instructions": None, "levels": [None, "It is fair.", "It is good."]},
]
TEMPLATE = 'The answer to "{instructions}" is: {option}'
LABEL_TEMPLATE = "This text is about {option}."

MODELS = [
    ("roberta-three-labels-float16", ["contradiction", "neutral", "entailment"]),
    ("roberta-three-labels-float16", ["ENTAILMENT", "NEUTRAL", "CONTRADICTION"]),
    ("distilbert-two-labels", ["entailment", "not_entailment"]),
    ("bert-single-label", ["contradiction", "entailment", "neutral"]),
    ("albert-groups-float16", ["entailment", "not_entailment"]),
    ("deberta-v2-as-v3-float16", ["entailment", "neutral", "contradiction"]),
    ("modernbert-float16", ["entailment", "not_entailment"]),
    ("xlm-roberta-multi-label-sharded", ["contradiction", "neutral", "entailment"]),
]


def hypotheses(question: dict) -> list[str]:
    instructions = question["instructions"]
    if question["type"] == "predicate":
        criteria = question["criteria"]
        both = [criteria["false"], criteria["true"]]
        if None not in both:
            return both
        return [instructions or criteria["true"] or criteria["false"]]
    if question["type"] == "choice":
        options = [(option["label"], option["description"]) for option in question["options"]]
    else:
        options = [(str(level), text) for level, text in enumerate(question["levels"])]
    if instructions is not None:
        return [TEMPLATE.format(instructions=instructions, option=text or label) for label, text in options]
    return [text or LABEL_TEMPLATE.format(option=label) for label, text in options]


def answer(tokenizer, model, entailment: int, state: str, side: str, question: dict) -> dict:
    tokenizer.truncation_side = side
    logits, truncated = [], False
    for hypothesis in hypotheses(question):
        limit = tokenizer.model_max_length
        encoded = tokenizer(state, hypothesis, truncation="only_first", max_length=limit, return_tensors="pt")
        whole = len(tokenizer(state, hypothesis)["input_ids"])
        truncated |= whole > limit
        with torch.inference_mode():
            logits.append(model(**encoded).logits[0])
    if question["type"] == "predicate" and len(logits) == 1:
        entailed = logits[0].softmax(-1)[entailment]
        negated = question["instructions"] is None and question["criteria"]["true"] is None
        true = 1 - entailed if negated else entailed
        probabilities = torch.stack([1 - true, true])
    else:
        probabilities = torch.stack([row[entailment] for row in logits]).softmax(-1)
    return {"probabilities": floats(probabilities), "truncated": truncated}


def case(folder: Path, fixture: str, names: list[str]) -> dict:
    config = {
        "id2label": {str(index): name for index, name in enumerate(names)},
        "label2id": {name: index for index, name in enumerate(names)},
    }
    directory = patched(folder, fixture, config, {})
    tokenizer = AutoTokenizer.from_pretrained(directory)
    tokenizer.model_max_length = position_limit(directory)
    model = AutoModelForSequenceClassification.from_pretrained(directory, dtype=torch.float32).eval()
    entailment = [name.lower() for name in names].index("entailment")
    requests = [
        {"state": state, "side": side, "answers": [
            answer(tokenizer, model, entailment, state, side, question) for question in QUESTIONS
        ]}
        for state in STATES for side in ("right", "left")
    ]
    print(f"{fixture} {names}: {requests[0]['answers'][4]}")
    return {"model": fixture, "config": config, "requests": requests}


def main() -> None:
    set_up()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_json(FIXTURES / "decisions.json", {"versions": versions(), "questions": QUESTIONS}, "cases",
                   [case(folder, *one) for one in MODELS])


if __name__ == "__main__":
    main()
