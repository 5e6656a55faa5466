"""Vectors, reranking and tags with FastAPI, OpenVINO and tokenizers.

TASK=embedding|reranking|tagging MODEL_DIR=/path/to/model MODEL_FILE=/path/to/model.xml uvicorn server:app
"""

import json
import os
import queue
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import openvino as ov
import orjson
from fastapi import FastAPI, Response
from pydantic import BaseModel
from tokenizers import Tokenizer

MODEL_DIR, MODEL_FILE = Path(os.environ["MODEL_DIR"]), os.environ["MODEL_FILE"]
# Texts of a list that go through the model at once, of like length.
BATCH = int(os.environ["BATCH"])
LONGEST = {"embedding": 256, "reranking": 512, "tagging": 512}[os.environ["TASK"]]


class Model:
    """The model twice: with the hint for latency, for what is alone; else with that for throughput."""

    def __init__(self, file: str):
        core, model = ov.Core(), ov.Core().read_model(file)
        # By itself OpenVINO would multiply a float32 model in bfloat16 where the processor can.
        exact = {} if "int8" in Path(file).name else {"INFERENCE_PRECISION_HINT": "f32"}
        latency, throughput = (
            core.compile_model(model, "CPU", {"PERFORMANCE_HINT": hint, **exact}) for hint in ("LATENCY", "THROUGHPUT")
        )
        self.names = [port.any_name for port in latency.inputs]
        self.alone = latency.create_infer_request()
        requests = throughput.get_property("OPTIMAL_NUMBER_OF_INFER_REQUESTS")
        self.free = queue.Queue()
        for _ in range(requests):
            self.free.put(throughput.create_infer_request())
        self.threads = ThreadPoolExecutor(requests)
        self.lock, self.under_way = threading.Lock(), 0

    def infer(self, batches: list[dict]) -> list[np.ndarray]:
        """The first output of each batch."""
        with self.lock:
            self.under_way += 1
            # Nobody else is under way, so nobody has the request of the model with the hint for latency.
            alone = self.under_way == 1 and len(batches) == 1
        try:
            if alone:
                return [self.alone.infer(batches[0])[0].copy()]
            return list(self.threads.map(self._one, batches))
        finally:
            with self.lock:
                self.under_way -= 1

    def _one(self, batch: dict) -> np.ndarray:
        request = self.free.get()
        try:
            return request.infer(batch)[0].copy()
        finally:
            self.free.put(request)


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
    outputs = model.infer([padded([encodings[index] for index in group]) for group in groups])
    rows = dict(zip(order, (row for output in outputs for row in output)))
    return encodings, [rows[index] for index in range(len(inputs))]


def padded(encodings: list) -> dict:
    """Inputs of the model for texts of like length."""
    shape = (len(encodings), max(len(each.ids) for each in encodings))
    batch = {name: np.zeros(shape, np.int64) for name in model.names}
    for row, each in enumerate(encodings):
        parts = {"input_ids": each.ids, "attention_mask": each.attention_mask, "token_type_ids": each.type_ids}
        for name in model.names:
            batch[name][row, : len(each.ids)] = parts[name]
    return batch


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
