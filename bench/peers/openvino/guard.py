"""A guard with FastAPI, OpenVINO and tokenizers: the classifiers and the tagger of a folder, which share a tokenizer.

MODEL_DIR=/path/to/models MODEL_FILES=/path/to/converted NUMBERS=float32|int8 uvicorn guard:app
"""

import json
import os
from pathlib import Path

import numpy as np
import orjson
from fastapi import FastAPI, Response
from model import Model, padded
from pydantic import BaseModel
from tokenizers import Tokenizer

FOLDER, FILES = Path(os.environ["MODEL_DIR"]), Path(os.environ["MODEL_FILES"])
CLASSIFIERS = ("injection", "toxicity", "intent")
LONGEST = 512

models = {name: Model(str(FILES / name / f"{os.environ['NUMBERS']}.xml")) for name in (*CLASSIFIERS, "names")}
tokenizer = Tokenizer.from_file(str(FOLDER / "names/tokenizer.json"))
tokenizer.no_padding()
tokenizer.enable_truncation(LONGEST)
labels = {int(id): label for id, label in json.loads((FOLDER / "names/config.json").read_text())["id2label"].items()}
app = FastAPI()


def probabilities(name: str, encoding) -> np.ndarray:
    """Of one text: [labels], or [tokens, labels]."""
    model = models[name]
    [logits] = model.infer([padded([encoding], model.names)])[0]
    exponents = np.exp(logits - logits.max(-1, keepdims=True))
    return exponents / exponents.sum(-1, keepdims=True)


def spans(encoding, scores: np.ndarray) -> list[dict]:
    """Tokens of one label that follow each other are one span, as the `simple` strategy of transformers has it."""
    found: list[dict] = []
    before = None
    for i, best in enumerate(scores.argmax(-1)):
        if encoding.special_tokens_mask[i]:
            continue
        label, (start, end) = labels[int(best)], encoding.offsets[i]
        kind, score = label[2:] or label, float(scores[i, best])
        if found and kind == before and not label.startswith("B-"):
            found[-1]["end"] = end
            found[-1]["scores"].append(score)
        else:
            found.append({"label": kind, "start": start, "end": end, "scores": [score]})
        before = kind
    kept = [span for span in found if span["label"] != "O"]
    return [{**span, "check": "names", "score": float(np.mean(span.pop("scores")))} for span in kept]


class GuardRequest(BaseModel):
    """The body of POST /guard."""

    text: str


@app.get("/health")
def health():
    """Liveness."""
    return {"status": "healthy"}


@app.post("/guard")
def guard(request: GuardRequest):
    """The scores of each classifier, and spans. Runs on FastAPI's thread pool."""
    encoding = tokenizer.encode(request.text)
    findings = [
        {"check": name, "label": f"LABEL_{index}", "score": float(score), "start": None}
        for name in CLASSIFIERS
        for index, score in enumerate(probabilities(name, encoding))
    ]
    findings += spans(encoding, probabilities("names", encoding))
    return Response(orjson.dumps({"findings": findings}), media_type="application/json")
