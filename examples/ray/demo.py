"""Runs classify.py on one machine: creates a data set, starts two replicas behind nginx and a Ray cluster of three
nodes, kills and restarts a replica, and checks that each row occurs once with the same result as from a single
replica.

    python demo.py [--rows 4000] [--model DIR] [--scaling TIMES]

--scaling: number of measurements of one replica and of two replicas without the kill. Exit code 1: a row is
missing or wrong.
"""

import argparse
import json
import logging
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import ExitStack, contextmanager
from pathlib import Path

# Read when Ray is imported: no usage statistics, and nodes on 127.0.0.1 as on Windows and macOS.
os.environ |= {"RAY_USAGE_STATS_ENABLED": "0", "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0"}

import pyarrow as pa
import pyarrow.parquet as pq
import ray
import urllib3
from ray.cluster_utils import Cluster

from classify import Classify, classify

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PARTS = 4
NODES = 3
WORDS = "a the film story actor slow warm dull funny quiet loud brilliant awful plot of and with but".split()


def make_data(folder, rows):
    """Writes Parquet parts with texts of 3 to 60 words. The server rejects one row in 500, which is blank."""
    draw = random.Random(1)
    texts = [" ".join(draw.choices(WORDS, k=draw.randint(3, 60))) for _ in range(rows)]
    for i in range(0, rows, 500):
        texts[i] = "  "
    folder.mkdir()
    for part in range(PARTS):
        ids = range(part, rows, PARTS)
        table = pa.table({"id": list(ids), "text": [texts[i] for i in ids]})
        pq.write_table(table, folder / f"part-{part:03}.parquet", row_group_size=256)
    return texts


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Replica:
    """Server with one worker on a free port."""

    def __init__(self, model):
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.settings = {"PORT": str(self.port), "HOST": "127.0.0.1", "WORKERS": "1", "LOG_LEVEL": "error"}
        if model:
            self.settings["SENTIMENT_MODEL_DIR"] = model

    def start(self):
        command = ["node", str(ROOT / "dist" / "main.js"), "sentiment"]
        self.process = subprocess.Popen(command, env=os.environ | self.settings)
        wait_until(lambda: get(f"{self.url}/ready") is not None, f"{self.url} to be ready")

    def input_count(self):
        metrics = get(f"{self.url}/metrics") or ""
        found = re.search(r'^libtorch_serve_inputs_total\{outcome="answered"\} (\d+)', metrics, re.M)
        return int(found[1]) if found else 0

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self):
        self.process.terminate()
        self.process.wait()


def get(url):
    """Returns the body, or None if the server is unreachable or the status is not 200."""
    try:
        response = urllib3.request("GET", url, retries=False, timeout=2)
    except urllib3.exceptions.HTTPError:
        return None
    return response.data.decode() if response.status == 200 else None


