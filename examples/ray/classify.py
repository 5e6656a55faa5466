"""The texts of a partitioned data set through replicas of the sentiment service, on Ray Data.

    python classify.py http://balancer texts/ labels/

Reads Parquet parts (with --jsonl: JSON Lines) that have a column `text`, and
writes Parquet parts with all their columns and `label`, `score` and `error` (null, or why the service
has no answer for that row). On a cluster that runs, set RAY_ADDRESS=auto.
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
ROWS_OF_A_TASK = 256
NAMED = re.compile(r"texts\[(\d+)\]")


class Patience(urllib3.Retry):
    """How long a list is asked for again: 20 times, after a random part of 0.25 s, 0.5 s … 30 s.

    Refused (429, 503) and lost requests (no connection, 408, 502) cost nothing to repeat, and so do
    those that ran out of time (504): an answer is computed from the request alone.
    """

    def __init__(self, **settings):
        # As urllib3 makes copies of itself, a default must not win over what it passes.
        defaults = {
            "total": 20,
            "status_forcelist": (408, 429, 502, 503, 504),
            "allowed_methods": None,  # POST, too
            "backoff_factor": 0.25,
            "backoff_max": 30,
        }
        super().__init__(**(defaults | settings))

    def get_backoff_time(self):
        return random.uniform(0, super().get_backoff_time())

    def sleep_for_retry(self, response):
        """Retry-After is honoured; those that were refused together do not come back together."""
        seconds = self.get_retry_after(response)
        if seconds is None:
            return False
        time.sleep(seconds + random.uniform(0, max(0.25, super().get_backoff_time())))
        return True


class Classify:
    """One actor. It has at most `in_flight` requests under way, each a list of `list_length` texts."""

    def __init__(self, url, api_key=None, in_flight=2, list_length=32):
        self.url = f"{url.rstrip('/')}/analyze/batch"
        self.list_length = list_length
        self.http = urllib3.PoolManager(
            maxsize=in_flight,
            headers={"authorization": f"Bearer {api_key}"} if api_key else {},
            timeout=urllib3.Timeout(connect=5, read=60),
            retries=Patience(),
        )
        self.threads = ThreadPoolExecutor(in_flight)

    def __call__(self, table: pa.Table) -> pa.Table:
        texts = table.column(COLUMN).to_pylist()
        lists = [texts[i : i + self.list_length] for i in range(0, len(texts), self.list_length)]
        rows = [row for answers in self.threads.map(self.ask, lists) for row in answers]
        for name, kind in (("label", pa.string()), ("score", pa.float64()), ("error", pa.string())):
            table = table.append_column(name, pa.array([row[name] for row in rows], kind))
        return table

    def ask(self, texts):
        """A row for each text. A list is refused whole where one text is bad, which the service names:
        that one gets its error, and the others are sent again without it."""
        rows = [{"label": None, "score": None, "error": None} for _ in texts]
        left = list(range(len(texts)))
        while left:
            response = self.http.request("POST", self.url, json={"texts": [texts[i] for i in left]})
            answer = response.json()
            if response.status == 200:
                for i, result in zip(left, answer["results"], strict=True):
                    rows[i] |= {"label": result["label"], "score": result["score"]}
                break
            detail = answer["detail"]
            named = NAMED.match(detail)
            if named:
                bad = left.pop(int(named[1]))
                rows[bad]["error"] = f"{response.status}: {detail[named.end() :].lstrip(': ')}"
            elif response.status == 413 and len(texts) > 1:
                middle = len(texts) // 2
                return self.ask(texts[:middle]) + self.ask(texts[middle:])
            elif response.status == 413:
                rows[0]["error"] = f"413: {detail}"
                break
            else:
                raise RuntimeError(f"{self.url} answered {response.status}: {detail}")
        return rows


def classify(url, source, target, actors=2, jsonl=False, **settings):
    """`settings`: those of Classify. Runs until every row is written; an error ends it."""
    data = ray.data.read_json(source, lines=True) if jsonl else ray.data.read_parquet(source)
    # Small parts would come as one block, and large ones would be begun anew where an actor is lost.
    data.repartition(target_num_rows_per_block=ROWS_OF_A_TASK).map_batches(
        Classify,
        fn_constructor_kwargs={"url": url, **settings},
        compute=ray.data.ActorPoolStrategy(size=actors),
        batch_format="pyarrow",
        batch_size=ROWS_OF_A_TASK,
        num_cpus=0.25,  # it waits for answers
    ).write_parquet(target)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("url", help="of the load balancer")
    parser.add_argument("source", help="folder with the parts")
    parser.add_argument("target", help="folder for the parts with labels")
    parser.add_argument("--actors", type=int, default=2)
    parser.add_argument("--in-flight", type=int, default=2, help="requests under way, of an actor")
    parser.add_argument("--list-length", type=int, default=32, help="texts of a request")
    parser.add_argument("--jsonl", action="store_true", help="the parts are JSON Lines")
    given = vars(parser.parse_args())
    classify(**given, api_key=os.environ.get("API_KEY"))


if __name__ == "__main__":
    main()
