"""Runs a batch as users of openai do, and prints what came back as JSON.

    python batches.py ORIGIN KEY
"""

import io
import json
import sys
import time

import openai

ORIGIN, KEY = sys.argv[1:]
TEXTS = ["A warm, funny film.", ""]

client = openai.OpenAI(base_url=f"{ORIGIN}/v1", api_key=KEY, max_retries=0)


def line(index, text):
    request = {"method": "POST", "url": "/v1/embeddings", "body": {"input": text}}
    return json.dumps({"custom_id": f"request-{index}", **request})


def results(file_id):
    return [json.loads(text) for text in client.files.content(file_id).text.splitlines()]


content = "\n".join(line(index, text) for index, text in enumerate(TEXTS))
file = client.files.create(
    file=("requests.jsonl", io.BytesIO(content.encode())),
    purpose="batch",
    expires_after={"anchor": "created_at", "seconds": 3600},
)
batch = client.batches.create(
    input_file_id=file.id,
    endpoint="/v1/embeddings",
    completion_window="24h",
    metadata={"team": "search"},
    output_expires_after={"anchor": "created_at", "seconds": 7200},
)
while batch.status in ("validating", "in_progress", "finalizing"):
    time.sleep(0.05)
    batch = client.batches.retrieve(batch.id)
[done] = results(batch.output_file_id)
[failed] = results(batch.error_file_id)
output = client.files.retrieve(batch.output_file_id)
print(
    json.dumps(
        {
            "status": batch.status,
            "counts": batch.request_counts.model_dump(),
            "metadata": batch.metadata,
            "lifetimes": [
                file.expires_at - file.created_at,
                output.expires_at - output.created_at,
            ],
            "done": done["custom_id"],
            "embedding": done["response"]["body"]["data"][0]["embedding"],
            "failed": [failed["custom_id"], failed["response"]["status_code"]],
            "listed": [one.id for one in client.batches.list(limit=1)] == [batch.id],
            "deleted": client.files.delete(file.id).deleted,
        }
    )
)
