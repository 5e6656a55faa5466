"""Asks a reranker and an entailment model as users of cohere and huggingface_hub do, and prints what
came back as JSON.

    python pairs.py RERANKER ENTAILMENT KEY
"""

import json
import sys

import cohere
from huggingface_hub import InferenceClient

RERANKER, ENTAILMENT, KEY = sys.argv[1:]
QUERY, DOCUMENTS = "How long is the film?", ["A quiet marvel.", "Two hours.", "It is dull."]


def ranked(answer):
    return [{"index": one.index, "relevance_score": one.relevance_score} for one in answer.results]


def refusal(ask):
    try:
        ask()
    except cohere.errors.BadRequestError as error:
        return error.body
    return None


client = cohere.ClientV2(api_key=KEY, base_url=RERANKER)
older = cohere.Client(api_key=KEY, base_url=RERANKER)
first = older.rerank(model="reranker", query=QUERY, documents=DOCUMENTS, return_documents=True)
labels = InferenceClient(model=ENTAILMENT, token=KEY).zero_shot_classification(
    "A quiet, funny film.", ["sports", "cinema"], multi_label=True, hypothesis_template="It is {}."
)
print(
    json.dumps(
        {
            "ranked": ranked(client.rerank(model="reranker", query=QUERY, documents=DOCUMENTS)),
            "top": ranked(client.rerank(model="reranker", query=QUERY, documents=DOCUMENTS, top_n=1)),
            "older": ranked(first),
            "texts": [one.document.text for one in first.results],
            "bad": refusal(lambda: client.rerank(model="reranker", query=QUERY, documents=[])),
            "labels": [{"label": one.label, "score": one.score} for one in labels],
        }
    )
)
