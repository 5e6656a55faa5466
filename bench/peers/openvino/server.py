"""Vectors, reranking and tags with FastAPI, OpenVINO and tokenizers.

TASK=embedding|reranking|tagging MODEL_DIR=/path/to/model MODEL_FILE=/path/to/model.xml uvicorn server:app
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

MODEL_DIR, MODEL_FILE = Path(os.environ["MODEL_DIR"]), os.environ["MODEL_FILE"]
# Texts of a list that go through the model at once, of like length.
BATCH = int(os.environ["BATCH"])
LONGEST = {"embedding": 256, "reranking": 512, "tagging": 512}[os.environ["TASK"]]


model = Model(MODEL_FILE)
tokenizer = Tokenizer.from_file(str(MODEL_DIR / "tokenizer.json"))
tokenizer.no_padding()
tokenizer.enable_truncation(LONGEST)
labels = json.loads((MODEL_DIR / "config.json").read_text()).get("id2label", {})
app = FastAPI()


def run(inputs: list) -> tuple[list, list[np.ndarray]]:
    """Encodings and the model's output for each text or pair, in their order."""
    encodings = tokenizer.encode_batch(inputs)
    order = sorted(range(len(encodings)), key=lambda index: len(encodings[index].ids))
    groups = [order[begin : begin + BATCH] for begin in range(0, len(order), BATCH)]
    outputs = model.infer([padded([encodings[index] for index in group], model.names) for group in groups])
    rows = dict(zip(order, (row for output in outputs for row in output)))
    return encodings, [rows[index] for index in range(len(inputs))]


def answer(value) -> Response:
    """JSON of what has numpy's numbers."""
    return Response(orjson.dumps(value, option=orjson.OPT_SERIALIZE_NUMPY), media_type="application/json")


class EmbedRequest(BaseModel):
    """The body of POST /embed."""

    inputs: str | list[str]


class RerankRequest(BaseModel):
    """The body of POST /rerank."""

    query: str
    texts: list[str]


class TagRequest(BaseModel):
    """The body of POST /tag."""

    text: str


@app.get("/health")
def health():
    """Liveness."""
    return {"status": "healthy"}


@app.post("/embed")
def embed(request: EmbedRequest):
    """A list of vectors: the model has the pooling in it. Runs on FastAPI's thread pool."""
    texts = [request.inputs] if isinstance(request.inputs, str) else request.inputs
    return answer(run(texts)[1])


@app.post("/rerank")
def rerank(request: RerankRequest):
    """Index and score of each document, best first. Runs on FastAPI's thread pool."""
    scores = [row[0] for row in run([(request.query, text) for text in request.texts])[1]]
    order = sorted(range(len(scores)), key=lambda index: -scores[index])
    return answer([{"index": index, "score": scores[index]} for index in order])


@app.post("/tag")
def tag(request: TagRequest):
    """The tokens that have a label. Runs on FastAPI's thread pool."""
    [encoding], [logits] = run([request.text])
    exponents = np.exp(logits - logits.max(-1, keepdims=True))
    scores = exponents / exponents.sum(-1, keepdims=True)
    best = scores.argmax(-1)
    tags = [
        {
            "label": labels[str(best[i])],
            "score": round(float(scores[i, best[i]]), 4),
            **{"word": encoding.tokens[i], "start": encoding.offsets[i][0], "end": encoding.offsets[i][1]},
        }
        for i in range(len(encoding.ids))
        if not encoding.special_tokens_mask[i] and labels[str(best[i])] != "O"
    ]
    return answer({"tags": tags})
