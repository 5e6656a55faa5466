"""Asks a guard as users of openai do, and prints what came back as JSON.

    python moderations.py ORIGIN KEY
"""

import json
import sys

import openai

ORIGIN, KEY = sys.argv[1:]
TEXTS = ["awful, a terrible waste of time", "A warm, funny film.", "ann.lee@example.org"]

client = openai.OpenAI(base_url=f"{ORIGIN}/v1", api_key=KEY, max_retries=0)


def named(fields):
    return fields.model_dump(by_alias=True).items()


def told(answer):
    return [
        {
            "flagged": one.flagged,
            "categories": [name for name, is_so in named(one.categories) if is_so],
            "scores": {name: score for name, score in named(one.category_scores) if score > 0},
        }
        for one in answer.results
    ]


def refusal(**asked):
    try:
        client.moderations.create(**asked)
    except openai.APIStatusError as error:
        return {"class": type(error).__name__, "status": error.status_code, "param": error.param}
    return None


parts = [{"type": "text", "text": text} for text in TEXTS]
image = {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}
texts = client.moderations.create(model="omni-moderation-latest", input=TEXTS)
print(
    json.dumps(
        {
            "model": texts.model,
            "texts": told(texts),
            "text": told(client.moderations.create(input=TEXTS[0])),
            "parts": told(client.moderations.create(input=parts)),
            "image": refusal(input=[*parts, image]),
            "empty": refusal(input=[]),
        }
    )
)
