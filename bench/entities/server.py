"""Entities as one serves them with FastAPI and gliner. RUNTIME: torch or onnx.

MODEL_DIR=/path/to/model uvicorn server:app
"""

import os

import orjson
from fastapi import FastAPI, Response
from gliner import GLiNER
from pydantic import BaseModel

is_onnx = os.environ.get("RUNTIME") == "onnx"
model = GLiNER.from_pretrained(os.environ["MODEL_DIR"], local_files_only=True, load_onnx_model=is_onnx)
app = FastAPI()


class TagRequest(BaseModel):
    """The body of POST /tag."""

    text: str
    labels: list[str]
    threshold: float = 0.5


@app.get("/health")
def health():
    """Liveness."""
    return {"status": "healthy"}


@app.post("/tag")
def tag(request: TagRequest):
    """The entities of one text. Runs on FastAPI's thread pool."""
    found = model.predict_entities(request.text, request.labels, threshold=request.threshold)
    tags = [
        {
            "label": each["label"],
            "score": round(float(each["score"]), 4),
            "word": each["text"],
            "start": each["start"],
            "end": each["end"],
        }
        for each in found
    ]
    return Response(orjson.dumps({"tags": tags}), media_type="application/json")
