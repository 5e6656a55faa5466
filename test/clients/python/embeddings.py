"""Asks a directory of models for vectors as users of openai and huggingface_hub do, and prints what
came back as JSON.

    python embeddings.py ORIGIN NAME KEY
"""

import asyncio
import json
import sys

import openai
from huggingface_hub import InferenceClient

ORIGIN, NAME, KEY = sys.argv[1:]
BASE = f"{ORIGIN}/v1"
TEXTS = ["A quiet, funny film.", "It rains.", "A quiet, funny film."]
IDS = [[2, 5, 3], [2, 6, 7, 3]]


def client_of(key):
    return openai.OpenAI(base_url=BASE, api_key=key, max_retries=0)


client = client_of(KEY)


def vectors(**asked):
    return [one.embedding for one in client.embeddings.create(model=NAME, **asked).data]


def refusal(ask):
    try:
        ask()
    except openai.APIStatusError as error:
        told = {"param": error.param, "code": error.code, "message": error.body["message"]}
        return {"class": type(error).__name__, "status": error.status_code, **told}
    return None


def refused(**asked):
    return refusal(lambda: client.embeddings.create(**{"model": NAME, "input": "a", **asked}))


async def together(count):
    async with openai.AsyncOpenAI(base_url=BASE, api_key=KEY, max_retries=0) as client:
        texts = [f"{TEXTS[0]} {index}" for index in range(count)]
        asked = (client.embeddings.create(model=NAME, input=text) for text in texts)
        return [answer.data[0].embedding for answer in await asyncio.gather(*asked)]


whole = client.embeddings.create(model=NAME, input=TEXTS)
feature = InferenceClient(model=f"{ORIGIN}/models/{NAME}", token=KEY)
print(
    json.dumps(
        {
            "openai": {
                "model": whole.model,
                "objects": [whole.object, *(one.object for one in whole.data)],
                "indices": [one.index for one in whole.data],
                "usage": whole.usage.model_dump(exclude_none=True),
                # The client asks for base64 where nothing is said, and decodes it.
                "list": [one.embedding for one in whole.data],
                "text": vectors(input=TEXTS[0]),
                "float": vectors(input=TEXTS, encoding_format="float"),
                "base64": vectors(input=TEXTS, encoding_format="base64"),
                "short": vectors(input=TEXTS[0], dimensions=5),
                "ids": vectors(input=IDS),
                "one_of_ids": vectors(input=IDS[0]),
                "together": asyncio.run(together(16)),
            },
            "refused": {
                "model": refused(model="other"),
                "classifier": refused(model="films"),
                "key": refusal(
                    lambda: client_of("another-key-that-is-long-enough").embeddings.create(model=NAME, input="a")
                ),
                "empty": refused(input=""),
                "element": refused(input=["a", 3]),
                "dimensions": refused(dimensions=4096),
                "no_such_id": refused(input=[2, 2_000_000_000]),
            },
            "feature_extraction": {
                "text": feature.feature_extraction(TEXTS[0]).tolist(),
                "normalized": feature.feature_extraction(TEXTS, normalize=True).tolist(),
            },
            "sentence_similarity": feature.sentence_similarity(TEXTS[0], TEXTS[1:]),
        }
    )
)
