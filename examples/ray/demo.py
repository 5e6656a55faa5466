"""Shows classify.py at work on one machine: makes a data set, starts two replicas of the service, nginx in
front of them and a Ray cluster of three nodes, kills a replica in the middle and starts it again, and
checks that every row is there once, with the very answer that one replica gives without any of this.

    python demo.py [--rows 4000] [--model DIR] [--scaling TIMES]

--scaling: so many times, measures one replica and two without the kill, too. Exit code 1: a row is missing
or wrong.
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

# Nothing of Ray listens for, or talks to, other machines here; read when Ray is imported. The second one
# makes it take 127.0.0.1 for the address of a node, as it does by itself on Windows and macOS.
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
    """Parquet parts of texts of 3 to 60 words; one row in 500 is blank, which the service refuses."""
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
    """A service with one worker, on a port of its own."""

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

    def answered(self):
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
    """None: no answer, or not 200."""
    try:
        response = urllib3.request("GET", url, retries=False, timeout=2)
    except urllib3.exceptions.HTTPError:
        return None
    return response.data.decode() if response.status == 200 else None


def wait_until(holds, what, seconds=60):
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            raise TimeoutError(f"waited {seconds} s for {what}")
        time.sleep(0.05)


@contextmanager
def nginx(replicas, folder):
    """deploy/nginx/libtorch-serve.conf, with other ports."""
    port = free_port()
    conf = (ROOT / "deploy" / "nginx" / "libtorch-serve.conf").read_text()
    ports = {"127.0.0.1:8000": replicas[0].port, "127.0.0.1:8002": replicas[1].port}
    for given, other in ports.items():
        conf = conf.replace(given, f"127.0.0.1:{other}")
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
    """A head and two more nodes, each with processes of its own, as on three machines."""
    os.environ["RAY_TMPDIR"] = str(folder)
    node = {"num_cpus": 1, "object_store_memory": 100 * 2**20, "node_ip_address": "127.0.0.1"}
    head = {**node, "include_dashboard": False}
    cluster = Cluster(initialize_head=True, head_node_args=head)
    for _ in range(NODES - 1):
        cluster.add_node(**node)
    # So that workers find classify.py.
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
    """Every row once, unchanged, with the answer of one replica alone."""
    found = [row["id"] for row in rows]
    wrong = [f"{len(found)} rows, of {len(texts)}"] if found != list(range(len(texts))) else []
    for row in rows:
        i = row["id"]
        answer = {name: row[name] for name in ("label", "score", "error")}
        if row["text"] != texts[i] or answer != expected[i]:
            wrong.append(f"row {i}: {answer}, expected {expected[i]}")
    return wrong


def processor_seconds(replicas):
    """What the replicas have used so far, and what everything else here has: Ray, nginx, this process."""
    parents, used = {}, {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue  # it has ended
        pid = int(stat.parent.name)
        parents[pid] = int(fields[1])
        used[pid] = sum(int(ticks) for ticks in fields[11:15]) / os.sysconf("SC_CLK_TCK")
    theirs = {replica.process.pid for replica in replicas}

    def is_ours(pid):
        return pid == os.getpid() or (pid in parents and is_ours(parents[pid]))

    ours = {pid for pid in used if is_ours(pid)}
    return sum(used[pid] for pid in theirs), sum(used[pid] for pid in ours - theirs)


def answered_by(replicas):
    """A function: how many texts they have answered from now on, all of them being up."""
    before = sum(replica.answered() for replica in replicas)
    return lambda: sum(replica.answered() for replica in replicas) - before


def until_answering(replicas, told):
    answered = answered_by(replicas)
    wait_until(lambda: answered() > 0, "the first row", seconds=600)
    told["since"] = time.monotonic()


def kill_in_the_middle(replicas, rows, told):
    """Once they have answered a third, one is killed; two seconds later it is started again."""
    answered = answered_by(replicas)
    wait_until(lambda: answered() > rows / 3, "a third of the rows", seconds=600)
    told["answered when one was killed"] = answered()
    replicas[0].kill()
    time.sleep(2)
    replicas[0].start()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=4000)
    parser.add_argument("--model", help="folder of a model; default: the shipped one")
    parser.add_argument("--scaling", type=int, default=0, metavar="TIMES")
    given = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # not without stopping what it has started
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        texts = make_data(folder / "texts", given.rows)
        replicas = [Replica(given.model) for _ in range(2)]
        for replica in replicas:
            replica.start()
            stack.callback(replica.stop)

        def labelled(name, url):
            """Rows per second from the first answer to the last row written, Ray's own start left out; and
            seconds of processor time, all of it: of the replicas, and of everything else."""
            target = folder / name
            shutil.rmtree(target, ignore_errors=True)
            first = threading.Thread(target=until_answering, args=(replicas, answering := {}))
            first.start()
            before = processor_seconds(replicas)
            classify(url, str(folder / "texts"), str(target))
            ended = time.monotonic()
            used = [now - then for now, then in zip(processor_seconds(replicas), before)]
            first.join()
            rate = given.rows / (ended - answering["since"])
            names = ("rows/s", "processor s of replicas", "processor s of all else")
            return {what: round(n, 1) for what, n in zip(names, (rate, *used))}

        # One replica, one request at a time, no Ray, no balancer.
        alone = Classify(replicas[0].url, in_flight=1)
        told = {"rows": given.rows}
        started = time.monotonic()
        expected = [row for i in range(0, given.rows, 32) for row in alone.ask(texts[i : i + 32])]
        told["rows/s of one replica, without Ray"] = round(given.rows / (time.monotonic() - started), 1)

        (folder / "nginx").mkdir()
        url = stack.enter_context(nginx(replicas, folder / "nginx"))
        stack.enter_context(ray_cluster(folder))
        if given.scaling:
            for i in range(given.scaling):
                for name, where in (("one replica", replicas[0].url), ("two replicas", url)):
                    told[f"{name}, {i + 1}"] = labelled(name, where)
                    print(name, told[f"{name}, {i + 1}"], file=sys.stderr)
        killer = threading.Thread(
            target=kill_in_the_middle, args=(replicas, given.rows, told), daemon=True
        )
        killer.start()
        told["rows/s, one of two killed"] = labelled("killed", url)["rows/s"]
        killer.join()
        wrong = check(read(folder / "killed"), texts, expected)
        if told["answered when one was killed"] >= given.rows:
            wrong.append("the replica was killed too late")
    told["wrong"] = wrong[:5]
    print(json.dumps(told, indent=2))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
