"""A guard as one writes it with FastAPI and transformers: the classifiers and the tagger of a folder, one after the other.

MODEL_DIR=/path/to/models uvicorn guard:app
"""

import os
from pathlib import Path

import orjson
from fastapi import FastAPI, Response
from pydantic import BaseModel
from transformers import pipeline

FOLDER = Path(os.environ["MODEL_DIR"])
CLASSIFIERS = ("injection", "toxicity", "intent")

classifiers = {
    name: pipeline("text-classification", model=str(FOLDER / name), device="cpu", top_k=None) for name in CLASSIFIERS
}
tagger = pipeline(
    "token-classification", model=str(FOLDER / "names"), device="cpu", aggregation_strategy="simple"
)
app = FastAPI()


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
    findings = [
        {"check": name, "label": each["label"], "score": each["score"], "start": None}
        for name, classify in classifiers.items()
        for each in classify([request.text], truncation=True)[0]
    ]
    findings += [
        {
            **{"check": "names", "label": span["entity_group"], "score": float(span["score"])},
            **{"start": span["start"], "end": span["end"]},
        }
        for span in tagger(request.text)
    ]
    return Response(orjson.dumps({"findings": findings}), media_type="application/json")
