"""Labels of tokens as one writes it with FastAPI and transformers.

MODEL_DIR=/path/to/model uvicorn tagging:app
"""

import os

import orjson
from fastapi import FastAPI, Response
from pydantic import BaseModel
from transformers import pipeline

tagger = pipeline("token-classification", model=os.environ["MODEL_DIR"], device="cpu")
app = FastAPI()


class TagRequest(BaseModel):
    """The body of POST /tag."""

    text: str
    aggregation_strategy: str = "simple"


@app.get("/health")
def health():
    """Liveness."""
    return {"status": "healthy"}


@app.post("/tag")
def tag(request: TagRequest):
    """The spans of one text. Runs on FastAPI's thread pool."""
    found = tagger(request.text, aggregation_strategy=request.aggregation_strategy)
    tags = [
        {
            "label": each.get("entity") or each["entity_group"],
            "score": round(float(each["score"]), 4),
            **{key: each[key] for key in ("word", "start", "end")},
        }
        for each in found
    ]
    return Response(orjson.dumps({"tags": tags}), media_type="application/json")
