"""One of the peers over one model, in process: how long a text takes, and how many a second it gives.

    python peer.py SIDE MODEL_DIRECTORY WORK_DIRECTORY < task.json

SIDE: pytorch, openvino-float32, openvino-bfloat16, openvino-int8, onnxruntime-float32,
onnxruntime-dynamic or onnxruntime-static (both int8). What is exported and quantized is kept in
WORK_DIRECTORY. task.json: {"texts": {name: [text, …]}, "samples": [text, …], "seconds": s};
"alone": true leaves many at once out, "least_times" is of how many the median is at least (3).
Prints {name: {"p50_ms", "texts_per_s", "peak_mb"}} for each name (memory of the process until then) and the probabilities of the samples.
"""

import json
import resource
import statistics
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import torch
from transformers import AutoModelForSequenceClassification, AutoTokenizer

BATCH = 8
CALIBRATION_TEXTS = 300
INPUTS = ("input_ids", "attention_mask")

side, folder, work = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
task = json.load(sys.stdin)
tokenizer = AutoTokenizer.from_pretrained(folder)
longest = json.loads((folder / "config.json").read_text())["max_position_embeddings"]


def encode(batch, kind="np"):
    encoded = tokenizer(batch, return_tensors=kind, padding=True, truncation=True, max_length=longest)
    return {name: encoded[name] for name in INPUTS}


def load_model():
    # DeBERTa has no other implementation; of the others sdpa is the fastest.
    config = json.loads((folder / "config.json").read_text())
    attention = "eager" if config["model_type"].startswith("deberta") else "sdpa"
    model = AutoModelForSequenceClassification.from_pretrained(
        folder, dtype=torch.float32, attn_implementation=attention
    )
    return model.eval()


class Logits(torch.nn.Module):
    """Takes its inputs in a fixed order and returns the logits alone."""

    def __init__(self):
        super().__init__()
        self.model = load_model()

    def forward(self, input_ids, attention_mask):
        return self.model(input_ids=input_ids, attention_mask=attention_mask).logits


def some_texts():
    """Of all lengths, for calibration."""
    return [text for texts in task["texts"].values() for text in texts][:CALIBRATION_TEXTS]


def pytorch():
    model = Logits()

    def run(batch):
        with torch.inference_mode():
            return model(**encode(batch, "pt")).numpy()

    return run, lambda batches: [run(batch) for batch in batches]


def openvino(numbers):
    import openvino as ov

    core = ov.Core()
    path = work / f"openvino-{'int8' if numbers == 'int8' else 'float32'}.xml"
    if not path.exists():
        model = ov.convert_model(Logits(), example_input=encode(some_texts()[:2], "pt"))
        if numbers == "int8":
            import nncf

            dataset = nncf.Dataset([encode([text]) for text in some_texts()])
            size = len(some_texts())
            model = nncf.quantize(
                model, dataset, model_type=nncf.ModelType.TRANSFORMER, subset_size=size
            )
        ov.save_model(model, path, compress_to_fp16=False)
    precision = "bf16" if numbers == "bfloat16" else "f32"

    def compiled(hint):
        options = {"PERFORMANCE_HINT": hint, "INFERENCE_PRECISION_HINT": precision}
        return core.compile_model(path, "CPU", options)

    request = compiled("LATENCY").create_infer_request()
    queue = ov.AsyncInferQueue(compiled("THROUGHPUT"))

    def run_all(batches):
        for batch in batches:
            queue.start_async(encode(batch))
        queue.wait_all()

    return lambda batch: next(iter(request.infer(encode(batch)).values())), run_all


def export_onnx(path):
    warnings.simplefilter("ignore")
    axes = {name: {0: "batch", 1: "sequence"} for name in INPUTS} | {"logits": {0: "batch"}}
    with torch.no_grad():
        torch.onnx.export(
            Logits(),
            tuple(encode(some_texts()[:2], "pt").values()),
            str(path),
            input_names=list(INPUTS),
            output_names=["logits"],
            dynamic_axes=axes,
            opset_version=17,
            dynamo=False,
        )


def quantize(source, target, kind):
    from onnxruntime.quantization import CalibrationDataReader, QuantFormat, quantize_dynamic, quantize_static
    from onnxruntime.quantization.shape_inference import quant_pre_process

    if kind == "dynamic":
        quantize_dynamic(source, target, per_channel=True)
        return

    class Reader(CalibrationDataReader):
        def __init__(self):
            self.batches = iter([encode([text]) for text in some_texts()[:50]])

        def get_next(self):
            return next(self.batches, None)

    prepared = work / "onnx-prepared.onnx"
    quant_pre_process(source, prepared, skip_symbolic_shape=True)
    quantize_static(
        prepared,
        target,
        Reader(),
        quant_format=QuantFormat.QDQ,
        per_channel=True,
        op_types_to_quantize=["MatMul", "Gemm"],
        extra_options={"ActivationSymmetric": False, "WeightSymmetric": True},
    )


def onnxruntime(numbers):
    import onnxruntime as ort

    path = work / f"onnx-{numbers}.onnx"
    plain = work / "onnx-float32.onnx"
    if not plain.exists():
        export_onnx(plain)
    if not path.exists():
        quantize(plain, path, numbers)
    session = ort.InferenceSession(path, providers=["CPUExecutionProvider"])

    def run(batch):
        return session.run(None, encode(batch))[0]

    return run, lambda batches: [run(batch) for batch in batches]


def measure(run, run_all, texts):
    """texts of one kind; those of many batches are sorted by length."""
    run(texts[:1])
    times = []
    end = time.perf_counter() + task["seconds"]
    while len(times) < task.get("least_times", 3) or time.perf_counter() < end:
        start = time.perf_counter()
        run([texts[len(times) % len(texts)]])
        times.append(time.perf_counter() - start)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    alone = {"p50_ms": 1e3 * statistics.median(times), "peak_mb": peak}
    if task.get("alone"):
        return alone
    ordered = sorted(texts, key=len)
    batches = [ordered[i : i + BATCH] for i in range(0, len(ordered), BATCH)]
    run_all(batches[:1])
    start, done = time.perf_counter(), 0
    while done == 0 or time.perf_counter() - start < task["seconds"]:
        run_all(batches)
        done += len(texts)
    rate = done / (time.perf_counter() - start)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return alone | {"texts_per_s": rate, "peak_mb": peak}


def main():
    work.mkdir(parents=True, exist_ok=True)
    name, _, numbers = side.partition("-")
    run, run_all = {"pytorch": lambda _: pytorch(), "openvino": openvino, "onnxruntime": onnxruntime}[name](numbers)
    figures = {kind: measure(run, run_all, texts) for kind, texts in task["texts"].items()}
    samples = torch.softmax(torch.tensor(np.concatenate([run([t]) for t in task["samples"]])), -1)
    print(json.dumps({"figures": figures, "samples": samples.tolist()}))


main()
