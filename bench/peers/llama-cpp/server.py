"""Vectors of texts with FastAPI and llama.cpp (llama-cpp-python).

MODEL_FILE=/path/to/model.gguf uvicorn server:app
"""

import os
import threading

import numpy as np
import orjson
from fastapi import FastAPI, Response
from llama_cpp import Llama
from pydantic import BaseModel

# Tokens of a batch: texts of a list go through the model together.
BATCH = 2048

# Threads: llama-cpp-python's defaults are half of the cores for one token, and all for a batch.
model = Llama(os.environ["MODEL_FILE"], embedding=True, n_ctx=BATCH, n_batch=BATCH, n_ubatch=BATCH, verbose=False)
# A context runs one batch at a time.
lock = threading.Lock()
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
    """A list of vectors of length 1. Runs on FastAPI's thread pool."""
    texts = [request.inputs] if isinstance(request.inputs, str) else request.inputs
    with lock:
        vectors = np.asarray(model.embed(texts), np.float32)
    vectors /= np.linalg.norm(vectors, axis=-1, keepdims=True)
    return Response(orjson.dumps(vectors, option=orjson.OPT_SERIALIZE_NUMPY), media_type="application/json")
