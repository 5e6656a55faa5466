"""The same streams in a Python loop: MNE's filter design, SciPy's filter with a state, PyTorch. No network.

    python bench/channels/loop.py FOLDER STREAMS SECONDS

Streams have their windows at times of their own, as in channel-streams.mjs. Prints the latencies of windows as JSON.
"""

import json
import sys
import time
from pathlib import Path

import mne
import numpy as np
import torch
from scipy.signal import sosfilt

folder, streams, seconds = Path(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])
settings = json.loads((folder / "eeg_model.json").read_text())
rate, length, step = settings["sampling_rate_hz"], settings["window_length"], settings["step"]
channels = len(settings["channels"])
model = torch.jit.load(folder / "eeg_model.pt")
design = mne.filter.create_filter(
    None, rate, 1, 40, method="iir", iir_params={"order": 4, "ftype": "butter", "output": "sos"}, verbose="error"
)
sos = design["sos"]
states = [np.zeros((len(sos), channels, 2)) for _ in range(streams)]
buffers = [np.zeros((channels, length)) for _ in range(streams)]
samples = np.random.default_rng(1).normal(0, 10, (channels, step))


def process(stream: int) -> None:
    """One block of samples of a stream, and the window that it completes."""
    block = samples - samples.mean(axis=0, keepdims=True)
    block, states[stream] = sosfilt(sos, block, axis=1, zi=states[stream])
    buffer = buffers[stream]
    buffer[:, :-step] = buffer[:, step:]
    buffer[:, -step:] = block
    window = (buffer - buffer.mean(axis=1, keepdims=True)) / (buffer.std(axis=1, keepdims=True) + 1e-8)
    model(torch.from_numpy(window[None].astype(np.float32))).softmax(1).tolist()


period = step / rate
latencies = []
with torch.inference_mode():
    for _ in range(20):
        process(0)
    start = time.perf_counter()
    blocks = [0] * streams
    while True:
        now = time.perf_counter() - start
        if now > seconds:
            break
        due = [(index / streams + blocks[index]) * period for index in range(streams)]
        index = min(range(streams), key=due.__getitem__)
        if due[index] > now:
            time.sleep(due[index] - now)
        process(index)
        latencies.append((time.perf_counter() - start - due[index]) * 1000)
        blocks[index] += 1
latencies.sort()
print(json.dumps({"windows": len(latencies), "p50_ms": latencies[len(latencies) // 2], "p99_ms": latencies[int(len(latencies) * 0.99)]}))
