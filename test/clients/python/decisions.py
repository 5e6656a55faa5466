"""Asks a directory of models questions as users of typesafe-sdk and openai do, and prints what came
back as JSON.

    python decisions.py ORIGIN MODEL KEY
"""

import asyncio
import json
import sys

import openai
import typesafe_sdk
from typesafe_sdk import AsyncTypeSafeClient, Choice, Image, Noul, Score, TypeSafeClient

ORIGIN, NAME, KEY = sys.argv[1:]
STATE = "The parcel arrived broken."
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
LONG = "It rains. " * 300  # compressed with zstd, as it has more than 1,024 bytes
QUESTIONS = {
    "refund": Noul(instructions="The customer wants their money back."),
    "both": Noul(criteria={"true": "It is broken.", "false": "It is whole."}),
    "topic": Choice(instructions="The topic", criteria={"delivery": "About delivery.", "price": None}),
    "mood": Score(criteria=["fine", {"as": "it is"}, "awful"]),
}


def typesafe(**options):
    return TypeSafeClient(api_key=KEY, base_url=ORIGIN, **options)


def answers_of(response):
    return {name: json.loads(answer.model_dump_json()) for name, answer in response.answers.items()}


def refusal(ask):
    try:
        ask()
    except typesafe_sdk.TypeSafeAPIError as error:
        message = str(error).replace(str(error.request_id), "ID")
        return {"class": type(error).__name__, "message": message}
    except openai.APIStatusError as error:
        return {"class": type(error).__name__, "message": error.body["message"]}
    return None


def ask_typesafe():
    with typesafe() as client:
        response = client.system_one(model=NAME, state=STATE, questions=QUESTIONS)
        long = client.system_one(model=NAME, state={"text": LONG, "rate": 1.0}, questions=QUESTIONS)
        sent = long.raw_http_response.request.headers.get("content-encoding")
        plain = typesafe(compression=False).system_one(
            model=NAME, state={"text": LONG, "rate": 1.0}, questions=QUESTIONS
        )
        models = client.models.list()
        return {
            "answers": answers_of(response),
            "model": response.model,
            "tokens": response.usage.input_tokens,
            "request_id": response.request_id == response.raw_http_response.headers["x-request-id"],
            "encoding": sent,
            "same": answers_of(long) == answers_of(plain),
            "models": [model.name for model in models.models],
        }


async def ask_async():
    async with AsyncTypeSafeClient(api_key=KEY, base_url=ORIGIN) as client:
        return answers_of(await client.system_one(model=NAME, state=STATE, questions=QUESTIONS))


def typesafe_errors():
    question = {"a": QUESTIONS["refund"]}
    image = Image.from_base64(PNG)
    with typesafe() as client:
        return {
            "model": refusal(lambda: client.system_one(model="none", state=STATE, questions=question)),
            "long": refusal(
                lambda: client.system_one(
                    model=NAME, state=STATE, questions={"a": Noul(instructions="word " * 200)}
                )
            ),
            "image": refusal(
                lambda: client.system_one(model=NAME, state=STATE, questions=question, assets={"a": image})
            ),
            "key": refusal(
                lambda: TypeSafeClient(api_key="wrong", base_url=ORIGIN).system_one(
                    model=NAME, state=STATE, questions=question
                )
            ),
        }


def ask_openai():
    client = openai.OpenAI(base_url=f"{ORIGIN}/v1", api_key=KEY, max_retries=0)
    questions = [
        {"type": "predicate", "name": "refund", "instructions": "The customer wants their money back."},
        {
            "type": "choice",
            "instructions": "The topic",
            "choices": [{"value": "delivery", "description": "About delivery."}, {"value": "price"}],
        },
        {"type": "score", "instructions": "How?", "levels": [{"label": "bad"}, {"label": "good"}]},
    ]
    decision = client.decisions.create(model=NAME, input=STATE, questions=questions)
    content = [{"type": "input_text", "text": STATE}]
    messages = client.decisions.create(
        model=NAME, input=[{"role": "user", "content": content}], questions=questions
    )
    image = [{"role": "user", "content": [{"type": "input_image", "image_url": "data:,"}]}]
    return {
        "decision": json.loads(decision.model_dump_json()),
        "same": decision.answers == messages.answers,
        "model_list": [model.id for model in client.models.list()],
        "image": refusal(lambda: client.decisions.create(model=NAME, input=image, questions=questions)),
        "model": refusal(lambda: client.decisions.create(model="none", input=STATE, questions=questions)),
    }


print(
    json.dumps(
        {
            "typesafe": ask_typesafe(),
            "async": asyncio.run(ask_async()),
            "errors": typesafe_errors(),
            "openai": ask_openai(),
        }
    )
)
