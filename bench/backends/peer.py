"""Texts per second of `SentenceTransformer.encode` with one of its backends.

    python peer.py SIDE MODEL_DIR WORK_DIR < task.json

SIDE: torch-float32, torch-bfloat16, onnx-float32, onnx-int8, openvino-float32, openvino-bfloat16 or openvino-int8. What is exported and
quantized is kept in WORK_DIR. task.json: {"texts": {name: [text, …]}, "calibration": [text, …], "seconds": s}. Prints
{"rates": {name: texts per second}, "vectors": of the first texts of each kind}.
"""

import json
import shutil
import sys
import time
from pathlib import Path

from sentence_transformers import SentenceTransformer

SAMPLES = 8


def exported(folder: Path, backend: str) -> Path:
    """The model with the backend's file in it."""
    if not folder.exists():
        shutil.copytree(source, folder)
        SentenceTransformer(str(folder), backend=backend, device="cpu").save_pretrained(str(folder))
    return folder


def onnx(numbers: str) -> SentenceTransformer:
    from sentence_transformers import export_dynamic_quantized_onnx_model

    folder = exported(work / "onnx", "onnx")
    name = "model.onnx"
    if numbers == "int8":
        name = "model_qint8_avx512_vnni.onnx"
        if not (folder / "onnx" / name).exists():
            model = SentenceTransformer(str(folder), backend="onnx", device="cpu")
            export_dynamic_quantized_onnx_model(model, "avx512_vnni", str(folder))
    options = {"file_name": f"onnx/{name}", "provider": "CPUExecutionProvider"}
    return SentenceTransformer(str(folder), backend="onnx", device="cpu", model_kwargs=options)


def openvino(numbers: str) -> SentenceTransformer:
    from sentence_transformers import export_static_quantized_openvino_model

    folder = exported(work / "openvino", "openvino")
    name = "openvino_model.xml"
    if numbers == "int8":
        name = "openvino_model_qint8_quantized.xml"
        if not (folder / "openvino" / name).exists():
            # `load_dataset` reads the files of a folder.
            texts = work / "calibration"
            texts.mkdir(exist_ok=True)
            lines = [json.dumps({"text": text}) for text in task["calibration"]]
            (texts / "train.jsonl").write_text("\n".join(lines))
            model = SentenceTransformer(str(folder), backend="openvino", device="cpu")
            dataset = {"dataset_name": str(texts), "dataset_config_name": "default", "dataset_split": "train"}
            export_static_quantized_openvino_model(model, None, str(folder), **dataset, column_name="text")
    options = {"file_name": f"openvino/{name}"}
    if numbers == "float32":
        # By itself OpenVINO multiplies a float32 model in bfloat16 where the processor can.
        options["ov_config"] = {"INFERENCE_PRECISION_HINT": "f32"}
    return SentenceTransformer(str(folder), backend="openvino", device="cpu", model_kwargs=options)


def torch(numbers: str) -> SentenceTransformer:
    return SentenceTransformer(str(source), device="cpu", model_kwargs={"dtype": numbers})


def rate(model: SentenceTransformer, texts: list[str]) -> float:
    model.encode(texts[:32])
    start, done = time.perf_counter(), 0
    while done == 0 or time.perf_counter() - start < task["seconds"]:
        model.encode(texts, batch_size=32)
        done += len(texts)
    return done / (time.perf_counter() - start)


if __name__ == "__main__":
    side, source, work = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
    task = json.load(sys.stdin)
    backend, _, numbers = side.partition("-")
    work.mkdir(parents=True, exist_ok=True)
    model = {"torch": torch, "onnx": onnx, "openvino": openvino}[backend](numbers)
    rates = {name: rate(model, texts) for name, texts in task["texts"].items()}
    vectors = {
        name: model.encode(texts[:SAMPLES], normalize_embeddings=True).tolist()
        for name, texts in task["texts"].items()
    }
    print(json.dumps({"rates": rates, "vectors": vectors}))
