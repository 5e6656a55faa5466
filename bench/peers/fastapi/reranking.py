"""Scores of documents as one writes it with FastAPI and the CrossEncoder of sentence-transformers.

MODEL_DIR=/path/to/model uvicorn reranking:app
"""

import os

import orjson
from fastapi import FastAPI, Response
from pydantic import BaseModel
from sentence_transformers import CrossEncoder

model = CrossEncoder(os.environ["MODEL_DIR"], device="cpu")
app = FastAPI()


class RerankRequest(BaseModel):
    """The body of POST /rerank."""

    query: str
    texts: list[str]


@app.get("/health")
def health():
    """Liveness."""
    return {"status": "healthy"}


@app.post("/rerank")
def rerank(request: RerankRequest):
    """Index and score of each document, best first. Runs on FastAPI's thread pool."""
    ranked = model.rank(request.query, request.texts, show_progress_bar=False)
    answer = [{"index": each["corpus_id"], "score": float(each["score"])} for each in ranked]
    return Response(orjson.dumps(answer), media_type="application/json")
