"""Asks a directory of models for embeddings as users of cohere, voyageai, mistralai and ollama do, and
prints what came back as JSON.

    python embedding_formats.py ORIGIN NAME KEY
"""

import json
import sys

import cohere
import ollama
import voyageai
from mistralai.client import Mistral

ORIGIN, NAME, KEY = sys.argv[1:]
TEXTS = ["A quiet, funny film.", "It rains."]
TYPES = ["float", "int8", "uint8", "binary", "ubinary"]

cohere_client = cohere.ClientV2(api_key=KEY, base_url=ORIGIN)
older = cohere.Client(api_key=KEY, base_url=ORIGIN)
voyage = voyageai.Client(api_key=KEY, base_url=f"{ORIGIN}/v1", max_retries=0)
mistral = Mistral(api_key=KEY, server_url=ORIGIN)
local = ollama.Client(host=ORIGIN, headers={"Authorization": f"Bearer {KEY}"})


def of_cohere():
    answer = cohere_client.embed(
        model=NAME, texts=TEXTS, input_type="search_document", embedding_types=TYPES
    )
    return {name: getattr(answer.embeddings, "float_" if name == "float" else name) for name in TYPES}


def of_voyage(dtype):
    return voyage.embed(TEXTS, model=NAME, input_type="document", output_dtype=dtype).embeddings


def of_mistral(dtype):
    answer = mistral.embeddings.create(model=NAME, inputs=TEXTS, output_dtype=dtype)
    return [one.embedding for one in answer.data]


def refusal_of_ollama():
    try:
        local.embed(model="other", input="a")
    except ollama.ResponseError as error:
        return {"status": error.status_code, "error": error.error}
    return None


shown = local.show(NAME)
print(
    json.dumps(
        {
            "cohere": of_cohere(),
            "older": older.embed(model=NAME, texts=TEXTS).embeddings,
            "voyage": {dtype: of_voyage(dtype) for dtype in TYPES},
            "mistral": {dtype: of_mistral(dtype) for dtype in TYPES},
            "ollama": {
                "embed": [list(one) for one in local.embed(model=NAME, input=TEXTS).embeddings],
                "older": list(local.embeddings(model=NAME, prompt=TEXTS[0]).embedding),
                "models": [one.model for one in local.list().models],
                "capabilities": shown.capabilities,
                "refused": refusal_of_ollama(),
            },
        }
    )
)
