"""One of the peers over a text embedder, in process: as bench/families/peer.py measures classifiers.

    python peer.py SIDE MODEL_DIRECTORY < task.json

SIDE: sentence-transformers-float32, sentence-transformers-bfloat16, llama-bf16 or llama-q8_0 (a GGUF file of the folder).
task.json: {"texts": {name: [text, …]}, "samples": [text, …], "seconds": s}. Prints {"figures": {name: {"p50_ms",
"texts_per_s", "peak_mb"}}, "samples": vectors}.
"""

import json
import resource
import statistics
import sys
import time
from pathlib import Path

THREADS = 2
BATCH = 8
LONGEST = 2048

side, folder = sys.argv[1], Path(sys.argv[2])
task = json.load(sys.stdin)


def sentence_transformers(numbers):
    import torch
    from sentence_transformers import SentenceTransformer

    torch.set_num_threads(THREADS)
    model = SentenceTransformer(str(folder), device="cpu", model_kwargs={"dtype": getattr(torch, numbers)})
    return lambda texts: model.encode(texts, batch_size=BATCH, show_progress_bar=False)


def llama(file):
    from llama_cpp import LLAMA_POOLING_TYPE_LAST, Llama

    model = Llama(
        str(folder / f"{file}.gguf"),
        embedding=True,
        pooling_type=LLAMA_POOLING_TYPE_LAST,
        n_ctx=LONGEST * BATCH,
        n_batch=LONGEST * BATCH,
        n_ubatch=LONGEST,
        n_threads=THREADS,
        n_threads_batch=THREADS,
        verbose=False,
    )
    return lambda texts: model.embed(texts, normalize=True)


def peak_mb():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measure(embed, texts):
    embed(texts[:1])
    times = []
    end = time.perf_counter() + task["seconds"]
    while len(times) < 3 or time.perf_counter() < end:
        start = time.perf_counter()
        embed([texts[len(times) % len(texts)]])
        times.append(time.perf_counter() - start)
    start, done = time.perf_counter(), 0
    while done == 0 or time.perf_counter() - start < task["seconds"]:
        embed(texts)
        done += len(texts)
    rate = done / (time.perf_counter() - start)
    return {"p50_ms": 1e3 * statistics.median(times), "texts_per_s": rate, "peak_mb": peak_mb()}


name, _, numbers = side.rpartition("-")
embed = {"sentence-transformers": sentence_transformers, "llama": llama}[name](numbers)
figures = {kind: measure(embed, texts) for kind, texts in task["texts"].items()}
samples = [[float(value) for value in vector] for vector in embed(task["samples"])]
print(json.dumps({"figures": figures, "samples": samples}))
