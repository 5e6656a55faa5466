"""A model of OpenVINO as a server has it, and batches for it."""

import queue
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import openvino as ov


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


def padded(encodings: list, names: list[str]) -> dict:
    """Inputs of the model for texts of like length."""
    shape = (len(encodings), max(len(each.ids) for each in encodings))
    batch = {name: np.zeros(shape, np.int64) for name in names}
    for row, each in enumerate(encodings):
        parts = {"input_ids": each.ids, "attention_mask": each.attention_mask, "token_type_ids": each.type_ids}
        for name in names:
            batch[name][row, : len(each.ids)] = parts[name]
    return batch
