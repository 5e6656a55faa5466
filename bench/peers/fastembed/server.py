"""Vectors of texts, or scores of documents, with FastAPI and fastembed (onnxruntime).

TASK=embedding|reranking MODEL_DIR=/path/to/onnx-model MODEL_FILE=onnx/model.onnx uvicorn server:app
"""

import os

import orjson
from fastapi import FastAPI, Response
from fastembed import TextEmbedding
from fastembed.common.model_description import ModelSource, PoolingType
from fastembed.rerank.cross_encoder import TextCrossEncoder
from pydantic import BaseModel

TASK, MODEL_DIR, MODEL_FILE = (os.environ[name] for name in ("TASK", "MODEL_DIR", "MODEL_FILE"))
# A name and a source are asked for; specific_model_path has the files, so nothing is fetched.
NAMED = {"model": "local/model", "sources": ModelSource(hf="local/model"), "model_file": MODEL_FILE}

if TASK == "embedding":
    TextEmbedding.add_custom_model(
        **NAMED, pooling=PoolingType.MEAN, normalization=True, dim=int(os.environ["DIMENSIONS"])
    )
    model = TextEmbedding("local/model", specific_model_path=MODEL_DIR)
else:
    TextCrossEncoder.add_custom_model(**NAMED)
    model = TextCrossEncoder("local/model", specific_model_path=MODEL_DIR)
app = FastAPI()


class EmbedRequest(BaseModel):
    """The body of POST /embed."""

    inputs: str | list[str]


class RerankRequest(BaseModel):
    """The body of POST /rerank."""

    query: str
    texts: list[str]


def answer(value):
    """JSON of what has numpy's numbers."""
    return Response(orjson.dumps(value, option=orjson.OPT_SERIALIZE_NUMPY), media_type="application/json")


@app.get("/health")
def health():
    """Liveness."""
    return {"status": "healthy"}


@app.post("/embed")
def embed(request: EmbedRequest):
    """A list of vectors. Runs on FastAPI's thread pool."""
    texts = [request.inputs] if isinstance(request.inputs, str) else request.inputs
    return answer(list(model.embed(texts, batch_size=32)))


@app.post("/rerank")
def rerank(request: RerankRequest):
    """Index and score of each document, best first. Runs on FastAPI's thread pool."""
    scores = list(model.rerank(request.query, request.texts, batch_size=32))
    order = sorted(range(len(scores)), key=lambda index: -scores[index])
    return answer([{"index": index, "score": scores[index]} for index in order])
