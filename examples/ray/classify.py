"""Classifies the texts of a partitioned data set with replicas of the sentiment service, on Ray Data.

    python classify.py http://balancer texts/ labels/

Reads Parquet parts (with --jsonl: JSON Lines) with a column `text`. Writes Parquet parts with all columns plus
`label`, `score` and `error` (error of the row, or null). On a running cluster, set RAY_ADDRESS=auto.
"""

import argparse
import os
import random
import re
import time
from concurrent.futures import ThreadPoolExecutor

import pyarrow as pa
import ray
import urllib3

COLUMN = "text"
ROWS_PER_TASK = 256
NAMED_TEXT = re.compile(r"texts\[(\d+)\]")


class RetryPolicy(urllib3.Retry):
    """Up to 20 retries per request, after a random part of 0.25 s, 0.5 s … 30 s.

    Retries rejected (429, 503), lost (no connection, 408, 502) and timed-out (504) requests. Requests are
    idempotent.
    """

    def __init__(self, **settings):
        # urllib3 copies this object and passes the current values, which override the defaults.
        defaults = {
            "total": 20,
            "status_forcelist": (408, 429, 502, 503, 504),
            "allowed_methods": None,  # includes POST
            "backoff_factor": 0.25,
            "backoff_max": 30,
        }
        super().__init__(**(defaults | settings))

    def get_backoff_time(self):
        return random.uniform(0, super().get_backoff_time())

    def sleep_for_retry(self, response):
        """Waits for Retry-After plus a random delay, so that clients do not retry in lockstep."""
        seconds = self.get_retry_after(response)
        if seconds is None:
            return False
        time.sleep(seconds + random.uniform(0, max(0.25, super().get_backoff_time())))
        return True


class Classify:
    """Actor with at most `in_flight` concurrent requests, each a list of `list_length` texts."""

    def __init__(self, url, api_key=None, in_flight=2, list_length=32):
        self.url = f"{url.rstrip('/')}/analyze/batch"
        self.list_length = list_length
        self.http = urllib3.PoolManager(
            maxsize=in_flight,
            headers={"authorization": f"Bearer {api_key}"} if api_key else {},
            timeout=urllib3.Timeout(connect=5, read=60),
            retries=RetryPolicy(),
        )
        self.threads = ThreadPoolExecutor(in_flight)

    def __call__(self, table: pa.Table) -> pa.Table:
        texts = table.column(COLUMN).to_pylist()
        lists = [texts[i : i + self.list_length] for i in range(0, len(texts), self.list_length)]
        rows = [row for results in self.threads.map(self.analyze, lists) for row in results]
        for name, kind in (("label", pa.string()), ("score", pa.float64()), ("error", pa.string())):
            table = table.append_column(name, pa.array([row[name] for row in rows], kind))
        return table

    def analyze(self, texts):
        """Returns one row per text. If the server rejects a list and names a text, that text gets the error and
        the remaining texts are sent again."""
        rows = [{"label": None, "score": None, "error": None} for _ in texts]
        left = list(range(len(texts)))
        while left:
            response = self.http.request("POST", self.url, json={"texts": [texts[i] for i in left]})
            body = response.json()
            if response.status == 200:
                for i, result in zip(left, body["results"], strict=True):
                    rows[i] |= {"label": result["label"], "score": result["score"]}
                break
            detail = body["detail"]
            named = NAMED_TEXT.match(detail)
            if named:
                bad = left.pop(int(named[1]))
                rows[bad]["error"] = f"{response.status}: {detail[named.end() :].lstrip(': ')}"
            elif response.status == 413 and len(texts) > 1:
                middle = len(texts) // 2
                return self.analyze(texts[:middle]) + self.analyze(texts[middle:])
            elif response.status == 413:
                rows[0]["error"] = f"413: {detail}"
                break
            else:
                raise RuntimeError(f"{self.url}: status {response.status}: {detail}")
        return rows


def classify(url, source, target, actors=2, jsonl=False, **settings):
    """Runs the job until all rows are written, or raises an error. `settings`: arguments of Classify."""
    data = ray.data.read_json(source, lines=True) if jsonl else ray.data.read_parquet(source)
    # Equal blocks: small parts would form one block, and large parts would be repeated after losing an actor.
    data.repartition(target_num_rows_per_block=ROWS_PER_TASK).map_batches(
        Classify,
        fn_constructor_kwargs={"url": url, **settings},
        compute=ray.data.ActorPoolStrategy(size=actors),
        batch_format="pyarrow",
        batch_size=ROWS_PER_TASK,
        num_cpus=0.25,  # mostly waits for responses
    ).write_parquet(target)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("url", help="URL of the load balancer")
    parser.add_argument("source", help="folder of the input parts")
    parser.add_argument("target", help="folder of the output parts")
    parser.add_argument("--actors", type=int, default=2)
    parser.add_argument("--in-flight", type=int, default=2, help="concurrent requests per actor")
    parser.add_argument("--list-length", type=int, default=32, help="texts per request")
    parser.add_argument("--jsonl", action="store_true", help="the parts are JSON Lines")
    args = vars(parser.parse_args())
    classify(**args, api_key=os.environ.get("API_KEY"))


if __name__ == "__main__":
    main()
