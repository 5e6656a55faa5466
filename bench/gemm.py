"""The float32 GEMM rate of this machine with packed weights, in GFLOP/s, as JSON on standard output.

Usage: python gemm.py HIDDEN INTERMEDIATE [SECONDS]

Measures the linear layers of a transformer layer (four HIDDEN × HIDDEN, and the two of the feed-forward
part) at 512 rows, in single-threaded processes: one alone, then as many at once as there are cores.
Each shape runs for SECONDS with torch.nn.functional.linear and with oneDNN on packed weights; the
better of the two counts. The rate is the FLOPs of the layer over the time that its shapes take.
"""

import json
import multiprocessing
import os
import sys
import time

os.environ["OMP_NUM_THREADS"] = "1"  # read when torch is imported

import torch

ROWS = 512
BURST = 8


def operators(columns: int, outputs: int) -> list:
    """Two ways to multiply [ROWS, columns] with a weight [outputs, columns]."""
    x, weight, bias = torch.randn(ROWS, columns), torch.randn(outputs, columns), torch.randn(outputs)
    packed = torch.ops.mkldnn._reorder_linear_weight(weight, ROWS)
    return [
        lambda: torch.nn.functional.linear(x, weight, bias),
        lambda: torch.ops.mkldnn._linear_pointwise(x, packed, bias, "none", [], ""),
    ]


def seconds_per_run(operator, seconds: float) -> float:
    """Mean over a window, as requests per second are, so that noise hits both alike."""
    for _ in range(BURST):
        operator()
    runs, start = 0, time.perf_counter()
    while (elapsed := time.perf_counter() - start) < seconds:
        for _ in range(BURST):
            operator()
        runs += BURST
    return elapsed / runs


def measure(shapes: list, seconds: float, barrier, results) -> None:
    """One process: for each shape and operator, the GFLOP/s while all the others run the same."""
    torch.set_num_threads(1)
    torch.set_grad_enabled(False)
    rates = []
    for columns, outputs in shapes:
        flops = 2 * ROWS * columns * outputs
        for operator in operators(columns, outputs):
            barrier.wait()
            rates.append(flops / seconds_per_run(operator, seconds) / 1e9)
    results.put(rates)


def rate(processes: int, hidden: int, intermediate: int, seconds: float) -> float:
    """GFLOP/s of that many processes together, over the layer's mix of shapes."""
    shapes = [(hidden, hidden), (hidden, intermediate), (intermediate, hidden)]
    context = multiprocessing.get_context("fork")  # nothing has run in this process, so it may
    barrier, results = context.Barrier(processes), context.Queue()
    started = [
        context.Process(target=measure, args=(shapes, seconds, barrier, results), daemon=True)
        for _ in range(processes)
    ]
    for process in started:
        process.start()
    rates = [results.get(timeout=120) for _ in started]
    for process in started:
        process.join()
    together = [sum(each) for each in zip(*rates)]
    best = [max(together[i : i + 2]) for i in range(0, len(together), 2)]
    parts = [4 * hidden * hidden, hidden * intermediate, hidden * intermediate]
    return sum(parts) / sum(part / gflops for part, gflops in zip(parts, best))


if __name__ == "__main__":
    hidden, intermediate = int(sys.argv[1]), int(sys.argv[2])
    seconds = float(sys.argv[3]) if len(sys.argv) > 3 else 0.5
    cores = len(os.sched_getaffinity(0))
    answer = {
        "processes": cores,
        "one_gflops": round(rate(1, hidden, intermediate, seconds), 1),
        "all_gflops": round(rate(cores, hidden, intermediate, seconds), 1),
    }
    print(json.dumps(answer))
