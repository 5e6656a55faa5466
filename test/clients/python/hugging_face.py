"""Asks a sentiment service as users of huggingface_hub do, and prints what came back as JSON.

    python hugging_face.py ORIGIN NAME KEY
"""

import asyncio
import json
import sys

from huggingface_hub import AsyncInferenceClient, InferenceClient
from huggingface_hub.errors import HfHubHTTPError

ORIGIN, NAME, KEY = sys.argv[1:]
TEXT = "A quiet, funny film."


def plain(elements):
    return [{"label": one.label, "score": one.score} for one in elements]


def refusal(ask):
    try:
        ask()
    except HfHubHTTPError as error:
        return {"status": error.response.status_code, "message": str(error)}
    return None


async def together(count):
    async with AsyncInferenceClient(model=ORIGIN, token=KEY) as client:
        texts = [f"{TEXT} {index}" for index in range(count)]
        answers = await asyncio.gather(*(client.text_classification(text) for text in texts))
        return [plain(answer) for answer in answers]


client = InferenceClient(model=ORIGIN, token=KEY)
by_name = InferenceClient(token=KEY)
print(
    json.dumps(
        {
            "all": plain(client.text_classification(TEXT)),
            "top": plain(client.text_classification(TEXT, top_k=1)),
            "none": plain(client.text_classification(TEXT, function_to_apply="none")),
            "by_name": plain(by_name.text_classification(TEXT, model=f"{ORIGIN}/models/{NAME}")),
            "together": asyncio.run(together(32)),
            "bad": refusal(lambda: client.text_classification(TEXT, top_k=0)),
            "stranger": refusal(lambda: InferenceClient(model=ORIGIN, token="wrong").text_classification(TEXT)),
        }
    )
)
