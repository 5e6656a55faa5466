"""Vectors of texts as one writes it with FastAPI and sentence-transformers.

MODEL_DIR=/path/to/model uvicorn embedding:app
"""

import os

import orjson
from fastapi import FastAPI, Response
from pydantic import BaseModel
from sentence_transformers import SentenceTransformer

model = SentenceTransformer(os.environ["MODEL_DIR"], device="cpu")
app = FastAPI()


class EmbedRequest(BaseModel):
    """The body of POST /embed."""

    inputs: str | list[str]


@app.get("/health")
def health():
    """Liveness."""
    return {"status": "healthy"}


@app.post("/embed")
def embed(request: EmbedRequest):
    """A list of vectors. Runs on FastAPI's thread pool."""
    texts = [request.inputs] if isinstance(request.inputs, str) else request.inputs
    vectors = model.encode(texts, show_progress_bar=False)
    # orjson writes float32 arrays as they are: FastAPI's own way takes several times as long.
    body = orjson.dumps(vectors, option=orjson.OPT_SERIALIZE_NUMPY)
    return Response(body, media_type="application/json")