def wait_until(condition, what, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError(f"waited {seconds} s for {what}")
        time.sleep(0.05)


@contextmanager
def nginx(replicas, folder):
    """Runs nginx with deploy/nginx/libtorch-serve.conf and other ports."""
    port = free_port()
    conf = (ROOT / "deploy" / "nginx" / "libtorch-serve.conf").read_text()
    ports = {"127.0.0.1:8000": replicas[0].port, "127.0.0.1:8002": replicas[1].port}
    for original, other in ports.items():
        conf = conf.replace(original, f"127.0.0.1:{other}")
    conf = conf.replace("listen 80;", f"listen 127.0.0.1:{port};")
    (folder / "libtorch-serve.conf").write_text(conf)
    names = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    temporary = " ".join(f"{name}_temp_path {folder}/{name};" for name in names)
    (folder / "nginx.conf").write_text(
        f"daemon off; pid {folder}/pid; error_log {folder}/error.log; worker_processes 1;"
        "events { worker_connections 768; }"
        f"http {{ access_log off; {temporary} include {folder}/libtorch-serve.conf; }}"
    )
    process = subprocess.Popen(["nginx", "-p", str(folder), "-c", str(folder / "nginx.conf")])
    url = f"http://127.0.0.1:{port}"
    try:
        wait_until(lambda: get(f"{url}/health") is not None, "nginx")
        yield url
    finally:
        process.terminate()
        process.wait()


@contextmanager
def ray_cluster(folder):
    """Starts a head node and two worker nodes, each in separate processes."""
    os.environ["RAY_TMPDIR"] = str(folder)
    node = {"num_cpus": 1, "object_store_memory": 100 * 2**20, "node_ip_address": "127.0.0.1"}
    head = {**node, "include_dashboard": False}
    cluster = Cluster(initialize_head=True, head_node_args=head)
    for _ in range(NODES - 1):
        cluster.add_node(**node)
    # Lets workers import classify.py.
    environment = {"env_vars": {"PYTHONPATH": os.pathsep.join([str(HERE), *sys.path])}}
    ray.init(
        address=cluster.address,
        log_to_driver=False,
        logging_level="warning",
        runtime_env=environment,
    )
    logging.getLogger("ray.data").setLevel("WARNING")
    ray.data.DataContext.get_current().enable_progress_bars = False
    try:
        yield
    finally:
        ray.shutdown()
        cluster.shutdown()


def read(folder):
    rows = pq.read_table(folder).to_pylist()
    return sorted(rows, key=lambda row: row["id"])


def check(rows, texts, expected):
    """Returns errors: missing, duplicate or changed rows, and results that differ from those of one replica."""
    found = [row["id"] for row in rows]
    wrong = [f"{len(found)} rows, of {len(texts)}"] if found != list(range(len(texts))) else []
    for row in rows:
        i = row["id"]
        result = {name: row[name] for name in ("label", "score", "error")}
        if row["text"] != texts[i] or result != expected[i]:
            wrong.append(f"row {i}: {result}, expected {expected[i]}")
    return wrong


def cpu_seconds(replicas):
    """CPU seconds of the replicas, and of all other processes of this demo (Ray, nginx, this process)."""
    parents, used = {}, {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue  # the process has exited
        pid = int(stat.parent.name)
        parents[pid] = int(fields[1])
        used[pid] = sum(int(ticks) for ticks in fields[11:15]) / os.sysconf("SC_CLK_TCK")
    theirs = {replica.process.pid for replica in replicas}

    def is_ours(pid):
        return pid == os.getpid() or (pid in parents and is_ours(parents[pid]))

    ours = {pid for pid in used if is_ours(pid)}
    return sum(used[pid] for pid in theirs), sum(used[pid] for pid in ours - theirs)


def count_inputs(replicas):
    """Returns a function that counts the inputs of all replicas from now on."""
    before = sum(replica.input_count() for replica in replicas)
    return lambda: sum(replica.input_count() for replica in replicas) - before


def wait_for_first_row(replicas, times):
    answered = count_inputs(replicas)
    wait_until(lambda: answered() > 0, "the first row", seconds=600)
    times["since"] = time.monotonic()


def kill_replica(replicas, rows, report):
    """Kills a replica after a third of the rows, and restarts it two seconds later."""
    answered = count_inputs(replicas)
    wait_until(lambda: answered() > rows / 3, "a third of the rows", seconds=600)
    report["inputs before the kill"] = answered()
    replicas[0].kill()
    time.sleep(2)
    replicas[0].start()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=4000)
    parser.add_argument("--model", help="model folder; default: bundled model")
    parser.add_argument("--scaling", type=int, default=0, metavar="TIMES")
    args = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # stops all started processes
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        texts = make_data(folder / "texts", args.rows)
        replicas = [Replica(args.model) for _ in range(2)]
        for replica in replicas:
            replica.start()
            stack.callback(replica.stop)

        def measure(name, url):
            """Measures rows per second from the first result to the last written row, and CPU seconds."""
            target = folder / name
            shutil.rmtree(target, ignore_errors=True)
            first = threading.Thread(target=wait_for_first_row, args=(replicas, times := {}))
            first.start()
            before = cpu_seconds(replicas)
            classify(url, str(folder / "texts"), str(target))
            ended = time.monotonic()
            used = [now - then for now, then in zip(cpu_seconds(replicas), before)]
            first.join()
            rate = args.rows / (ended - times["since"])
            names = ("rows/s", "CPU seconds of replicas", "CPU seconds of other processes")
            return {what: round(n, 1) for what, n in zip(names, (rate, *used))}

        # Baseline: one replica, one request at a time, without Ray and load balancer.
        alone = Classify(replicas[0].url, in_flight=1)
        report = {"rows": args.rows}
        started = time.monotonic()
        expected = [row for i in range(0, args.rows, 32) for row in alone.analyze(texts[i : i + 32])]
        report["rows/s of one replica, without Ray"] = round(args.rows / (time.monotonic() - started), 1)

        (folder / "nginx").mkdir()
        url = stack.enter_context(nginx(replicas, folder / "nginx"))
        stack.enter_context(ray_cluster(folder))
        if args.scaling:
            for i in range(args.scaling):
                for name, where in (("one replica", replicas[0].url), ("two replicas", url)):
                    report[f"{name}, {i + 1}"] = measure(name, where)
                    print(name, report[f"{name}, {i + 1}"], file=sys.stderr)
        killer = threading.Thread(
            target=kill_replica, args=(replicas, args.rows, report), daemon=True
        )
        killer.start()
        report["rows/s, one of two killed"] = measure("killed", url)["rows/s"]
        killer.join()
        wrong = check(read(folder / "killed"), texts, expected)
        if report["inputs before the kill"] >= args.rows:
            wrong.append("the replica was killed too late")
    report["wrong"] = wrong[:5]
    print(json.dumps(report, indent=2))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
